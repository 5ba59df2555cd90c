/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the CUDA driver API that Partita's C code touches, declared by hand from its public documentation.
 *
 * Every function stands under the name that the driver library exports: where the public header renames cuMemAlloc to
 * cuMemAlloc_v2 by a macro, both names stand here, each with its own ABI. Enumerations hold only the values in use.
 */
#ifndef PARTITA_CUDA_API_H
#define PARTITA_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

#define PARTITA_EXPORT __attribute__((visibility("default")))

typedef int CUdevice;
typedef unsigned long long CUdeviceptr; /* since CUDA 3.2: the _v2 functions */
typedef unsigned int CUdeviceptr_v1;    /* before: the functions without suffix */
typedef uint64_t cuuint64_t;
typedef uint32_t cuuint32_t;

typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUmemPoolHandle_st *CUmemoryPool;

#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)

typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;

typedef enum cudaError_enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_OUT_OF_MEMORY = 2,
    CUDA_ERROR_NOT_INITIALIZED = 3,
    CUDA_ERROR_DEINITIALIZED = 4,
    CUDA_ERROR_DEVICE_UNAVAILABLE = 46,
    CUDA_ERROR_NO_DEVICE = 100,
    CUDA_ERROR_INVALID_DEVICE = 101,
    CUDA_ERROR_INVALID_IMAGE = 200,
    CUDA_ERROR_INVALID_CONTEXT = 201,
    CUDA_ERROR_ECC_UNCORRECTABLE = 214,
    CUDA_ERROR_CONTEXT_ALREADY_IN_USE = 216,
    CUDA_ERROR_FILE_NOT_FOUND = 301,
    CUDA_ERROR_OPERATING_SYSTEM = 304,
    CUDA_ERROR_INVALID_HANDLE = 400,
    CUDA_ERROR_ILLEGAL_STATE = 401,
    CUDA_ERROR_NOT_FOUND = 500,
    CUDA_ERROR_NOT_READY = 600,
    CUDA_ERROR_ILLEGAL_ADDRESS = 700,
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701,
    CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE = 708,
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709,
    CUDA_ERROR_LAUNCH_FAILED = 719,
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720,
    CUDA_ERROR_NOT_PERMITTED = 800,
    CUDA_ERROR_NOT_SUPPORTED = 801,
    CUDA_ERROR_SYSTEM_NOT_READY = 802,
    CUDA_ERROR_MPS_CONNECTION_FAILED = 805,
    CUDA_ERROR_MPS_MAX_CLIENTS_REACHED = 808,
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
    CUDA_ERROR_STREAM_CAPTURE_MERGE = 902,
    CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
    CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904,
    CUDA_ERROR_STREAM_CAPTURE_ISOLATION = 905,
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906,
    CUDA_ERROR_CAPTURED_EVENT = 907,
    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908,
    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE = 910,
    CUDA_ERROR_INVALID_RESOURCE_TYPE = 914,
    CUDA_ERROR_STREAM_DETACHED = 917,
    CUDA_ERROR_UNKNOWN = 999
} CUresult;

typedef enum CUdevice_attribute_enum {
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
    CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
    CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
    CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY = 9,
    CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
    CU_DEVICE_ATTRIBUTE_MAX_PITCH = 11,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
    CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
    CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT = 14,
    CU_DEVICE_ATTRIBUTE_GPU_OVERLAP = 15,
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT = 17,
    CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
    CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19,
    CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
    CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS = 31,
    CU_DEVICE_ATTRIBUTE_ECC_ENABLED = 32,
    CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
    CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
    CU_DEVICE_ATTRIBUTE_TCC_DRIVER = 35,
    CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
    CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
    CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
    CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
    CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT = 40,
    CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
    CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED = 78,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
    CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
    CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
    CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD = 84,
    CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
    CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
    CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED = 90,
    CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
    CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
    CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
    CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115
} CUdevice_attribute;

/* Flags of cuGetProcAddress: which default stream the functions that it hands out mean. */
#define CU_GET_PROC_ADDRESS_DEFAULT 0
#define CU_GET_PROC_ADDRESS_LEGACY_STREAM 1
#define CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM 2

