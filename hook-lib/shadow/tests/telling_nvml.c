/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An NVML whose every answer is about others, as a driver gives them that knows no container. Two cards: the first has
 * the UUID that the tests' quotas name. Its samples of processes have the host's numbers: one of them is that of the
 * test's own process.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "nvml_api.h"

static nvmlReturn_t failure;

/* From now on every function but nvmlDeviceGetUUID fails so. */
PARTITA_EXPORT void telling_nvml_fails(nvmlReturn_t result);
void telling_nvml_fails(nvmlReturn_t result) {
    failure = result;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device) {
    static char cards[2];
    *device = (nvmlDevice_t)(void *)&cards[index];
    return index < 2 ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length) {
    nvmlDevice_t first;
    if (!device)
        return NVML_ERROR_INVALID_ARGUMENT;
    nvmlDeviceGetHandleByIndex_v2(0, &first);
    strncpy(uuid,
            device == first ? "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f" : "GPU-0f0e0d0c-0b0a-0908-0706-050403020100",
            length);
    return NVML_SUCCESS;
}

/* A list of one entry. */
static nvmlReturn_t one(unsigned int *count, const void *entries) {
    unsigned int room = *count;
    *count = 1;
    return failure ? failure : room && entries ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}

nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t *samples,
                                             unsigned int *count, unsigned long long since) {
    (void)device;
    nvmlReturn_t result = one(count, samples);
    if (result == NVML_SUCCESS)
        samples[0] = (nvmlProcessUtilizationSample_t){(unsigned int)getpid(), since + 1, 77, 77, 77, 77};
    return result;
}

nvmlReturn_t nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t device, nvmlProcessesUtilizationInfo_t *all) {
    (void)device;
    nvmlReturn_t result = one(&all->processSamplesCount, all->procUtilArray);
    if (result == NVML_SUCCESS)
        all->procUtilArray[0] = (nvmlProcessUtilizationInfo_v1_t){1, (unsigned int)getpid(), 77, 77, 77, 77, 77, 77};
    return result;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization) {
    (void)device;
    *utilization = (nvmlUtilization_t){77, 77};
    return failure;
}

nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t device, nvmlSamplingType_t type, unsigned long long since,
                                  nvmlValueType_t *valueType, unsigned int *count, nvmlSample_t *samples) {
    (void)device, (void)type;
    *valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
    nvmlReturn_t result = one(count, samples);
    if (result == NVML_SUCCESS)
        samples[0] = (nvmlSample_t){since + 1, {.uiVal = 77}};
    return samples ? result : failure;
}

nvmlReturn_t nvmlDeviceGetDynamicPstatesInfo(nvmlDevice_t device, nvmlGpuDynamicPstatesInfo_t *info) {
    (void)device;
    for (int i = 0; i < NVML_MAX_GPU_UTILIZATIONS; i++)
        info->utilization[i].percentage = 77;
    return failure;
}

#define CODEC(name)                                                                                                    \
    nvmlReturn_t name(nvmlDevice_t device, unsigned int *utilization, unsigned int *samplingPeriodUs) {                \
        (void)device;                                                                                                  \
        *utilization = 77;                                                                                             \
        *samplingPeriodUs = 1000;                                                                                      \
        return failure;                                                                                                \
    }

CODEC(nvmlDeviceGetEncoderUtilization)
CODEC(nvmlDeviceGetDecoderUtilization)
CODEC(nvmlDeviceGetJpgUtilization)
CODEC(nvmlDeviceGetOfaUtilization)

nvmlReturn_t nvmlDeviceGetEncoderStats(nvmlDevice_t device, unsigned int *sessions, unsigned int *fps,
                                       unsigned int *latency) {
    (void)device;
    *sessions = *fps = *latency = 77;
    return failure;
}

nvmlReturn_t nvmlDeviceGetFBCStats(nvmlDevice_t device, nvmlFBCStats_t *stats) {
    (void)device;
    *stats = (nvmlFBCStats_t){77, 77, 77};
    return failure;
}

nvmlReturn_t nvmlDeviceGetEncoderSessions(nvmlDevice_t device, unsigned int *count, void *sessions) {
    (void)device;
    return one(count, sessions);
}

nvmlReturn_t nvmlDeviceGetFBCSessions(nvmlDevice_t device, unsigned int *count, void *sessions) {
    (void)device;
    return one(count, sessions);
}

nvmlReturn_t nvmlDeviceGetAccountingPids(nvmlDevice_t device, unsigned int *count, unsigned int *pids) {
    (void)device;
    nvmlReturn_t result = one(count, pids);
    if (result == NVML_SUCCESS)
        pids[0] = 4711;
    return result;
}

nvmlReturn_t nvmlDeviceGetAccountingStats(nvmlDevice_t device, unsigned int pid, nvmlAccountingStats_t *stats) {
    (void)device, (void)pid;
    *stats = (nvmlAccountingStats_t){.gpuUtilization = 77};
    return failure;
}

nvmlReturn_t nvmlDeviceGetAccountingStats_v2(nvmlDevice_t device, nvmlAccountingStats_v2_t *stats) {
    (void)device;
    stats->gpuUtilization = 77;
    return failure;
}

nvmlReturn_t nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device, nvmlProcessDetailList_t *all) {
    (void)device;
    nvmlReturn_t result = one(&all->numProcArrayEntries, all->procArray);
    if (result == NVML_SUCCESS)
        all->procArray[0] = (nvmlProcessDetail_v1_t){.pid = 4711, .usedGpuMemory = 77};
    return result;
}

nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t sample) {
    (void)device, (void)sample;
    return failure;
}

nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t device, unsigned int instance, nvmlGpmSample_t sample) {
    (void)device, (void)instance, (void)sample;
    return failure;
}

nvmlReturn_t nvmlDeviceGetConfComputeProtectedMemoryUsage(nvmlDevice_t device, nvmlMemory_t *memory) {
    (void)device;
    *memory = (nvmlMemory_t){.total = UINT64_C(77) << 30, .free = UINT64_C(7) << 30, .used = UINT64_C(70) << 30};
    return failure;
}

nvmlReturn_t nvmlDeviceGetMemoryLimits_v1(nvmlDevice_t device, nvmlGetMemoryLimits_v1_t *limits) {
    (void)device;
    limits->hardLimit = 77;
    return failure;
}

/* A structure that begins with a number. */
nvmlReturn_t nvmlDevicePerfMetricsGetSamples_v1(nvmlDevice_t device, void *samples) {
    (void)device;
    *(unsigned int *)samples = 77;
    return failure;
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values) {
    (void)device;
    for (int i = 0; i < count && !failure; i++) {
        values[i].nvmlReturn = NVML_SUCCESS;
        values[i].value.ullVal = 77;
    }
    return failure;
}

nvmlReturn_t nvmlDeviceGetViolationStatus(nvmlDevice_t device, nvmlPerfPolicyType_t policy, nvmlViolationTime_t *time) {
    (void)device, (void)policy;
    *time = (nvmlViolationTime_t){77, 77};
    return failure;
}
