/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver whose calls cost next to nothing and always the same: what a benchmark sees is the shadow's own cost. The
 * address freed last is given out next, as drivers do.
 */
#include "cuda_events.h"
#include "cuda_pages.h"

static CUdeviceptr next = UINT64_C(1) << 40, freed;

CUresult cuInit(unsigned int flags) {
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = (CUcontext)&next;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (char)(i + device);
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
    *pointer = freed ? freed : next;
    if (!freed)
        next += (bytes + 511) & ~(size_t)511;
    freed = 0;
    return CUDA_SUCCESS;
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
    freed = pointer;
    return pointer ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                     unsigned long long flags) {
    static CUmemGenericAllocationHandle handles;
    (void)size, (void)prop, (void)flags;
    *handle = ++handles;
    return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr pointer, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
    (void)pointer, (void)size, (void)offset, (void)handle, (void)flags;
    return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr pointer, size_t size) {
    (void)pointer, (void)size;
    return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    *free = *total = (size_t)1 << 37;
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                        unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes,
                        CUstream stream, void **parameters, void **extra) {
    (void)function, (void)gridX, (void)gridY, (void)gridZ, (void)blockX, (void)blockY, (void)blockZ, (void)sharedBytes;
    (void)stream, (void)parameters, (void)extra;
    return CUDA_SUCCESS;
}

#ifndef WITHOUT_EVENTS
CUresult cuEventCreate(CUevent *event, unsigned int flags) {
    static char events[1024];
    static unsigned int made;
    (void)flags;
    *event = (CUevent)(void *)&events[made++ % sizeof events];
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    (void)event, (void)stream;
    return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
    (void)event;
    return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    (void)start, (void)end;
    *milliseconds = 0;
    return CUDA_SUCCESS;
}
#endif

CUresult cuStreamQuery(CUstream stream) {
    (void)stream;
    return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, int *status) {
    (void)stream;
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
    (void)mode;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    (void)stream;
    return cuCtxGetCurrent(context);
}
