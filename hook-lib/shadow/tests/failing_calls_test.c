/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every wrapper, called so that the driver refuses: by the shadow and by the driver itself, in one process. Both give
 * the same error, and the books are as before. The table is made of the list of wrappers: one without calls here does
 * not compile.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "cases.h"
#include "check.h"
#include "cuda/cuda_driver.h"
#include "scratch.h"
#include "stage.h"

enum when { BEFORE_INIT, WITHOUT_CONTEXT, IN_CONTEXT, FAILING };
enum { NO_MORE_CALLS = -1, NOT_NOW = -2 };

static enum when when;
static int faults;
static const char *box;

/* NULL before there is a context. Detached: the stream's green context has ended. */
static CUmemoryPool gone_pool, live_pool;
static CUstream detached_stream;
static CUmemGenericAllocationHandle pages; /* 2 MiB that there are */

/* Outputs that nobody reads, and inputs. */
static CUdeviceptr at;
static CUdeviceptr_v1 narrow_at;
static size_t size, more;
static unsigned int number, other;
static void *any;
static CUdriverProcAddressQueryResult query;
static CUmemoryPool pool;
static CUgraphExec exec;
static CUarray array;
static CUmipmappedArray mipmapped;
static CUcontext context;
static CUstream stream;
static CUgreenCtx green;
static CUmemGenericAllocationHandle handle;
static CUmemLocation card = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, no_card = {CU_MEM_LOCATION_TYPE_DEVICE, 99},
                     before_cards = {CU_MEM_LOCATION_TYPE_DEVICE, -1}, nowhere = {77, 0};
static const CUDA_ARRAY_DESCRIPTOR_v1 old_flat = {64, 64, CU_AD_FORMAT_FLOAT, 1}, old_flat_3 = {64, 64, 0x77, 3};
static const CUDA_ARRAY_DESCRIPTOR flat = {64, 64, CU_AD_FORMAT_FLOAT, 1}, flat_3 = {64, 64, CU_AD_FORMAT_FLOAT, 3},
                                   flat_empty = {0, 64, CU_AD_FORMAT_FLOAT, 1}, flat_formless = {64, 64, 0x77, 1};
static const CUDA_ARRAY3D_DESCRIPTOR_v1 old_deep = {64, 64, 2, CU_AD_FORMAT_FLOAT, 1, 0},
                                        old_deep_3 = {64, 64, 2, CU_AD_FORMAT_FLOAT, 3, 0};
static const CUDA_ARRAY3D_DESCRIPTOR deep = {64, 64, 2, CU_AD_FORMAT_FLOAT, 1, 0},
                                     deep_3 = {64, 64, 2, CU_AD_FORMAT_FLOAT, 3, 0},
                                     deep_formless = {64, 64, 2, 0x77, 1, 0};
static const CUmulticastObjectProp no_devices = {0, 2 * MIB, 0, 0};
static CUarrayMapInfo map_nothing = {.resourceType = 77, .memOperationType = CU_MEM_OPERATION_TYPE_MAP};
static CUDA_GRAPH_INSTANTIATE_PARAMS instantiate;
static CUDA_LAUNCH_PARAMS launch;
static CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1};
static char buffer[64];

static const CUmemAllocationProp *on(CUmemLocation location) {
    static CUmemAllocationProp props[8];
    static unsigned int next;
    CUmemAllocationProp *prop = &props[next++ % 8];
    *prop = (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = location};
    return prop;
}

static const CUmemPoolProps *pool_on(CUmemLocation location) {
    static CUmemPoolProps props[8];
    static unsigned int next;
    CUmemPoolProps *prop = &props[next++ % 8];
    *prop = (CUmemPoolProps){.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = location};
    return prop;
}

/*
 * A call that fails whenever it is made; only before cuInit; where no context is current. Where the driver is made to
 * fail, all of them do.
 */
#define ALWAYS(call)                                                                                                   \
    if (which-- == 0)                                                                                                  \
        return (int)(call);
#define UNTIL_INIT(call)                                                                                               \
    if (which-- == 0)                                                                                                  \
        return when == BEFORE_INIT || when == FAILING ? (int)(call) : NOT_NOW;
#define WITHOUT(call)                                                                                                  \
    if (which-- == 0)                                                                                                  \
        return when != IN_CONTEXT ? (int)(call) : NOT_NOW;

/* `f` is the function, the shadow's or the driver's own. */
#define CALLS(name, ...)                                                                                               \
    static int calls_of_##name(void *function, int which) {                                                            \
        __typeof__(&name) f;                                                                                           \
        *(void **)&f = function;                                                                                       \
        __VA_ARGS__                                                                                                    \
        return NO_MORE_CALLS;                                                                                          \
    }

