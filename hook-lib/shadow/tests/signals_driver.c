/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver that may be called by a signal's handler in the middle of any of its calls: it holds no lock. It knows what
 * is allocated, and has a card that does one kernel after the other, each as long as signals_driver_kernel_ns.
 */
#include <stdbool.h>
#include <time.h>

#include "cuda_events.h"
#include "cuda_pools.h"

enum { PLACES = 4096, EVENTS = 4096 };
static const CUdeviceptr FIRST = UINT64_C(1) << 40, APART = UINT64_C(1) << 32;

static uint64_t sizes[PLACES], used, most;
static uint64_t done_at, busy, events[EVENTS];
PARTITA_EXPORT uint64_t signals_driver_kernel_ns;
PARTITA_EXPORT uint64_t signals_driver_used(void);
PARTITA_EXPORT uint64_t signals_driver_most(void); /* at any moment so far */
PARTITA_EXPORT uint64_t signals_driver_busy(void); /* ns of the kernels so far */

uint64_t signals_driver_used(void) {
    return __atomic_load_n(&used, __ATOMIC_SEQ_CST);
}

uint64_t signals_driver_most(void) {
    return __atomic_load_n(&most, __ATOMIC_SEQ_CST);
}

uint64_t signals_driver_busy(void) {
    return __atomic_load_n(&busy, __ATOMIC_SEQ_CST);
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

CUresult cuInit(unsigned int flags) {
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = (CUcontext)&used;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (char)(i + device);
    return CUDA_SUCCESS;
}

/* One pool: what of it is handed out, and what is spare, in MiB. It keeps what is freed until it is trimmed. */
static uint64_t pool_mib; /* bits 0-31 used, 32-63 spare */

static void use_card(uint64_t bytes) {
    uint64_t now = __atomic_add_fetch(&used, bytes, __ATOMIC_SEQ_CST),
             former = __atomic_load_n(&most, __ATOMIC_SEQ_CST);
    while (former < now &&
           !__atomic_compare_exchange_n(&most, &former, now, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
    (void)device;
    *pool = (CUmemoryPool)&pool_mib;
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    uint64_t mib = __atomic_load_n(&pool_mib, __ATOMIC_SEQ_CST);
    (void)pool;
    if (attribute != CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
        return CUDA_ERROR_INVALID_VALUE;
    *(cuuint64_t *)value = ((mib & UINT32_MAX) + (mib >> 32)) << 20;
    return CUDA_SUCCESS;
}

/* What comes from the pool lies above what cuMemAlloc gives, its size in MiB in the bits below 2^20. */
static const CUdeviceptr OF_POOL = UINT64_C(1) << 50;

CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream) {
    static uint64_t made;
    uint64_t size = bytes >> 20, mib = __atomic_load_n(&pool_mib, __ATOMIC_SEQ_CST), spare;
    (void)stream;
    do
        spare = mib >> 32 < size ? mib >> 32 : size;
    while (!__atomic_compare_exchange_n(&pool_mib, &mib, mib + size - (spare << 32), false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST));
    use_card((size - spare) << 20);
    *pointer = OF_POOL | (__atomic_add_fetch(&made, 1, __ATOMIC_SEQ_CST) % 4096) << 32 | size;
    return CUDA_SUCCESS;
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
    uint64_t size = pointer & UINT32_MAX;
    (void)stream;
    __atomic_add_fetch(&pool_mib, (size << 32) - size, __ATOMIC_SEQ_CST);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes) {
    if (bytes == SIZE_MAX)
        return CUDA_SUCCESS;
    uint64_t spare = __atomic_fetch_and(&pool_mib, UINT32_MAX, __ATOMIC_SEQ_CST) >> 32;
    (void)pool;
    __atomic_sub_fetch(&used, spare << 20, __ATOMIC_SEQ_CST);
    return CUDA_SUCCESS;
}

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
    for (uint64_t i = 0; i < PLACES; i++) {
        uint64_t none = 0;
        if (!__atomic_compare_exchange_n(&sizes[i], &none, bytes, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
            continue;
        use_card(bytes);
        *pointer = FIRST + i * APART;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
    if (pointer & OF_POOL)
        return cuMemFreeAsync(pointer, NULL);
    if (pointer < FIRST || (pointer - FIRST) % APART || (pointer - FIRST) / APART >= PLACES)
        return CUDA_ERROR_INVALID_VALUE;
    uint64_t *place = &sizes[(pointer - FIRST) / APART];
    __atomic_sub_fetch(&used, __atomic_load_n(place, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
    return __atomic_exchange_n(place, 0, __ATOMIC_SEQ_CST) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
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
    uint64_t now = now_ns(), before = __atomic_load_n(&done_at, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(&done_at, &before, (before > now ? before : now) + signals_driver_kernel_ns,
                                        false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    __atomic_add_fetch(&busy, signals_driver_kernel_ns, __ATOMIC_SEQ_CST);
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned int flags) {
    static unsigned int made;
    (void)flags;
    *event = (CUevent)(void *)&events[__atomic_fetch_add(&made, 1, __ATOMIC_SEQ_CST) % EVENTS];
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    uint64_t now = now_ns(), done = __atomic_load_n(&done_at, __ATOMIC_SEQ_CST);
    (void)stream;
    *(uint64_t *)(void *)event = done > now ? done : now;
    return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
    return *(uint64_t *)(void *)event <= now_ns() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    *milliseconds = (float)((double)*(uint64_t *)(void *)end - (double)*(uint64_t *)(void *)start) / 1e6f;
    return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream stream) {
    (void)stream;
    return __atomic_load_n(&done_at, __ATOMIC_SEQ_CST) <= now_ns() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
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
