/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program linked with -lcuda. linked_program BYTES REFUSED: the first must be granted; the second (0: none) must then
 * be refused. Status 0: so it was. Something stands before cuMemAlloc_v2 as tracing tools do (RTLD_NEXT): the program
 * itself or, built with TRACED_BY_PRELOAD, what is preloaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

#include "cuda_api.h"

#ifdef TRACED_BY_PRELOAD
extern int tracer_calls __attribute__((weak)); /* tracer.c */
#define CALLS (&tracer_calls ? tracer_calls : -1)
#else
static int calls;
#define CALLS calls

CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes) {
    __typeof__(&cuMemAlloc_v2) next = (__typeof__(&cuMemAlloc_v2))dlsym(RTLD_NEXT, "cuMemAlloc_v2");
    calls++;
    return next(pointer, bytes);
}
#endif

int main(int argc, char **argv) {
    CUdevice device;
    CUcontext context;
    CUdeviceptr pointer;
    size_t free, total;
    if (argc != 3 || cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, 0) != CUDA_SUCCESS ||
        cuCtxCreate_v2(&context, 0, device) != CUDA_SUCCESS)
        return 2;
    size_t granted = strtoull(argv[1], NULL, 10), refused = strtoull(argv[2], NULL, 10);
    if (cuMemAlloc_v2(&pointer, granted) != CUDA_SUCCESS)
        return 3;
    if (refused && cuMemAlloc_v2(&pointer, refused) != CUDA_ERROR_OUT_OF_MEMORY)
        return 4;
    if (cuMemGetInfo_v2(&free, &total) != CUDA_SUCCESS || free > total)
        return 5;
    return CALLS == 1 + !!refused ? 0 : 6;
}
