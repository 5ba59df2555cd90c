/* SPDX-License-Identifier: Apache-2.0 */
/* What a device holds and who does: memory, processes. */
#include <stdlib.h>
#include <string.h>

#include "library.h"

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
    FAULT_POINT();
    nvmlReturn_t result = library_aggregate(device, memory);
    struct sim_limit limit;
    uint64_t capacity, used;

    if (result != NVML_SUCCESS)
        return result;
    if (memory->version != nvmlMemory_v2)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    capacity = device->card->memory - device->card->reserved;
    memory->total = device->card->memory;
    memory->reserved = device->card->reserved;
    memory->used = device->parent ? sim_mig_gpu_used(&library_state, device->card->index, device->instance.gpu)
                                  : sim_card_used(&library_state, device->card->index);
    if (!device->parent && sim_limit_own(&library_state, device->card->index, &limit, &used)) {
        capacity = memory->total = limit.hard;
        memory->reserved = 0;
        memory->used = used;
    }
    memory->free = memory->used < capacity ? capacity - memory->used : 0;
    return NVML_SUCCESS;
}

/* The first version counts what the driver reserves as used. */
nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    FAULT_POINT();
    nvmlMemory_v2_t wide = {.version = nvmlMemory_v2};
    nvmlReturn_t result = library_any_device(device, memory);

    if (result == NVML_SUCCESS)
        result = nvmlDeviceGetMemoryInfo_v2(device, &wide);
    if (result == NVML_SUCCESS)
        *memory = (nvmlMemory_t){.total = wide.total, .free = wide.free, .used = wide.used + wide.reserved};
    return result;
}

/* The processes of a unit that this pid namespace can see, with the numbers of its instances; added to `entries`. */
static unsigned add_running(unsigned unit, const struct sim_mig_instance *instance, nvmlProcessInfo_t *entries,
                            unsigned count, struct sim_process_use *uses) {
    unsigned found = sim_state_processes(&library_state, unit, uses, SIM_MAX_PROCESSES);

    for (unsigned i = 0; i < found && i < SIM_MAX_PROCESSES && count < SIM_MAX_PROCESSES; i++)
        if (library_pid(&uses[i]))
            entries[count++] = (nvmlProcessInfo_t){
                .pid = library_pid(&uses[i]),
                .usedGpuMemory = uses[i].memory + uses[i].overhead,
                .gpuInstanceId = instance ? instance->gpu_id : NVML_NO_INSTANCE,
                .computeInstanceId = instance ? instance->id : NVML_NO_INSTANCE,
            };
    return count;
}

/* A card with MIG lists the processes of all of its instances. */
static unsigned list_running(nvmlDevice_t device, nvmlProcessInfo_t *entries, struct sim_process_use *uses) {
    struct sim_mig_instance list[SIM_MIG_MAX];
    unsigned count = 0, instances;

    if (device->parent)
        return add_running(device->card->unit, &device->instance, entries, 0, uses);
    count = add_running(device->card->unit, NULL, entries, 0, uses);
    instances =
        sim_mig_enabled(&library_state, device->card->index) ? sim_mig_computes(&library_state, device->card, list) : 0;
    for (unsigned i = 0; i < instances; i++)
        count = add_running(SIM_MIG_UNIT(device->card->index, list[i].slot), &list[i], entries, count, uses);
    return count;
}

/* *count is the room on entry and the number on return; with too little room nothing is written but the number. */
static nvmlReturn_t running(nvmlDevice_t device, unsigned *count, void *processes, size_t stride) {
    nvmlReturn_t result = library_aggregate(device, count);
    struct sim_process_use *uses;
    nvmlProcessInfo_t *entries;
    unsigned visible;

    if (result != NVML_SUCCESS)
        return result;
    if (*count > 0 && !processes)
        return NVML_ERROR_INVALID_ARGUMENT;
    uses = calloc(SIM_MAX_PROCESSES, sizeof *uses);
    entries = calloc(SIM_MAX_PROCESSES, sizeof *entries);
    if (!uses || !entries) {
        free(uses);
        free(entries);
        return NVML_ERROR_MEMORY;
    }
    visible = list_running(device, entries, uses);
    result = visible <= *count ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < visible && result == NVML_SUCCESS; i++)
        memcpy((char *)processes + i * stride, &entries[i], stride); /* _v1 is the beginning of the later layout */
    *count = visible;
    free(uses);
    free(entries);
    return result;
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned int *count,
                                                  nvmlProcessInfo_v1_t *processes) {
    FAULT_POINT();
    return running(device, count, processes, sizeof *processes);
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
                                                     nvmlProcessInfo_v2_t *processes) {
    FAULT_POINT();
    return running(device, count, processes, sizeof *processes);
}

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
                                                     nvmlProcessInfo_t *processes) {
    FAULT_POINT();
    return running(device, count, processes, sizeof *processes);
}

static nvmlReturn_t none_running(nvmlDevice_t device, unsigned *count) {
    nvmlReturn_t result = library_aggregate(device, count);

    if (result == NVML_SUCCESS)
        *count = 0;
    return result;
}

/* Nothing draws on a simulated card, and no MPS server runs. */
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device, unsigned int *count,
                                                   nvmlProcessInfo_v1_t *processes) {
    FAULT_POINT();
    (void)processes;
    return none_running(device, count);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
                                                      nvmlProcessInfo_v2_t *processes) {
    FAULT_POINT();
    (void)processes;
    return none_running(device, count);
}

nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
                                                      nvmlProcessInfo_t *processes) {
    FAULT_POINT();
    (void)processes;
    return none_running(device, count);
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice_t device, unsigned int *count,
                                                     nvmlProcessInfo_v1_t *processes) {
    FAULT_POINT();
    (void)processes;
    return none_running(device, count);
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t device, unsigned int *count,
                                                        nvmlProcessInfo_v2_t *processes) {
    FAULT_POINT();
    (void)processes;
    return none_running(device, count);
}

nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device, unsigned int *count,
                                                        nvmlProcessInfo_t *processes) {
    FAULT_POINT();
    (void)processes;
    return none_running(device, count);
}
