/* Functions of virtual memory management that the shadow intercepts; from the public documentation. */
#ifndef PARTITA_CUDA_PAGES_H
#define PARTITA_CUDA_PAGES_H

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
