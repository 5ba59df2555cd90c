/* SPDX-License-Identifier: Apache-2.0 */
/* The devices' primary contexts, which are counted. */
#include "driver.h"

CUresult primary_retain(CUdevice device, struct CUctx_st **context) {
    struct device *found = &driver_devices[device];
    CUresult result = CUDA_SUCCESS;

    if (!found->primary)
        result = context_create(device, found->primary_flags, true, &found->primary);
    if (result == CUDA_SUCCESS) {
        found->primary->retained++;
        *context = found->primary;
    }
    return result;
}

void primary_release(CUdevice device) {
    struct device *found = &driver_devices[device];

    if (--found->primary->retained == 0) {
        context_destroy(found->primary);
        found->primary = NULL;
    }
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

static CUresult release(CUdevice device, bool all) {
    struct device *found;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    if (all) {
        pool_reset(device);
        graph_memory_reset(device);
    }
    if (!found->primary)
        result = all ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    else {
        found->primary->retained = all ? 1 : found->primary->retained;
        primary_release(device);
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    FAULT_POINT();
    return release(device, false);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
    FAULT_POINT();
    return release(device, false);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    FAULT_POINT();
    return release(device, true);
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) {
    FAULT_POINT();
    return release(device, true);
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
