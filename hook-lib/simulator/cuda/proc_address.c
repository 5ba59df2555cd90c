/*
 * cuGetProcAddress: a base name, a CUDA version and a choice of default stream name one function. The newest variant that
 * is not newer than the asked version wins. Of a function that has variants for the per-thread default stream only those
 * count when that is asked for. Unknown names and too old versions are a status in _v2, which succeeds with no function,
 * and CUDA_ERROR_NOT_FOUND in the first version, which leaves its output alone. Versions and behaviour are those of
 * NVIDIA's libcuda 535.261.03 and 550.163.01, compared for every name here.
 */
#include <string.h>

#include "cuda_arrays.h"
#include "cuda_capture.h"
#include "cuda_copies.h"
#include "cuda_events.h"
#include "cuda_graphs.h"
#include "cuda_launch.h"
#include "cuda_pages.h"
#include "driver.h"

struct variant {
    const char *name;
    int since;
    void *function, *per_thread; /* per_thread: NULL where the function has no default stream */
};

#define PLAIN(name, since) {#name, since, (void *)name, NULL}
#define NEWER(name, since, suffix) {#name, since, (void *)name##suffix, NULL}
#define STREAM(name, since, suffix, ptsz) {#name, since, (void *)name##suffix, (void *)name##suffix##ptsz}

