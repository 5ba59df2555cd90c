/* SPDX-License-Identifier: Apache-2.0 */
/* A library that is linked with -lcuda and loaded by a program that is not, as Python's extensions are. */
#include "plugin.h"

int plugin_run(size_t granted, size_t refused) {
    CUdevice device;
    CUcontext context;
    CUdeviceptr pointer;
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        cuCtxCreate_v2(&context, 0, device) != CUDA_SUCCESS)
        return 2;
    if (cuMemAlloc_v2(&pointer, refused) != CUDA_ERROR_OUT_OF_MEMORY)
        return 3;
    return cuMemAlloc_v2(&pointer, granted) == CUDA_SUCCESS ? 0 : 4;
}
