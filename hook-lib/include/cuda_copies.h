/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills in streams, beyond those of cuda_api.h; from the public documentation. */
#ifndef PARTITA_CUDA_COPIES_H
#define PARTITA_CUDA_COPIES_H

#include "cuda_api.h"

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

#endif
