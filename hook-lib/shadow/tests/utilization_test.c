/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NVML says in a container of the SMs' use, next to what it says of the whole card, while kernels spin on a
 * simulated card and a stand-in for the plugin writes the card's samples into the slots.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "check.h"
#include "cores_stage.h"
#include "nvml_api.h"

struct nvml {
    __typeof__(&nvmlDeviceGetUtilizationRates) rates;
    __typeof__(&nvmlDeviceGetProcessUtilization) processes;
    nvmlDevice_t device;
};

static struct nvml load(const char *path) {
    struct nvml nvml;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(library);
#define FIND(name) ((__typeof__(&name))dlsym(library, #name))
    nvml.rates = FIND(nvmlDeviceGetUtilizationRates);
    nvml.processes = FIND(nvmlDeviceGetProcessUtilization);
    CHECK(nvml.rates && nvml.processes);
    CHECK_EQUAL(FIND(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(FIND(nvmlDeviceGetHandleByIndex_v2)(0, &nvml.device), NVML_SUCCESS);
    return nvml;
}

static struct nvml in_container(const char *container) {
    return load(text("%s/lib/libnvidia-ml.so.1", container));
}

static struct nvml behind(const char *container) {
    return load(text("%s/lib/partita/libnvidia-ml-real.so.1", container));
}

static unsigned int gpu(const struct nvml *nvml) {
    nvmlUtilization_t rates;
    CHECK_EQUAL(nvml->rates(nvml->device, &rates), NVML_SUCCESS);
    CHECK(rates.gpu <= 100 && rates.memory <= 100);
    return rates.gpu;
}

/* Half a minute at most. */
static void wait_until_busy(const struct nvml *nvml, unsigned int percent) {
    unsigned int is = 0;
    for (int i = 0; i < 300; i++) {
        is = gpu(nvml);
        if (is >= percent)
            return;
        wait_ms(100);
    }
    fprintf(stderr, "%u %% and not %u\n", is, percent);
    CHECK(0);
}

static const nvmlProcessUtilizationSample_t *sample_of(const nvmlProcessUtilizationSample_t *samples,
                                                       unsigned int count, pid_t pid) {
    for (unsigned int i = 0; i < count; i++)
        if (samples[i].pid == (unsigned int)pid)
            return &samples[i];
    return NULL;
}

/* The same sample: each copy of the library dates it by a clock of its own, and periods are longer than this. */
static int close_together(unsigned long long a, unsigned long long b) {
    return a < b ? b - a < 50000 : a - b < 50000;
}

/* The container is shown this process alone, and `times` what the driver shows of it in the same sample. */
static void is_shown_alone(const struct nvml *container, const struct nvml *card, pid_t pid, unsigned int times) {
    unsigned int compared = 0;
    for (int i = 0; i < 300 && compared < 5; i++, wait_ms(100)) {
        nvmlProcessUtilizationSample_t own[8], all[8];
        unsigned int own_count = 8, all_count = 8;
        nvmlReturn_t result = container->processes(container->device, own, &own_count, 0);
        if (card->processes(card->device, all, &all_count, 0) != NVML_SUCCESS || result == NVML_ERROR_NOT_FOUND)
            continue;
        CHECK_EQUAL(result, NVML_SUCCESS);
        CHECK_EQUAL(own_count, 1);
        CHECK_EQUAL(own[0].pid, pid);
        const nvmlProcessUtilizationSample_t *same = sample_of(all, all_count, pid);
        if (!same || !close_together(same->timeStamp, own[0].timeStamp) || all_count < 2)
            continue;
        CHECK_EQUAL(own[0].smUtil, same->smUtil * times < 100 ? same->smUtil * times : 100);
        compared++;
    }
    CHECK_EQUAL(compared, 5);
}

static struct spinner *spinner(const char *container) {
    return spinner_start((struct spinner){.container = container, .ns = 2 * MS, .streams = 1});
}

static void half_a_card_in_full_use_is_shown_as_all_of_the_share(void) {
    cores_stage();
    cores_reporter();
    const char *box = cores_container("box", 50, "hard", 1);
    spinner(box);
    struct nvml nvml = in_container(box);
    wait_until_busy(&nvml, 75); /* of the card it has 50 at most */
}

static void a_container_is_shown_its_own_process_in_percent_of_its_limit(void) {
    cores_stage();
    cores_reporter();
    const char *box = cores_container("box", 50, "hard", 1);
    struct spinner *own = spinner(box);
    spinner(cores_container("neighbour", 30, "hard", 1));
    struct nvml nvml = in_container(box), card = behind(box);
    is_shown_alone(&nvml, &card, own->pid, 2);
}

static void without_a_limit_it_is_the_percent_of_the_card(void) {
    cores_stage();
    cores_reporter();
    const char *box = cores_container("box", 0, "none", 1);
    struct spinner *own =
        spinner_start((struct spinner){.container = box, .ns = 2 * MS, .streams = 1, .waits = true, .idle_ns = 2 * MS});
    spinner(cores_container("neighbour", 30, "hard", 1));
    struct nvml nvml = in_container(box), card = behind(box);
    is_shown_alone(&nvml, &card, own->pid, 1);
}

static void an_idle_container_learns_nothing_of_its_neighbours_load(void) {
    cores_stage();
    cores_reporter();
    const char *box = cores_container("box", 50, "hard", 1);
    spinner(cores_container("neighbour", 50, "hard", 1));
    struct nvml nvml = in_container(box), card = behind(box);
    wait_until_busy(&card, 20);
    for (int i = 0; i < 10; i++) {
        nvmlProcessUtilizationSample_t samples[8];
        unsigned int count = 8;
        CHECK_EQUAL(gpu(&nvml), 0);
        CHECK_EQUAL(nvml.processes(nvml.device, samples, &count, 0), NVML_ERROR_NOT_FOUND);
        CHECK_EQUAL(count, 0);
        wait_ms(50);
    }
    CHECK_EQUAL(nvml.rates(nvml.device, NULL), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(nvml.processes(nvml.device, NULL, NULL, 0), NVML_ERROR_INVALID_ARGUMENT);
}

static void too_little_room_tells_how_many_samples_of_its_own_there_are(void) {
    cores_stage();
    cores_reporter();
    const char *box = cores_container("box", 60, "hard", 1);
    spinner(box);
    spinner(box);
    spinner(cores_container("neighbour", 30, "hard", 1));
    struct nvml nvml = in_container(box);
    for (int i = 0;; i++, wait_ms(100)) {
        nvmlProcessUtilizationSample_t samples[2];
        unsigned int count = 1;
        CHECK(i < 300);
        if (nvml.processes(nvml.device, samples, &count, 0) != NVML_ERROR_INSUFFICIENT_SIZE)
            continue;
        CHECK_EQUAL(count, 2);
        count = 0;
        if (nvml.processes(nvml.device, NULL, &count, 0) != NVML_ERROR_INSUFFICIENT_SIZE || count != 2)
            continue;
        if (nvml.processes(nvml.device, samples, &count, 0) == NVML_SUCCESS && count == 2)
            return;
    }
}

static void where_the_driver_samples_no_processes_its_error_is_shown_and_the_limit_holds(void) {
    setenv("PARTITA_TEST_CONTRARY", "no-process-samples", 1);
    cores_stage();
    cores_reporter();
    const char *box = cores_container("box", 50, "hard", 1);
    struct spinner *own = spinner(box);
    struct nvml nvml = in_container(box);
    nvmlProcessUtilizationSample_t samples[8];
    unsigned int count = 8;
    double percent;
    spinners_measure(&own, 1, 500, &percent);
    CHECK(percent < 60);
    CHECK_EQUAL(nvml.processes(nvml.device, samples, &count, 0), NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(gpu(&nvml), 0);
}

static void a_card_without_a_share_is_shown_as_it_is(void) {
    cores_stage();
    cores_reporter();
    const char *elsewhere = cores_container("elsewhere", 50, "hard", 1);
    write_quota_with(elsewhere, "share", "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", GIB, 99, "cores 50\n");
    struct spinner *other = spinner(cores_container("neighbour", 50, "hard", 1));
    struct nvml nvml = in_container(elsewhere);
    wait_until_busy(&nvml, 20);
    nvmlProcessUtilizationSample_t samples[8];
    unsigned int count = 8;
    CHECK_EQUAL(nvml.processes(nvml.device, samples, &count, 0), NVML_SUCCESS);
    CHECK(sample_of(samples, count, other->pid) != NULL);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(half_a_card_in_full_use_is_shown_as_all_of_the_share),
        CASE(a_container_is_shown_its_own_process_in_percent_of_its_limit),
        CASE(without_a_limit_it_is_the_percent_of_the_card),
        CASE(an_idle_container_learns_nothing_of_its_neighbours_load),
        CASE(too_little_room_tells_how_many_samples_of_its_own_there_are),
        CASE(where_the_driver_samples_no_processes_its_error_is_shown_and_the_limit_holds),
        CASE(a_card_without_a_share_is_shown_as_it_is),
    };
    return RUN_CASES(cases, argc, argv);
}
