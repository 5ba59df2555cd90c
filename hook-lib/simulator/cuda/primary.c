/* SPDX-License-Identifier: Apache-2.0 */
/* The devices' primary contexts, which are counted. */
#include "driver.h"

CUresult primary_retain(CUdevice device, struct CUctx_st **context) {
    struct device *found = &driver_devices[device];
    CUresult result = CUDA_SUCCESS;

    if (!found->primary)
        result = context_create(device, found->primary_flags, true, &found->primary);
    if (result == CUDA_SUCCESS) {
        found->retained++;
        *context = found->primary;
    }
    return result;
}

static void end(struct device *device) {
    if (device->primary)
        context_destroy(device->primary);
    device->primary = NULL;
}

void primary_release(CUdevice device) {
    if (--driver_devices[device].retained == 0)
        end(&driver_devices[device]);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    FAULT_POINT();
    struct device *found;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    result = primary_retain(device, context);
    pthread_mutex_unlock(&driver_lock);
    return result;
}

static CUresult release(CUdevice device) {
    struct device *found;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    if (found->retained == 0)
        result = CUDA_ERROR_INVALID_CONTEXT;
    else
        primary_release(device);
    pthread_mutex_unlock(&driver_lock);
    return result;
}

/* "Resetting the primary context does not release it" (cuda.h): who has retained it releases it afterwards, too. */
static CUresult reset(CUdevice device) {
    struct device *found;
    CUresult result = driver_device(device, &found);
    unsigned parts;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    pool_reset(device);
    graph_memory_reset(device);
    parts = found->primary ? context_parts(found->primary) : 0; /* they end, and nobody releases it for them later */
    found->retained -= parts < found->retained ? parts : found->retained;
    end(found);
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    FAULT_POINT();
    return release(device);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    FAULT_POINT();
    return release(device);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    FAULT_POINT();
    return reset(device);
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
    FAULT_POINT();
    return reset(device);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active) {
    FAULT_POINT();
    struct device *found;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    *flags = found->primary_flags;
    *active = found->primary != NULL;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
    FAULT_POINT();
    struct device *found;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    if (flags & ~CU_CTX_FLAGS_MASK)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    found->primary_flags = flags;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

/* Before _v2 the flags of an active context could not change. */
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags) {
    FAULT_POINT();
    struct device *found;
    CUresult result = driver_device(device, &found);

    bool active;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    active = found->primary != NULL;
    pthread_mutex_unlock(&driver_lock);
    return active ? CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE : cuDevicePrimaryCtxSetFlags_v2(device, flags);
}
