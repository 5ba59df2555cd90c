/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a container is told by an NVML that knows no containers: of its own processes, by what stands in their slots,
 * and nothing of others.
 */
#include <dlfcn.h>
#include <time.h>

#include "cases.h"
#include "check.h"
#include "nvml_api.h"
#include "scratch.h"
#include "share/owner.h"
#include "share/seats.h"

static void *library;
static nvmlDevice_t card, other_card;
static struct region_file region;
static struct seat seat;

#define NVML(name) ((__typeof__(&name))function(#name))

static void *function(const char *name) {
    void *found = dlsym(library, name);
    CHECK(found);
    return found;
}

static uint64_t microseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* This process has a slot of a share with half of the first card's time, and none of the second card. */
static void start(void) {
    const char *box = scratch_folder();
    make_folders(text("%s/lib/partita", box));
    copy_file(shadow_nvml(), text("%s/lib/libnvidia-ml.so.1", box));
    copy_file(TELLING_NVML, text("%s/lib/partita/libnvidia-ml-real.so.1", box));
    write_quota_with(box, "share", "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", UINT64_C(1) << 30, 1, "cores 50\n");
    make_region(box, "share");
    struct owner self = owner_self();
    CHECK(region_file_open(&region, region_path(box, "share")));
    region.region->magic = PARTITA_USAGE_MAGIC;
    CHECK(seats_take(&region, &self, &seat));
    CHECK((library = dlopen(text("%s/lib/libnvidia-ml.so.1", box), RTLD_NOW)) != NULL);
    CHECK_EQUAL(NVML(nvmlDeviceGetHandleByIndex_v2)(0, &card), NVML_SUCCESS);
    CHECK_EQUAL(NVML(nvmlDeviceGetHandleByIndex_v2)(1, &other_card), NVML_SUCCESS);
}

/* As the plugin writes it. */
static void sample(uint64_t time, unsigned int sms, unsigned int memory, unsigned int encoder, unsigned int decoder) {
    region.region->slots[seat.slot].utilization = sms | memory << 8 | encoder << 16 | (uint64_t)decoder << 24;
    region.region->slots[seat.slot].sampled = time;
}

static void fails(nvmlReturn_t result) {
    ((void (*)(nvmlReturn_t))function("telling_nvml_fails"))(result);
}

static void samples_with_the_hosts_pids_are_not_taken_for_ones_own(void) {
    start();
    nvmlProcessUtilizationSample_t samples[4];
    nvmlUtilization_t rates;
    unsigned int count = 4;
    CHECK_EQUAL(NVML(nvmlDeviceGetProcessUtilization)(card, samples, &count, 0), NVML_ERROR_NOT_FOUND);
    CHECK_EQUAL(count, 0);
    CHECK_EQUAL(NVML(nvmlDeviceGetUtilizationRates)(card, &rates), NVML_SUCCESS);
    CHECK_EQUAL(rates.gpu + rates.memory, 0);
}

