/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the simulated libcuda: what calls must ask while some stream is being captured. */
#ifndef PARTITA_SIM_CAPTURE_H
#define PARTITA_SIM_CAPTURE_H

#include "cuda_capture.h"
#include "graph.h"

extern _Atomic unsigned captures_ongoing;

/* An event's last record in a capture: where it stands in which capture; id 0: it was no capture. */
struct captured {
    uint64_t id;
    CUgraphNode *needs;
    size_t count;
};

CUresult capture_refuse_unsafe(void);
CUresult capture_refuse_context(const struct CUctx_st *context);
CUresult capture_refuse_stream(const struct CUctx_st *context, CUstream stream);
CUresult capture_take(const struct CUctx_st *context, CUstream stream, const struct work *work, bool *taken);
CUresult capture_allocation(const struct CUctx_st *context, CUstream stream, int ordinal, size_t bytes,
                            CUdeviceptr *pointer, bool *taken);
CUresult capture_record(CUstream stream, CUevent event, bool external, struct captured *captured, bool *taken);
CUresult capture_wait(const struct CUctx_st *context, CUstream stream, CUevent event, bool external,
                      const struct captured *captured, bool *taken);
void capture_invalidate(uint64_t id);

/* Each of these costs one read while nothing is captured. */

/* For a call that is potentially unsafe: an error if the calling thread's mode and the ongoing captures forbid it. */
static inline CUresult unsafe_call(void) {
    return captures_ongoing ? capture_refuse_unsafe() : CUDA_SUCCESS;
}

/* For a call that waits for all of a context. */
static inline CUresult context_call(const struct CUctx_st *context) {
    return captures_ongoing ? capture_refuse_context(context) : CUDA_SUCCESS;
}

/* For a call that asks a stream how far it is, or waits for it. */
static inline CUresult stream_call(const struct CUctx_st *context, CUstream stream) {
    return captures_ongoing ? capture_refuse_stream(context, stream) : CUDA_SUCCESS;
}

/* For what is submitted to a stream: *taken if it became a node of a graph instead. */
static inline CUresult captured_work(const struct CUctx_st *context, CUstream stream, const struct work *work,
                                     bool *taken) {
    *taken = false;
    return captures_ongoing ? capture_take(context, stream, work, taken) : CUDA_SUCCESS;
}

/* A stream ends. Under driver_lock. */
void capture_forget(CUstream stream);

/* One capture: its origin stream and those that joined it. Under driver_lock, which is recursive. */
struct capture {
    uint64_t id;
    CUgraph graph;
    bool own_graph, invalid;
    CUstream origin, members; /* chained by next_captured */
    int mode;
    int thread; /* that began it */
    struct capture *next;
};

extern struct capture *captures;

/* While a blocking stream is captured, the legacy stream cannot be used. Under driver_lock. */
CUresult capture_refuse_legacy(const struct CUctx_st *context);

struct capture *capture_begin(CUstream stream, CUgraph graph, int mode);
void capture_end(struct capture *capture);
int capture_thread(void);
bool capture_set_needs(CUstream stream, const CUgraphNode *needs, size_t count);
bool capture_add_needs(CUstream stream, const CUgraphNode *needs, size_t count);
/* Whether a stream that is not the legacy one's own business is captured in its context. */
bool capture_has_blocking(const struct CUctx_st *context);

#endif
