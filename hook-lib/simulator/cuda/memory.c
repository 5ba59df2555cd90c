/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation and memory figures, in every ABI that the driver exports. */
#include <stdlib.h>

#include "capture.h"

#define PITCH_ALIGNMENT 512

static CUresult allocate(uint64_t bytes, bool low, bool managed, CUdeviceptr *pointer) {
    struct CUctx_st *context;
    CUresult result = driver_home(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!pointer || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    result = unsafe_call();
    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    result = block_allocate(context, bytes, low, managed, pointer);
    pthread_mutex_unlock(&driver_lock);
    return result;
}

static CUresult release(CUdeviceptr pointer) {
    struct CUctx_st *context;
    CUresult result = driver_home(&context);

    if (result != CUDA_SUCCESS || pointer == 0)
        return result;
    result = unsafe_call();
    if (result != CUDA_SUCCESS)
        return result;
    if (!sim_contrary(&driver_node, SIM_FREES_DO_NOT_WAIT))
        driver_settle(context); /* kernels may still use it */
    pthread_mutex_lock(&driver_lock);
    result = block_free(pointer);
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
    FAULT_POINT();
    return allocate(bytes, false, false, pointer);
}

CUresult cuMemAlloc(CUdeviceptr_v1 *pointer, unsigned int bytes) {
    FAULT_POINT();
    CUdeviceptr wide;
    CUresult result = allocate(bytes, true, false, pointer ? &wide : NULL);

    if (result == CUDA_SUCCESS)
        *pointer = (CUdeviceptr_v1)wide;
    return result;
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
    FAULT_POINT();
    return release(pointer);
}

CUresult cuMemFree(CUdeviceptr_v1 pointer) {
    FAULT_POINT();
    return release(pointer);
}

static CUresult allocate_pitch(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height, unsigned element,
                               bool low) {
    size_t rounded = (width + PITCH_ALIGNMENT - 1) / PITCH_ALIGNMENT * PITCH_ALIGNMENT, bytes;
    CUresult result;

    if (!pitch || (element != 4 && element != 8 && element != 16) || __builtin_mul_overflow(rounded, height, &bytes))
        return driver_ready() == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_INITIALIZED;
    result = allocate(bytes, low, false, pointer);
    if (result == CUDA_SUCCESS)
        *pitch = rounded;
    return result;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *pointer, size_t *pitch, size_t widthInBytes, size_t height,
                            unsigned int elementSizeBytes) {
    FAULT_POINT();
    return allocate_pitch(pointer, pitch, widthInBytes, height, elementSizeBytes, false);
}

CUresult cuMemAllocPitch(CUdeviceptr_v1 *pointer, unsigned int *pitch, unsigned int widthInBytes, unsigned int height,
                         unsigned int elementSizeBytes) {
    FAULT_POINT();
    CUdeviceptr wide;
    size_t wide_pitch;
    CUresult result = allocate_pitch(pointer ? &wide : NULL, pitch ? &wide_pitch : NULL, widthInBytes, height,
                                     elementSizeBytes, true);

    if (result == CUDA_SUCCESS) {
        *pointer = (CUdeviceptr_v1)wide;
        *pitch = (unsigned)wide_pitch;
    }
    return result;
}

CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned int flags) {
    FAULT_POINT();
    flags &= ~(unsigned)CU_MEM_ATTACH_SINGLE;
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    return allocate(bytes, false, true, pointer);
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr pointer) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_home(&context);
    CUdeviceptr found;
    uint64_t length;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    result = block_range(pointer, &found, &length);
    pthread_mutex_unlock(&driver_lock);
    if (result != CUDA_SUCCESS)
        return CUDA_ERROR_NOT_FOUND;
    if (base)
        *base = found;
    if (size)
        *size = length;
    return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange(CUdeviceptr_v1 *base, unsigned int *size, CUdeviceptr_v1 pointer) {
    FAULT_POINT();
    CUdeviceptr wide = 0;
    size_t length = 0;
    CUresult result = cuMemGetAddressRange_v2(&wide, &length, pointer);

    if (result == CUDA_SUCCESS && base)
        *base = (CUdeviceptr_v1)wide;
    if (result == CUDA_SUCCESS && size)
        *size = (unsigned)length;
    return result;
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_home(&context);
    struct sim_limit limit;
    const struct device *device;
    uint64_t capacity, used;

    if (result != CUDA_SUCCESS)
        return result;
    if (!free || !total)
        return CUDA_ERROR_INVALID_VALUE;
    device = &driver_devices[context->ordinal];
    if (sim_limit_own(&driver_state, device->card->unit, &limit, &used)) {
        capacity = limit.hard;
    } else {
        capacity = device_capacity(device);
        used = device_used(device);
    }
    *total = capacity;
    *free = used < capacity ? capacity - used : 0;
    return CUDA_SUCCESS;
}

static unsigned narrow(size_t bytes) {
    return bytes > UINT32_MAX ? UINT32_MAX : (unsigned)bytes;
}

CUresult cuMemGetInfo(unsigned int *free, unsigned int *total) {
    FAULT_POINT();
    size_t wide_free, wide_total;
    CUresult result = cuMemGetInfo_v2(free ? &wide_free : NULL, total ? &wide_total : NULL);

    if (result == CUDA_SUCCESS) {
        *free = narrow(wide_free);
        *total = narrow(wide_total);
    }
    return result;
}

CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_home(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!pointer || bytes == 0 || flags > 7)
        return CUDA_ERROR_INVALID_VALUE;
    result = unsafe_call();
    if (result != CUDA_SUCCESS)
        return result;
    return posix_memalign(pointer, 4096, bytes) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemAllocHost_v2(void **pointer, size_t bytes) {
    FAULT_POINT();
    return cuMemHostAlloc(pointer, bytes, 0);
}

CUresult cuMemAllocHost(void **pointer, unsigned int bytes) {
    FAULT_POINT();
    return cuMemHostAlloc(pointer, bytes, 0);
}

CUresult cuMemFreeHost(void *pointer) {
    FAULT_POINT();
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (!pointer)
        return CUDA_ERROR_INVALID_VALUE;
    ready = unsafe_call();
    if (ready != CUDA_SUCCESS)
        return ready;
    free(pointer);
    return CUDA_SUCCESS;
}
