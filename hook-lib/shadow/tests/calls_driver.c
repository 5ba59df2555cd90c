/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver that notes what it is called for in which stream, and in which context. Contexts, streams and events are
 * numbers: context 1 is the primary one, context 2 a green one of it; stream C * 4096 + N is one of context C. A green
 * context that is current in one thread cannot be made current in another one.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cuda_copies.h"
#include "cuda_events.h"
#include "cuda_green.h"
#include "cuda_launch.h"
#include "cuda_pools.h"
#include "cuda_semaphores.h"

enum { CALLS = 4096, DEPTH = 8, PRIMARY = 1, GREEN = 2 };

struct call {
    const char *name;
    CUstream stream;
    CUcontext current;
};

static struct call calls[CALLS];
static unsigned int count;
static __thread uintptr_t stack[DEPTH];
static __thread unsigned int depth;
static unsigned int green_current; /* in so many threads */

PARTITA_EXPORT unsigned int calls_driver_count(void);
PARTITA_EXPORT const struct call *calls_driver_call(unsigned int number);

/* Called within a launch, before the driver has it. */
PARTITA_EXPORT void (*calls_driver_launching)(void);

/* Nothing of what was launched is done. */
PARTITA_EXPORT bool calls_driver_hangs;

unsigned int calls_driver_count(void) {
    return __atomic_load_n(&count, __ATOMIC_ACQUIRE);
}

const struct call *calls_driver_call(unsigned int number) {
    return &calls[number % CALLS];
}

static uintptr_t current(void) {
    return depth ? stack[depth - 1] : 0;
}

static CUresult called(const char *name, CUstream stream) {
    calls[__atomic_fetch_add(&count, 1, __ATOMIC_ACQ_REL) % CALLS] = (struct call){name, stream, (CUcontext)current()};
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (char)(i + device);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    *device = 0;
    return current() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = (CUcontext)current();
    return CUDA_SUCCESS;
}

static CUresult push(uintptr_t context) {
    if (context == GREEN && __atomic_fetch_add(&green_current, 1, __ATOMIC_ACQ_REL) > 0) {
        __atomic_fetch_sub(&green_current, 1, __ATOMIC_ACQ_REL);
        called("green twice", NULL);
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    stack[depth++ % DEPTH] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
    return push((uintptr_t)context);
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    *context = (CUcontext)current();
    if (current() == GREEN)
        __atomic_fetch_sub(&green_current, 1, __ATOMIC_ACQ_REL);
    depth--;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    CUcontext former;
    if (depth)
        cuCtxPopCurrent_v2(&former);
    return push((uintptr_t)context);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    *context = (CUcontext)(uintptr_t)PRIMARY;
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuGreenCtxCreate(CUgreenCtx *green, CUdevResourceDesc descriptor, CUdevice device, unsigned int flags) {
    (void)descriptor, (void)flags;
    *green = (CUgreenCtx)(uintptr_t)GREEN;
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuCtxFromGreenCtx(CUcontext *context, CUgreenCtx green) {
    *context = (CUcontext)(void *)green;
    return CUDA_SUCCESS;
}

/* As in CUDA 12: it does not tell of green contexts' streams. */
CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    *context = (CUcontext)((uintptr_t)stream / 4096);
    return (uintptr_t)*context == GREEN ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
}

CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *context, CUgreenCtx *green) {
    bool is_green = (uintptr_t)stream / 4096 == GREEN;
    *context = (CUcontext)(is_green ? PRIMARY : (uintptr_t)stream / 4096);
    *green = is_green ? (CUgreenCtx)(uintptr_t)GREEN : NULL;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags) {
    static uintptr_t made;
    *stream = (CUstream)(current() * 4096 + 16 + ++made);
    called(flags & CU_STREAM_NON_BLOCKING ? "make a stream" : "make a blocking stream", *stream);
    return CUDA_SUCCESS;
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority) {
    (void)priority;
    return cuStreamCreate(stream, flags);
}

CUresult cuEventCreate(CUevent *event, unsigned int flags) {
    static char events[1024];
    static unsigned int made;
    (void)flags;
    *event = (CUevent)(void *)&events[__atomic_fetch_add(&made, 1, __ATOMIC_RELAXED) % sizeof events];
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    return event ? called("record", stream) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuEventQuery(CUevent event) {
    return !event ? called("query", NULL) : calls_driver_hangs ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end) {
    *ms = 0;
    return start && end ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuCtxSynchronize(void) {
    return called("wait", NULL);
}

CUresult cuLaunchKernel(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                        unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes,
                        CUstream stream, void **parameters, void **extra) {
    (void)function, (void)gridX, (void)gridY, (void)gridZ, (void)blockX, (void)blockY, (void)blockZ, (void)sharedBytes;
    (void)parameters, (void)extra;
    if (calls_driver_launching)
        calls_driver_launching();
    return called("launch", stream);
}

/* What may lie between kernels. */

CUresult cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream) {
    (void)destination, (void)source, (void)bytes;
    return called("cuMemcpyAsync", stream);
}

CUresult cuMemcpyAsync_ptsz(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream) {
    (void)destination, (void)source, (void)bytes;
    return called("cuMemcpyAsync_ptsz", stream);
}

CUresult cuMemcpyPeerAsync(CUdeviceptr destination, CUcontext destinationContext, CUdeviceptr source,
                           CUcontext sourceContext, size_t bytes, CUstream stream) {
    (void)destination, (void)destinationContext, (void)source, (void)sourceContext, (void)bytes;
    return called("cuMemcpyPeerAsync", stream);
}

CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr destination, CUcontext destinationContext, CUdeviceptr source,
                                CUcontext sourceContext, size_t bytes, CUstream stream) {
    (void)destination, (void)destinationContext, (void)source, (void)sourceContext, (void)bytes;
    return called("cuMemcpyPeerAsync_ptsz", stream);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void *source, size_t bytes, CUstream stream) {
    (void)destination, (void)source, (void)bytes;
    return called("cuMemcpyHtoDAsync_v2", stream);
}

CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr destination, const void *source, size_t bytes, CUstream stream) {
    (void)destination, (void)source, (void)bytes;
    return called("cuMemcpyHtoDAsync_v2_ptsz", stream);
}

