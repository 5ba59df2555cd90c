/* Functions of stream-ordered pools that the shadow intercepts; from the public documentation. */
#ifndef PARTITA_CUDA_POOLS_H
#define PARTITA_CUDA_POOLS_H

#include "cuda_api.h"

PARTITA_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream);
PARTITA_EXPORT CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool,
                                                     CUstream stream);

#endif