static const struct variant variants[] = {
    PLAIN(cuInit, 2000),
    PLAIN(cuDriverGetVersion, 2020),
    PLAIN(cuGetProcAddress, 11030),
    NEWER(cuGetProcAddress, 12000, _v2),
    PLAIN(cuGetExportTable, 3000),
    PLAIN(cuGetErrorName, 6000),
    PLAIN(cuGetErrorString, 6000),
    PLAIN(cuDeviceGetCount, 2000),
    PLAIN(cuDeviceGet, 2000),
    PLAIN(cuDeviceGetName, 2000),
    PLAIN(cuDeviceGetUuid, 9020),
    NEWER(cuDeviceGetUuid, 11040, _v2),
    PLAIN(cuDeviceTotalMem, 2000),
    NEWER(cuDeviceTotalMem, 3020, _v2),
    PLAIN(cuDeviceGetAttribute, 2000),
    PLAIN(cuDeviceComputeCapability, 2000),
    PLAIN(cuDeviceGetPCIBusId, 4010),
    PLAIN(cuDeviceGetByPCIBusId, 4010),
    PLAIN(cuDevicePrimaryCtxRetain, 7000),
    PLAIN(cuDevicePrimaryCtxRelease, 7000),
    NEWER(cuDevicePrimaryCtxRelease, 11000, _v2),
    PLAIN(cuDevicePrimaryCtxReset, 7000),
    NEWER(cuDevicePrimaryCtxReset, 11000, _v2),
    PLAIN(cuDevicePrimaryCtxGetState, 7000),
    PLAIN(cuDevicePrimaryCtxSetFlags, 7000),
    NEWER(cuDevicePrimaryCtxSetFlags, 11000, _v2),
    PLAIN(cuCtxCreate, 2000),
    NEWER(cuCtxCreate, 3020, _v2),
    NEWER(cuCtxCreate, 11040, _v3),
    NEWER(cuCtxCreate, 12050, _v4),
    PLAIN(cuCtxDestroy, 2000),
    NEWER(cuCtxDestroy, 4000, _v2),
    PLAIN(cuCtxSetCurrent, 4000),
    PLAIN(cuCtxGetCurrent, 4000),
    PLAIN(cuCtxPushCurrent, 2000),
    NEWER(cuCtxPushCurrent, 4000, _v2),
    PLAIN(cuCtxPopCurrent, 2000),
    NEWER(cuCtxPopCurrent, 4000, _v2),
    PLAIN(cuCtxGetDevice, 2000),
    PLAIN(cuCtxGetFlags, 7000),
    PLAIN(cuCtxGetApiVersion, 3020),
    PLAIN(cuCtxSynchronize, 2000),
    PLAIN(cuMemGetInfo, 2000),
    NEWER(cuMemGetInfo, 3020, _v2),
    PLAIN(cuMemAlloc, 2000),
    NEWER(cuMemAlloc, 3020, _v2),
    PLAIN(cuMemAllocPitch, 2000),
    NEWER(cuMemAllocPitch, 3020, _v2),
    PLAIN(cuMemAllocManaged, 6000),
    PLAIN(cuMemFree, 2000),
    NEWER(cuMemFree, 3020, _v2),
    STREAM(cuMemAllocAsync, 11020, , _ptsz),
    STREAM(cuMemFreeAsync, 11020, , _ptsz),
    STREAM(cuMemAllocFromPoolAsync, 11020, , _ptsz),
    PLAIN(cuMemPoolCreate, 11020),
    PLAIN(cuMemPoolDestroy, 11020),
    PLAIN(cuMemPoolTrimTo, 11020),
    PLAIN(cuMemPoolSetAttribute, 11020),
    PLAIN(cuMemPoolGetAttribute, 11020),
    PLAIN(cuDeviceGetDefaultMemPool, 11020),
    PLAIN(cuDeviceGetMemPool, 11020),
    PLAIN(cuDeviceSetMemPool, 11020),
    PLAIN(cuMemAddressReserve, 10020),
    PLAIN(cuMemAddressFree, 10020),
    PLAIN(cuMemCreate, 10020),
    PLAIN(cuMemRelease, 10020),
    PLAIN(cuMemMap, 10020),
    PLAIN(cuMemUnmap, 10020),
    PLAIN(cuMemSetAccess, 10020),
    PLAIN(cuMemGetAccess, 10020),
    PLAIN(cuMemGetAllocationGranularity, 10020),
    PLAIN(cuMemGetAllocationPropertiesFromHandle, 10020),
    PLAIN(cuMemRetainAllocationHandle, 11000),
    PLAIN(cuMemExportToShareableHandle, 10020),
    PLAIN(cuMemImportFromShareableHandle, 10020),
    PLAIN(cuMulticastCreate, 12010),
    PLAIN(cuMulticastAddDevice, 12010),
    PLAIN(cuMulticastBindMem, 12010),
    PLAIN(cuMulticastBindAddr, 12010),
    PLAIN(cuMulticastUnbind, 12010),
    PLAIN(cuMulticastGetGranularity, 12010),
    PLAIN(cuIpcGetMemHandle, 4010),
    PLAIN(cuIpcOpenMemHandle, 4010),
    NEWER(cuIpcOpenMemHandle, 11000, _v2),
    PLAIN(cuIpcCloseMemHandle, 4010),
    PLAIN(cuImportExternalMemory, 10000),
    PLAIN(cuExternalMemoryGetMappedBuffer, 10000),
    PLAIN(cuDestroyExternalMemory, 10000),
    PLAIN(cuMemGetAddressRange, 2000),
    NEWER(cuMemGetAddressRange, 3020, _v2),
    PLAIN(cuMemHostAlloc, 2020),
    PLAIN(cuMemAllocHost, 2000),
    NEWER(cuMemAllocHost, 3020, _v2),
    PLAIN(cuMemFreeHost, 2000),
    PLAIN(cuMemcpyHtoD, 2000),
    NEWER(cuMemcpyHtoD, 3020, _v2),
    STREAM(cuMemcpyHtoD, 7000, _v2, _ptds),
    PLAIN(cuMemcpyDtoH, 2000),
    NEWER(cuMemcpyDtoH, 3020, _v2),
    STREAM(cuMemcpyDtoH, 7000, _v2, _ptds),
    PLAIN(cuMemsetD8, 2000),
    NEWER(cuMemsetD8, 3020, _v2),
    STREAM(cuMemsetD8, 7000, _v2, _ptds),
    NEWER(cuMemsetD32, 3020, _v2),
    STREAM(cuMemsetD32, 7000, _v2, _ptds),
    NEWER(cuMemcpyDtoD, 3020, _v2),
    STREAM(cuMemcpyDtoD, 7000, _v2, _ptds),
    NEWER(cuMemcpyHtoDAsync, 3020, _v2),
    STREAM(cuMemcpyHtoDAsync, 7000, _v2, _ptsz),
    NEWER(cuMemcpyDtoHAsync, 3020, _v2),
    STREAM(cuMemcpyDtoHAsync, 7000, _v2, _ptsz),
    NEWER(cuMemcpyDtoDAsync, 3020, _v2),
    STREAM(cuMemcpyDtoDAsync, 7000, _v2, _ptsz),
    PLAIN(cuMemsetD8Async, 3020),
    STREAM(cuMemsetD8Async, 7000, , _ptsz),
    PLAIN(cuMemsetD32Async, 3020),
    STREAM(cuMemsetD32Async, 7000, , _ptsz),
    PLAIN(cuArrayCreate, 2000),
    NEWER(cuArrayCreate, 3020, _v2),
    PLAIN(cuArray3DCreate, 2000),
    NEWER(cuArray3DCreate, 3020, _v2),
    PLAIN(cuArrayDestroy, 2000),
    PLAIN(cuArrayGetMemoryRequirements, 11060),
    PLAIN(cuMipmappedArrayCreate, 5000),
    PLAIN(cuMipmappedArrayGetLevel, 5000),
    PLAIN(cuMipmappedArrayDestroy, 5000),
    PLAIN(cuMipmappedArrayGetMemoryRequirements, 11060),
    PLAIN(cuModuleLoadData, 2000),
    PLAIN(cuModuleLoad, 2000),
    PLAIN(cuModuleLoadDataEx, 2010),
    PLAIN(cuModuleLoadFatBinary, 2000),
    PLAIN(cuModuleUnload, 2000),
    PLAIN(cuLibraryLoadData, 12000),
    PLAIN(cuLibraryLoadFromFile, 12000),
    PLAIN(cuLibraryUnload, 12000),
    PLAIN(cuLibraryGetKernel, 12000),
    PLAIN(cuLibraryGetModule, 12000),
    PLAIN(cuKernelGetFunction, 12000),
    PLAIN(cuKernelGetLibrary, 12050),
    PLAIN(cuFuncGetModule, 11000),
    PLAIN(cuFuncSetBlockShape, 2000),
    PLAIN(cuFuncSetSharedSize, 2000),
    PLAIN(cuParamSetSize, 2000),
    PLAIN(cuParamSeti, 2000),
    PLAIN(cuParamSetf, 2000),
    PLAIN(cuParamSetv, 2000),
    PLAIN(cuLaunch, 2000),
    PLAIN(cuLaunchGrid, 2000),
    PLAIN(cuLaunchGridAsync, 2000),
    PLAIN(cuModuleGetFunction, 2000),
    PLAIN(cuStreamCreate, 2000),
    PLAIN(cuStreamDestroy, 2000),
    NEWER(cuStreamDestroy, 4000, _v2),
    PLAIN(cuStreamCreateWithPriority, 5050),
    PLAIN(cuCtxGetStreamPriorityRange, 5050),
    PLAIN(cuStreamGetPriority, 5050),
    STREAM(cuStreamGetPriority, 7000, , _ptsz),
    PLAIN(cuStreamGetFlags, 5050),
    STREAM(cuStreamGetFlags, 7000, , _ptsz),
    STREAM(cuStreamGetCtx, 9020, , _ptsz),
    PLAIN(cuStreamQuery, 2000),
    STREAM(cuStreamQuery, 7000, , _ptsz),
    PLAIN(cuStreamWaitEvent, 3020),
    STREAM(cuStreamWaitEvent, 7000, , _ptsz),
    PLAIN(cuStreamSynchronize, 2000),
    STREAM(cuStreamSynchronize, 7000, , _ptsz),
    PLAIN(cuEventCreate, 2000),
    PLAIN(cuEventRecord, 2000),
    STREAM(cuEventRecord, 7000, , _ptsz),
    STREAM(cuEventRecordWithFlags, 11010, , _ptsz),
    PLAIN(cuEventQuery, 2000),
    PLAIN(cuEventSynchronize, 2000),
    PLAIN(cuEventElapsedTime, 2000),
    NEWER(cuEventElapsedTime, 12080, _v2),
    PLAIN(cuEventDestroy, 2000),
    NEWER(cuEventDestroy, 4000, _v2),
    STREAM(cuStreamBeginCapture, 10000, , _ptsz),
    STREAM(cuStreamBeginCapture, 10010, _v2, _ptsz),
    STREAM(cuStreamBeginCaptureToGraph, 12030, , _ptsz),
    STREAM(cuStreamEndCapture, 10000, , _ptsz),
    STREAM(cuStreamIsCapturing, 10000, , _ptsz),
    STREAM(cuStreamGetCaptureInfo, 10010, , _ptsz),
    STREAM(cuStreamGetCaptureInfo, 11030, _v2, _ptsz),
    STREAM(cuStreamGetCaptureInfo, 12030, _v3, _ptsz),
    STREAM(cuStreamUpdateCaptureDependencies, 11030, , _ptsz),
    STREAM(cuStreamUpdateCaptureDependencies, 12030, _v2, _ptsz),
    PLAIN(cuThreadExchangeStreamCaptureMode, 10010),
    PLAIN(cuGraphCreate, 10000),
    PLAIN(cuGraphDestroy, 10000),
    PLAIN(cuGraphAddMemAllocNode, 11040),
    PLAIN(cuGraphAddMemFreeNode, 11040),
    PLAIN(cuGraphAddNode, 12020),
    NEWER(cuGraphAddNode, 12030, _v2),
    PLAIN(cuGraphAddKernelNode, 10000),
    NEWER(cuGraphAddKernelNode, 12000, _v2),
    PLAIN(cuGraphKernelNodeGetParams, 10000),
    NEWER(cuGraphKernelNodeGetParams, 12000, _v2),
    PLAIN(cuGraphKernelNodeSetParams, 10000),
    NEWER(cuGraphKernelNodeSetParams, 12000, _v2),
    PLAIN(cuGraphExecKernelNodeSetParams, 10010),
    NEWER(cuGraphExecKernelNodeSetParams, 12000, _v2),
    PLAIN(cuGraphAddMemsetNode, 10000),
    PLAIN(cuGraphAddHostNode, 10000),
    PLAIN(cuGraphAddChildGraphNode, 10000),
    PLAIN(cuGraphChildGraphNodeGetGraph, 10000),
    PLAIN(cuGraphAddEmptyNode, 10000),
    PLAIN(cuGraphAddEventRecordNode, 11010),
    PLAIN(cuGraphAddEventWaitNode, 11010),
    PLAIN(cuGraphAddDependencies, 10000),
    NEWER(cuGraphAddDependencies, 12030, _v2),
    PLAIN(cuGraphClone, 10000),
    PLAIN(cuGraphDestroyNode, 10000),
    PLAIN(cuGraphNodeGetDependencies, 10000),
    NEWER(cuGraphNodeGetDependencies, 12030, _v2),
    PLAIN(cuGraphExecUpdate, 10020),
    NEWER(cuGraphExecUpdate, 12000, _v2),
    PLAIN(cuGraphGetNodes, 10000),
    PLAIN(cuGraphNodeGetType, 10000),
    PLAIN(cuGraphMemAllocNodeGetParams, 11040),
    PLAIN(cuGraphInstantiate, 10000),
    NEWER(cuGraphInstantiate, 11000, _v2),
    PLAIN(cuGraphInstantiateWithFlags, 11040),
    STREAM(cuGraphInstantiateWithParams, 12000, , _ptsz),
    STREAM(cuGraphUpload, 11010, , _ptsz),
    STREAM(cuGraphLaunch, 10000, , _ptsz),
    PLAIN(cuGraphExecDestroy, 10000),
    PLAIN(cuDeviceGraphMemTrim, 11040),
    PLAIN(cuDeviceGetGraphMemAttribute, 11040),
    PLAIN(cuLaunchKernel, 4000),
    STREAM(cuLaunchKernel, 7000, , _ptsz),
    STREAM(cuLaunchKernelEx, 11060, , _ptsz),
    STREAM(cuLaunchCooperativeKernel, 9000, , _ptsz),
    PLAIN(cuLaunchCooperativeKernelMultiDevice, 9000),
    STREAM(cuLaunchHostFunc, 10000, , _ptsz),
    PLAIN(cuStreamAddCallback, 5000),
    STREAM(cuStreamAddCallback, 7000, , _ptsz),
};

