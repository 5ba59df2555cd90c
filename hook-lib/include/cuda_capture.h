/* SPDX-License-Identifier: Apache-2.0 */
/* Stream capture; from the public documentation. */
#ifndef PARTITA_CUDA_CAPTURE_H
#define PARTITA_CUDA_CAPTURE_H

#include "cuda_graphs.h"

#define CU_STREAM_CAPTURE_MODE_GLOBAL 0
#define CU_STREAM_CAPTURE_MODE_THREAD_LOCAL 1

#define CU_STREAM_CAPTURE_STATUS_ACTIVE 1
#define CU_STREAM_CAPTURE_STATUS_INVALIDATED 2

#define CU_STREAM_ADD_CAPTURE_DEPENDENCIES 0x0
#define CU_STREAM_SET_CAPTURE_DEPENDENCIES 0x1

/* The first version had no mode: it was the global one. */
PARTITA_EXPORT CUresult cuStreamBeginCapture(CUstream stream);
PARTITA_EXPORT CUresult cuStreamBeginCapture_ptsz(CUstream stream);
PARTITA_EXPORT CUresult cuStreamBeginCapture_v2(CUstream stream, int mode);
PARTITA_EXPORT CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, int mode);
PARTITA_EXPORT CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
                                                    const CUgraphEdgeData *edges, size_t count, int mode);
PARTITA_EXPORT CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph,
                                                         const CUgraphNode *dependencies, const CUgraphEdgeData *edges,
                                                         size_t count, int mode);
PARTITA_EXPORT CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph);
PARTITA_EXPORT CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph);
PARTITA_EXPORT CUresult cuStreamGetCaptureInfo(CUstream stream, int *status, cuuint64_t *id);
PARTITA_EXPORT CUresult cuStreamGetCaptureInfo_ptsz(CUstream stream, int *status, cuuint64_t *id);
PARTITA_EXPORT CUresult cuStreamGetCaptureInfo_v2(CUstream stream, int *status, cuuint64_t *id, CUgraph *graph,
                                                  const CUgraphNode **dependencies, size_t *count);
PARTITA_EXPORT CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream stream, int *status, cuuint64_t *id, CUgraph *graph,
                                                       const CUgraphNode **dependencies, size_t *count);
PARTITA_EXPORT CUresult cuStreamGetCaptureInfo_v3(CUstream stream, int *status, cuuint64_t *id, CUgraph *graph,
                                                  const CUgraphNode **dependencies, const CUgraphEdgeData **edges,
                                                  size_t *count);
PARTITA_EXPORT CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream stream, int *status, cuuint64_t *id, CUgraph *graph,
                                                       const CUgraphNode **dependencies, const CUgraphEdgeData **edges,
                                                       size_t *count);
PARTITA_EXPORT CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *dependencies, size_t count,
                                                          unsigned int flags);
PARTITA_EXPORT CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream stream, CUgraphNode *dependencies, size_t count,
                                                               unsigned int flags);
PARTITA_EXPORT CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *dependencies,
                                                             const CUgraphEdgeData *edges, size_t count,
                                                             unsigned int flags);
PARTITA_EXPORT CUresult cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream stream, CUgraphNode *dependencies,
                                                                  const CUgraphEdgeData *edges, size_t count,
                                                                  unsigned int flags);

#endif
