/* SPDX-License-Identifier: Apache-2.0 */
/* NVML's utilisation follows the card's clock, late and noisy. */
#include <time.h>
#include <unistd.h>

#include "spinning.h"

/* Keeps the card busy in bursts: so many ms of work at once, as many without. */
static void burst(int link, long ms) {
    begin_spinning();
    tell(link, 'r');
    for (;;) {
        if (ms) {
            spin_for((uint64_t)ms * MS, NULL);
            CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
            nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
        } else {
            spin_for(60000 * MS, NULL);
        }
    }
}

static nvmlDevice_t first_card(void) {
    nvmlDevice_t device;

    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetHandleByIndex_v2)(0, &device), NVML_SUCCESS);
    return device;
}

static void without_noise(void) {
    install_node("t4x1");
    configure("sample-noise", "0");
}

static unsigned gpu_percent(nvmlDevice_t device) {
    nvmlUtilization_t utilization;

    CHECK_EQUAL(NV(nvmlDeviceGetUtilizationRates)(device, &utilization), NVML_SUCCESS);
    return utilization.gpu;
}

static void a_busy_card_is_at_100_percent_and_an_idle_one_at_0(void) {
    struct child child;
    nvmlDevice_t device;

    without_noise();
    child = start_child(burst, 0);
    CHECK(hear(child.link) == 'r');
    device = first_card();
    CHECK(gpu_percent(device) < 100);
    while (gpu_percent(device) != 100)
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    kill_child(&child);
    while (gpu_percent(device) != 0)
        nanosleep(&(struct timespec){0, 5000000}, NULL);
}

