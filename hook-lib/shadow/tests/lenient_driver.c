/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that answers what it is asked for and lets the rest be NULL. */
#include "cuda_api.h"

enum { FREE = 3 << 28, TOTAL = 1 << 30 };

static CUresult current = CUDA_SUCCESS;

PARTITA_EXPORT void lenient_driver_without_context(void);
void lenient_driver_without_context(void) {
    current = CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    *device = 0;
    return current;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (char)(i + device);
    return CUDA_SUCCESS;
}

#define GET_INFO(name, type)                                                                                           \
    CUresult name(type *free, type *total) {                                                                           \
        if (free)                                                                                                      \
            *free = FREE;                                                                                              \
        if (total)                                                                                                     \
            *total = TOTAL;                                                                                            \
        return CUDA_SUCCESS;                                                                                           \
    }

GET_INFO(cuMemGetInfo, unsigned int)
GET_INFO(cuMemGetInfo_v2, size_t)
