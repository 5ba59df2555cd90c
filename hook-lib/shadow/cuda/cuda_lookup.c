/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuGetProcAddress: the driver resolves name, version and flags; only the pointer that it returns is exchanged for its
 * wrapper, which must have the name, too. So ABI, per-thread default stream and symbolStatus are the driver's, and an
 * unknown symbol stays what it is.
 */
#include "common/lifetime.h"
#include "cuda/cuda_driver.h"

CUresult cuGetProcAddress(const char *symbol, void **function, int cudaVersion, cuuint64_t flags) {
    NEED(cuGetProcAddress);
    CUresult result = DRIVER(cuGetProcAddress)(symbol, function, cudaVersion, flags);
    if (result == CUDA_SUCCESS && function)
        *function = cuda_wrapper_of(*function, symbol, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    return result;
}

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *symbolStatus) {
    NEED(cuGetProcAddress_v2);
    CUresult result = DRIVER(cuGetProcAddress_v2)(symbol, function, cudaVersion, flags, symbolStatus);
    if (result == CUDA_SUCCESS && function)
        *function = cuda_wrapper_of(*function, symbol, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    return result;
}
