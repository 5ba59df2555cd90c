/* SPDX-License-Identifier: Apache-2.0 */
/* A tracing tool that is preloaded: stands before cuMemAlloc_v2 and counts. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "cuda_api.h"

PARTITA_EXPORT int tracer_calls;

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
    __typeof__(&cuMemAlloc_v2) next = (__typeof__(&cuMemAlloc_v2))dlsym(RTLD_NEXT, "cuMemAlloc_v2");
    tracer_calls++;
    return next(pointer, bytes);
}
