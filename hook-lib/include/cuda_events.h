/* SPDX-License-Identifier: Apache-2.0 */
/* Events, what streams are asked, and host functions in streams; from the public documentation. */
#ifndef PARTITA_CUDA_EVENTS_H
#define PARTITA_CUDA_EVENTS_H

#include "cuda_pools.h"

#define CU_EVENT_DEFAULT 0x0
#define CU_EVENT_BLOCKING_SYNC 0x1
#define CU_EVENT_DISABLE_TIMING 0x2
#define CU_EVENT_INTERPROCESS 0x4

#define CU_EVENT_RECORD_DEFAULT 0x0
#define CU_EVENT_RECORD_EXTERNAL 0x1

#define CU_EVENT_WAIT_DEFAULT 0x0
#define CU_EVENT_WAIT_EXTERNAL 0x1

typedef union CUstreamBatchMemOpParams_union CUstreamBatchMemOpParams;

typedef void (*CUhostFn)(void *userData);
typedef void (*CUstreamCallback)(CUstream stream, CUresult status, void *userData);

PARTITA_EXPORT CUresult cuEventCreate(CUevent *event, unsigned int flags);
PARTITA_EXPORT CUresult cuEventRecord(CUevent event, CUstream stream);
PARTITA_EXPORT CUresult cuEventRecord_ptsz(CUevent event, CUstream stream);
PARTITA_EXPORT CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags);
PARTITA_EXPORT CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned int flags);
PARTITA_EXPORT CUresult cuEventQuery(CUevent event);
PARTITA_EXPORT CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end);
PARTITA_EXPORT CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end);
PARTITA_EXPORT CUresult cuEventDestroy(CUevent event);
PARTITA_EXPORT CUresult cuEventDestroy_v2(CUevent event);

PARTITA_EXPORT CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority);
PARTITA_EXPORT CUresult cuStreamGetPriority(CUstream stream, int *priority);
PARTITA_EXPORT CUresult cuStreamGetPriority_ptsz(CUstream stream, int *priority);
PARTITA_EXPORT CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags);
PARTITA_EXPORT CUresult cuStreamGetFlags_ptsz(CUstream stream, unsigned int *flags);
PARTITA_EXPORT CUresult cuStreamQuery(CUstream stream);
PARTITA_EXPORT CUresult cuStreamQuery_ptsz(CUstream stream);
PARTITA_EXPORT CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags);
PARTITA_EXPORT CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned int flags);
PARTITA_EXPORT CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *userData,
                                            unsigned int flags);
PARTITA_EXPORT CUresult cuStreamAddCallback_ptsz(CUstream stream, CUstreamCallback callback, void *userData,
                                                 unsigned int flags);
PARTITA_EXPORT CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *userData);
PARTITA_EXPORT CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function, void *userData);
PARTITA_EXPORT CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags);
PARTITA_EXPORT CUresult cuStreamWaitValue32_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                                 unsigned int flags);
PARTITA_EXPORT CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                               unsigned int flags);
PARTITA_EXPORT CUresult cuStreamWaitValue32_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint32_t value,
                                                    unsigned int flags);
PARTITA_EXPORT CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags);
PARTITA_EXPORT CUresult cuStreamWaitValue64_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                                 unsigned int flags);
PARTITA_EXPORT CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                               unsigned int flags);
PARTITA_EXPORT CUresult cuStreamWaitValue64_v2_ptsz(CUstream stream, CUdeviceptr address, cuuint64_t value,
                                                    unsigned int flags);
PARTITA_EXPORT CUresult cuStreamBatchMemOp(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *operations,
                                           unsigned int flags);
PARTITA_EXPORT CUresult cuStreamBatchMemOp_ptsz(CUstream stream, unsigned int count,
                                                CUstreamBatchMemOpParams *operations, unsigned int flags);
PARTITA_EXPORT CUresult cuStreamBatchMemOp_v2(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *operations,
                                              unsigned int flags);
PARTITA_EXPORT CUresult cuStreamBatchMemOp_v2_ptsz(CUstream stream, unsigned int count,
                                                   CUstreamBatchMemOpParams *operations, unsigned int flags);
PARTITA_EXPORT CUresult cuLaunchHostFunc_v2(CUstream stream, CUhostFn function, void *userData, unsigned int syncMode);
PARTITA_EXPORT CUresult cuLaunchHostFunc_v2_ptsz(CUstream stream, CUhostFn function, void *userData,
                                                 unsigned int syncMode);
PARTITA_EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest);

#endif
