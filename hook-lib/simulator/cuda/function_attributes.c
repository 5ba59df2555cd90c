/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel says of itself: that of one without shared or local memory, of any name. */
#include "capture.h"
#include "cuda_launch.h"

static CUresult attribute(int *value, CUfunction_attribute attribute) {
    if (driver_ready() != CUDA_SUCCESS)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!value)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = 1024;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = 32;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = 90;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute wanted, CUfunction function) {
    FAULT_POINT();
    CUresult result = attribute(value, wanted);

    return result == CUDA_SUCCESS && !function ? CUDA_ERROR_INVALID_HANDLE : result;
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute wanted, CUkernel kernel, CUdevice device) {
    FAULT_POINT();
    CUresult result = attribute(value, wanted);

    (void)device;
    return result == CUDA_SUCCESS && !kernel ? CUDA_ERROR_INVALID_HANDLE : result;
}
