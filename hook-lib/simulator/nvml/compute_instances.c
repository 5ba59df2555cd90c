/* SPDX-License-Identifier: Apache-2.0 */
/* Compute instances of a GPU instance. */
#include <stdio.h>

#include "mig.h"

#define KINDS 0x9 /* NVML_COMPUTE_INSTANCE_PROFILE_COUNT */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nvmlComputeInstance_st handles[SIM_MAX_CARDS][SIM_MIG_MAX];

/* A GPU instance with its profile, and the profile of compute instances of this kind, which is its id, too. */
struct place {
    const struct sim_card *card;
    struct sim_mig_instance gpu;
    const struct sim_mig_profile *profile;
    const struct sim_mig_compute_profile *part;
};

static nvmlReturn_t find(nvmlGpuInstance_t handle, const void *output, unsigned kind, struct place *place) {
    nvmlReturn_t result = library_gpu_instance(handle, output, &place->gpu);
    unsigned count;

    if (result != NVML_SUCCESS)
        return result;
    place->card = handle->device->card;
    place->profile = &sim_mig_profiles(place->card, &count)[place->gpu.profile];
    place->part = sim_mig_compute_kind(place->profile, kind);
    return place->part ? NVML_SUCCESS : kind < KINDS ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_INVALID_ARGUMENT;
}

static nvmlComputeInstance_t handle_of(nvmlDevice_t device, const struct sim_mig_instance *instance) {
    nvmlComputeInstance_t handle = &handles[device->card->index][instance->slot];

    pthread_mutex_lock(&lock);
    handle->device = device;
    handle->instance = *instance;
    pthread_mutex_unlock(&lock);
    return handle;
}

static nvmlReturn_t check(nvmlComputeInstance_t handle, const void *output, struct sim_mig_instance *now) {
    nvmlReturn_t result = library_instance(handle, handles, sizeof handles[0][0], &handle->device, output);

    if (result != NVML_SUCCESS)
        return result;
    return sim_mig_compute(&library_state, handle->device->card, handle->instance.slot, now) &&
                   now->serial == handle->instance.serial
               ? NVML_SUCCESS
               : NVML_ERROR_INVALID_ARGUMENT;
}

