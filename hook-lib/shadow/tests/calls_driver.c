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
    return event ? CUDA_SUCCESS : called("query", NULL);
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
    return called("launch", stream);
}
