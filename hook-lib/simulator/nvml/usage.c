/* What a device does: memory, processes, utilisation, sensors. */
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "library.h"

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    nvmlReturn_t result = library_device(device, memory);
    uint64_t capacity;

    if (result != NVML_SUCCESS)
        return result;
    if (memory->version != nvmlMemory_v2)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    capacity = device->card->memory - device->card->reserved;
    memory->total = device->card->memory;
    memory->reserved = device->card->reserved;
    memory->used = sim_state_used(&library_state, device->card->index);
    memory->free = memory->used < capacity ? capacity - memory->used : 0;
    return NVML_SUCCESS;
}

/* The first version counts what the driver reserves as used. */
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    nvmlMemory_v2_t wide = {.version = nvmlMemory_v2};
    nvmlReturn_t result = library_device(device, memory);

    if (result == NVML_SUCCESS)
        result = nvmlDeviceGetMemoryInfo_v2(device, &wide);
    if (result == NVML_SUCCESS)
        *memory = (nvmlMemory_t){.total = wide.total, .free = wide.free, .used = wide.used + wide.reserved};
    return result;
}

/*
 * The processes of a card that this pid namespace can see. *count is the room on entry and the number on return; with too
 * little room nothing is written but the number.
 */
static nvmlReturn_t running(nvmlDevice_t device, unsigned *count, void *processes, size_t stride)
{
    nvmlReturn_t result = library_device(device, count);
    struct sim_process_use *uses;
    unsigned found, visible = 0;

    if (result != NVML_SUCCESS)
        return result;
    if (*count > 0 && !processes)
        return NVML_ERROR_INVALID_ARGUMENT;
    uses = calloc(SIM_MAX_PROCESSES, sizeof *uses);
    if (!uses)
        return NVML_ERROR_MEMORY;
    found = sim_state_processes(&library_state, device->card->index, uses, SIM_MAX_PROCESSES);
    for (unsigned i = 0; i < found; i++)
        if (uses[i].pid)
            uses[visible++] = uses[i];
    result = visible <= *count ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < visible && result == NVML_SUCCESS; i++) {
        nvmlProcessInfo_t entry = {
            .pid = uses[i].pid,
            .usedGpuMemory = uses[i].memory + uses[i].overhead,
            .gpuInstanceId = NVML_NO_INSTANCE,
            .computeInstanceId = NVML_NO_INSTANCE,
        };

        memcpy((char *)processes + i * stride, &entry, stride); /* _v1 is the beginning of the later layout */
    }
    *count = visible;
    free(uses);
    return result;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned int *count,
                                                  nvmlProcessInfo_v1_t *processes)
{
    return running(device, count, processes, sizeof *processes);
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
                                                     nvmlProcessInfo_v2_t *processes)
{
    return running(device, count, processes, sizeof *processes);
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
                                                     nvmlProcessInfo_t *processes)
{
    return running(device, count, processes, sizeof *processes);
}

static nvmlReturn_t none_running(nvmlDevice_t device, unsigned *count)
{
    nvmlReturn_t result = library_device(device, count);

    if (result == NVML_SUCCESS)
        *count = 0;
    return result;
}

/* Nothing draws on a simulated card, and no MPS server runs. */
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device, unsigned int *count,
                                                   nvmlProcessInfo_v1_t *processes)
{
    (void)processes;
    return none_running(device, count);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
                                                      nvmlProcessInfo_v2_t *processes)
{
    (void)processes;
    return none_running(device, count);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
                                                      nvmlProcessInfo_t *processes)
{
    (void)processes;
    return none_running(device, count);
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice_t device, unsigned int *count,
                                                     nvmlProcessInfo_v1_t *processes)
{
    (void)processes;
    return none_running(device, count);
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
                                                        nvmlProcessInfo_v2_t *processes)
{
    (void)processes;
    return none_running(device, count);
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
                                                        nvmlProcessInfo_t *processes)
{
    (void)processes;
    return none_running(device, count);
}

/* Kernels take no simulated time yet, so a card is always idle. */
nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization)
{
    nvmlReturn_t result = library_device(device, utilization);

    if (result == NVML_SUCCESS)
        *utilization = (nvmlUtilization_t){0};
    return result;
}

nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t *samples,
                                             unsigned int *count, unsigned long long lastSeenTimeStamp)
{
    nvmlReturn_t result = library_device(device, count);
    unsigned long long now;
    nvmlProcessInfo_t *processes;
    unsigned found = SIM_MAX_PROCESSES;
    struct timeval time;

    if (result != NVML_SUCCESS)
        return result;
    if (*count > 0 && !samples)
        return NVML_ERROR_INVALID_ARGUMENT;
    processes = calloc(found, sizeof *processes);
    if (!processes)
        return NVML_ERROR_MEMORY;
    result = running(device, &found, processes, sizeof *processes);
    gettimeofday(&time, NULL);
    now = (unsigned long long)time.tv_sec * 1000000 + (unsigned long long)time.tv_usec;
    if (result == NVML_SUCCESS && (found == 0 || now <= lastSeenTimeStamp))
        result = NVML_ERROR_NOT_FOUND;
    else if (result == NVML_SUCCESS && found > *count)
        result = NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < found && result == NVML_SUCCESS; i++)
        samples[i] = (nvmlProcessUtilizationSample_t){.pid = processes[i].pid, .timeStamp = now};
    *count = result == NVML_ERROR_NOT_FOUND ? 0 : found;
    free(processes);
    return result;
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor, unsigned int *celsius)
{
    nvmlReturn_t result = library_device(device, celsius);

    if (result == NVML_SUCCESS && sensor != NVML_TEMPERATURE_GPU)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS)
        *celsius = 31;
    return result;
}

/* An idle card draws about a tenth of its limit. */
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *milliwatts)
{
    nvmlReturn_t result = library_device(device, milliwatts);

    if (result == NVML_SUCCESS)
        *milliwatts = device->card->power_limit / 10;
    return result;
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned int *milliwatts)
{
    nvmlReturn_t result = library_device(device, milliwatts);

    if (result == NVML_SUCCESS)
        *milliwatts = device->card->power_limit;
    return result;
}