CALLS(cuGetProcAddress, ALWAYS(f("cuNothing", &any, 12000, 0)) ALWAYS(f(NULL, &any, 12000, 0)))
CALLS(cuGetProcAddress_v2, ALWAYS(f(NULL, &any, 12000, 0, &query)) ALWAYS(f("cuInit", NULL, 12000, 0, &query)))
CALLS(cuDeviceTotalMem, UNTIL_INIT(f(&number, 0)) ALWAYS(f(&number, 99)) ALWAYS(f(NULL, 0)))
CALLS(cuDeviceTotalMem_v2, UNTIL_INIT(f(&size, 0)) ALWAYS(f(&size, 99)) ALWAYS(f(&size, -1)) ALWAYS(f(NULL, 0)))
CALLS(cuMemGetInfo, WITHOUT(f(&number, &other)))
CALLS(cuMemGetInfo_v2, WITHOUT(f(&size, &more)))
CALLS(cuMemAlloc, WITHOUT(f(&narrow_at, MIB)) ALWAYS(f(NULL, MIB)) ALWAYS(f(&narrow_at, 0)))
CALLS(cuMemAlloc_v2, WITHOUT(f(&at, MIB)) ALWAYS(f(NULL, MIB)) ALWAYS(f(&at, 0)))
CALLS(cuMemAllocPitch, WITHOUT(f(&narrow_at, &number, 100, 100, 4)) ALWAYS(f(NULL, &number, 100, 100, 4))
                           ALWAYS(f(&narrow_at, NULL, 100, 100, 4)) ALWAYS(f(&narrow_at, &number, 0, 100, 4))
                               ALWAYS(f(&narrow_at, &number, 100, 100, 5)))
CALLS(cuMemAllocPitch_v2,
      WITHOUT(f(&at, &size, 100, 100, 4)) ALWAYS(f(NULL, &size, 100, 100, 4)) ALWAYS(f(&at, NULL, 100, 100, 4))
          ALWAYS(f(&at, &size, 100, 0, 4)) ALWAYS(f(&at, &size, 100, 100, 5)))
CALLS(cuMemAllocManaged, WITHOUT(f(&at, MIB, CU_MEM_ATTACH_GLOBAL)) ALWAYS(f(NULL, MIB, CU_MEM_ATTACH_GLOBAL))
                             ALWAYS(f(&at, 0, CU_MEM_ATTACH_GLOBAL)) ALWAYS(f(&at, MIB, 77)) ALWAYS(f(&at, MIB, 0)))
CALLS(cuMemFree, ALWAYS(f(77)))
CALLS(cuMemFree_v2, ALWAYS(f(77)))
CALLS(cuMemAllocAsync, WITHOUT(f(&at, MIB, NULL)) ALWAYS(f(NULL, MIB, NULL)) ALWAYS(f(&at, 0, NULL))
                           ALWAYS(f(&at, MIB, detached_stream)))
CALLS(cuMemAllocAsync_ptsz, WITHOUT(f(&at, MIB, NULL)) ALWAYS(f(NULL, MIB, NULL)) ALWAYS(f(&at, 0, NULL))
                                ALWAYS(f(&at, MIB, detached_stream)))
CALLS(cuMemAllocFromPoolAsync,
      ALWAYS(f(&at, MIB, NULL, NULL)) ALWAYS(f(&at, MIB, gone_pool, NULL)) ALWAYS(f(NULL, MIB, live_pool, NULL))
          ALWAYS(f(&at, 0, live_pool, NULL)) ALWAYS(f(&at, MIB, live_pool, detached_stream)))
CALLS(cuMemAllocFromPoolAsync_ptsz,
      ALWAYS(f(&at, MIB, NULL, NULL)) ALWAYS(f(&at, MIB, gone_pool, NULL)) ALWAYS(f(NULL, MIB, live_pool, NULL))
          ALWAYS(f(&at, 0, live_pool, NULL)) ALWAYS(f(&at, MIB, live_pool, detached_stream)))
CALLS(cuMemFreeAsync, ALWAYS(f(77, NULL)) ALWAYS(f(0, NULL)) ALWAYS(f(77, detached_stream)))
CALLS(cuMemFreeAsync_ptsz, ALWAYS(f(77, NULL)) ALWAYS(f(0, NULL)) ALWAYS(f(77, detached_stream)))
CALLS(cuMemPoolCreate,
      UNTIL_INIT(f(&pool, pool_on(card))) ALWAYS(f(NULL, pool_on(card))) ALWAYS(f(&pool, NULL))
          ALWAYS(f(&pool, pool_on(no_card))) ALWAYS(f(&pool, pool_on(before_cards))) ALWAYS(f(&pool, pool_on(nowhere))))
