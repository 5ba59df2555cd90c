/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "driver.h"

uint64_t device_capacity(const struct device *device) {
    return device->card->memory - device->card->reserved;
}

uint64_t device_used(const struct device *device) {
    return device->instance.serial ? sim_mig_gpu_used(&driver_state, device->whole->index, device->instance.gpu)
                                   : sim_state_used(&driver_state, device->card->unit);
}

bool device_present(const struct device *device) {
    struct sim_mig_instance now;

    if (!device->instance.serial)
        return !sim_mig_enabled(&driver_state, device->whole->index);
    return sim_mig_enabled(&driver_state, device->whole->index) &&
           sim_mig_compute(&driver_state, device->whole, device->instance.slot, &now) &&
           now.serial == device->instance.serial;
}

CUresult cuDeviceGetCount(int *count) {
    FAULT_POINT();
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (!count)
        return CUDA_ERROR_INVALID_VALUE;
    *count = driver_device_count;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
    FAULT_POINT();
    struct device *found;
    CUresult result = driver_device(ordinal, &found);

    if (result != CUDA_SUCCESS)
        return result;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
    FAULT_POINT();
    struct device *found;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    if (!name || length <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    snprintf(name, (size_t)length, "%s", found->card->name);
    return CUDA_SUCCESS;
}

/* The two versions differ only under MIG, where _v2 gives the instance's UUID. */
CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    FAULT_POINT();
    struct device *found;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    if (!uuid)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(uuid->bytes, found->card->uuid_bytes, sizeof uuid->bytes);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    FAULT_POINT();
    CUresult result = cuDeviceGetUuid_v2(uuid, device);

    if (result == CUDA_SUCCESS)
        memcpy(uuid->bytes, driver_devices[device].whole->uuid_bytes, sizeof uuid->bytes);
    return result;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    FAULT_POINT();
    struct device *found;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    *bytes = device_capacity(found);
    return CUDA_SUCCESS;
}

/* 32 bits: a larger card shows as all that fits. */
CUresult cuDeviceTotalMem(unsigned int *bytes, CUdevice device) {
    FAULT_POINT();
    size_t wide = 0;
    CUresult result = cuDeviceTotalMem_v2(bytes ? &wide : NULL, device);

    if (result == CUDA_SUCCESS)
        *bytes = wide > UINT32_MAX ? UINT32_MAX : (unsigned)wide;
    return result;
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
    FAULT_POINT();
    struct device *found;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    if (!major || !minor)
        return CUDA_ERROR_INVALID_VALUE;
    *major = found->card->cc_major;
    *minor = found->card->cc_minor;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *busId, int length, CUdevice device) {
    FAULT_POINT();
    struct device *found;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    if (!busId || length <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    sim_pci_bus_id(found->card, 4, busId, (unsigned)length);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *busId) {
    FAULT_POINT();
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (!device || !busId)
        return CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < driver_device_count; i++)
        if (sim_pci_bus_id_matches(driver_devices[i].card, busId)) {
            *device = i;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_DEVICE;
}
