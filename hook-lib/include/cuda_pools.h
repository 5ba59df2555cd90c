/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-ordered pools and what the shadow asks about streams; from the public documentation. */
#ifndef PARTITA_CUDA_POOLS_H
#define PARTITA_CUDA_POOLS_H

#include "cuda_api.h"

#define CU_MEM_LOCATION_TYPE_DEVICE 1
#define CU_MEM_LOCATION_TYPE_HOST 2
#define CU_MEM_LOCATION_TYPE_HOST_NUMA 3
#define CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT 4
#define CU_MEM_LOCATION_TYPE_DEVICE_LOCALITY_DOMAIN 6

typedef struct CUmemLocation_st {
    int type;
    int id; /* of the device */
} CUmemLocation;

#define CU_MEM_ALLOCATION_TYPE_PINNED 1
#define CU_MEM_ALLOCATION_TYPE_MANAGED 2

typedef struct CUmemPoolProps_st {
    int allocType, handleTypes;
    CUmemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
} CUmemPoolProps;

/* The values are cuuint64_t, except the three of reuse, which are int. */
typedef enum CUmemPool_attribute_enum {
    CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,
    CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
    CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
    CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
    CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT,
    CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH,
    CU_MEMPOOL_ATTR_USED_MEM_CURRENT,
    CU_MEMPOOL_ATTR_USED_MEM_HIGH
} CUmemPool_attribute;

#define CU_STREAM_CAPTURE_MODE_RELAXED 2
#define CU_STREAM_CAPTURE_STATUS_NONE 0

typedef struct CUevent_st *CUevent;

PARTITA_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream);
PARTITA_EXPORT CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool,
                                                     CUstream stream);
PARTITA_EXPORT CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props);
PARTITA_EXPORT CUresult cuMemPoolDestroy(CUmemoryPool pool);
PARTITA_EXPORT CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep);
PARTITA_EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value);
PARTITA_EXPORT CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value);
PARTITA_EXPORT CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device);
PARTITA_EXPORT CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device);
PARTITA_EXPORT CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool);
PARTITA_EXPORT CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location, int type);
PARTITA_EXPORT CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, int type);
PARTITA_EXPORT CUresult cuMemSetMemPool(CUmemLocation *location, int type, CUmemoryPool pool);
PARTITA_EXPORT CUresult cuStreamGetCtx(CUstream stream, CUcontext *context);
PARTITA_EXPORT CUresult cuStreamGetCtx_ptsz(CUstream stream, CUcontext *context);
PARTITA_EXPORT CUresult cuStreamIsCapturing(CUstream stream, int *status);
PARTITA_EXPORT CUresult cuStreamIsCapturing_ptsz(CUstream stream, int *status);
PARTITA_EXPORT CUresult cuThreadExchangeStreamCaptureMode(int *mode);
PARTITA_EXPORT CUresult cuEventSynchronize(CUevent event);

#endif