CALLS(cuMemGetDefaultMemPool, UNTIL_INIT(f(&pool, &card, CU_MEM_ALLOCATION_TYPE_PINNED))
                                  ALWAYS(f(&pool, &no_card, CU_MEM_ALLOCATION_TYPE_PINNED))
                                      ALWAYS(f(NULL, &card, CU_MEM_ALLOCATION_TYPE_PINNED)))
CALLS(cuMemGetMemPool, UNTIL_INIT(f(&pool, &card, CU_MEM_ALLOCATION_TYPE_PINNED))
                           ALWAYS(f(&pool, &no_card, CU_MEM_ALLOCATION_TYPE_PINNED))
                               ALWAYS(f(NULL, &card, CU_MEM_ALLOCATION_TYPE_PINNED)))
CALLS(cuMemPoolDestroy, ALWAYS(f(NULL)) ALWAYS(f(gone_pool)))
CALLS(cuMemPoolTrimTo, ALWAYS(f(NULL, 0)) ALWAYS(f(gone_pool, 0)))
CALLS(cuMemPoolSetAttribute,
      ALWAYS(f(gone_pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &size)) ALWAYS(f(live_pool, 77, &size))
          ALWAYS(f(live_pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, NULL)))
CALLS(cuCtxSynchronize, WITHOUT(f()))
CALLS(cuCtxSynchronize_v2, WITHOUT(f(NULL)))
CALLS(cuStreamSynchronize, WITHOUT(f(NULL)) ALWAYS(f(detached_stream)))
CALLS(cuStreamSynchronize_ptsz, WITHOUT(f(NULL)) ALWAYS(f(detached_stream)))
CALLS(cuEventSynchronize, ALWAYS(f(NULL)))
CALLS(cuGraphInstantiate, ALWAYS(f(&exec, NULL, NULL, NULL, 0)) ALWAYS(f(NULL, NULL, NULL, NULL, 0)))
CALLS(cuGraphInstantiate_v2, ALWAYS(f(&exec, NULL, NULL, NULL, 0)) ALWAYS(f(NULL, NULL, NULL, NULL, 0)))
CALLS(cuGraphInstantiateWithFlags, ALWAYS(f(&exec, NULL, 0)) ALWAYS(f(&exec, NULL, CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)))
CALLS(cuGraphInstantiateWithParams, ALWAYS(f(&exec, NULL, &instantiate)) ALWAYS(f(&exec, NULL, NULL)))
CALLS(cuGraphInstantiateWithParams_ptsz, ALWAYS(f(&exec, NULL, &instantiate)) ALWAYS(f(&exec, NULL, NULL)))
CALLS(cuGraphUpload, ALWAYS(f(NULL, NULL)))
CALLS(cuGraphUpload_ptsz, ALWAYS(f(NULL, NULL)))
CALLS(cuGraphLaunch, ALWAYS(f(NULL, NULL)))
CALLS(cuGraphLaunch_ptsz, ALWAYS(f(NULL, NULL)))
CALLS(cuGraphExecDestroy, ALWAYS(f(NULL)))
CALLS(cuDeviceGraphMemTrim, UNTIL_INIT(f(0)) ALWAYS(f(99)) ALWAYS(f(-1)))
CALLS(cuArrayCreate,
      WITHOUT(f(&array, &old_flat)) ALWAYS(f(NULL, &old_flat)) ALWAYS(f(&array, NULL)) ALWAYS(f(&array, &old_flat_3)))
CALLS(cuArrayCreate_v2, WITHOUT(f(&array, &flat)) ALWAYS(f(NULL, &flat)) ALWAYS(f(&array, NULL))
                            ALWAYS(f(&array, &flat_3)) ALWAYS(f(&array, &flat_empty)) ALWAYS(f(&array, &flat_formless)))
CALLS(cuArray3DCreate,
      WITHOUT(f(&array, &old_deep)) ALWAYS(f(NULL, &old_deep)) ALWAYS(f(&array, NULL)) ALWAYS(f(&array, &old_deep_3)))
CALLS(cuArray3DCreate_v2, WITHOUT(f(&array, &deep)) ALWAYS(f(NULL, &deep)) ALWAYS(f(&array, NULL))
                              ALWAYS(f(&array, &deep_3)) ALWAYS(f(&array, &deep_formless)))
