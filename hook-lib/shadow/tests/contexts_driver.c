/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver that has one context and one primary context, and memory in them, a pool besides the default one, and hardly
 * anything else. Each has the same handle whenever it is made; a green context has the handle of the ordinary one. What
 * the test has put in contexts_driver_meanwhile happens when a context has ended, before the call that ended it
 * returns, or in a call that allocates from a pool, before it does.
 */
#include "cuda_green.h"
#include "cuda_pools.h"

#include <stdbool.h>
#include <string.h>

enum { BLOCKS = 64 };

struct CUctx_st {
    unsigned int references;
};

struct CUmemPoolHandle_st {
    size_t reserved;
};

static struct CUctx_st ordinary, primary;
static struct CUmemPoolHandle_st default_pool, made_pool;
static bool green; /* the ordinary handle is a green context's */
static __thread CUcontext current;
static struct {
    size_t size;
    CUcontext context;
    CUdeviceptr address;
} blocks[BLOCKS];
static CUdeviceptr next = 1 << 30; /* no address comes again */

PARTITA_EXPORT size_t contexts_driver_used(void);
PARTITA_EXPORT extern void (*contexts_driver_meanwhile)(void);
void (*contexts_driver_meanwhile)(void);
PARTITA_EXPORT void contexts_driver_refuse_green(bool refuse);
static bool refuse_green; /* green contexts are not destroyed */

void contexts_driver_refuse_green(bool refuse) {
    refuse_green = refuse;
}

size_t contexts_driver_used(void) {
    size_t used = default_pool.reserved + made_pool.reserved;
    for (int i = 0; i < BLOCKS; i++)
        used += __atomic_load_n(&blocks[i].size, __ATOMIC_RELAXED);
    return used;
}

static void happen_meanwhile(void) {
    void (*meanwhile)(void) = contexts_driver_meanwhile;
    contexts_driver_meanwhile = NULL;
    if (meanwhile)
        meanwhile();
}

static CUresult end(CUcontext context) {
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].context == context)
            memset(&blocks[i], 0, sizeof blocks[i]);
    context->references = 0;
    happen_meanwhile();
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (char)(i + device);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    *device = 0;
    return current ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = current;
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    current = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device) {
    if (ordinary.references || flags || device)
        return CUDA_ERROR_INVALID_VALUE;
    ordinary.references = 1;
    *context = current = &ordinary;
    return CUDA_SUCCESS;
}

CUresult cuCtxDestroy_v2(CUcontext context) {
    return context == &ordinary && ordinary.references ? end(context) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxAttach(CUcontext *context, unsigned int flags) {
    if (!current || flags)
        return CUDA_ERROR_INVALID_VALUE;
    current->references++;
    *context = current;
    return CUDA_SUCCESS;
}

CUresult cuCtxDetach(CUcontext context) {
    if (context != &ordinary || !ordinary.references)
        return CUDA_ERROR_INVALID_CONTEXT;
    return --ordinary.references ? CUDA_SUCCESS : end(context);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    __atomic_fetch_add(&primary.references, 1, __ATOMIC_SEQ_CST);
    *context = &primary;
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    if (device || !primary.references)
        return CUDA_ERROR_INVALID_CONTEXT;
    return __atomic_sub_fetch(&primary.references, 1, __ATOMIC_SEQ_CST) ? CUDA_SUCCESS : end(&primary);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    if (device)
        return CUDA_ERROR_INVALID_DEVICE;
    default_pool.reserved = made_pool.reserved = 0;
    return end(&primary);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active) {
    *flags = 0;
    *active = __atomic_load_n(&primary.references, __ATOMIC_SEQ_CST) > 0;
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuGreenCtxCreate(CUgreenCtx *created, CUdevResourceDesc descriptor, CUdevice device, unsigned int flags) {
    if (ordinary.references || descriptor || device || flags)
        return CUDA_ERROR_INVALID_VALUE;
    ordinary.references = 1;
    primary.references++;
    green = true;
    *created = (CUgreenCtx)(void *)&green;
    return CUDA_SUCCESS;
}

CUresult cuCtxFromGreenCtx(CUcontext *context, CUgreenCtx from) {
    *context = &ordinary;
    return green && from ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuGreenCtxDestroy(CUgreenCtx destroyed) {
    if (!green || !destroyed)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (refuse_green)
        return CUDA_ERROR_UNKNOWN;
    green = false;
    ordinary.references = 0;
    return cuDevicePrimaryCtxRelease_v2(0);
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
    for (int i = 0; i < BLOCKS && current && current->references; i++)
        if (!blocks[i].size) {
            blocks[i].context = current == &ordinary && green ? &primary : current;
            blocks[i].size = bytes;
            *pointer = blocks[i].address = next;
            next += bytes;
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].size && blocks[i].address == pointer) {
            memset(&blocks[i], 0, sizeof blocks[i]);
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
    *pool = &default_pool;
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
    return cuDeviceGetMemPool(pool, device);
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props) {
    *pool = &made_pool;
    return props->location.id ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    if (attribute != CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
        return CUDA_ERROR_INVALID_VALUE;
    *(cuuint64_t *)value = pool->reserved;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream) {
    happen_meanwhile();
    pool->reserved += bytes;
    *pointer = next;
    next += bytes;
    return stream ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream) {
    return cuMemAllocFromPoolAsync(pointer, bytes, &default_pool, stream);
}
