/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual memory management, multicast objects, memory of other processes and APIs; from the public documentation. */
#ifndef PARTITA_CUDA_PAGES_H
#define PARTITA_CUDA_PAGES_H

#include "cuda_arrays.h"
#include "cuda_pools.h"

typedef unsigned long long CUmemGenericAllocationHandle;

typedef struct CUmemAllocationProp_st {
    int type;
    int requestedHandleTypes;
    CUmemLocation location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType;
        unsigned char gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
} CUmemAllocationProp;

#define CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR 1
#define CU_MEM_HANDLE_TYPE_FABRIC 8

#define CU_MEM_ACCESS_FLAGS_PROT_NONE 0
#define CU_MEM_ACCESS_FLAGS_PROT_READ 1
#define CU_MEM_ACCESS_FLAGS_PROT_READWRITE 3

typedef struct CUmemAccessDesc_st {
    CUmemLocation location;
    int flags;
} CUmemAccessDesc;

#define CU_MEM_ALLOC_GRANULARITY_MINIMUM 0
#define CU_MEM_ALLOC_GRANULARITY_RECOMMENDED 1

typedef unsigned int CUlogicalEndpointId;

typedef struct CUmulticastObjectProp_st {
    unsigned int numDevices;
    size_t size; /* that may be bound on each device */
    unsigned long long handleTypes, flags;
} CUmulticastObjectProp;

typedef struct CUipcMemHandle_st {
    char reserved[64];
} CUipcMemHandle;

typedef struct CUmemFabricHandle_st {
    unsigned char data[64];
} CUmemFabricHandle;

typedef struct CUextMemory_st *CUexternalMemory;

#define CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD 1

typedef struct CUDA_EXTERNAL_MEMORY_HANDLE_DESC_st {
    int type;
    union {
        int fd; /* the import owns it */
        struct {
            void *handle;
            const void *name;
        } win32;
        const void *nvSciBufObject;
    } handle;
    unsigned long long size;
    unsigned int flags;
    unsigned int reserved[16];
} CUDA_EXTERNAL_MEMORY_HANDLE_DESC;

typedef struct CUDA_EXTERNAL_MEMORY_BUFFER_DESC_st {
    unsigned long long offset, size;
    unsigned int flags;
    unsigned int reserved[16];
} CUDA_EXTERNAL_MEMORY_BUFFER_DESC;

/* What is mapped into a sparse or deferred array. */
#define CU_RESOURCE_TYPE_ARRAY 0
#define CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL 1
#define CU_MEM_OPERATION_TYPE_MAP 1
#define CU_MEM_OPERATION_TYPE_UNMAP 2

typedef struct CUarrayMapInfo_st {
    int resourceType;
    union {
        CUmipmappedArray mipmap;
        CUarray array;
    } resource;
    int subresourceType;
    union {
        struct {
            unsigned int level, layer, offsetX, offsetY, offsetZ, extentWidth, extentHeight, extentDepth; /* elements */
        } sparseLevel;
        struct {
            unsigned int layer;
            unsigned long long offset, size; /* bytes */
        } miptail;
    } subresource;
    int memOperationType, memHandleType;
    union {
        CUmemGenericAllocationHandle memHandle;
    } memHandle;
    unsigned long long offset;
    unsigned int deviceBitMask, flags, reserved[2];
} CUarrayMapInfo;

PARTITA_EXPORT CUresult cuMemAddressReserve(CUdeviceptr *pointer, size_t size, size_t alignment, CUdeviceptr address,
                                            unsigned long long flags);
PARTITA_EXPORT CUresult cuMemAddressFree(CUdeviceptr pointer, size_t size);
PARTITA_EXPORT CUresult cuMemSetAccess(CUdeviceptr pointer, size_t size, const CUmemAccessDesc *access, size_t count);
PARTITA_EXPORT CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr pointer);
PARTITA_EXPORT CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop, int option);
PARTITA_EXPORT CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop,
                                                               CUmemGenericAllocationHandle handle);
PARTITA_EXPORT CUresult cuMulticastCreate(CUmemGenericAllocationHandle *handle, const CUmulticastObjectProp *prop);
PARTITA_EXPORT CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice device);
PARTITA_EXPORT CUresult cuMulticastBindMem(CUmemGenericAllocationHandle handle, size_t offset,
                                           CUmemGenericAllocationHandle memory, size_t memoryOffset, size_t size,
                                           unsigned long long flags);
PARTITA_EXPORT CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle handle, size_t offset, CUdeviceptr pointer,
                                            size_t size, unsigned long long flags);
PARTITA_EXPORT CUresult cuMulticastBindMem_v2(CUmemGenericAllocationHandle handle, CUdevice device, size_t offset,
                                              CUmemGenericAllocationHandle memory, size_t memoryOffset, size_t size,
                                              unsigned long long flags);
PARTITA_EXPORT CUresult cuMulticastBindAddr_v2(CUmemGenericAllocationHandle handle, CUdevice device, size_t offset,
                                               CUdeviceptr pointer, size_t size, unsigned long long flags);
PARTITA_EXPORT CUresult cuMulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice device, size_t offset,
                                          size_t size);
PARTITA_EXPORT CUresult cuMulticastGetGranularity(size_t *granularity, const CUmulticastObjectProp *prop, int option);
PARTITA_EXPORT CUresult cuLogicalEndpointBindMem(CUlogicalEndpointId endpoint, CUdevice device, cuuint64_t offset,
                                                 CUmemGenericAllocationHandle memory, cuuint64_t memoryOffset,
                                                 cuuint64_t size, unsigned long long flags);
PARTITA_EXPORT CUresult cuLogicalEndpointBindAddr(CUlogicalEndpointId endpoint, CUdevice device, cuuint64_t offset,
                                                  void *pointer, cuuint64_t size, unsigned long long flags);
PARTITA_EXPORT CUresult cuLogicalEndpointUnbind(CUlogicalEndpointId endpoint, CUdevice device, cuuint64_t offset,
                                                cuuint64_t size);
PARTITA_EXPORT CUresult cuLogicalEndpointDestroy(CUlogicalEndpointId endpoint);
PARTITA_EXPORT CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr pointer);
PARTITA_EXPORT CUresult cuIpcOpenMemHandle(CUdeviceptr *pointer, CUipcMemHandle handle, unsigned int flags);
PARTITA_EXPORT CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pointer, CUipcMemHandle handle, unsigned int flags);
PARTITA_EXPORT CUresult cuIpcCloseMemHandle(CUdeviceptr pointer);
PARTITA_EXPORT CUresult cuImportExternalMemory(CUexternalMemory *memory,
                                               const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *handle);
PARTITA_EXPORT CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *pointer, CUexternalMemory memory,
                                                        const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *buffer);
PARTITA_EXPORT CUresult cuDestroyExternalMemory(CUexternalMemory memory);
PARTITA_EXPORT CUresult cuMemMapArrayAsync(CUarrayMapInfo *list, unsigned int count, CUstream stream);
PARTITA_EXPORT CUresult cuMemMapArrayAsync_ptsz(CUarrayMapInfo *list, unsigned int count, CUstream stream);
PARTITA_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                                    unsigned long long flags);
PARTITA_EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
PARTITA_EXPORT CUresult cuMemMap(CUdeviceptr pointer, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                                 unsigned long long flags);
PARTITA_EXPORT CUresult cuMemUnmap(CUdeviceptr pointer, size_t size);
PARTITA_EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address);
PARTITA_EXPORT CUresult cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle, int type,
                                                     unsigned long long flags);
PARTITA_EXPORT CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable, int type);

#endif