CALLS(cuArrayDestroy, ALWAYS(f(NULL)))
CALLS(cuMipmappedArrayCreate, WITHOUT(f(&mipmapped, &deep, 2)) ALWAYS(f(NULL, &deep, 2)) ALWAYS(f(&mipmapped, NULL, 2))
                                  ALWAYS(f(&mipmapped, &deep_3, 2)) ALWAYS(f(&mipmapped, &deep_formless, 2)))
CALLS(cuMipmappedArrayDestroy, ALWAYS(f(NULL)))
CALLS(cuCtxDestroy, ALWAYS(f(NULL)))
CALLS(cuCtxDestroy_v2, ALWAYS(f(NULL)))
CALLS(cuCtxAttach, WITHOUT(f(&context, 0)) ALWAYS(f(NULL, 0)))
CALLS(cuCtxDetach, ALWAYS(f(NULL)))
CALLS(cuCtxCreate, UNTIL_INIT(f(&context, 0, 0)) ALWAYS(f(&context, 0, 99)) ALWAYS(f(NULL, 0, 0)))
CALLS(cuCtxCreate_v2, UNTIL_INIT(f(&context, 0, 0)) ALWAYS(f(&context, 0, 99)) ALWAYS(f(NULL, 0, 0)))
CALLS(cuCtxCreate_v3,
      UNTIL_INIT(f(&context, NULL, 0, 0, 0)) ALWAYS(f(&context, NULL, 0, 0, 99)) ALWAYS(f(NULL, NULL, 0, 0, 0)))
CALLS(cuCtxCreate_v4, UNTIL_INIT(f(&context, NULL, 0, 0)) ALWAYS(f(&context, NULL, 0, 99)) ALWAYS(f(NULL, NULL, 0, 0)))
CALLS(cuDevicePrimaryCtxRetain, UNTIL_INIT(f(&context, 0)) ALWAYS(f(&context, 99)) ALWAYS(f(NULL, 0)))
CALLS(cuDevicePrimaryCtxRelease, UNTIL_INIT(f(0)) ALWAYS(f(99)) ALWAYS(f(-1)))
CALLS(cuDevicePrimaryCtxRelease_v2, UNTIL_INIT(f(0)) ALWAYS(f(99)) ALWAYS(f(-1)))
CALLS(cuDevicePrimaryCtxReset, UNTIL_INIT(f(0)) ALWAYS(f(99)) ALWAYS(f(-1)))
CALLS(cuDevicePrimaryCtxReset_v2, UNTIL_INIT(f(0)) ALWAYS(f(99)) ALWAYS(f(-1)))
CALLS(cuGreenCtxCreate, ALWAYS(f(&green, NULL, 0, CU_GREEN_CTX_DEFAULT_STREAM)) ALWAYS(f(&green, NULL, 99, 0)))
CALLS(cuGreenCtxDestroy, ALWAYS(f(NULL)))
CALLS(cuMemCreate,
      UNTIL_INIT(f(&handle, 2 * MIB, on(card), 0)) ALWAYS(f(NULL, 2 * MIB, on(card), 0))
          ALWAYS(f(&handle, 0, on(card), 0)) ALWAYS(f(&handle, 77, on(card), 0)) ALWAYS(f(&handle, 2 * MIB, NULL, 0))
              ALWAYS(f(&handle, 2 * MIB, on(card), 77)) ALWAYS(f(&handle, 2 * MIB, on(no_card), 0))
                  ALWAYS(f(&handle, 2 * MIB, on(before_cards), 0)) ALWAYS(f(&handle, 2 * MIB, on(nowhere), 0)))
