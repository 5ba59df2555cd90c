/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills in streams, beyond those of cuda_api.h; from the public documentation. */
#ifndef PARTITA_CUDA_COPIES_H
#define PARTITA_CUDA_COPIES_H

#include "cuda_pools.h"

PARTITA_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void *source, size_t bytes,
                                             CUstream stream);
PARTITA_EXPORT CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr destination, const void *source, size_t bytes,
                                                  CUstream stream);
PARTITA_EXPORT CUresult cuMemcpyDtoHAsync_v2(void *destination, CUdeviceptr source, size_t bytes, CUstream stream);
PARTITA_EXPORT CUresult cuMemcpyDtoHAsync_v2_ptsz(void *destination, CUdeviceptr source, size_t bytes, CUstream stream);
PARTITA_EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes);
PARTITA_EXPORT CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr destination, CUdeviceptr source, size_t bytes);
PARTITA_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                                             CUstream stream);
PARTITA_EXPORT CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr destination, CUdeviceptr source, size_t bytes,
                                                  CUstream stream);
PARTITA_EXPORT CUresult cuMemsetD8Async(CUdeviceptr destination, unsigned char value, size_t count, CUstream stream);
PARTITA_EXPORT CUresult cuMemsetD8Async_ptsz(CUdeviceptr destination, unsigned char value, size_t count,
                                             CUstream stream);
PARTITA_EXPORT CUresult cuMemsetD32_v2(CUdeviceptr destination, unsigned int value, size_t count);
PARTITA_EXPORT CUresult cuMemsetD32_v2_ptds(CUdeviceptr destination, unsigned int value, size_t count);
PARTITA_EXPORT CUresult cuMemsetD32Async(CUdeviceptr destination, unsigned int value, size_t count, CUstream stream);
PARTITA_EXPORT CUresult cuMemsetD32Async_ptsz(CUdeviceptr destination, unsigned int value, size_t count,
                                              CUstream stream);

typedef struct CUDA_MEMCPY2D_st CUDA_MEMCPY2D;
typedef struct CUDA_MEMCPY3D_st CUDA_MEMCPY3D;
typedef struct CUmemcpyAttributes_st CUmemcpyAttributes;

PARTITA_EXPORT CUresult cuMemcpyAsync(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream);
PARTITA_EXPORT CUresult cuMemcpyAsync_ptsz(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream);
PARTITA_EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr destination, CUcontext destinationContext, CUdeviceptr source,
                                          CUcontext sourceContext, size_t bytes, CUstream stream);
PARTITA_EXPORT CUresult cuMemcpyPeerAsync_ptsz(CUdeviceptr destination, CUcontext destinationContext,
                                               CUdeviceptr source, CUcontext sourceContext, size_t bytes,
                                               CUstream stream);
PARTITA_EXPORT CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream);
PARTITA_EXPORT CUresult cuMemcpy2DAsync_v2_ptsz(const CUDA_MEMCPY2D *copy, CUstream stream);
PARTITA_EXPORT CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream);
PARTITA_EXPORT CUresult cuMemcpy3DAsync_v2_ptsz(const CUDA_MEMCPY3D *copy, CUstream stream);
PARTITA_EXPORT CUresult cuMemcpyBatchAsync(CUdeviceptr *destinations, CUdeviceptr *sources, size_t *sizes, size_t count,
                                           CUmemcpyAttributes *attributes, size_t *indexes, size_t attributesCount,
                                           size_t *failed, CUstream stream);
PARTITA_EXPORT CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr *destinations, CUdeviceptr *sources, size_t *sizes,
                                                size_t count, CUmemcpyAttributes *attributes, size_t *indexes,
                                                size_t attributesCount, size_t *failed, CUstream stream);
PARTITA_EXPORT CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *destinations, CUdeviceptr *sources, size_t *sizes,
                                              size_t count, CUmemcpyAttributes *attributes, size_t *indexes,
                                              size_t attributesCount, CUstream stream);
PARTITA_EXPORT CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr *destinations, CUdeviceptr *sources, size_t *sizes,
                                                   size_t count, CUmemcpyAttributes *attributes, size_t *indexes,
                                                   size_t attributesCount, CUstream stream);
PARTITA_EXPORT CUresult cuMemPrefetchAsync(CUdeviceptr pointer, size_t bytes, CUdevice device, CUstream stream);
PARTITA_EXPORT CUresult cuMemPrefetchAsync_ptsz(CUdeviceptr pointer, size_t bytes, CUdevice device, CUstream stream);
PARTITA_EXPORT CUresult cuMemPrefetchAsync_v2(CUdeviceptr pointer, size_t bytes, CUmemLocation location,
                                              unsigned int flags, CUstream stream);
PARTITA_EXPORT CUresult cuMemPrefetchAsync_v2_ptsz(CUdeviceptr pointer, size_t bytes, CUmemLocation location,
                                                   unsigned int flags, CUstream stream);

#endif
