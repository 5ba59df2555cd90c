/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation and release of linear memory, but for rows (cuda_pitch.c). Where a share oversubscribes and its part of
 * the card is full, managed memory stands in, except for the functions with 32-bit addresses. A NULL output or a size
 * of 0 is the driver's to refuse.
 */
#include "common/lifetime.h"
#include "cuda/cuda_charge.h"
#include "cuda/cuda_driver.h"
#include "cuda/pools.h"

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
    NEED(cuMemAlloc_v2);
    if (!pointer || bytes == 0)
        return DRIVER(cuMemAlloc_v2)(pointer, bytes);
    struct charge charge;
    CUresult result = charge_begin_movable(&charge, bytes);
    if (result != CUDA_SUCCESS)
        return result;
    CUdeviceptr former = *pointer;
    if (charge.memory == SHARE_PAGED)
        result = DRIVER(cuMemAllocManaged)(pointer, bytes, CU_MEM_ATTACH_GLOBAL);
    else
        result = DRIVER(cuMemAlloc_v2)(pointer, bytes);
    return charge_end_linear(&charge, result, pointer, former);
}

CUresult cuMemAlloc(CUdeviceptr_v1 *pointer, unsigned int bytes) {
    NEED(cuMemAlloc);
    if (!pointer || bytes == 0)
        return DRIVER(cuMemAlloc)(pointer, bytes);
    struct charge charge;
    CUresult result = charge_begin_in_context(&charge, bytes);
    if (result != CUDA_SUCCESS)
        return result;
    CUdeviceptr_v1 former = *pointer;
    result = DRIVER(cuMemAlloc)(pointer, bytes);
    if (charge_end(&charge, result, *pointer))
        return result;
    result = charge_undo(&charge, DRIVER(cuMemFree) ? DRIVER(cuMemFree)(*pointer) : CUDA_ERROR_NOT_SUPPORTED);
    *pointer = former;
    return result;
}

CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned int flags) {
    NEED(cuMemAllocManaged);
    if (!pointer || bytes == 0)
        return DRIVER(cuMemAllocManaged)(pointer, bytes, flags);
    struct charge charge;
    CUresult result = charge_begin_managed(&charge, bytes);
    if (result != CUDA_SUCCESS)
        return result;
    CUdeviceptr former = *pointer;
    result = DRIVER(cuMemAllocManaged)(pointer, bytes, flags);
    return charge_end_linear(&charge, result, pointer, former);
}

/* The entry goes first: once the driver has freed the address, another thread may get it. */
CUresult cuMemFree_v2(CUdeviceptr pointer) {
    NEED(cuMemFree_v2);
    uint64_t taken = charge_take(pointer);
    uint64_t lent = taken ? 0 : pools_take(pointer);
    CUresult result = DRIVER(cuMemFree_v2)(pointer);
    pools_return(lent, pointer, result);
    return charge_return(taken, result, pointer);
}

CUresult cuMemFree(CUdeviceptr_v1 pointer) {
    NEED(cuMemFree);
    uint64_t taken = charge_take(pointer);
    uint64_t lent = taken ? 0 : pools_take(pointer);
    CUresult result = DRIVER(cuMemFree)(pointer);
    pools_return(lent, pointer, result);
    return charge_return(taken, result, pointer);
}