CALLS(cuMemRelease, ALWAYS(f(0)) ALWAYS(f(77)))
CALLS(cuMemMap, ALWAYS(f(77, 2 * MIB, 0, 77, 0)) ALWAYS(f(77, 2 * MIB, 0, pages, 0)) ALWAYS(f(0, 0, 0, pages, 0)))
CALLS(cuMemUnmap, ALWAYS(f(77, 2 * MIB)) ALWAYS(f(0, 0)))
CALLS(cuMemRetainAllocationHandle, ALWAYS(f(&handle, buffer)) ALWAYS(f(NULL, NULL)))
CALLS(cuMemExportToShareableHandle, ALWAYS(f(&any, 4711, 1, 0)) ALWAYS(f(NULL, pages, 1, 0)))
CALLS(cuMemImportFromShareableHandle,
      ALWAYS(f(&handle, NULL, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
          ALWAYS(f(&handle, buffer, CU_MEM_HANDLE_TYPE_FABRIC)) ALWAYS(f(NULL, NULL, 77)))
CALLS(cuMulticastCreate, ALWAYS(f(&handle, NULL)) ALWAYS(f(NULL, &no_devices)) ALWAYS(f(&handle, &no_devices)))
CALLS(cuMulticastBindMem, ALWAYS(f(77, 0, pages, 0, 2 * MIB, 0)) ALWAYS(f(77, 0, 77, 0, 2 * MIB, 0)))
CALLS(cuMulticastBindMem_v2, ALWAYS(f(77, 0, 0, pages, 0, 2 * MIB, 0)) ALWAYS(f(77, 99, 0, 77, 0, 2 * MIB, 0)))
CALLS(cuMulticastBindAddr, ALWAYS(f(77, 0, 77, 2 * MIB, 0)))
CALLS(cuMulticastBindAddr_v2, ALWAYS(f(77, 0, 0, 77, 2 * MIB, 0)) ALWAYS(f(77, 99, 0, 77, 2 * MIB, 0)))
CALLS(cuMulticastUnbind, ALWAYS(f(77, 0, 0, 2 * MIB)) ALWAYS(f(77, 99, 0, 2 * MIB)))
CALLS(cuLogicalEndpointBindMem, ALWAYS(f(77, 0, 0, pages, 0, 2 * MIB, 0)) ALWAYS(f(77, 99, 0, 77, 0, 2 * MIB, 0)))
CALLS(cuLogicalEndpointBindAddr, ALWAYS(f(77, 0, 0, buffer, 2 * MIB, 0)) ALWAYS(f(77, 99, 0, NULL, 2 * MIB, 0)))
CALLS(cuLogicalEndpointUnbind, ALWAYS(f(77, 0, 0, 2 * MIB)))
CALLS(cuLogicalEndpointDestroy, ALWAYS(f(77)))
CALLS(cuMemMapArrayAsync,
      ALWAYS(f(NULL, 1, NULL)) ALWAYS(f(&map_nothing, 1, NULL)) ALWAYS(f(&map_nothing, 1, detached_stream)))
CALLS(cuMemMapArrayAsync_ptsz,
      ALWAYS(f(NULL, 1, NULL)) ALWAYS(f(&map_nothing, 1, NULL)) ALWAYS(f(&map_nothing, 1, detached_stream)))
CALLS(cuLaunchKernel, ALWAYS(f(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)))
CALLS(cuLaunchKernel_ptsz, ALWAYS(f(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL)))
CALLS(cuLaunchKernelEx, ALWAYS(f(&config, NULL, NULL, NULL)) ALWAYS(f(NULL, NULL, NULL, NULL)))
CALLS(cuLaunchKernelEx_ptsz, ALWAYS(f(&config, NULL, NULL, NULL)) ALWAYS(f(NULL, NULL, NULL, NULL)))
CALLS(cuLaunchCooperativeKernel, ALWAYS(f(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL)))
CALLS(cuLaunchCooperativeKernel_ptsz, ALWAYS(f(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL)))
CALLS(cuLaunchCooperativeKernelMultiDevice, ALWAYS(f(NULL, 1, 0)) ALWAYS(f(&launch, 1, 0)))
CALLS(cuLaunch, ALWAYS(f(NULL)))
CALLS(cuLaunchGrid, ALWAYS(f(NULL, 1, 1)))
CALLS(cuLaunchGridAsync, ALWAYS(f(NULL, 1, 1, NULL)))
CALLS(cuStreamQuery, WITHOUT(f(NULL)) ALWAYS(f(detached_stream)))
CALLS(cuStreamQuery_ptsz, WITHOUT(f(NULL)) ALWAYS(f(detached_stream)))
CALLS(cuEventQuery, ALWAYS(f(NULL)))
CALLS(cuMemcpyDtoH, ALWAYS(f(buffer, 77, 8)))
CALLS(cuMemcpyDtoH_v2, ALWAYS(f(buffer, 77, 8)))
CALLS(cuMemcpyDtoH_v2_ptds, ALWAYS(f(buffer, 77, 8)))
CALLS(cuMemcpyHtoD, ALWAYS(f(77, buffer, 8)))
CALLS(cuMemcpyHtoD_v2, ALWAYS(f(77, buffer, 8)))
CALLS(cuMemcpyHtoD_v2_ptds, ALWAYS(f(77, buffer, 8)))
CALLS(cuMemcpyAsync, ALWAYS(f(77, 77, 8, detached_stream)))
CALLS(cuMemcpyAsync_ptsz, ALWAYS(f(77, 77, 8, detached_stream)))
CALLS(cuMemcpyPeerAsync, ALWAYS(f(77, NULL, 77, NULL, 8, detached_stream)))
CALLS(cuMemcpyPeerAsync_ptsz, ALWAYS(f(77, NULL, 77, NULL, 8, detached_stream)))
CALLS(cuMemcpyHtoDAsync_v2, ALWAYS(f(77, NULL, 8, detached_stream)))
CALLS(cuMemcpyHtoDAsync_v2_ptsz, ALWAYS(f(77, NULL, 8, detached_stream)))
CALLS(cuMemcpyDtoHAsync_v2, ALWAYS(f(NULL, 77, 8, detached_stream)))
CALLS(cuMemcpyDtoHAsync_v2_ptsz, ALWAYS(f(NULL, 77, 8, detached_stream)))
CALLS(cuMemcpyDtoDAsync_v2, ALWAYS(f(77, 77, 8, detached_stream)))
CALLS(cuMemcpyDtoDAsync_v2_ptsz, ALWAYS(f(77, 77, 8, detached_stream)))
CALLS(cuMemcpy2DAsync_v2, ALWAYS(f(NULL, detached_stream)))
CALLS(cuMemcpy2DAsync_v2_ptsz, ALWAYS(f(NULL, detached_stream)))
CALLS(cuMemcpy3DAsync_v2, ALWAYS(f(NULL, detached_stream)))
CALLS(cuMemcpy3DAsync_v2_ptsz, ALWAYS(f(NULL, detached_stream)))
CALLS(cuMemcpyBatchAsync, ALWAYS(f(NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, detached_stream)))
CALLS(cuMemcpyBatchAsync_ptsz, ALWAYS(f(NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, detached_stream)))
CALLS(cuMemcpyBatchAsync_v2, ALWAYS(f(NULL, NULL, NULL, 0, NULL, NULL, 0, detached_stream)))
CALLS(cuMemcpyBatchAsync_v2_ptsz, ALWAYS(f(NULL, NULL, NULL, 0, NULL, NULL, 0, detached_stream)))
CALLS(cuMemPrefetchAsync, ALWAYS(f(77, 8, 0, detached_stream)))
CALLS(cuMemPrefetchAsync_ptsz, ALWAYS(f(77, 8, 0, detached_stream)))
CALLS(cuMemPrefetchAsync_v2, ALWAYS(f(77, 8, card, 0, detached_stream)))
CALLS(cuMemPrefetchAsync_v2_ptsz, ALWAYS(f(77, 8, card, 0, detached_stream)))
CALLS(cuStreamWaitEvent, ALWAYS(f(detached_stream, NULL, 0)))
CALLS(cuStreamWaitEvent_ptsz, ALWAYS(f(detached_stream, NULL, 0)))
CALLS(cuStreamWaitValue32, ALWAYS(f(detached_stream, 77, 0, 0)))
CALLS(cuStreamWaitValue32_ptsz, ALWAYS(f(detached_stream, 77, 0, 0)))
CALLS(cuStreamWaitValue32_v2, ALWAYS(f(detached_stream, 77, 0, 0)))
CALLS(cuStreamWaitValue32_v2_ptsz, ALWAYS(f(detached_stream, 77, 0, 0)))
CALLS(cuStreamWaitValue64, ALWAYS(f(detached_stream, 77, 0, 0)))
CALLS(cuStreamWaitValue64_ptsz, ALWAYS(f(detached_stream, 77, 0, 0)))
CALLS(cuStreamWaitValue64_v2, ALWAYS(f(detached_stream, 77, 0, 0)))
CALLS(cuStreamWaitValue64_v2_ptsz, ALWAYS(f(detached_stream, 77, 0, 0)))
CALLS(cuStreamBatchMemOp, ALWAYS(f(detached_stream, 0, NULL, 0)))
CALLS(cuStreamBatchMemOp_ptsz, ALWAYS(f(detached_stream, 0, NULL, 0)))
CALLS(cuStreamBatchMemOp_v2, ALWAYS(f(detached_stream, 0, NULL, 0)))
CALLS(cuStreamBatchMemOp_v2_ptsz, ALWAYS(f(detached_stream, 0, NULL, 0)))
CALLS(cuStreamAddCallback, ALWAYS(f(detached_stream, NULL, NULL, 0)))
CALLS(cuStreamAddCallback_ptsz, ALWAYS(f(detached_stream, NULL, NULL, 0)))
CALLS(cuLaunchHostFunc, ALWAYS(f(detached_stream, NULL, NULL)))
CALLS(cuLaunchHostFunc_ptsz, ALWAYS(f(detached_stream, NULL, NULL)))
CALLS(cuLaunchHostFunc_v2, ALWAYS(f(detached_stream, NULL, NULL, 0)))
CALLS(cuLaunchHostFunc_v2_ptsz, ALWAYS(f(detached_stream, NULL, NULL, 0)))
CALLS(cuWaitExternalSemaphoresAsync, ALWAYS(f(NULL, NULL, 0, detached_stream)))
CALLS(cuWaitExternalSemaphoresAsync_ptsz, ALWAYS(f(NULL, NULL, 0, detached_stream)))
CALLS(cuStreamCreate, WITHOUT(f(&stream, CU_STREAM_DEFAULT)) ALWAYS(f(NULL, CU_STREAM_DEFAULT)) ALWAYS(f(&stream, 77)))
CALLS(cuStreamCreateWithPriority,
      WITHOUT(f(&stream, CU_STREAM_DEFAULT, 0)) ALWAYS(f(NULL, CU_STREAM_DEFAULT, 0)) ALWAYS(f(&stream, 77, 0)))
CALLS(cuStreamDestroy, ALWAYS(f(NULL)))
CALLS(cuStreamDestroy_v2, ALWAYS(f(NULL)))

static const struct wrapper {
    const char *name;
    int (*calls)(void *function, int which);
} wrappers[] = {
#define ROW(name) {#name, calls_of_##name},
    CUDA_INTERCEPTED(ROW)
#undef ROW
};

static void load(void) {
    stage_driver("h200x2");
    box = stage_container("box");
    stage_share(box, "share", 0, GIB);
    cuda_load(box, RTLD_NOW | RTLD_LOCAL);
}

static CUcontext start_context(void) {
    CUcontext made;
    CHECK_EQUAL(cuda.context_create(&made, 0, 0), CUDA_SUCCESS);
    return made;
}

static bool compare(const struct wrapper *wrapper, void *shadow, void *driver, int which) {
    bool has_context = when == IN_CONTEXT || when == FAILING;
    uint64_t free = has_context ? cuda_free() : 0, hardware = stage_hardware_used(0);
    int expected = wrapper->calls(driver, which);
    if (expected == NO_MORE_CALLS || expected == NOT_NOW)
        return expected != NO_MORE_CALLS;
    int is = wrapper->calls(shadow, which);
    uint64_t charged = has_context ? free - cuda_free() : 0;
    if (expected == CUDA_SUCCESS || is != expected || charged != 0 || stage_hardware_used(0) != hardware) {
        fprintf(stderr, "%s, call %d: the driver says %d, the shadow %d; %lld bytes more are charged\n", wrapper->name,
                which, expected, is, (long long)charged);
        faults++;
    }
    return true;
}

/* NULL: the driver has no such function. */
static void *drivers_own(const char *name) {
    void *driver = dlopen(text("%s/lib/partita/libcuda-real.so.1", box), RTLD_NOW | RTLD_NOLOAD);
    CHECK(driver);
    return dlsym(driver, name);
}

static void calls_fail_as_the_drivers(const struct wrapper *wrapper) {
    void *bare = drivers_own(wrapper->name), *shadow = cuda_function(wrapper->name);
    int which = 0;
    CHECK(shadow != bare);
    while (bare && compare(wrapper, shadow, bare, which))
        which++;
    CHECK(!bare || which > 0);
    for (int answer = 0; !bare && answer != NO_MORE_CALLS; which++) {
        answer = wrapper->calls(shadow, which);
        CHECK(answer < 0 || answer == CUDA_ERROR_NOT_SUPPORTED);
    }
}

static void every_wrapper_fails_as_the_driver(void) {
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        calls_fail_as_the_drivers(&wrappers[i]);
    CHECK_EQUAL(faults, 0);
}

static void nothing_is_charged(void) {
    CHECK_EQUAL(cuda_free(), GIB);
    CHECK_EQUAL(stage_hardware_used(0), 0);
}

static void before_initialisation_every_wrapper_gives_the_drivers_error(void) {
    load();
    when = BEFORE_INIT;
    every_wrapper_fails_as_the_driver();
    CHECK_EQUAL(cuda.init(0), CUDA_SUCCESS);
    start_context();
    nothing_is_charged();
}

static void without_a_context_every_wrapper_gives_the_drivers_error(void) {
    load();
    when = WITHOUT_CONTEXT;
    CHECK_EQUAL(cuda.init(0), CUDA_SUCCESS);
    every_wrapper_fails_as_the_driver();
    start_context();
    nothing_is_charged();
}

static void after_the_context_has_ended_every_wrapper_gives_the_drivers_error(void) {
    load();
    when = WITHOUT_CONTEXT;
    CHECK_EQUAL(cuda.init(0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.context_destroy(start_context()), CUDA_SUCCESS);
    every_wrapper_fails_as_the_driver();
    start_context();
    nothing_is_charged();
}

static void start_in_context(enum when so) {
    load();
    when = so;
    CHECK_EQUAL(cuda.init(0), CUDA_SUCCESS);
    start_context();
    CUcontext primary;
    __typeof__(&cuMemPoolCreate) make_pool = cuda_function("cuMemPoolCreate");
    __typeof__(&cuGreenCtxStreamCreate) make_stream = cuda_function("cuGreenCtxStreamCreate");
    __typeof__(&cuDevicePrimaryCtxRetain) retain = cuda_function("cuDevicePrimaryCtxRetain");
    CHECK_EQUAL(make_pool(&live_pool, pool_on(card)), CUDA_SUCCESS);
    CHECK_EQUAL(make_pool(&gone_pool, pool_on(card)), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuMemPoolDestroy))cuda_function("cuMemPoolDestroy"))(gone_pool), CUDA_SUCCESS);
    CHECK_EQUAL(retain(&primary, 0), CUDA_SUCCESS); /* it would take the stream with it */
    green = cuda_green(0, &context);
    CHECK_EQUAL(make_stream(&detached_stream, green, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuGreenCtxDestroy))cuda_function("cuGreenCtxDestroy"))(green), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuMemCreate))cuda_function("cuMemCreate"))(&pages, 2 * MIB, on(card), 0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 2 * MIB);
}

