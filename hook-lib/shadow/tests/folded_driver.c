/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver whose linker folded identical functions: what it does not support has one address under many names, of all
 * prototypes. cuGetProcAddress finds each by its name, as a real driver does.
 */
#include <string.h>

#include "cuda_api.h"

PARTITA_EXPORT CUresult cuNotSupported(void);

CUresult cuNotSupported(void) {
    return CUDA_ERROR_NOT_SUPPORTED;
}

#define FOLDED(name)                                                                                                   \
    PARTITA_EXPORT CUresult folded_##name(void) __asm__(#name) __attribute__((alias("cuNotSupported")));

FOLDED(cuNobodyWrapsThis)
FOLDED(cuMemAlloc)
FOLDED(cuMemAlloc_v2)
FOLDED(cuMemAllocPitch_v2)
FOLDED(cuEventQuery)
FOLDED(cuStreamQuery)
FOLDED(cuStreamQuery_ptsz)
FOLDED(cuArrayCreate_v2)

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *symbolStatus) {
    (void)cudaVersion, (void)flags, (void)symbolStatus;
    *function = strcmp(symbol, "cuGetProcAddress") == 0 ? (void *)&cuGetProcAddress_v2 : (void *)&cuNotSupported;
    return CUDA_SUCCESS;
}
