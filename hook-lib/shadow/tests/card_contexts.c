/* SPDX-License-Identifier: Apache-2.0 */
#include "card_contexts.h"

#include "cuda_api.h"

static __thread uintptr_t current;

uintptr_t current_context(void) {
    return current;
}

int device_of_current_context(void) {
    return (int)((current - 1) % CONTEXT_CARDS);
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (char)device;
    return device < CONTEXT_CARDS ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    *context = (CUcontext)(uintptr_t)(device + 1);
    return device < CONTEXT_CARDS ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    current = (uintptr_t)context;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = (CUcontext)current;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    *device = (CUdevice)device_of_current_context();
    return current ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}
