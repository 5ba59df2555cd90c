/*
 * cuGetProcAddress: a base name, a CUDA version and a choice of default stream name one function. The newest variant that
 * is not newer than the asked version wins. Of a function that has variants for the per-thread default stream only those
 * count when that is asked for. Unknown names and too old versions are a status in _v2, which succeeds with no function,
 * and CUDA_ERROR_NOT_FOUND in the first version, which leaves its output alone. Versions and behaviour are those of
 * NVIDIA's libcuda 535.261.03, compared for every name here.
 */
#include <string.h>

#include "cuda_arrays.h"
#include "cuda_graphs.h"
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
    PLAIN(cuModuleUnload, 2000),
    PLAIN(cuModuleGetFunction, 2000),
    PLAIN(cuStreamCreate, 2000),
    PLAIN(cuStreamDestroy, 2000),
    NEWER(cuStreamDestroy, 4000, _v2),
    STREAM(cuStreamGetCtx, 9020, , _ptsz),
    PLAIN(cuStreamSynchronize, 2000),
    STREAM(cuStreamSynchronize, 7000, , _ptsz),
    PLAIN(cuGraphCreate, 10000),
    PLAIN(cuGraphDestroy, 10000),
    PLAIN(cuGraphAddMemAllocNode, 11040),
    PLAIN(cuGraphAddMemFreeNode, 11040),
    PLAIN(cuGraphAddNode, 12020),
    PLAIN(cuGraphGetNodes, 10000),
    PLAIN(cuGraphNodeGetType, 10000),
    PLAIN(cuGraphMemAllocNodeGetParams, 11040),
    PLAIN(cuGraphInstantiate, 10000),
    NEWER(cuGraphInstantiate, 11000, _v2),
    NEWER(cuGraphInstantiate, 12000, WithFlags),
    PLAIN(cuGraphInstantiateWithFlags, 11040),
    STREAM(cuGraphInstantiateWithParams, 12000, , _ptsz),
    STREAM(cuGraphUpload, 11010, , _ptsz),
    STREAM(cuGraphLaunch, 10000, , _ptsz),
    PLAIN(cuGraphExecDestroy, 10000),
    PLAIN(cuDeviceGraphMemTrim, 11040),
    PLAIN(cuDeviceGetGraphMemAttribute, 11040),
    PLAIN(cuLaunchKernel, 4000),
    STREAM(cuLaunchKernel, 7000, , _ptsz),
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
    if (!symbol || !function || !valid_flags(flags))
        return CUDA_ERROR_INVALID_VALUE;
    return look_up(symbol, cudaVersion, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, function) ==
                   CU_GET_PROC_ADDRESS_SUCCESS
               ? CUDA_SUCCESS
               : CUDA_ERROR_NOT_FOUND;
}