static void the_plugins_samples_are_shown_under_the_containers_pids(void) {
    start();
    uint64_t now = microseconds_now();
    nvmlProcessUtilizationSample_t samples[4];
    nvmlProcessUtilizationInfo_v1_t infos[4];
    nvmlProcessesUtilizationInfo_t info = {nvmlProcessesUtilizationInfo_v1, 0, 0, NULL};
    unsigned int count = 0;
    sample(now, 20, 10, 5, 3);
    CHECK_EQUAL(NVML(nvmlDeviceGetProcessUtilization)(card, NULL, &count, 0), NVML_ERROR_INSUFFICIENT_SIZE);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(NVML(nvmlDeviceGetProcessUtilization)(card, samples, &count, now - 1), NVML_SUCCESS);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(samples[0].pid, getpid());
    CHECK_EQUAL(samples[0].timeStamp, now);
    CHECK_EQUAL(samples[0].smUtil, 40); /* of half a card */
    CHECK_EQUAL(samples[0].memUtil, 10);
    CHECK_EQUAL(samples[0].encUtil, 5);
    CHECK_EQUAL(samples[0].decUtil, 3);
    CHECK_EQUAL(NVML(nvmlDeviceGetProcessUtilization)(card, samples, &count, now), NVML_ERROR_NOT_FOUND);
    CHECK_EQUAL(NVML(nvmlDeviceGetProcessesUtilizationInfo)(card, &info), NVML_ERROR_INSUFFICIENT_SIZE);
    CHECK_EQUAL(info.processSamplesCount, 1);
    info.procUtilArray = infos;
    CHECK_EQUAL(NVML(nvmlDeviceGetProcessesUtilizationInfo)(card, &info), NVML_SUCCESS);
    CHECK_EQUAL(info.processSamplesCount, 1);
    CHECK_EQUAL(infos[0].pid, getpid());
    CHECK_EQUAL(infos[0].smUtil, 40);
    CHECK_EQUAL(infos[0].jpgUtil + infos[0].ofaUtil, 0);
    info.lastSeenTimeStamp = now;
    CHECK_EQUAL(NVML(nvmlDeviceGetProcessesUtilizationInfo)(card, &info), NVML_ERROR_NOT_FOUND);
    /* the driver would fill it, whatever it is */
    info.version = NVML_STRUCT_VERSION(nvmlProcessesUtilizationInfo_t, 2);
    CHECK_EQUAL(NVML(nvmlDeviceGetProcessesUtilizationInfo)(card, &info), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

static void every_figure_of_use_is_the_containers_own(void) {
    start();
    nvmlUtilization_t rates;
    nvmlGpuDynamicPstatesInfo_t states;
    unsigned int percent, period;
    sample(microseconds_now(), 20, 10, 5, 3);
    CHECK_EQUAL(NVML(nvmlDeviceGetUtilizationRates)(card, &rates), NVML_SUCCESS);
    CHECK_EQUAL(rates.gpu, 40);
    CHECK_EQUAL(rates.memory, 10);
    CHECK_EQUAL(NVML(nvmlDeviceGetDynamicPstatesInfo)(card, &states), NVML_SUCCESS);
    CHECK_EQUAL(states.utilization[NVML_GPU_UTILIZATION_DOMAIN_GPU].percentage, 40);
    CHECK_EQUAL(states.utilization[NVML_GPU_UTILIZATION_DOMAIN_FB].percentage, 10);
    CHECK_EQUAL(states.utilization[NVML_GPU_UTILIZATION_DOMAIN_VID].percentage, 8);
    for (int i = 3; i < NVML_MAX_GPU_UTILIZATIONS; i++)
        CHECK_EQUAL(states.utilization[i].percentage, 0);
    CHECK_EQUAL(NVML(nvmlDeviceGetEncoderUtilization)(card, &percent, &period), NVML_SUCCESS);
    CHECK_EQUAL(percent, 5);
    CHECK_EQUAL(period, 1000);
    CHECK_EQUAL(NVML(nvmlDeviceGetDecoderUtilization)(card, &percent, &period), NVML_SUCCESS);
    CHECK_EQUAL(percent, 3);
    CHECK_EQUAL(NVML(nvmlDeviceGetJpgUtilization)(card, &percent, &period), NVML_SUCCESS);
    CHECK_EQUAL(percent, 0);
    CHECK_EQUAL(NVML(nvmlDeviceGetOfaUtilization)(card, &percent, &period), NVML_SUCCESS);
    CHECK_EQUAL(percent, 0);
}

static void a_series_of_samples_of_use_has_the_containers_newest_one(void) {
    static const struct {
        nvmlSamplingType_t type;
        unsigned int percent;
    } kinds[] = {{NVML_GPU_UTILIZATION_SAMPLES, 40},
                 {NVML_MEMORY_UTILIZATION_SAMPLES, 10},
                 {NVML_ENC_UTILIZATION_SAMPLES, 5},
                 {NVML_DEC_UTILIZATION_SAMPLES, 3}};
    start();
    uint64_t now = microseconds_now();
    nvmlValueType_t type;
    nvmlSample_t samples[8];
    unsigned int count;
    sample(now, 20, 10, 5, 3);
    for (unsigned int i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        count = 8;
        CHECK_EQUAL(NVML(nvmlDeviceGetSamples)(card, kinds[i].type, 0, &type, &count, NULL), NVML_SUCCESS);
        CHECK_EQUAL(count, 1);
        CHECK_EQUAL(NVML(nvmlDeviceGetSamples)(card, kinds[i].type, 0, &type, &count, samples), NVML_SUCCESS);
        CHECK_EQUAL(count, 1);
        CHECK_EQUAL(type, NVML_VALUE_TYPE_UNSIGNED_INT);
        CHECK_EQUAL(samples[0].timeStamp, now);
        CHECK_EQUAL(samples[0].sampleValue.uiVal, kinds[i].percent);
        CHECK_EQUAL(NVML(nvmlDeviceGetSamples)(card, kinds[i].type, now, &type, &count, samples), NVML_ERROR_NOT_FOUND);
    }
    count = 8;
    CHECK_EQUAL(NVML(nvmlDeviceGetSamples)(card, NVML_JPG_UTILIZATION_SAMPLES, 0, &type, &count, samples),
                NVML_ERROR_NOT_FOUND);
    count = 8;
    CHECK_EQUAL(NVML(nvmlDeviceGetSamples)(card, NVML_TOTAL_POWER_SAMPLES, 0, &type, &count, samples), NVML_SUCCESS);
    CHECK_EQUAL(samples[0].sampleValue.uiVal, 77); /* power is the card's */
}

static void a_sample_that_is_old_or_of_another_time_shows_nothing(void) {
    start();
    const uint64_t now = microseconds_now(), times[] = {1, now - 60000000, now + 60000000, UINT64_MAX};
    for (unsigned int i = 0; i < sizeof times / sizeof *times; i++) {
        nvmlUtilization_t rates;
        nvmlProcessUtilizationSample_t samples[4];
        unsigned int count = 4;
        sample(times[i], 255, 255, 255, 255);
        CHECK_EQUAL(NVML(nvmlDeviceGetUtilizationRates)(card, &rates), NVML_SUCCESS);
        CHECK_EQUAL(rates.gpu + rates.memory, 0);
        CHECK_EQUAL(NVML(nvmlDeviceGetProcessUtilization)(card, samples, &count, 0), NVML_ERROR_NOT_FOUND);
    }
    nvmlUtilization_t rates;
    sample(now, 255, 255, 255, 255); /* the container can write it */
    CHECK_EQUAL(NVML(nvmlDeviceGetUtilizationRates)(card, &rates), NVML_SUCCESS);
    CHECK_EQUAL(rates.gpu, 100);
    CHECK_EQUAL(rates.memory, 100);
}

static void processes_of_others_are_in_no_list(void) {
    start();
    char entries[4096];
    unsigned int count = 3, pids[3], fps, latency;
    nvmlFBCStats_t captures;
    nvmlAccountingStats_t stats;
    nvmlAccountingStats_v2_t stats_v2 = {.pid = 4711};
    CHECK_EQUAL(NVML(nvmlDeviceGetEncoderSessions)(card, &count, entries), NVML_SUCCESS);
    CHECK_EQUAL(count, 0);
    CHECK_EQUAL(NVML(nvmlDeviceGetEncoderStats)(card, &count, &fps, &latency), NVML_SUCCESS);
    CHECK_EQUAL(count + fps + latency, 0);
    count = 3;
    CHECK_EQUAL(NVML(nvmlDeviceGetFBCSessions)(card, &count, entries), NVML_SUCCESS);
    CHECK_EQUAL(count, 0);
    CHECK_EQUAL(NVML(nvmlDeviceGetFBCStats)(card, &captures), NVML_SUCCESS);
    CHECK_EQUAL(captures.sessionsCount + captures.averageFPS + captures.averageLatency, 0);
    count = 3;
    CHECK_EQUAL(NVML(nvmlDeviceGetAccountingPids)(card, &count, pids), NVML_SUCCESS);
    CHECK_EQUAL(count, 0);
    CHECK_EQUAL(NVML(nvmlDeviceGetAccountingStats)(card, 4711, &stats), NVML_ERROR_NOT_FOUND);
    CHECK_EQUAL(NVML(nvmlDeviceGetAccountingStats_v2)(card, &stats_v2), NVML_ERROR_NOT_FOUND);
    CHECK_EQUAL(stats_v2.gpuUtilization, 0);
    CHECK_EQUAL(NVML(nvmlGpmSampleGet)(card, NULL), NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(NVML(nvmlGpmMigSampleGet)(card, 1, NULL), NVML_ERROR_NOT_SUPPORTED);
}

static void the_detailed_list_has_the_containers_own_processes(void) {
    start();
    nvmlProcessDetail_v1_t details[4];
    nvmlProcessDetailList_t all = {NVML_STRUCT_VERSION(nvmlProcessDetailList_t, 1), NVML_PROCESS_MODE_COMPUTE, 0, NULL};
    region.region->slots[seat.slot].overhead = 4;
    CHECK_EQUAL(NVML(nvmlDeviceGetRunningProcessDetailList)(card, &all), NVML_ERROR_INSUFFICIENT_SIZE);
    CHECK_EQUAL(all.numProcArrayEntries, 1);
    all.procArray = details;
    CHECK_EQUAL(NVML(nvmlDeviceGetRunningProcessDetailList)(card, &all), NVML_SUCCESS);
    CHECK_EQUAL(all.numProcArrayEntries, 1);
    CHECK_EQUAL(details[0].pid, getpid());
    CHECK_EQUAL(details[0].usedGpuMemory, 4 * PARTITA_UNIT);
    CHECK_EQUAL(details[0].gpuInstanceId, NVML_NO_INSTANCE);
    all.mode = NVML_PROCESS_MODE_GRAPHICS;
    CHECK_EQUAL(NVML(nvmlDeviceGetRunningProcessDetailList)(card, &all), NVML_SUCCESS);
    CHECK_EQUAL(all.numProcArrayEntries, 0);
    all.version = NVML_STRUCT_VERSION(nvmlProcessDetailList_t, 2);
    all.numProcArrayEntries = 4;
    CHECK_EQUAL(NVML(nvmlDeviceGetRunningProcessDetailList)(card, &all), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
    CHECK(details[0].pid != 4711);
}

static void protected_memory_is_shown_as_the_shares(void) {
    start();
    nvmlMemory_t memory;
    CHECK_EQUAL(NVML(nvmlDeviceGetConfComputeProtectedMemoryUsage)(card, &memory), NVML_SUCCESS);
    CHECK_EQUAL(memory.total, 1 << 30);
    CHECK_EQUAL(memory.free, 1 << 30);
    CHECK_EQUAL(memory.used, 0);
    CHECK_EQUAL(NVML(nvmlDeviceGetConfComputeProtectedMemoryUsage)(other_card, &memory), NVML_SUCCESS);
    CHECK_EQUAL(memory.total, UINT64_C(77) << 30);
    fails(NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(NVML(nvmlDeviceGetConfComputeProtectedMemoryUsage)(card, &memory), NVML_ERROR_NOT_SUPPORTED);
}

static void how_busy_the_whole_card_is_is_not_told(void) {
    start();
    nvmlGetMemoryLimits_v1_t limits = {.nameSpace = ""};
    unsigned int number = 0;
    nvmlViolationTime_t time = {0, 0};
    nvmlFieldValue_t values[] = {{.fieldId = NVML_FI_DEV_MEMORY_TEMP},
                                 {.fieldId = NVML_FI_DEV_POWER_SYNC_BALANCING_AF},
                                 {.fieldId = NVML_FI_DEV_MMA_STALL_PERCENT},
                                 {.fieldId = NVML_FI_DEV_PERF_POLICY_LOW_UTILIZATION}};
    CHECK_EQUAL(NVML(nvmlDeviceGetMemoryLimits_v1)(card, &limits), NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(NVML(nvmlDevicePerfMetricsGetSamples_v1)(card, &number), NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(NVML(nvmlDeviceGetViolationStatus)(card, NVML_PERF_POLICY_LOW_UTILIZATION, &time),
                NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(number + time.violationTime + limits.hardLimit, 0);
    CHECK_EQUAL(NVML(nvmlDeviceGetViolationStatus)(card, NVML_PERF_POLICY_POWER, &time), NVML_SUCCESS);
    CHECK_EQUAL(time.violationTime, 77); /* the card's own */
    CHECK_EQUAL(NVML(nvmlDeviceGetFieldValues)(card, 4, values), NVML_SUCCESS);
    CHECK_EQUAL(values[0].nvmlReturn, NVML_SUCCESS);
    CHECK_EQUAL(values[0].value.ullVal, 77);
    for (int i = 1; i < 4; i++) {
        CHECK_EQUAL(values[i].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
        CHECK_EQUAL(values[i].value.ullVal, 0);
    }
    fails(NVML_ERROR_GPU_IS_LOST);
    CHECK_EQUAL(NVML(nvmlDeviceGetFieldValues)(card, 4, values), NVML_ERROR_GPU_IS_LOST);
    fails(NVML_SUCCESS);
    CHECK_EQUAL(NVML(nvmlDeviceGetFieldValues)(other_card, 4, values), NVML_SUCCESS);
    CHECK_EQUAL(values[1].value.ullVal, 77);
    CHECK_EQUAL(NVML(nvmlDeviceGetMemoryLimits_v1)(other_card, &limits), NVML_SUCCESS);
    CHECK_EQUAL(NVML(nvmlDevicePerfMetricsGetSamples_v1)(other_card, &number), NVML_SUCCESS);
    CHECK_EQUAL(NVML(nvmlDeviceGetViolationStatus)(other_card, NVML_PERF_POLICY_LOW_UTILIZATION, &time), NVML_SUCCESS);
}

static void of_no_device_the_drivers_error_tells(void) {
    start();
    nvmlGetMemoryLimits_v1_t limits = {.nameSpace = ""};
    nvmlViolationTime_t time;
    unsigned int number;
    CHECK_EQUAL(NVML(nvmlGpmSampleGet)(NULL, NULL), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(NVML(nvmlGpmMigSampleGet)(NULL, 1, NULL), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(NVML(nvmlDeviceGetMemoryLimits_v1)(NULL, &limits), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(NVML(nvmlDevicePerfMetricsGetSamples_v1)(NULL, &number), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(NVML(nvmlDeviceGetViolationStatus)(NULL, NVML_PERF_POLICY_LOW_UTILIZATION, &time),
                NVML_ERROR_INVALID_ARGUMENT);
}

static void the_drivers_errors_and_a_card_without_a_share_are_the_drivers(void) {
    start();
    nvmlUtilization_t rates;
    nvmlGpuDynamicPstatesInfo_t states;
    nvmlProcessUtilizationSample_t samples[4];
    nvmlProcessUtilizationInfo_v1_t infos[4];
    nvmlProcessesUtilizationInfo_t info = {nvmlProcessesUtilizationInfo_v1, 4, 0, infos};
    nvmlProcessDetail_v1_t details[4];
    nvmlProcessDetailList_t all = {NVML_STRUCT_VERSION(nvmlProcessDetailList_t, 1), NVML_PROCESS_MODE_COMPUTE, 4,
                                   details};
    nvmlFBCStats_t captures;
    nvmlAccountingStats_t stats;
    nvmlAccountingStats_v2_t stats_v2 = {.pid = 1};
    nvmlValueType_t type;
    nvmlSample_t values[4];
    char entries[4096];
    sample(microseconds_now(), 20, 10, 5, 3);
    for (int i = 0; i < 2; i++) {
        nvmlDevice_t device = i ? other_card : card;
        nvmlReturn_t expected = i ? NVML_SUCCESS : NVML_ERROR_GPU_IS_LOST;
        unsigned int count = 4, pids[4], fps, latency;
        fails(expected);
        CHECK_EQUAL(NVML(nvmlDeviceGetUtilizationRates)(device, &rates), expected);
        CHECK_EQUAL(NVML(nvmlDeviceGetDynamicPstatesInfo)(device, &states), expected);
        CHECK_EQUAL(NVML(nvmlDeviceGetProcessUtilization)(device, samples, &count, 0), expected);
        CHECK_EQUAL(NVML(nvmlDeviceGetProcessesUtilizationInfo)(device, &info), expected);
        count = 4;
        CHECK_EQUAL(NVML(nvmlDeviceGetSamples)(device, NVML_GPU_UTILIZATION_SAMPLES, 0, &type, &count, values),
                    expected);
        CHECK_EQUAL(NVML(nvmlDeviceGetRunningProcessDetailList)(device, &all), expected);
        CHECK_EQUAL(NVML(nvmlDeviceGetEncoderUtilization)(device, &count, &fps), expected);
        CHECK_EQUAL(NVML(nvmlDeviceGetDecoderUtilization)(device, &count, &fps), expected);
        CHECK_EQUAL(NVML(nvmlDeviceGetJpgUtilization)(device, &count, &fps), expected);
        CHECK_EQUAL(NVML(nvmlDeviceGetOfaUtilization)(device, &count, &fps), expected);
        count = 4;
        CHECK_EQUAL(NVML(nvmlDeviceGetEncoderSessions)(device, &count, entries), expected);
        CHECK_EQUAL(NVML(nvmlDeviceGetEncoderStats)(device, &count, &fps, &latency), expected);
        count = 4;
        CHECK_EQUAL(NVML(nvmlDeviceGetFBCSessions)(device, &count, entries), expected);
        CHECK_EQUAL(NVML(nvmlDeviceGetFBCStats)(device, &captures), expected);
        count = 4;
        CHECK_EQUAL(NVML(nvmlDeviceGetAccountingPids)(device, &count, pids), expected);
        CHECK_EQUAL(NVML(nvmlDeviceGetAccountingStats)(device, 1, &stats), expected);
        CHECK_EQUAL(NVML(nvmlDeviceGetAccountingStats_v2)(device, &stats_v2), expected);
    }
    CHECK_EQUAL(rates.gpu, 77);
    CHECK_EQUAL(states.utilization[0].percentage, 77);
    CHECK_EQUAL(samples[0].smUtil, 77);
    CHECK_EQUAL(infos[0].smUtil, 77);
    CHECK_EQUAL(values[0].sampleValue.uiVal, 77);
    CHECK_EQUAL(details[0].pid, 4711);
    CHECK_EQUAL(captures.averageFPS, 77);
    CHECK_EQUAL(stats.gpuUtilization, 77);
    CHECK_EQUAL(stats_v2.gpuUtilization, 77);
    CHECK_EQUAL(NVML(nvmlGpmSampleGet)(other_card, NULL), NVML_SUCCESS);
    CHECK_EQUAL(NVML(nvmlGpmMigSampleGet)(other_card, 1, NULL), NVML_SUCCESS);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(samples_with_the_hosts_pids_are_not_taken_for_ones_own),
        CASE(the_plugins_samples_are_shown_under_the_containers_pids),
        CASE(every_figure_of_use_is_the_containers_own),
        CASE(a_series_of_samples_of_use_has_the_containers_newest_one),
        CASE(a_sample_that_is_old_or_of_another_time_shows_nothing),
        CASE(processes_of_others_are_in_no_list),
        CASE(the_detailed_list_has_the_containers_own_processes),
        CASE(protected_memory_is_shown_as_the_shares),
        CASE(how_busy_the_whole_card_is_is_not_told),
        CASE(of_no_device_the_drivers_error_tells),
        CASE(the_drivers_errors_and_a_card_without_a_share_are_the_drivers),
    };
    return RUN_CASES(cases, argc, argv);
}
