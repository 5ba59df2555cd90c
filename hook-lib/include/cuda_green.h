/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Green contexts: parts of a device's primary context with some of its multiprocessors; from the public documentation.
 */
#ifndef PARTITA_CUDA_GREEN_H
#define PARTITA_CUDA_GREEN_H

#include "cuda_api.h"

typedef struct CUgreenCtx_st *CUgreenCtx;
typedef struct CUdevResourceDesc_st *CUdevResourceDesc;

#define CU_GREEN_CTX_DEFAULT_STREAM 0x1
#define CU_DEV_RESOURCE_TYPE_SM 1

#define DEV_RESOURCE_BYTES 144 /* of a CUdevResource, which goes from one function to the next as it is */

PARTITA_EXPORT CUresult cuDeviceGetDevResource(CUdevice device, void *resource, int type);
PARTITA_EXPORT CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *descriptor, void *resources, unsigned int count);
PARTITA_EXPORT CUresult cuGreenCtxCreate(CUgreenCtx *green, CUdevResourceDesc descriptor, CUdevice device,
                                         unsigned int flags);
PARTITA_EXPORT CUresult cuGreenCtxDestroy(CUgreenCtx green);
PARTITA_EXPORT CUresult cuCtxFromGreenCtx(CUcontext *context, CUgreenCtx green);
PARTITA_EXPORT CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *context, CUgreenCtx *green);
PARTITA_EXPORT CUresult cuStreamGetCtx_v2_ptsz(CUstream stream, CUcontext *context, CUgreenCtx *green);
PARTITA_EXPORT CUresult cuGreenCtxStreamCreate(CUstream *stream, CUgreenCtx green, unsigned int flags, int priority);

#endif
