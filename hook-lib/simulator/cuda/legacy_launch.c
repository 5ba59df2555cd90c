/* SPDX-License-Identifier: Apache-2.0 */
/* Launches before CUDA 4: block shape and parameters are set on the function, the grid has two dimensions. */
#include <string.h>

#include "cuda_launch.h"
#include "driver.h"

static CUresult check(CUfunction function) {
    struct CUctx_st *context;
    CUresult result = driver_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    return function ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z) {
    FAULT_POINT();
    CUresult result = check(function);

    if (result != CUDA_SUCCESS)
        return result;
    if (x <= 0 || y <= 0 || z <= 0 || (int64_t)x * y * z > 1024)
        return CUDA_ERROR_INVALID_VALUE;
    function->block[0] = x;
    function->block[1] = y;
    function->block[2] = z;
    return CUDA_SUCCESS;
}

CUresult cuFuncSetSharedSize(CUfunction function, unsigned int bytes) {
    FAULT_POINT();
    CUresult result = check(function);

    if (result == CUDA_SUCCESS)
        function->shared_bytes = bytes;
    return result;
}

CUresult cuParamSetSize(CUfunction function, unsigned int bytes) {
    FAULT_POINT();
    CUresult result = check(function);

    if (result != CUDA_SUCCESS)
        return result;
    if (bytes > PARAMETERS_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    function->parameter_bytes = bytes;
    return CUDA_SUCCESS;
}

CUresult cuParamSetv(CUfunction function, int offset, void *value, unsigned int bytes) {
    FAULT_POINT();
    CUresult result = check(function);

    if (result != CUDA_SUCCESS)
        return result;
    if (!value || offset < 0 || bytes > PARAMETERS_MAX || (unsigned)offset > PARAMETERS_MAX - bytes)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(function->parameters + offset, value, bytes);
    return CUDA_SUCCESS;
}

CUresult cuParamSeti(CUfunction function, int offset, unsigned int value) {
    FAULT_POINT();
    return cuParamSetv(function, offset, &value, sizeof value);
}

CUresult cuParamSetf(CUfunction function, int offset, float value) {
    FAULT_POINT();
    return cuParamSetv(function, offset, &value, sizeof value);
}

CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream) {
    FAULT_POINT();
    CUresult result = check(function);
    size_t bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, function ? function->parameters : NULL,
                     CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};

    if (result != CUDA_SUCCESS)
        return result;
    if (width <= 0 || height <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    bytes = function->parameter_bytes;
    return cuLaunchKernel(function, (unsigned)width, (unsigned)height, 1, (unsigned)function->block[0],
                          (unsigned)function->block[1], (unsigned)function->block[2], function->shared_bytes, stream,
                          NULL, extra);
}

CUresult cuLaunchGrid(CUfunction function, int width, int height) {
    FAULT_POINT();
    return cuLaunchGridAsync(function, width, height, NULL);
}

CUresult cuLaunch(CUfunction function) {
    FAULT_POINT();
    return cuLaunchGrid(function, 1, 1);
}
