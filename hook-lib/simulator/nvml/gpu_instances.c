/* SPDX-License-Identifier: Apache-2.0 */
/* GPU instances: their profiles, placements, life. */
#include <stdio.h>

#include "mig.h"

#define KINDS 0x12 /* NVML_GPU_INSTANCE_PROFILE_COUNT */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nvmlGpuInstance_st handles[SIM_MAX_CARDS][SIM_MIG_MAX];

nvmlGpuInstance_t library_gpu_handle(nvmlDevice_t device, const struct sim_mig_instance *instance) {
    nvmlGpuInstance_t handle = &handles[device->card->index][instance->gpu];

    pthread_mutex_lock(&lock);
    handle->device = device;
    handle->instance = *instance;
    pthread_mutex_unlock(&lock);
    return handle;
}

nvmlReturn_t library_gpu_instance(nvmlGpuInstance_t handle, const void *output, struct sim_mig_instance *now) {
    nvmlReturn_t result = library_instance(handle, handles, sizeof handles[0][0], &handle->device, output);

    if (result != NVML_SUCCESS)
        return result;
    return sim_mig_gpu(&library_state, handle->device->card, handle->instance.gpu, now) &&
                   now->gpu_serial == handle->instance.gpu_serial
               ? NVML_SUCCESS
               : NVML_ERROR_INVALID_ARGUMENT;
}