static CUdriverProcAddressQueryResult look_up(const char *symbol, int version, bool per_thread, void **function)
{
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const struct variant *best = NULL;
    bool has_per_thread = false;

    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++)
        has_per_thread |= variants[i].per_thread && strcmp(variants[i].name, symbol) == 0;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        const struct variant *variant = &variants[i];

        if (strcmp(variant->name, symbol) != 0)
            continue;
        status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        if (per_thread && has_per_thread && !variant->per_thread)
            continue;
        if (variant->since <= version && (!best || variant->since >= best->since))
            best = variant;
    }
    if (!best)
        return status;
    *function = per_thread && best->per_thread ? best->per_thread : best->function;
    return CU_GET_PROC_ADDRESS_SUCCESS;
}

static bool valid_flags(cuuint64_t flags)
{
    return flags <= (CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
}

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *symbolStatus)
{
    FAULT_POINT();
    CUdriverProcAddressQueryResult status;

    if (!symbol || !function || !valid_flags(flags))
        return CUDA_ERROR_INVALID_VALUE;
    *function = NULL;
    status = look_up(symbol, cudaVersion, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, function);
    if (symbolStatus)
        *symbolStatus = status;
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *symbol, void **function, int cudaVersion, cuuint64_t flags)
{
    FAULT_POINT();
    if (!symbol || !function || !valid_flags(flags))
        return CUDA_ERROR_INVALID_VALUE;
    return look_up(symbol, cudaVersion, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, function) ==
                   CU_GET_PROC_ADDRESS_SUCCESS
               ? CUDA_SUCCESS
               : CUDA_ERROR_NOT_FOUND;
}