/* How many of a profile a GPU instance of its own has room for. */
static unsigned most(const struct place *place) {
    unsigned count = 0;

    for (const char *start = place->part->starts; *start; start++)
        count += (unsigned)(*start - '0') + place->part->slices <= place->profile->slices;
    return count;
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfo(nvmlGpuInstance_t gpuInstance, unsigned int profile,
                                                          unsigned int engProfile,
                                                          nvmlComputeInstanceProfileInfo_t *info) {
    FAULT_POINT();
    struct place place;
    nvmlReturn_t result = find(gpuInstance, info, profile, &place);

    if (result == NVML_SUCCESS && engProfile != NVML_COMPUTE_INSTANCE_ENGINE_PROFILE_SHARED)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS)
        *info = (nvmlComputeInstanceProfileInfo_t){
            .id = place.part->kind,
            .sliceCount = place.part->slices,
            .instanceCount = most(&place),
            .multiprocessorCount = sim_mig_compute_sm_count(place.card, place.profile, place.part),
            .sharedCopyEngineCount = place.profile->copy_engines,
            .sharedDecoderCount = place.profile->decoders,
            .sharedJpegCount = place.profile->jpegs,
            .sharedOfaCount = place.profile->ofas,
        };
    return result;
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstanceProfileInfoV(nvmlGpuInstance_t gpuInstance, unsigned int profile,
                                                           unsigned int engProfile,
                                                           nvmlComputeInstanceProfileInfo_v2_t *info) {
    FAULT_POINT();
    nvmlComputeInstanceProfileInfo_t plain;
    nvmlReturn_t result =
        nvmlGpuInstanceGetComputeInstanceProfileInfo(gpuInstance, profile, engProfile, info ? &plain : NULL);
    char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE] = "MIG ";
    struct place place;

    if (result != NVML_SUCCESS || (result = find(gpuInstance, info, profile, &place)) != NVML_SUCCESS)
        return result;
    if (info->version != nvmlComputeInstanceProfileInfo_v2)
        return NVML_ERROR_INVALID_ARGUMENT;
    *info = (nvmlComputeInstanceProfileInfo_v2_t){info->version,
                                                  plain.id,
                                                  plain.sliceCount,
                                                  plain.instanceCount,
                                                  plain.multiprocessorCount,
                                                  plain.sharedCopyEngineCount,
                                                  plain.sharedDecoderCount,
                                                  0,
                                                  plain.sharedJpegCount,
                                                  plain.sharedOfaCount,
                                                  ""};
    sim_mig_compute_name(place.profile, place.part, name + 4, sizeof name - 4);
    return library_text(info->name, sizeof info->name, name);
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstanceRemainingCapacity(nvmlGpuInstance_t gpuInstance, unsigned int profileId,
                                                                unsigned int *count) {
    FAULT_POINT();
    struct place place;
    nvmlReturn_t result = find(gpuInstance, count, profileId, &place);

    if (result == NVML_SUCCESS)
        result = library_privileged();
    if (result == NVML_SUCCESS)
        *count = sim_mig_compute_room(&library_state, place.card, &place.gpu, profileId);
    return result;
}

nvmlReturn_t nvmlGpuInstanceCreateComputeInstance(nvmlGpuInstance_t gpuInstance, unsigned int profileId,
                                                  nvmlComputeInstance_t *computeInstance) {
    FAULT_POINT();
    struct sim_mig_instance made;
    struct place place;
    unsigned slot;
    nvmlReturn_t result = find(gpuInstance, computeInstance, profileId, &place);

    if (result == NVML_SUCCESS)
        result = library_may_change();
    if (result == NVML_SUCCESS)
        result = library_mig_result(sim_mig_make_compute(&library_state, place.card, place.gpu.gpu,
                                                         place.gpu.gpu_serial, profileId, -1, &slot));
    if (result != NVML_SUCCESS)
        return result;
    if (!sim_mig_compute(&library_state, place.card, slot, &made))
        return NVML_ERROR_UNKNOWN; /* somebody ended it at once */
    *computeInstance = handle_of(gpuInstance->device, &made);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlComputeInstanceDestroy(nvmlComputeInstance_t computeInstance) {
    FAULT_POINT();
    struct sim_mig_instance now;
    nvmlReturn_t result = check(computeInstance, computeInstance, &now);

    if (result == NVML_SUCCESS)
        result = library_may_change();
    if (result != NVML_SUCCESS)
        return result;
    return library_mig_result(
        sim_mig_end_compute(&library_state, computeInstance->device->card->index, now.slot, now.serial));
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstances(nvmlGpuInstance_t gpuInstance, unsigned int profileId,
                                                nvmlComputeInstance_t *computeInstances, unsigned int *count) {
    FAULT_POINT();
    struct sim_mig_instance list[SIM_MIG_MAX];
    struct place place;
    unsigned all;
    nvmlReturn_t result = find(gpuInstance, count && computeInstances ? count : NULL, profileId, &place);

    if (result == NVML_SUCCESS)
        result = library_privileged();
    if (result != NVML_SUCCESS)
        return result;
    all = sim_mig_computes(&library_state, place.card, list);
    *count = 0;
    for (unsigned i = 0; i < all; i++)
        if (list[i].gpu_serial == place.gpu.gpu_serial && list[i].kind == profileId)
            computeInstances[(*count)++] = handle_of(gpuInstance->device, &list[i]);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpuInstanceGetComputeInstanceById(nvmlGpuInstance_t gpuInstance, unsigned int id,
                                                   nvmlComputeInstance_t *computeInstance) {
    FAULT_POINT();
    struct sim_mig_instance gpu, list[SIM_MIG_MAX];
    nvmlReturn_t result = library_gpu_instance(gpuInstance, computeInstance, &gpu);
    unsigned all;

    if (result == NVML_SUCCESS)
        result = library_privileged();
    if (result != NVML_SUCCESS)
        return result;
    all = sim_mig_computes(&library_state, gpuInstance->device->card, list);
    for (unsigned i = 0; i < all; i++)
        if (list[i].gpu_serial == gpu.gpu_serial && list[i].id == id) {
            *computeInstance = handle_of(gpuInstance->device, &list[i]);
            return NVML_SUCCESS;
        }
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlComputeInstanceGetInfo_v2(nvmlComputeInstance_t computeInstance, nvmlComputeInstanceInfo_t *info) {
    FAULT_POINT();
    struct sim_mig_instance now;
    nvmlReturn_t result = check(computeInstance, info, &now);
    unsigned count;

    if (result != NVML_SUCCESS)
        return result;
    *info = (nvmlComputeInstanceInfo_t){
        .device = computeInstance->device,
        .gpuInstance = library_gpu_handle(computeInstance->device, &now),
        .id = now.id,
        .profileId = now.kind,
        .placement = {now.compute_start,
                      sim_mig_compute_kind(&sim_mig_profiles(computeInstance->device->card, &count)[now.profile],
                                           now.kind)
                          ->slices},
    };
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlComputeInstanceGetInfo(nvmlComputeInstance_t computeInstance, nvmlComputeInstanceInfo_t *info) {
    FAULT_POINT();
    return nvmlComputeInstanceGetInfo_v2(computeInstance, info);
}
