/* SPDX-License-Identifier: Apache-2.0 */
/* MIG: the mode, and MIG devices, which are handles for compute instances. */
#include <stdio.h>
#include <unistd.h>

#include "mig.h"

nvmlReturn_t library_instance(const void *handle, const void *handles, size_t size, const nvmlDevice_t *device,
                              const void *output) {
    nvmlReturn_t result = library_ready();
    bool known = false;

    if (result != NVML_SUCCESS)
        return result;
    for (size_t i = 0; i < (size_t)SIM_MAX_CARDS * SIM_MIG_MAX; i++)
        known |= handle == (const char *)handles + i * size;
    return known && *device ? library_device(*device, output) : NVML_ERROR_INVALID_ARGUMENT;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nvmlDevice_st mig_devices[SIM_MAX_CARDS][SIM_MIG_MAX];
static struct sim_card mig_cards[SIM_MAX_CARDS][SIM_MIG_MAX];

nvmlReturn_t library_privileged(void) {
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/" SIM_CONF_PATH, library_node.root);
    return access(path, W_OK) == 0 && library_state.writable ? NVML_SUCCESS : NVML_ERROR_NO_PERMISSION;
}

nvmlReturn_t library_may_change(void) {
    static pthread_mutex_t joining = PTHREAD_MUTEX_INITIALIZER;
    bool joined;

    if (library_privileged() != NVML_SUCCESS)
        return NVML_ERROR_NO_PERMISSION;
    pthread_mutex_lock(&joining);
    joined = sim_state_join(&library_state);
    pthread_mutex_unlock(&joining);
    return joined ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

nvmlReturn_t library_mig_result(enum sim_mig_result result) {
    switch (result) {
    case SIM_MIG_DONE:
        return NVML_SUCCESS;
    case SIM_MIG_OFF:
        return NVML_ERROR_NOT_SUPPORTED;
    case SIM_MIG_NO_ROOM:
        return NVML_ERROR_INSUFFICIENT_RESOURCES;
    case SIM_MIG_IN_USE:
        return NVML_ERROR_IN_USE;
    default:
        return NVML_ERROR_INVALID_ARGUMENT;
    }
}

nvmlDevice_t library_mig_device(nvmlDevice_t parent, const struct sim_mig_instance *instance) {
    unsigned index = parent->card->index;
    struct nvmlDevice_st *device = &mig_devices[index][instance->slot];

    pthread_mutex_lock(&lock);
    if (device->instance.serial != instance->serial) {
        device->parent = parent;
        device->card = &mig_cards[index][instance->slot];
        device->instance = *instance;
        sim_mig_card(parent->card, instance, &mig_cards[index][instance->slot]);
    }
    pthread_mutex_unlock(&lock);
    return device;
}

bool library_is_mig_device(nvmlDevice_t device) {
    const struct nvmlDevice_st *first = &mig_devices[0][0];

    return device >= first && device < first + SIM_MAX_CARDS * SIM_MIG_MAX &&
           ((const char *)device - (const char *)first) % sizeof *device == 0 && device->parent;
}

nvmlReturn_t library_any_device(nvmlDevice_t device, const void *output) {
    struct sim_mig_instance now;

    if (library_ready() != NVML_SUCCESS || !library_is_mig_device(device))
        return library_device(device, output);
    if (!output)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (sim_card_lost(&library_node, device->parent->card))
        return NVML_ERROR_GPU_IS_LOST;
    return sim_mig_enabled(&library_state, device->parent->card->index) &&
                   sim_mig_compute(&library_state, device->parent->card, device->instance.slot, &now) &&
                   now.serial == device->instance.serial
               ? NVML_SUCCESS
               : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t library_aggregate(nvmlDevice_t device, const void *output) {
    nvmlReturn_t result = library_any_device(device, output);

    return result == NVML_SUCCESS && !library_is_mig_device(device) &&
                   sim_mig_enabled(&library_state, device->card->index)
               ? library_privileged()
               : result;
}

static nvmlReturn_t mig_device(nvmlDevice_t device, const void *output) {
    nvmlReturn_t result = library_any_device(device, output);

    return result == NVML_SUCCESS && !library_is_mig_device(device) ? NVML_ERROR_INVALID_ARGUMENT : result;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned int *current, unsigned int *pending) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, current && pending ? current : NULL);

    if (result != NVML_SUCCESS)
        return result;
    if (!device->card->mig_capable)
        return NVML_ERROR_NOT_SUPPORTED;
    *current = library_state.region->migs[device->card->index].enabled;
    *pending = library_state.region->migs[device->card->index].pending;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceSetMigMode(nvmlDevice_t device, unsigned int mode, nvmlReturn_t *activationStatus) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, activationStatus);
    unsigned count;

    if (result != NVML_SUCCESS)
        return result;
    if (mode > NVML_DEVICE_MIG_ENABLE)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (!sim_mig_profiles(device->card, &count))
        return NVML_ERROR_NOT_SUPPORTED;
    result = library_may_change();
    if (result == NVML_SUCCESS)
        *activationStatus = library_mig_result(sim_mig_switch(&library_state, device->card->index, mode));
    return result;
}

