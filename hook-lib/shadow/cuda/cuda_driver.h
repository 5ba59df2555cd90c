/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real driver behind the shadow libcuda: the functions that are intercepted, and those that the wrappers ask
 * themselves. What the loaded driver does not have is NULL.
 */
#ifndef PARTITA_CUDA_DRIVER_H
#define PARTITA_CUDA_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_api.h"
#include "cuda_arrays.h"
#include "cuda_copies.h"
#include "cuda_events.h"
#include "cuda_graphs.h"
#include "cuda_green.h"
#include "cuda_launch.h"
#include "cuda_pages.h"
#include "cuda_pools.h"
#include "cuda_semaphores.h"

/*
 * Exported by the shadow under the same name. A comment says what the wrappers below it do: hook-lib/INTERCEPTED.md is
 * made of it, with the tests that call them, by `sh hook-lib/build.sh intercepted`, and a test fails where it is not
 * current.
 */
#define CUDA_INTERCEPTED(X)                                                                                            \
    /* the driver's answer, or exactly its wrapper */                                                                  \
    X(cuGetProcAddress)                                                                                                \
    X(cuGetProcAddress_v2)                                                                                             \
    /* min(quota, card) */                                                                                             \
    X(cuDeviceTotalMem)                                                                                                \
    X(cuDeviceTotalMem_v2)                                                                                             \
    /* min(share, card) */                                                                                             \
    X(cuMemGetInfo)                                                                                                    \
    X(cuMemGetInfo_v2)                                                                                                 \
    /* charge; managed memory beyond the share's part of the card */                                                   \
    X(cuMemAlloc)                                                                                                      \
    X(cuMemAlloc_v2)                                                                                                   \
    /* charge with the driver's pitch */                                                                               \
    X(cuMemAllocPitch)                                                                                                 \
    X(cuMemAllocPitch_v2)                                                                                              \
    /* charge whole pages */                                                                                           \
    X(cuMemAllocManaged)                                                                                               \
    /* give back; an unknown pointer goes to the driver as it is */                                                    \
    X(cuMemFree)                                                                                                       \
    X(cuMemFree_v2)                                                                                                    \
    /* charge the pool's growth to the pool's card; re-read the pool after */                                          \
    X(cuMemAllocAsync)                                                                                                 \
    X(cuMemAllocAsync_ptsz)                                                                                            \
    X(cuMemAllocFromPoolAsync)                                                                                         \
    X(cuMemAllocFromPoolAsync_ptsz)                                                                                    \
    X(cuMemFreeAsync)                                                                                                  \
    X(cuMemFreeAsync_ptsz)                                                                                             \
    /* know the pool's card; re-read; a destroyed pool stays charged until its last allocation is freed */             \
    X(cuMemPoolCreate)                                                                                                 \
    X(cuMemGetDefaultMemPool)                                                                                          \
    X(cuMemGetMemPool)                                                                                                 \
    X(cuMemPoolDestroy)                                                                                                \
    X(cuMemPoolTrimTo)                                                                                                 \
    X(cuMemPoolSetAttribute)                                                                                           \
    /* re-read the pools: they give up memory here */                                                                  \
    X(cuCtxSynchronize)                                                                                                \
    X(cuCtxSynchronize_v2)                                                                                             \
    X(cuStreamSynchronize)                                                                                             \
    X(cuStreamSynchronize_ptsz)                                                                                        \
    X(cuEventSynchronize)                                                                                              \
    /* know what the graph allocates; charge it where the graph is uploaded at once */                                 \
    X(cuGraphInstantiate)                                                                                              \
    X(cuGraphInstantiate_v2)                                                                                           \
    X(cuGraphInstantiateWithFlags)                                                                                     \
    X(cuGraphInstantiateWithParams)                                                                                    \
    X(cuGraphInstantiateWithParams_ptsz)                                                                               \
    /* charge the growth of the device's graph memory, or refuse; re-read it after */                                  \
    X(cuGraphUpload)                                                                                                   \
    X(cuGraphUpload_ptsz)                                                                                              \
    X(cuGraphLaunch)                                                                                                   \
    X(cuGraphLaunch_ptsz)                                                                                              \
    /* forget the graph; re-read */                                                                                    \
    X(cuGraphExecDestroy)                                                                                              \
    X(cuDeviceGraphMemTrim)                                                                                            \
    /* charge the bytes until destroyed */                                                                             \
    X(cuArrayCreate)                                                                                                   \
    X(cuArrayCreate_v2)                                                                                                \
    X(cuArray3DCreate)                                                                                                 \
    X(cuArray3DCreate_v2)                                                                                              \
    X(cuArrayDestroy)                                                                                                  \
    X(cuMipmappedArrayCreate)                                                                                          \
    X(cuMipmappedArrayDestroy)                                                                                         \
    /* what was allocated in the context is given back with it */                                                      \
    X(cuCtxDestroy)                                                                                                    \
    X(cuCtxDestroy_v2)                                                                                                 \
    X(cuCtxAttach)                                                                                                     \
    X(cuCtxDetach)                                                                                                     \
    /* charge what the context itself takes, until it ends; remember a device's primary one */                         \
    X(cuCtxCreate)                                                                                                     \
    X(cuCtxCreate_v2)                                                                                                  \
    X(cuCtxCreate_v3)                                                                                                  \
    X(cuCtxCreate_v4)                                                                                                  \
    X(cuDevicePrimaryCtxRetain)                                                                                        \
    /* what was allocated in the context is given back with it */                                                      \
    X(cuDevicePrimaryCtxRelease)                                                                                       \
    X(cuDevicePrimaryCtxRelease_v2)                                                                                    \
    X(cuDevicePrimaryCtxReset)                                                                                         \
    X(cuDevicePrimaryCtxReset_v2)                                                                                      \
    /* what is allocated and timed in it is the primary context's, which it keeps */                                   \
    X(cuGreenCtxCreate)                                                                                                \
    X(cuGreenCtxDestroy)                                                                                               \
    /* charge the card of `prop->location` until no handle and no mapping is left */                                   \
    X(cuMemCreate)                                                                                                     \
    X(cuMemRelease)                                                                                                    \
    X(cuMemMap)                                                                                                        \
    X(cuMemUnmap)                                                                                                      \
    X(cuMemRetainAllocationHandle)                                                                                     \
    X(cuMemExportToShareableHandle)                                                                                    \
    X(cuMemImportFromShareableHandle)                                                                                  \
    /* a multicast object keeps what is bound to it charged */                                                         \
    X(cuMulticastCreate)                                                                                               \
    X(cuMulticastBindMem)                                                                                              \
    X(cuMulticastBindMem_v2)                                                                                           \
    X(cuMulticastBindAddr)                                                                                             \
    X(cuMulticastBindAddr_v2)                                                                                          \
    X(cuMulticastUnbind)                                                                                               \
    /* a logical endpoint keeps what is bound to it charged */                                                         \
    X(cuLogicalEndpointBindMem)                                                                                        \
    X(cuLogicalEndpointBindAddr)                                                                                       \
    X(cuLogicalEndpointUnbind)                                                                                         \
    X(cuLogicalEndpointDestroy)                                                                                        \
    /* a sparse or deferred array keeps what is mapped into it charged, until the stream has unmapped it */            \
    X(cuMemMapArrayAsync)                                                                                              \
    X(cuMemMapArrayAsync_ptsz)                                                                                         \
    /* wait for the core limit; time the launch */                                                                     \
    X(cuLaunchKernel)                                                                                                  \
    X(cuLaunchKernel_ptsz)                                                                                             \
    X(cuLaunchKernelEx)                                                                                                \
    X(cuLaunchKernelEx_ptsz)                                                                                           \
    X(cuLaunchCooperativeKernel)                                                                                       \
    X(cuLaunchCooperativeKernel_ptsz)                                                                                  \
    X(cuLaunchCooperativeKernelMultiDevice)                                                                            \
    X(cuLaunch)                                                                                                        \
    X(cuLaunchGrid)                                                                                                    \
    X(cuLaunchGridAsync)                                                                                               \
    /* end what is being timed: the program is about to wait */                                                        \
    X(cuStreamQuery)                                                                                                   \
    X(cuStreamQuery_ptsz)                                                                                              \
    X(cuEventQuery)                                                                                                    \
    X(cuMemcpyDtoH)                                                                                                    \
    X(cuMemcpyDtoH_v2)                                                                                                 \
    X(cuMemcpyDtoH_v2_ptds)                                                                                            \
    X(cuMemcpyHtoD)                                                                                                    \
    X(cuMemcpyHtoD_v2)                                                                                                 \
    X(cuMemcpyHtoD_v2_ptds)                                                                                            \
    /* end what is being timed in the stream: what comes in between is no kernel */                                    \
    X(cuMemcpyAsync)                                                                                                   \
    X(cuMemcpyAsync_ptsz)                                                                                              \
    X(cuMemcpyPeerAsync)                                                                                               \
    X(cuMemcpyPeerAsync_ptsz)                                                                                          \
    X(cuMemcpyHtoDAsync_v2)                                                                                            \
    X(cuMemcpyHtoDAsync_v2_ptsz)                                                                                       \
    X(cuMemcpyDtoHAsync_v2)                                                                                            \
    X(cuMemcpyDtoHAsync_v2_ptsz)                                                                                       \
    X(cuMemcpyDtoDAsync_v2)                                                                                            \
    X(cuMemcpyDtoDAsync_v2_ptsz)                                                                                       \
    X(cuMemcpy2DAsync_v2)                                                                                              \
    X(cuMemcpy2DAsync_v2_ptsz)                                                                                         \
    X(cuMemcpy3DAsync_v2)                                                                                              \
    X(cuMemcpy3DAsync_v2_ptsz)                                                                                         \
    X(cuMemcpyBatchAsync)                                                                                              \
    X(cuMemcpyBatchAsync_ptsz)                                                                                         \
    X(cuMemcpyBatchAsync_v2)                                                                                           \
    X(cuMemcpyBatchAsync_v2_ptsz)                                                                                      \
    X(cuMemPrefetchAsync)                                                                                              \
    X(cuMemPrefetchAsync_ptsz)                                                                                         \
    X(cuMemPrefetchAsync_v2)                                                                                           \
    X(cuMemPrefetchAsync_v2_ptsz)                                                                                      \
    X(cuStreamWaitEvent)                                                                                               \
    X(cuStreamWaitEvent_ptsz)                                                                                          \
    X(cuStreamWaitValue32)                                                                                             \
    X(cuStreamWaitValue32_ptsz)                                                                                        \
    X(cuStreamWaitValue32_v2)                                                                                          \
    X(cuStreamWaitValue32_v2_ptsz)                                                                                     \
    X(cuStreamWaitValue64)                                                                                             \
    X(cuStreamWaitValue64_ptsz)                                                                                        \
    X(cuStreamWaitValue64_v2)                                                                                          \
    X(cuStreamWaitValue64_v2_ptsz)                                                                                     \
    X(cuStreamBatchMemOp)                                                                                              \
    X(cuStreamBatchMemOp_ptsz)                                                                                         \
    X(cuStreamBatchMemOp_v2)                                                                                           \
    X(cuStreamBatchMemOp_v2_ptsz)                                                                                      \
    X(cuStreamAddCallback)                                                                                             \
    X(cuStreamAddCallback_ptsz)                                                                                        \
    X(cuLaunchHostFunc)                                                                                                \
    X(cuLaunchHostFunc_ptsz)                                                                                           \
    X(cuLaunchHostFunc_v2)                                                                                             \
    X(cuLaunchHostFunc_v2_ptsz)                                                                                        \
    X(cuWaitExternalSemaphoresAsync)                                                                                   \
    X(cuWaitExternalSemaphoresAsync_ptsz)                                                                              \
    /* from the first blocking stream on nothing that is being timed is left open in the legacy stream */              \
    X(cuStreamCreate)                                                                                                  \
    X(cuStreamCreateWithPriority)                                                                                      \
    /* end what is being timed in the stream */                                                                        \
    X(cuStreamDestroy)                                                                                                 \
    X(cuStreamDestroy_v2)

