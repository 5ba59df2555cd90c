/* SPDX-License-Identifier: Apache-2.0 */
/* The calls that begin and end captures and ask for them. */
#include <stdlib.h>

#include "capture.h"

static CUresult begin(CUstream stream, CUgraph graph, const CUgraphNode *needs, size_t count, int mode) {
    struct CUctx_st *context;
    CUresult result = driver_stream(&stream, &context);
    struct capture *capture = NULL;
    bool own = !graph;

    if (result != CUDA_SUCCESS)
        return result;
    if (mode < CU_STREAM_CAPTURE_MODE_GLOBAL || mode > CU_STREAM_CAPTURE_MODE_RELAXED || (count && !needs))
        return CUDA_ERROR_INVALID_VALUE;
    if (!stream)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    pthread_mutex_lock(&driver_lock);
    if (stream->capture)
        result = CUDA_ERROR_ILLEGAL_STATE;
    if (result == CUDA_SUCCESS && own)
        result = cuGraphCreate(&graph, 0);
    if (result == CUDA_SUCCESS && !(capture = capture_begin(stream, graph, mode))) {
        if (own)
            cuGraphDestroy(graph);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (result == CUDA_SUCCESS) {
        capture->own_graph = own;
        capture_set_needs(stream, needs, count);
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, int mode) {
    FAULT_POINT();
    return begin(stream, NULL, NULL, 0, mode);
}

CUresult cuStreamBeginCapture_v2_ptsz(CUstream stream, int mode) {
    FAULT_POINT();
    return cuStreamBeginCapture_v2(PTSZ(stream), mode);
}

CUresult cuStreamBeginCapture(CUstream stream) {
    FAULT_POINT();
    return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult cuStreamBeginCapture_ptsz(CUstream stream) {
    FAULT_POINT();
    return cuStreamBeginCapture(PTSZ(stream));
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
                                     const CUgraphEdgeData *edges, size_t count, int mode) {
    FAULT_POINT();
    (void)edges;
    return graph ? begin(stream, graph, dependencies, count, mode) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuStreamBeginCaptureToGraph_ptsz(CUstream stream, CUgraph graph, const CUgraphNode *dependencies,
                                          const CUgraphEdgeData *edges, size_t count, int mode) {
    FAULT_POINT();
    return cuStreamBeginCaptureToGraph(PTSZ(stream), graph, dependencies, edges, count, mode);
}

/* Marks what the origin's last nodes need, they themselves included. */
static bool mark(CUgraph graph, CUstream origin) {
    CUgraphNode *open = malloc((graph->count + 1) * sizeof *open);
    size_t count = 0;

    if (!open)
        return false;
    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i]->round = 0;
    for (size_t i = 0; i < origin->need_count; i++) {
        origin->needs[i]->round = 1;
        open[count++] = origin->needs[i];
    }
    while (count > 0) {
        CUgraphNode node = open[--count];

        for (size_t i = 0; i < node->need_count; i++)
            if (!node->needs[i]->round) {
                node->needs[i]->round = 1;
                open[count++] = node->needs[i];
            }
    }
    free(open);
    return true;
}

/* Whether a stream that joined has nodes that nothing in the origin stream waits for. */
static bool unjoined(const struct capture *capture) {
    if (!mark(capture->graph, capture->origin))
        return true;
    for (CUstream stream = capture->members; stream; stream = stream->next_captured)
        for (size_t i = 0; i < stream->need_count; i++)
            if (!stream->needs[i]->round)
                return true;
    return false;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_stream(&stream, &context);
    struct capture *capture;

    if (result != CUDA_SUCCESS)
        return result;
    if (!graph)
        return CUDA_ERROR_INVALID_VALUE;
    if (!stream)
        return CUDA_ERROR_ILLEGAL_STATE;
    pthread_mutex_lock(&driver_lock);
    capture = stream->capture;
    if (!capture) {
        result = CUDA_ERROR_ILLEGAL_STATE;
    } else if (capture->origin != stream) {
        capture->invalid = true;
        result = CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
    } else if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != capture_thread()) {
        result = CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
    } else {
        if (capture->invalid)
            result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
        else if (unjoined(capture))
            result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
        *graph = result == CUDA_SUCCESS ? capture->graph : NULL;
        if (result != CUDA_SUCCESS && capture->own_graph)
            cuGraphDestroy(capture->graph);
        capture_end(capture);
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuStreamEndCapture_ptsz(CUstream stream, CUgraph *graph) {
    FAULT_POINT();
    return cuStreamEndCapture(PTSZ(stream), graph);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, int *status, cuuint64_t *id, CUgraph *graph,
                                   const CUgraphNode **dependencies, size_t *count) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_any_stream(&stream, &context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!status)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (!stream && capture_has_blocking(context))
        result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    if (stream && stream->capture) {
        *status = stream->capture->invalid ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE;
        if (id)
            *id = stream->capture->id;
        if (graph)
            *graph = stream->capture->graph;
        if (dependencies)
            *dependencies = stream->needs;
        if (count)
            *count = stream->need_count;
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuStreamGetCaptureInfo_v2_ptsz(CUstream stream, int *status, cuuint64_t *id, CUgraph *graph,
                                        const CUgraphNode **dependencies, size_t *count) {
    FAULT_POINT();
    return cuStreamGetCaptureInfo_v2(PTSZ(stream), status, id, graph, dependencies, count);
}

/* No edge has data of its own. */
CUresult cuStreamGetCaptureInfo_v3(CUstream stream, int *status, cuuint64_t *id, CUgraph *graph,
                                   const CUgraphNode **dependencies, const CUgraphEdgeData **edges, size_t *count) {
    FAULT_POINT();
    if (edges && !dependencies)
        return CUDA_ERROR_INVALID_VALUE;
    if (edges)
        *edges = NULL;
    return cuStreamGetCaptureInfo_v2(stream, status, id, graph, dependencies, count);
}

CUresult cuStreamGetCaptureInfo_v3_ptsz(CUstream stream, int *status, cuuint64_t *id, CUgraph *graph,
                                        const CUgraphNode **dependencies, const CUgraphEdgeData **edges,
                                        size_t *count) {
    FAULT_POINT();
    return cuStreamGetCaptureInfo_v3(PTSZ(stream), status, id, graph, dependencies, edges, count);
}

CUresult cuStreamGetCaptureInfo(CUstream stream, int *status, cuuint64_t *id) {
    FAULT_POINT();
    return cuStreamGetCaptureInfo_v2(stream, status, id, NULL, NULL, NULL);
}

CUresult cuStreamGetCaptureInfo_ptsz(CUstream stream, int *status, cuuint64_t *id) {
    FAULT_POINT();
    return cuStreamGetCaptureInfo(PTSZ(stream), status, id);
}

CUresult cuStreamIsCapturing(CUstream stream, int *status) {
    FAULT_POINT();
    return cuStreamGetCaptureInfo_v2(stream, status, NULL, NULL, NULL, NULL);
}

CUresult cuStreamIsCapturing_ptsz(CUstream stream, int *status) {
    FAULT_POINT();
    return cuStreamIsCapturing(PTSZ(stream), status);
}

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode *dependencies, size_t count,
                                           unsigned int flags) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_stream(&stream, &context);

    if (result != CUDA_SUCCESS)
        return result;
    if ((count && !dependencies) || flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    if (!stream || !stream->capture)
        result = CUDA_ERROR_ILLEGAL_STATE;
    for (size_t i = 0; result == CUDA_SUCCESS && i < count; i++)
        if (!dependencies[i] || dependencies[i]->graph != stream->capture->graph)
            result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS &&
        !(flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES ? capture_set_needs : capture_add_needs)(stream, dependencies,
                                                                                               count))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuStreamUpdateCaptureDependencies_ptsz(CUstream stream, CUgraphNode *dependencies, size_t count,
                                                unsigned int flags) {
    FAULT_POINT();
    return cuStreamUpdateCaptureDependencies(PTSZ(stream), dependencies, count, flags);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode *dependencies, const CUgraphEdgeData *edges,
                                              size_t count, unsigned int flags) {
    FAULT_POINT();
    (void)edges;
    return cuStreamUpdateCaptureDependencies(stream, dependencies, count, flags);
}

CUresult cuStreamUpdateCaptureDependencies_v2_ptsz(CUstream stream, CUgraphNode *dependencies,
                                                   const CUgraphEdgeData *edges, size_t count, unsigned int flags) {
    FAULT_POINT();
    return cuStreamUpdateCaptureDependencies_v2(PTSZ(stream), dependencies, edges, count, flags);
}
