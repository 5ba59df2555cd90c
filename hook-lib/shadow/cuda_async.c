/*
 * Stream-ordered allocation, charged per allocation and given back when the free is enqueued. What a pool keeps reserved beyond
 * that is not seen here.
 */
#include "cuda_charge.h"
#include "cuda_driver.h"
#include "lifetime.h"

#define ALLOC_ASYNC(name)                                                                                             \
    CUresult name(CUdeviceptr *pointer, size_t bytes, CUstream stream) {                                              \
        NEED(name);                                                                                                   \
        if (!pointer || bytes == 0)                                                                                   \
            return DRIVER(name)(pointer, bytes, stream);                                                              \
        struct charge charge;                                                                                         \
        CUresult result = charge_begin(&charge, bytes);                                                               \
        if (result != CUDA_SUCCESS)                                                                                   \
            return result;                                                                                            \
        result = DRIVER(name)(pointer, bytes, stream);                                                                \
        return charge_end(&charge, result, *pointer);                                                                 \
    }

#define ALLOC_FROM_POOL(name)                                                                                         \
    CUresult name(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream) {                           \
        NEED(name);                                                                                                   \
        if (!pointer || bytes == 0)                                                                                   \
            return DRIVER(name)(pointer, bytes, pool, stream);                                                        \
        struct charge charge;                                                                                         \
        CUresult result = charge_begin(&charge, bytes);                                                               \
        if (result != CUDA_SUCCESS)                                                                                   \
            return result;                                                                                            \
        result = DRIVER(name)(pointer, bytes, pool, stream);                                                          \
        return charge_end(&charge, result, *pointer);                                                                 \
    }

#define FREE_ASYNC(name)                                                                                              \
    CUresult name(CUdeviceptr pointer, CUstream stream) {                                                             \
        NEED(name);                                                                                                   \
        uint64_t taken = charge_take(pointer);                                                                        \
        return charge_return(taken, DRIVER(name)(pointer, stream), pointer);                                          \
    }

ALLOC_ASYNC(cuMemAllocAsync)
ALLOC_ASYNC(cuMemAllocAsync_ptsz)
ALLOC_FROM_POOL(cuMemAllocFromPoolAsync)
ALLOC_FROM_POOL(cuMemAllocFromPoolAsync_ptsz)
FREE_ASYNC(cuMemFreeAsync)
FREE_ASYNC(cuMemFreeAsync_ptsz)