/* Only called. */
#define CUDA_CALLED(X)                                                                                                 \
    X(cuDeviceGetAttribute)                                                                                            \
    X(cuCtxGetDevice)                                                                                                  \
    X(cuCtxGetCurrent)                                                                                                 \
    X(cuCtxFromGreenCtx)                                                                                               \
    X(cuCtxPushCurrent_v2)                                                                                             \
    X(cuCtxPopCurrent_v2)                                                                                              \
    X(cuStreamGetCtx)                                                                                                  \
    X(cuStreamGetCtx_v2)                                                                                               \
    X(cuStreamIsCapturing)                                                                                             \
    X(cuStreamIsCapturing_ptsz)                                                                                        \
    X(cuThreadExchangeStreamCaptureMode)                                                                               \
    X(cuMemPoolGetAttribute)                                                                                           \
    X(cuDeviceGetCount)                                                                                                \
    X(cuDeviceGetMemPool)                                                                                              \
    X(cuDeviceGetDefaultMemPool)                                                                                       \
    X(cuEventCreate)                                                                                                   \
    X(cuEventRecord)                                                                                                   \
    X(cuEventElapsedTime)                                                                                              \
    X(cuEventElapsedTime_v2)                                                                                           \
    X(cuEventDestroy_v2)                                                                                               \
    X(cuGraphGetNodes)                                                                                                 \
    X(cuGraphNodeGetType)                                                                                              \
    X(cuGraphMemAllocNodeGetParams)                                                                                    \
    X(cuGraphChildGraphNodeGetGraph)                                                                                   \
    X(cuGraphNodeGetParams)                                                                                            \
    X(cuDeviceGetGraphMemAttribute)                                                                                    \
    X(cuDevicePrimaryCtxGetState)                                                                                      \
    X(cuEventRecord_ptsz)                                                                                              \
    X(cuDeviceGetUuid)                                                                                                 \
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
#define NEED(name)                                                                                                     \
    do {                                                                                                               \
        lifetime_enter();                                                                                              \
        if (!DRIVER(name))                                                                                             \
            return CUDA_ERROR_NOT_SUPPORTED;                                                                           \
    } while (0)

/*
 * The wrapper of a driver's function that was found under this name, or the function itself if it has none. The address
 * alone does not tell: a linker may have folded functions that do the same into one. `per_thread`: the variant for the
 * thread's own default stream was asked for.
 */
void *cuda_wrapper_of(void *function, const char *symbol, bool per_thread);

/*
 * The device that memory of this kind (CU_MEM_ALLOCATION_TYPE_...) and place is charged to; negative: none, it is the
 * host's.
 */
int cuda_device_of_memory(int type, const CUmemLocation *location);

/* The card of a device, or of a MIG instance of it: an index or one of cards.h's special values. */
int cuda_card_of(CUdevice device);

/* Whether the driver knows the device. */
bool cuda_is_device(CUdevice device);

/* The card of the current context. An error: there is no current context. */
CUresult cuda_current_card(int *card);

#endif