CUresult cuMemcpyDtoHAsync_v2(void *destination, CUdeviceptr source, size_t bytes, CUstream stream) {
    (void)destination, (void)source, (void)bytes;
    return called("cuMemcpyDtoHAsync_v2", stream);
}

CUresult cuMemcpyDtoHAsync_v2_ptsz(void *destination, CUdeviceptr source, size_t bytes, CUstream stream) {
    (void)destination, (void)source, (void)bytes;
    return called("cuMemcpyDtoHAsync_v2_ptsz", stream);
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream) {
    (void)destination, (void)source, (void)bytes;
    return called("cuMemcpyDtoDAsync_v2", stream);
}

CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream) {
    (void)destination, (void)source, (void)bytes;
    return called("cuMemcpyDtoDAsync_v2_ptsz", stream);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream) {
    (void)copy;
    return called("cuMemcpy2DAsync_v2", stream);
}

CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *copy, CUstream stream) {
    (void)copy;
    return called("cuMemcpy2DAsync_v2_ptsz", stream);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream) {
    (void)copy;
    return called("cuMemcpy3DAsync_v2", stream);
}

CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D *copy, CUstream stream) {
    (void)copy;
    return called("cuMemcpy3DAsync_v2_ptsz", stream);
}

CUresult cuMemcpyBatchAsync(CUdeviceptr *destinations, CUdeviceptr *sources, size_t *sizes, size_t count,
                            CUmemcpyAttributes *attributes, size_t *indexes, size_t attributesCount, size_t *failed,
                            CUstream stream) {
    (void)destinations, (void)sources, (void)sizes, (void)count, (void)attributes, (void)indexes, (void)attributesCount,
        (void)failed;
    return called("cuMemcpyBatchAsync", stream);
}

CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *destinations, CUdeviceptr *sources, size_t *sizes, size_t count,
                                 CUmemcpyAttributes *attributes, size_t *indexes, size_t attributesCount,
                                 size_t *failed, CUstream stream) {
    (void)destinations, (void)sources, (void)sizes, (void)count, (void)attributes, (void)indexes, (void)attributesCount,
        (void)failed;
    return called("cuMemcpyBatchAsync_ptsz", stream);
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *destinations, CUdeviceptr *sources, size_t *sizes, size_t count,
                               CUmemcpyAttributes *attributes, size_t *indexes, size_t attributesCount,
                               CUstream stream) {
    (void)destinations, (void)sources, (void)sizes, (void)count, (void)attributes, (void)indexes, (void)attributesCount;
    return called("cuMemcpyBatchAsync_v2", stream);
}

CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *destinations, CUdeviceptr *sources, size_t *sizes, size_t count,
                                    CUmemcpyAttributes *attributes, size_t *indexes, size_t attributesCount,
                                    CUstream stream) {
    (void)destinations, (void)sources, (void)sizes, (void)count, (void)attributes, (void)indexes, (void)attributesCount;
    return called("cuMemcpyBatchAsync_v2_ptsz", stream);
}

CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUdevice device, CUstream stream) {
    (void)pointer, (void)bytes, (void)device;
    return called("cuMemPrefetchAsync", stream);
}

CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr pointer, size_t bytes, CUdevice device, CUstream stream) {
    (void)pointer, (void)bytes, (void)device;
    return called("cuMemPrefetchAsync_ptsz", stream);
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t bytes, CUmemLocation location, unsigned int flags,
                               CUstream stream) {
    (void)pointer, (void)bytes, (void)location, (void)flags;
    return called("cuMemPrefetchAsync_v2", stream);
}

CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr pointer, size_t bytes, CUmemLocation location, unsigned int flags,
                                    CUstream stream) {
    (void)pointer, (void)bytes, (void)location, (void)flags;
    return called("cuMemPrefetchAsync_v2_ptsz", stream);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
    (void)event, (void)flags;
    return called("cuStreamWaitEvent", stream);
}

CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned int flags) {
    (void)event, (void)flags;
    return called("cuStreamWaitEvent_ptsz", stream);
}

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
    (void)address, (void)value, (void)flags;
    return called("cuStreamWaitValue32", stream);
}

CUresult cuStreamWaitValue32_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
    (void)address, (void)value, (void)flags;
    return called("cuStreamWaitValue32_ptsz", stream);
}

CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
    (void)address, (void)value, (void)flags;
    return called("cuStreamWaitValue32_v2", stream);
}

CUresult cuStreamWaitValue32_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags) {
    (void)address, (void)value, (void)flags;
    return called("cuStreamWaitValue32_v2_ptsz", stream);
}

CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
    (void)address, (void)value, (void)flags;
    return called("cuStreamWaitValue64", stream);
}

CUresult cuStreamWaitValue64_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
    (void)address, (void)value, (void)flags;
    return called("cuStreamWaitValue64_ptsz", stream);
}

CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
    (void)address, (void)value, (void)flags;
    return called("cuStreamWaitValue64_v2", stream);
}

CUresult cuStreamWaitValue64_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags) {
    (void)address, (void)value, (void)flags;
    return called("cuStreamWaitValue64_v2_ptsz", stream);
}

CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *operations,
                            unsigned int flags) {
    (void)count, (void)operations, (void)flags;
    return called("cuStreamBatchMemOp", stream);
}

CUresult cuStreamBatchMemOp_ptsz(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *operations,
                                 unsigned int flags) {
    (void)count, (void)operations, (void)flags;
    return called("cuStreamBatchMemOp_ptsz", stream);
}

CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *operations,
                               unsigned int flags) {
    (void)count, (void)operations, (void)flags;
    return called("cuStreamBatchMemOp_v2", stream);
}

CUresult cuStreamBatchMemOp_v2_ptsz(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *operations,
                                    unsigned int flags) {
    (void)count, (void)operations, (void)flags;
    return called("cuStreamBatchMemOp_v2_ptsz", stream);
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *userData, unsigned int flags) {
    (void)callback, (void)userData, (void)flags;
    return called("cuStreamAddCallback", stream);
}

CUresult cuStreamAddCallback_ptsz(CUstream stream, CUstreamCallback callback, void *userData, unsigned int flags) {
    (void)callback, (void)userData, (void)flags;
    return called("cuStreamAddCallback_ptsz", stream);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *userData) {
    (void)function, (void)userData;
    return called("cuLaunchHostFunc", stream);
}

CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function, void *userData) {
    (void)function, (void)userData;
    return called("cuLaunchHostFunc_ptsz", stream);
}

CUresult cuLaunchHostFunc_v2(CUstream stream, CUhostFn function, void *userData, unsigned int syncMode) {
    (void)function, (void)userData, (void)syncMode;
    return called("cuLaunchHostFunc_v2", stream);
}

CUresult cuLaunchHostFunc_v2_ptsz(CUstream stream, CUhostFn function, void *userData, unsigned int syncMode) {
    (void)function, (void)userData, (void)syncMode;
    return called("cuLaunchHostFunc_v2_ptsz", stream);
}

CUresult cuWaitExternalSemaphoresAsync(const CUexternalSemaphore *semaphores,
                                       const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params, unsigned int count,
                                       CUstream stream) {
    (void)semaphores, (void)params, (void)count;
    return called("cuWaitExternalSemaphoresAsync", stream);
}

CUresult cuWaitExternalSemaphoresAsync_ptsz(const CUexternalSemaphore *semaphores,
                                            const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params, unsigned int count,
                                            CUstream stream) {
    (void)semaphores, (void)params, (void)count;
    return called("cuWaitExternalSemaphoresAsync_ptsz", stream);
}