/* Once in a context of the share's card, and once in one of another card. */
static void with_wrong_arguments_every_wrapper_gives_the_drivers_error(void) {
    start_in_context(IN_CONTEXT);
    every_wrapper_fails_as_the_driver();
    CHECK_EQUAL(cuda_free(), GIB - 2 * MIB);
    CHECK_EQUAL(((__typeof__(&cuMemRelease))cuda_function("cuMemRelease"))(pages), CUDA_SUCCESS);
    nothing_is_charged();
    CUcontext on_other;
    CHECK_EQUAL(cuda.context_create(&on_other, 0, 1), CUDA_SUCCESS);
    every_wrapper_fails_as_the_driver();
    CHECK_EQUAL(cuda.context_destroy(on_other), CUDA_SUCCESS);
    nothing_is_charged();
}

static void where_the_driver_fails_for_itself_every_wrapper_gives_its_error(void) {
    start_in_context(FAILING);
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++) {
        bool shows = strstr(wrappers[i].name, "cuMemGetInfo") != NULL; /* what is charged */
        if (shows || !drivers_own(wrappers[i].name))
            continue;
        stage_fail(wrappers[i].name, CUDA_ERROR_LAUNCH_FAILED);
        calls_fail_as_the_drivers(&wrappers[i]);
    }
    stage_fail(NULL, 0);
    CHECK_EQUAL(faults, 0);
    CHECK_EQUAL(cuda_free(), GIB - 2 * MIB);
}