typedef enum CUdriverProcAddressQueryResult_enum {
    CU_GET_PROC_ADDRESS_SUCCESS = 0,
    CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
    CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2
} CUdriverProcAddressQueryResult;

#define CU_MEM_ATTACH_GLOBAL 0x1
#define CU_MEM_ATTACH_HOST 0x2
#define CU_MEM_ATTACH_SINGLE 0x4

#define CU_CTX_FLAGS_MASK 0xffu
#define CU_STREAM_DEFAULT 0x0
#define CU_STREAM_NON_BLOCKING 0x1

/* Initialisation and lookup */
PARTITA_EXPORT CUresult cuInit(unsigned int flags);
PARTITA_EXPORT CUresult cuDriverGetVersion(int *version);
PARTITA_EXPORT CUresult cuGetProcAddress(const char *symbol, void **function, int cudaVersion, cuuint64_t flags);
PARTITA_EXPORT CUresult cuGetProcAddress_v2(const char *symbol, void **function, int cudaVersion, cuuint64_t flags,
                                            CUdriverProcAddressQueryResult *symbolStatus);
PARTITA_EXPORT CUresult cuGetExportTable(const void **table, const CUuuid *id);
PARTITA_EXPORT CUresult cuGetErrorName(CUresult error, const char **name);
PARTITA_EXPORT CUresult cuGetErrorString(CUresult error, const char **text);

/* Devices */
PARTITA_EXPORT CUresult cuDeviceGetCount(int *count);
PARTITA_EXPORT CUresult cuDeviceGet(CUdevice *device, int ordinal);
PARTITA_EXPORT CUresult cuDeviceGetName(char *name, int length, CUdevice device);
PARTITA_EXPORT CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device);
PARTITA_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device);
PARTITA_EXPORT CUresult cuDeviceTotalMem(unsigned int *bytes, CUdevice device);
PARTITA_EXPORT CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device);
PARTITA_EXPORT CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device);
PARTITA_EXPORT CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device);
PARTITA_EXPORT CUresult cuDeviceGetPCIBusId(char *busId, int length, CUdevice device);
PARTITA_EXPORT CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *busId);

/* Contexts */
PARTITA_EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
PARTITA_EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice device);
PARTITA_EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device);
PARTITA_EXPORT CUresult cuDevicePrimaryCtxReset(CUdevice device);
PARTITA_EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device);
PARTITA_EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active);
PARTITA_EXPORT CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags);
PARTITA_EXPORT CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags);
PARTITA_EXPORT CUresult cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device);
PARTITA_EXPORT CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);
PARTITA_EXPORT CUresult cuCtxCreate_v3(CUcontext *context, void *affinities, int affinityCount, unsigned int flags,
                                       CUdevice device);
PARTITA_EXPORT CUresult cuCtxCreate_v4(CUcontext *context, void *parameters, unsigned int flags, CUdevice device);
PARTITA_EXPORT CUresult cuCtxDestroy(CUcontext context);
PARTITA_EXPORT CUresult cuCtxDestroy_v2(CUcontext context);
PARTITA_EXPORT CUresult cuCtxSetCurrent(CUcontext context);
PARTITA_EXPORT CUresult cuCtxGetCurrent(CUcontext *context);
PARTITA_EXPORT CUresult cuCtxPushCurrent(CUcontext context);
PARTITA_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext context);
PARTITA_EXPORT CUresult cuCtxPopCurrent(CUcontext *context);
PARTITA_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *context);
PARTITA_EXPORT CUresult cuCtxGetDevice(CUdevice *device);
PARTITA_EXPORT CUresult cuCtxGetFlags(unsigned int *flags);
PARTITA_EXPORT CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version);
PARTITA_EXPORT CUresult cuCtxSynchronize(void);
PARTITA_EXPORT CUresult cuCtxSynchronize_v2(CUcontext context);
PARTITA_EXPORT CUresult cuCtxAttach(CUcontext *context, unsigned int flags);
PARTITA_EXPORT CUresult cuCtxDetach(CUcontext context);