nvmlReturn_t nvmlDeviceGetMaxMigDeviceCount(nvmlDevice_t device, unsigned int *count) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, count);

    if (result == NVML_SUCCESS)
        *count = sim_mig_enabled(&library_state, device->card->index) ? SIM_MIG_MAX : 0;
    return result;
}

nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t device, unsigned int index, nvmlDevice_t *migDevice) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, migDevice);
    struct sim_mig_instance list[SIM_MIG_MAX];

    if (result != NVML_SUCCESS)
        return result;
    if (!sim_mig_enabled(&library_state, device->card->index))
        return NVML_ERROR_NOT_SUPPORTED;
    if (index >= SIM_MIG_MAX)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (index >= sim_mig_visible_computes(&library_state, &library_node, device->card, list))
        return NVML_ERROR_NOT_FOUND;
    *migDevice = library_mig_device(device, &list[index]);
    return NVML_SUCCESS;
}

unsigned library_mig_index(nvmlDevice_t device) {
    struct sim_mig_instance list[SIM_MIG_MAX];
    unsigned count = sim_mig_visible_computes(&library_state, &library_node, device->parent->card, list), index = 0;

    while (index < count && list[index].serial != device->instance.serial)
        index++;
    return index;
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned int *isMigDevice) {
    FAULT_POINT();
    nvmlReturn_t result = library_any_device(device, isMigDevice);

    if (result == NVML_SUCCESS)
        *isMigDevice = library_is_mig_device(device);
    return result;
}

nvmlReturn_t nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_t migDevice, nvmlDevice_t *device) {
    FAULT_POINT();
    nvmlReturn_t result = mig_device(migDevice, device);

    if (result == NVML_SUCCESS)
        *device = migDevice->parent;
    return result;
}

nvmlReturn_t nvmlDeviceGetGpuInstanceId(nvmlDevice_t device, unsigned int *id) {
    FAULT_POINT();
    nvmlReturn_t result = mig_device(device, id);

    if (result == NVML_SUCCESS)
        *id = device->instance.gpu_id;
    return result;
}

nvmlReturn_t nvmlDeviceGetComputeInstanceId(nvmlDevice_t device, unsigned int *id) {
    FAULT_POINT();
    nvmlReturn_t result = mig_device(device, id);

    if (result == NVML_SUCCESS)
        *id = device->instance.id;
    return result;
}

nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t device, nvmlDeviceAttributes_t *attributes) {
    FAULT_POINT();
    nvmlReturn_t result = library_any_device(device, attributes);
    const struct sim_mig_profile *profile;
    unsigned count;

    if (result != NVML_SUCCESS)
        return result;
    if (!library_is_mig_device(device))
        return NVML_ERROR_NOT_SUPPORTED;
    profile = &sim_mig_profiles(device->card, &count)[device->instance.profile];
    *attributes = (nvmlDeviceAttributes_t){
        .multiprocessorCount = (unsigned)device->card->sm_count,
        .sharedCopyEngineCount = profile->copy_engines,
        .sharedDecoderCount = profile->decoders,
        .sharedJpegCount = profile->jpegs,
        .sharedOfaCount = profile->ofas,
        .gpuInstanceSliceCount = profile->slices,
        .computeInstanceSliceCount = sim_mig_compute_kind(profile, device->instance.kind)->slices,
        .memorySizeMB = profile->memory_mib,
    };
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetAttributes(nvmlDevice_t device, nvmlDeviceAttributes_t *attributes) {
    FAULT_POINT();
    return nvmlDeviceGetAttributes_v2(device, attributes);
}
