/* SPDX-License-Identifier: Apache-2.0 */
/* Pools themselves: made, destroyed and trimmed; and the calls at which the driver lets them give up memory. */
#include "cuda_pools.h"

#include "common/lifetime.h"
#include "cuda/cuda_driver.h"
#include "cuda/cuda_timing.h"
#include "cuda/pool_books.h"
#include "cuda/pools.h"
#include "cuda/sparse.h"
#include "share/cards.h"

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props) {
    NEED(cuMemPoolCreate);
    CUresult result = DRIVER(cuMemPoolCreate)(pool, props);
    if (result == CUDA_SUCCESS && pool && props) {
        int device = cuda_device_of_memory(props->allocType, &props->location);
        pool_made((uint64_t)(uintptr_t)*pool, device >= 0 ? cuda_card_of(device) : CARD_UNLIMITED, device);
    }
    return result;
}

/* A place's own pool, of which only the place tells whether it is the host's. */
#define POOL_OF_PLACE(name)                                                                                            \
    CUresult name(CUmemoryPool *pool, CUmemLocation *location, int type) {                                             \
        NEED(name);                                                                                                    \
        CUresult result = DRIVER(name)(pool, location, type);                                                          \
        if (result == CUDA_SUCCESS && pool && location) {                                                              \
            int device = cuda_device_of_memory(type, location);                                                        \
            pool_open((uint64_t)(uintptr_t)*pool, device >= 0 ? cuda_card_of(device) : CARD_UNLIMITED, device);        \
        }                                                                                                              \
        return result;                                                                                                 \
    }

POOL_OF_PLACE(cuMemGetDefaultMemPool)
POOL_OF_PLACE(cuMemGetMemPool)

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    NEED(cuMemPoolDestroy);
    int card;
    pool_id id = pool_find((uint64_t)(uintptr_t)pool, &card);
    pool_destroy_begin(id);
    CUresult result = DRIVER(cuMemPoolDestroy)(pool);
    pool_destroy_end(id, result == CUDA_SUCCESS);
    return result;
}

static void read_if_known(CUmemoryPool pool) {
    int card;
    pool_id id = pool_find((uint64_t)(uintptr_t)pool, &card);
    if (id && card >= 0 && pools_readable())
        pools_read_one(id, (uint64_t)(uintptr_t)pool, 0);
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep) {
    NEED(cuMemPoolTrimTo);
    CUresult result = DRIVER(cuMemPoolTrimTo)(pool, minBytesToKeep);
    if (result == CUDA_SUCCESS)
        read_if_known(pool);
    return result;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    NEED(cuMemPoolSetAttribute);
    CUresult result = DRIVER(cuMemPoolSetAttribute)(pool, attribute, value);
    if (result == CUDA_SUCCESS)
        read_if_known(pool);
    return result;
}

/* Where the host sees that frees are done, the driver gives up what a pool has above its release threshold. */
#define SYNCHRONIZE(name, parameters, arguments, before)                                                               \
    CUresult name parameters {                                                                                         \
        NEED(name);                                                                                                    \
        before;                                                                                                        \
        CUresult result = DRIVER(name) arguments;                                                                      \
        timing_after_wait();                                                                                           \
        if (result == CUDA_SUCCESS) {                                                                                  \
            pools_read();                                                                                              \
            if (sparse_waiting())                                                                                      \
                sparse_settle();                                                                                       \
        }                                                                                                              \
        return result;                                                                                                 \
    }

SYNCHRONIZE(cuCtxSynchronize, (void), (), timing_before_wait())
SYNCHRONIZE(cuCtxSynchronize_v2, (CUcontext context), (context), timing_before_wait())
SYNCHRONIZE(cuStreamSynchronize, (CUstream stream), (stream), timing_before_stream_wait(stream, false))
SYNCHRONIZE(cuStreamSynchronize_ptsz, (CUstream stream), (stream), timing_before_stream_wait(stream, true))
SYNCHRONIZE(cuEventSynchronize, (CUevent event), (event), timing_before_wait())