/* Memory: the functions without suffix have 32-bit pointers and sizes */
PARTITA_EXPORT CUresult cuMemGetInfo(unsigned int *free, unsigned int *total);
PARTITA_EXPORT CUresult cuMemGetInfo_v2(size_t *free, size_t *total);
PARTITA_EXPORT CUresult cuMemAlloc(CUdeviceptr_v1 *pointer, unsigned int bytes);
PARTITA_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *pointer, size_t bytes);
PARTITA_EXPORT CUresult cuMemAllocPitch(CUdeviceptr_v1 *pointer, unsigned int *pitch, unsigned int widthInBytes,
                                        unsigned int height, unsigned int elementSizeBytes);
PARTITA_EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr *pointer, size_t *pitch, size_t widthInBytes, size_t height,
                                           unsigned int elementSizeBytes);
PARTITA_EXPORT CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned int flags);
PARTITA_EXPORT CUresult cuMemFree(CUdeviceptr_v1 pointer);
PARTITA_EXPORT CUresult cuMemFree_v2(CUdeviceptr pointer);
PARTITA_EXPORT CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream);
PARTITA_EXPORT CUresult cuMemAllocAsync_ptsz(CUdeviceptr *pointer, size_t bytes, CUstream stream);
PARTITA_EXPORT CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream);
PARTITA_EXPORT CUresult cuMemFreeAsync_ptsz(CUdeviceptr pointer, CUstream stream);
PARTITA_EXPORT CUresult cuMemGetAddressRange(CUdeviceptr_v1 *base, unsigned int *size, CUdeviceptr_v1 pointer);
PARTITA_EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr pointer);
PARTITA_EXPORT CUresult cuMemHostAlloc(void **pointer, size_t bytes, unsigned int flags);
PARTITA_EXPORT CUresult cuMemAllocHost(void **pointer, unsigned int bytes);
PARTITA_EXPORT CUresult cuMemAllocHost_v2(void **pointer, size_t bytes);
PARTITA_EXPORT CUresult cuMemFreeHost(void *pointer);
PARTITA_EXPORT CUresult cuMemcpyHtoD(CUdeviceptr_v1 destination, const void *source, unsigned int bytes);
PARTITA_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr destination, const void *source, size_t bytes);
PARTITA_EXPORT CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr destination, const void *source, size_t bytes);
PARTITA_EXPORT CUresult cuMemcpyDtoH(void *destination, CUdeviceptr_v1 source, unsigned int bytes);
PARTITA_EXPORT CUresult cuMemcpyDtoH_v2(void *destination, CUdeviceptr source, size_t bytes);
PARTITA_EXPORT CUresult cuMemcpyDtoH_v2_ptds(void *destination, CUdeviceptr source, size_t bytes);
PARTITA_EXPORT CUresult cuMemsetD8(CUdeviceptr_v1 destination, unsigned char value, unsigned int count);
PARTITA_EXPORT CUresult cuMemsetD8_v2(CUdeviceptr destination, unsigned char value, size_t count);
PARTITA_EXPORT CUresult cuMemsetD8_v2_ptds(CUdeviceptr destination, unsigned char value, size_t count);

/* Modules, streams and launches */
PARTITA_EXPORT CUresult cuModuleLoadData(CUmodule *module, const void *image);
PARTITA_EXPORT CUresult cuModuleUnload(CUmodule module);
PARTITA_EXPORT CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
PARTITA_EXPORT CUresult cuStreamCreate(CUstream *stream, unsigned int flags);
PARTITA_EXPORT CUresult cuStreamDestroy(CUstream stream);
PARTITA_EXPORT CUresult cuStreamDestroy_v2(CUstream stream);
PARTITA_EXPORT CUresult cuStreamSynchronize(CUstream stream);
PARTITA_EXPORT CUresult cuStreamSynchronize_ptsz(CUstream stream);
PARTITA_EXPORT CUresult cuLaunchKernel(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                                       unsigned int blockX, unsigned int blockY, unsigned int blockZ,
                                       unsigned int sharedBytes, CUstream stream, void **parameters, void **extra);
PARTITA_EXPORT CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned int gridX, unsigned int gridY,
                                            unsigned int gridZ, unsigned int blockX, unsigned int blockY,
                                            unsigned int blockZ, unsigned int sharedBytes, CUstream stream,
                                            void **parameters, void **extra);

#endif