/* The number of the profile of this kind, or if `by_id` with this id, which only the privileged ask for. */
static nvmlReturn_t find(nvmlDevice_t device, const void *output, unsigned value, bool by_id,
                         const struct sim_mig_profile **found, unsigned *number) {
    nvmlReturn_t result = library_device(device, output);
    const struct sim_mig_profile *profiles;
    unsigned count;

    if (result != NVML_SUCCESS)
        return result;
    profiles = sim_mig_profiles(device->card, &count);
    if (!profiles)
        return NVML_ERROR_NOT_SUPPORTED;
    for (*number = 0; *number < count; ++*number)
        if (value == (by_id ? profiles[*number].id : profiles[*number].kind)) {
            *found = &profiles[*number];
            return by_id ? library_privileged() : NVML_SUCCESS;
        }
    return !by_id && value < KINDS ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfo(nvmlDevice_t device, unsigned int profile,
                                                 nvmlGpuInstanceProfileInfo_t *info) {
    FAULT_POINT();
    const struct sim_mig_profile *found;
    unsigned number;
    nvmlReturn_t result = find(device, info, profile, false, &found, &number);

    if (result == NVML_SUCCESS)
        *info = (nvmlGpuInstanceProfileInfo_t){
            .id = found->id,
            .sliceCount = found->slices,
            .instanceCount = found->count,
            .multiprocessorCount = found->sm_count,
            .copyEngineCount = found->copy_engines,
            .decoderCount = found->decoders,
            .jpegCount = found->jpegs,
            .ofaCount = found->ofas,
            .memorySizeMB = found->memory_mib,
        };
    return result;
}

/* The third version has capabilities at its end in place of isP2pSupported. */
nvmlReturn_t nvmlDeviceGetGpuInstanceProfileInfoV(nvmlDevice_t device, unsigned int profile,
                                                  nvmlGpuInstanceProfileInfo_v2_t *info) {
    FAULT_POINT();
    nvmlGpuInstanceProfileInfo_t plain;
    nvmlReturn_t result = nvmlDeviceGetGpuInstanceProfileInfo(device, profile, info ? &plain : NULL);
    char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE];
    const struct sim_mig_profile *found;
    unsigned number, version;

    if (result != NVML_SUCCESS || (result = find(device, info, profile, false, &found, &number)) != NVML_SUCCESS)
        return result;
    version = info->version;
    snprintf(name, sizeof name, "MIG %s", found->name);
    if (version == nvmlGpuInstanceProfileInfo_v2) {
        *info = (nvmlGpuInstanceProfileInfo_v2_t){version,
                                                  plain.id,
                                                  0,
                                                  plain.sliceCount,
                                                  plain.instanceCount,
                                                  plain.multiprocessorCount,
                                                  plain.copyEngineCount,
                                                  plain.decoderCount,
                                                  0,
                                                  plain.jpegCount,
                                                  plain.ofaCount,
                                                  plain.memorySizeMB,
                                                  ""};
        return library_text(info->name, sizeof info->name, name);
    }
    if (version == nvmlGpuInstanceProfileInfo_v3) {
        nvmlGpuInstanceProfileInfo_v3_t *wide = (void *)info;

        *wide = (nvmlGpuInstanceProfileInfo_v3_t){version,
                                                  plain.id,
                                                  plain.sliceCount,
                                                  plain.instanceCount,
                                                  plain.multiprocessorCount,
                                                  plain.copyEngineCount,
                                                  plain.decoderCount,
                                                  0,
                                                  plain.jpegCount,
                                                  plain.ofaCount,
                                                  plain.memorySizeMB,
                                                  "",
                                                  0};
        return library_text(wide->name, sizeof wide->name, name);
    }
    return NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements_v2(nvmlDevice_t device, unsigned int profileId,
                                                           nvmlGpuInstancePlacement_t *placements,
                                                           unsigned int *count) {
    FAULT_POINT();
    const struct sim_mig_profile *found;
    unsigned number;
    nvmlReturn_t result = find(device, count, profileId, true, &found, &number);

    if (result != NVML_SUCCESS)
        return result;
    *count = 0;
    for (unsigned start = 0; start < 8; start++)
        if (sim_mig_may_start(found->starts, start)) {
            if (placements)
                placements[*count] = (nvmlGpuInstancePlacement_t){start, found->size};
            ++*count;
        }
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuInstancePossiblePlacements(nvmlDevice_t device, unsigned int profileId,
                                                        nvmlGpuInstancePlacement_t *placements, unsigned int *count) {
    FAULT_POINT();
    return nvmlDeviceGetGpuInstancePossiblePlacements_v2(device, profileId, placements, count);
}

/* As find by id, and MIG must be enabled. */
static nvmlReturn_t find_enabled(nvmlDevice_t device, const void *output, unsigned id,
                                 const struct sim_mig_profile **found, unsigned *number) {
    nvmlReturn_t result = find(device, output, id, true, found, number);

    if (result == NVML_SUCCESS && !sim_mig_enabled(&library_state, device->card->index))
        return NVML_ERROR_NOT_SUPPORTED;
    return result;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceRemainingCapacity(nvmlDevice_t device, unsigned int profileId,
                                                       unsigned int *count) {
    FAULT_POINT();
    const struct sim_mig_profile *found;
    unsigned number;
    nvmlReturn_t result = find_enabled(device, count, profileId, &found, &number);

    if (result == NVML_SUCCESS)
        *count = sim_mig_gpu_room(&library_state, device->card, number);
    return result;
}

static nvmlReturn_t create(nvmlDevice_t device, unsigned id, const nvmlGpuInstancePlacement_t *placement,
                           nvmlGpuInstance_t *gpuInstance) {
    const struct sim_mig_profile *found;
    struct sim_mig_instance made;
    unsigned number, slot;
    nvmlReturn_t result = find_enabled(device, gpuInstance, id, &found, &number);

    if (result != NVML_SUCCESS)
        return result;
    if (placement && (placement->size != found->size || !sim_mig_may_start(found->starts, placement->start)))
        return NVML_ERROR_INVALID_ARGUMENT;
    result = library_may_change();
    if (result == NVML_SUCCESS)
        result = library_mig_result(
            sim_mig_make_gpu(&library_state, device->card, number, placement ? (int)placement->start : -1, &slot));
    if (result != NVML_SUCCESS)
        return result;
    if (!sim_mig_gpu(&library_state, device->card, slot, &made))
        return NVML_ERROR_UNKNOWN; /* somebody ended it at once */
    *gpuInstance = library_gpu_handle(device, &made);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceCreateGpuInstance(nvmlDevice_t device, unsigned int profileId, nvmlGpuInstance_t *gpuInstance) {
    FAULT_POINT();
    return create(device, profileId, NULL, gpuInstance);
}

nvmlReturn_t nvmlDeviceCreateGpuInstanceWithPlacement(nvmlDevice_t device, unsigned int profileId,
                                                      const nvmlGpuInstancePlacement_t *placement,
                                                      nvmlGpuInstance_t *gpuInstance) {
    FAULT_POINT();
    return create(device, profileId, placement, placement ? gpuInstance : NULL);
}

nvmlReturn_t nvmlGpuInstanceDestroy(nvmlGpuInstance_t gpuInstance) {
    FAULT_POINT();
    struct sim_mig_instance now;
    nvmlReturn_t result = library_gpu_instance(gpuInstance, gpuInstance, &now);

    if (result == NVML_SUCCESS)
        result = library_may_change();
    if (result != NVML_SUCCESS)
        return result;
    return library_mig_result(
        sim_mig_end_gpu(&library_state, gpuInstance->device->card->index, now.gpu, now.gpu_serial, false));
}

nvmlReturn_t nvmlDeviceGetGpuInstances(nvmlDevice_t device, unsigned int profileId, nvmlGpuInstance_t *gpuInstances,
                                       unsigned int *count) {
    FAULT_POINT();
    struct sim_mig_instance list[SIM_MIG_MAX];
    const struct sim_mig_profile *found;
    unsigned number, all;
    nvmlReturn_t result = find_enabled(device, count && gpuInstances ? count : NULL, profileId, &found, &number);

    if (result != NVML_SUCCESS)
        return result;
    all = sim_mig_gpus(&library_state, device->card, list);
    *count = 0;
    for (unsigned i = 0; i < all; i++)
        if (list[i].profile == number)
            gpuInstances[(*count)++] = library_gpu_handle(device, &list[i]);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceById(nvmlDevice_t device, unsigned int id, nvmlGpuInstance_t *gpuInstance) {
    FAULT_POINT();
    struct sim_mig_instance list[SIM_MIG_MAX];
    nvmlReturn_t result = library_device(device, gpuInstance);
    unsigned all;

    if (result != NVML_SUCCESS)
        return result;
    if (!sim_mig_enabled(&library_state, device->card->index))
        return NVML_ERROR_NOT_SUPPORTED;
    if ((result = library_privileged()) != NVML_SUCCESS)
        return result;
    all = sim_mig_gpus(&library_state, device->card, list);
    for (unsigned i = 0; i < all; i++)
        if (list[i].gpu_id == id) {
            *gpuInstance = library_gpu_handle(device, &list[i]);
            return NVML_SUCCESS;
        }
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlGpuInstanceGetInfo(nvmlGpuInstance_t gpuInstance, nvmlGpuInstanceInfo_t *info) {
    FAULT_POINT();
    struct sim_mig_instance now;
    nvmlReturn_t result = library_gpu_instance(gpuInstance, info, &now);
    const struct sim_mig_profile *profile;
    unsigned count;

    if (result != NVML_SUCCESS)
        return result;
    profile = &sim_mig_profiles(gpuInstance->device->card, &count)[now.profile];
    *info = (nvmlGpuInstanceInfo_t){gpuInstance->device, now.gpu_id, profile->id, {now.start, profile->size}};
    return NVML_SUCCESS;
}
