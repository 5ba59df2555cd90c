/*
 * The real driver behind the shadow libcuda: the functions that are intercepted, and those that the wrappers ask themselves.
 * What the loaded driver does not have is NULL.
 */
#ifndef PARTITA_CUDA_DRIVER_H
#define PARTITA_CUDA_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_api.h"
#include "cuda_arrays.h"
#include "cuda_graphs.h"
#include "cuda_pages.h"
#include "cuda_pools.h"

/* Exported by the shadow under the same name. */
#define CUDA_INTERCEPTED(X)                                                                                           \
    X(cuGetProcAddress)                                                                                               \
    X(cuGetProcAddress_v2)                                                                                            \
    X(cuDeviceTotalMem)                                                                                               \
    X(cuDeviceTotalMem_v2)                                                                                            \
    X(cuMemGetInfo)                                                                                                   \
    X(cuMemGetInfo_v2)                                                                                                \
    X(cuMemAlloc)                                                                                                     \
    X(cuMemAlloc_v2)                                                                                                  \
    X(cuMemAllocPitch)                                                                                                \
    X(cuMemAllocPitch_v2)                                                                                             \
    X(cuMemAllocManaged)                                                                                              \
    X(cuMemFree)                                                                                                      \
    X(cuMemFree_v2)                                                                                                   \
    X(cuMemAllocAsync)                                                                                                \
    X(cuMemAllocAsync_ptsz)                                                                                           \
    X(cuMemAllocFromPoolAsync)                                                                                        \
    X(cuMemAllocFromPoolAsync_ptsz)                                                                                   \
    X(cuMemFreeAsync)                                                                                                 \
    X(cuMemFreeAsync_ptsz)                                                                                            \
    X(cuMemPoolCreate)                                                                                                \
    X(cuMemPoolDestroy)                                                                                               \
    X(cuMemPoolTrimTo)                                                                                                \
    X(cuMemPoolSetAttribute)                                                                                          \
    X(cuCtxSynchronize)                                                                                               \
    X(cuStreamSynchronize)                                                                                            \
    X(cuStreamSynchronize_ptsz)                                                                                       \
    X(cuEventSynchronize)                                                                                             \
    X(cuGraphInstantiate)                                                                                             \
    X(cuGraphInstantiate_v2)                                                                                          \
    X(cuGraphInstantiateWithFlags)                                                                                    \
    X(cuGraphInstantiateWithParams)                                                                                   \
    X(cuGraphInstantiateWithParams_ptsz)                                                                              \
    X(cuGraphUpload)                                                                                                  \
    X(cuGraphUpload_ptsz)                                                                                             \
    X(cuGraphLaunch)                                                                                                  \
    X(cuGraphLaunch_ptsz)                                                                                             \
    X(cuGraphExecDestroy)                                                                                             \
    X(cuDeviceGraphMemTrim)                                                                                           \
    X(cuArrayCreate)                                                                                                  \
    X(cuArrayCreate_v2)                                                                                               \
    X(cuArray3DCreate)                                                                                                \
    X(cuArray3DCreate_v2)                                                                                             \
    X(cuArrayDestroy)                                                                                                 \
    X(cuMipmappedArrayCreate)                                                                                         \
    X(cuMipmappedArrayDestroy)                                                                                        \
    X(cuCtxDestroy)                                                                                                   \
    X(cuCtxDestroy_v2)                                                                                                \
    X(cuDevicePrimaryCtxRetain)                                                                                       \
    X(cuDevicePrimaryCtxRelease)                                                                                      \
    X(cuDevicePrimaryCtxRelease_v2)                                                                                   \
    X(cuDevicePrimaryCtxReset)                                                                                        \
    X(cuDevicePrimaryCtxReset_v2)                                                                                     \
    X(cuMemCreate)                                                                                                    \
    X(cuMemRelease)                                                                                                   \
    X(cuMemMap)                                                                                                       \
    X(cuMemUnmap)                                                                                                     \
    X(cuMemRetainAllocationHandle)                                                                                    \
    X(cuMemImportFromShareableHandle)

/* Only called. */
#define CUDA_CALLED(X)                                                                                                \
    X(cuCtxGetDevice)                                                                                                 \
    X(cuCtxGetCurrent)                                                                                                \
    X(cuCtxPushCurrent_v2)                                                                                            \
    X(cuCtxPopCurrent_v2)                                                                                             \
    X(cuStreamGetCtx)                                                                                                 \
    X(cuStreamIsCapturing)                                                                                            \
    X(cuStreamIsCapturing_ptsz)                                                                                       \
    X(cuThreadExchangeStreamCaptureMode)                                                                              \
    X(cuMemPoolGetAttribute)                                                                                          \
    X(cuDeviceGetCount)                                                                                               \
    X(cuDeviceGetMemPool)                                                                                             \
    X(cuDeviceGetDefaultMemPool)                                                                                      \
    X(cuGraphGetNodes)                                                                                                \
    X(cuGraphNodeGetType)                                                                                             \
    X(cuGraphMemAllocNodeGetParams)                                                                                   \
    X(cuDeviceGetGraphMemAttribute)                                                                                   \
    X(cuDevicePrimaryCtxGetState)                                                                                     \
    X(cuDeviceGetUuid)                                                                                                \
    X(cuDeviceGetUuid_v2)

enum cuda_function {
#define CUDA_INDEX(name) CUDA_##name,
    CUDA_INTERCEPTED(CUDA_INDEX) CUDA_INTERCEPTED_COUNT,
    CUDA_CALLED_BEFORE_FIRST = CUDA_INTERCEPTED_COUNT - 1,
    CUDA_CALLED(CUDA_INDEX) CUDA_FUNCTION_COUNT
#undef CUDA_INDEX
};

extern void *cuda_driver[CUDA_FUNCTION_COUNT];

/* The driver's function of that name, typed. */
#define DRIVER(name) ((__typeof__(&name))cuda_driver[CUDA_##name])

/* Ends the wrapper where the driver does not have the function that it stands before. */
#define NEED(name)                                                                                                    \
    do {                                                                                                              \
        lifetime_enter();                                                                                             \
        if (!DRIVER(name))                                                                                            \
            return CUDA_ERROR_NOT_SUPPORTED;                                                                          \
    } while (0)

/* The wrapper of a driver's function, or the function itself if it has none. */
void *cuda_wrapper_of(void *function);

/* The card of a device: an index or one of cards.h's special values. */
int cuda_card_of(CUdevice device);

/* The card of the current context. An error: there is no current context. */
CUresult cuda_current_card(int *card);

#endif