static void samples_are_a_period_apart_and_come_late(void) {
    nvmlSample_t samples[SIM_SAMPLES];
    nvmlValueType_t type;
    unsigned long long last = 0, now;
    unsigned count = 0, known = 0;
    struct timespec time;
    struct child child;
    nvmlDevice_t device;

    without_noise();
    child = start_child(burst, 0);
    CHECK(hear(child.link) == 'r');
    device = first_card();
    CHECK_EQUAL(NV(nvmlDeviceGetSamples)(device, NVML_GPU_UTILIZATION_SAMPLES, 0, &type, &count, NULL), NVML_SUCCESS);
    CHECK_EQUAL(count, SIM_SAMPLES);
    while (known < 3) {
        nvmlReturn_t result;

        count = SIM_SAMPLES;
        result = NV(nvmlDeviceGetSamples)(device, NVML_GPU_UTILIZATION_SAMPLES, last, &type, &count, samples);
        CHECK(result == NVML_SUCCESS || result == NVML_ERROR_NOT_FOUND);
        for (unsigned i = 0; result == NVML_SUCCESS && i < count; i++) {
            CHECK(last == 0 || samples[i].timeStamp - last == 166667);
            last = samples[i].timeStamp;
            known += samples[i].sampleValue.uiVal == 100;
        }
        clock_gettime(CLOCK_REALTIME, &time);
        now = (unsigned long long)time.tv_sec * 1000000 + (unsigned long long)time.tv_nsec / 1000;
        CHECK(last + 49000 <= now);
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    CHECK_EQUAL(type, NVML_VALUE_TYPE_UNSIGNED_INT);
    kill_child(&child);
}

static void processes_have_their_part(void) {
    nvmlProcessUtilizationSample_t samples[8];
    struct child children[2];
    nvmlDevice_t device;
    unsigned count = 8, halves = 0;

    without_noise();
    device = first_card();
    CHECK_EQUAL(NV(nvmlDeviceGetProcessUtilization)(device, samples, &count, 0), NVML_ERROR_NOT_FOUND);
    for (int i = 0; i < 2; i++)
        children[i] = start_child(burst, 0);
    for (int i = 0; i < 2; i++)
        CHECK(hear(children[i].link) == 'r');
    while (halves < 2) {
        nvmlReturn_t result;

        count = 8;
        result = NV(nvmlDeviceGetProcessUtilization)(device, samples, &count, 0);
        halves = 0;
        for (unsigned i = 0; result == NVML_SUCCESS && i < count; i++) {
            CHECK((pid_t)samples[i].pid == children[0].pid || (pid_t)samples[i].pid == children[1].pid);
            halves += samples[i].smUtil == 50;
        }
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    count = 1;
    CHECK_EQUAL(NV(nvmlDeviceGetProcessUtilization)(device, samples, &count, 0), NVML_ERROR_INSUFFICIENT_SIZE);
    CHECK_EQUAL(count, 2);
    CHECK_EQUAL(NV(nvmlDeviceGetProcessUtilization)(device, samples, &count, ~0ull), NVML_ERROR_NOT_FOUND);
    for (int i = 0; i < 2; i++)
        kill_child(&children[i]);
}

static void the_sum_of_the_samples_is_what_the_card_gave(void) {
    struct child child;
    nvmlDevice_t device;
    nvmlSample_t samples[SIM_SAMPLES];
    nvmlValueType_t type;
    uint64_t sum = 0, began, busy;
    unsigned count = 0;

    without_noise();
    child = start_child(burst, 7);
    CHECK(hear(child.link) == 'r');
    device = first_card();
    began = sim_clock_time();
    while (sim_clock_time() < began + 1500 * MS)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    kill_child(&child);
    busy = card_busy();
    while (gpu_percent(device) != 0)
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    count = SIM_SAMPLES;
    CHECK_EQUAL(NV(nvmlDeviceGetSamples)(device, NVML_GPU_UTILIZATION_SAMPLES, 0, &type, &count, samples),
                NVML_SUCCESS);
    for (unsigned i = 0; i < count; i++)
        sum += samples[i].sampleValue.uiVal * (uint64_t)1666670;
    count = 0;
    CHECK_EQUAL(NV(nvmlDeviceGetSamples)(device, NVML_GPU_UTILIZATION_SAMPLES, 0, &type, &count, samples),
                NVML_ERROR_INVALID_ARGUMENT);
    CHECK(busy > 100 * MS && sum > busy - busy / 5 && sum < busy + busy / 5);
}

static void noise_is_bounded_and_repeats(void) {
    nvmlDevice_t device;
    struct child child;
    nvmlSample_t first[SIM_SAMPLES], again[SIM_SAMPLES];
    unsigned count = 0, repeated, seen = 0, noisy = 0, got;
    nvmlValueType_t type;

    install_node("t4x1");
    configure("sample-noise", "10");
    configure("sample-period-us", "20000");
    child = start_child(burst, 0);
    CHECK(hear(child.link) == 'r');
    device = first_card();
    while (seen < 12) {
        nanosleep(&(struct timespec){0, 50000000}, NULL);
        got = SIM_SAMPLES;
        if (NV(nvmlDeviceGetSamples)(device, NVML_GPU_UTILIZATION_SAMPLES, 0, &type, &got, first) != NVML_SUCCESS)
            continue;
        count = got;
        for (unsigned i = seen = noisy = 0; i < count; i++) {
            seen += first[i].sampleValue.uiVal >= 90;
            noisy += first[i].sampleValue.uiVal >= 90 && first[i].sampleValue.uiVal < 100;
        }
    }
    repeated = SIM_SAMPLES;
    CHECK_EQUAL(NV(nvmlDeviceGetSamples)(device, NVML_GPU_UTILIZATION_SAMPLES, 0, &type, &repeated, again),
                NVML_SUCCESS);
    for (unsigned i = 0; i < count; i++)
        for (unsigned j = 0; j < repeated; j++)
            CHECK(first[i].timeStamp != again[j].timeStamp || first[i].sampleValue.uiVal == again[j].sampleValue.uiVal);
    CHECK(noisy > 0);
    kill_child(&child);
}

RUN(TEST(a_busy_card_is_at_100_percent_and_an_idle_one_at_0), TEST(samples_are_a_period_apart_and_come_late),
    TEST(processes_have_their_part), TEST(the_sum_of_the_samples_is_what_the_card_gave),
    TEST(noise_is_bounded_and_repeats))
