/* Allocation and release of linear memory. A NULL output or a size of 0 is the driver's to refuse. */
#include "cuda_charge.h"
#include "cuda_driver.h"
#include "lifetime.h"
#include "pools.h"

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
    NEED(cuMemAlloc_v2);
    if (!pointer || bytes == 0)
        return DRIVER(cuMemAlloc_v2)(pointer, bytes);
    struct charge charge;
    CUresult result = charge_begin_in_context(&charge, bytes);
    if (result != CUDA_SUCCESS)
        return result;
    result = DRIVER(cuMemAlloc_v2)(pointer, bytes);
    return charge_end(&charge, result, *pointer);
}

CUresult cuMemAlloc(CUdeviceptr_v1 *pointer, unsigned int bytes) {
    NEED(cuMemAlloc);
    if (!pointer || bytes == 0)
        return DRIVER(cuMemAlloc)(pointer, bytes);
    struct charge charge;
    CUresult result = charge_begin_in_context(&charge, bytes);
    if (result != CUDA_SUCCESS)
        return result;
    result = DRIVER(cuMemAlloc)(pointer, bytes);
    return charge_end(&charge, result, *pointer);
}

/* Managed memory moves in whole pages of the card, however small it is. */
static uint64_t managed_bytes(uint64_t bytes) {
    const uint64_t page = 2 << 20;
    return bytes > UINT64_MAX - page ? bytes : (bytes + page - 1) / page * page;
}

CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned int flags) {
    NEED(cuMemAllocManaged);
    if (!pointer || bytes == 0)
        return DRIVER(cuMemAllocManaged)(pointer, bytes, flags);
    struct charge charge;
    CUresult result = charge_begin_in_context(&charge, managed_bytes(bytes));
    if (result != CUDA_SUCCESS)
        return result;
    result = DRIVER(cuMemAllocManaged)(pointer, bytes, flags);
    return charge_end(&charge, result, *pointer);
}

/* At least what the driver will take; the pitch that it chooses is charged afterwards. */
static uint64_t least_bytes(uint64_t width, uint64_t height) {
    uint64_t bytes;
    return __builtin_mul_overflow(width, height, &bytes) ? UINT64_MAX : bytes;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *pointer, size_t *pitch, size_t widthInBytes, size_t height,
                            unsigned int elementSizeBytes) {
    NEED(cuMemAllocPitch_v2);
    if (!pointer || !pitch || widthInBytes == 0 || height == 0)
        return DRIVER(cuMemAllocPitch_v2)(pointer, pitch, widthInBytes, height, elementSizeBytes);
    struct charge charge;
    CUresult result = charge_begin_in_context(&charge, least_bytes(widthInBytes, height));
    if (result != CUDA_SUCCESS)
        return result;
    result = DRIVER(cuMemAllocPitch_v2)(pointer, pitch, widthInBytes, height, elementSizeBytes);
    if (result == CUDA_SUCCESS && !charge_change(&charge, least_bytes(*pitch, height))) {
        if (DRIVER(cuMemFree_v2))
            DRIVER(cuMemFree_v2)(*pointer);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    return charge_end(&charge, result, *pointer);
}

CUresult cuMemAllocPitch(CUdeviceptr_v1 *pointer, unsigned int *pitch, unsigned int widthInBytes, unsigned int height,
                         unsigned int elementSizeBytes) {
    NEED(cuMemAllocPitch);
    if (!pointer || !pitch || widthInBytes == 0 || height == 0)
        return DRIVER(cuMemAllocPitch)(pointer, pitch, widthInBytes, height, elementSizeBytes);
    struct charge charge;
    CUresult result = charge_begin_in_context(&charge, least_bytes(widthInBytes, height));
    if (result != CUDA_SUCCESS)
        return result;
    result = DRIVER(cuMemAllocPitch)(pointer, pitch, widthInBytes, height, elementSizeBytes);
    if (result == CUDA_SUCCESS && !charge_change(&charge, least_bytes(*pitch, height))) {
        if (DRIVER(cuMemFree))
            DRIVER(cuMemFree)(*pointer);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    return charge_end(&charge, result, *pointer);
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