/* As after a kernel that failed: whatever is asked of the context. */
static void a_pool_that_neither_grows_nor_can_be_read_is_not_charged(void) {
    start_in_context(FAILING);
    __typeof__(&cuMemAllocFromPoolAsync) alloc = cuda_function("cuMemAllocFromPoolAsync");
    CHECK_EQUAL(alloc(&at, 64 * MIB, live_pool, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 66 * MIB);
    stage_fail("cuMemPoolGetAttribute", CUDA_ERROR_LAUNCH_FAILED);
    CHECK_EQUAL(alloc(&at, 64 * MIB, live_pool, detached_stream), CUDA_ERROR_STREAM_DETACHED);
    CHECK_EQUAL(cuda_free(), GIB - 66 * MIB);
    stage_fail(NULL, 0);
    CHECK_EQUAL(cuda_free(), GIB - 66 * MIB);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(before_initialisation_every_wrapper_gives_the_drivers_error),
        CASE(without_a_context_every_wrapper_gives_the_drivers_error),
        CASE(after_the_context_has_ended_every_wrapper_gives_the_drivers_error),
        CASE(with_wrong_arguments_every_wrapper_gives_the_drivers_error),
        CASE(where_the_driver_fails_for_itself_every_wrapper_gives_its_error),
        CASE(a_pool_that_neither_grows_nor_can_be_read_is_not_charged),
    };
    return RUN_CASES(cases, argc, argv);
}
