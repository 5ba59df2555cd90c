/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream capture. A capture has an origin stream and those that joined it by waiting for one of its events; each keeps
 * the nodes after which its next one comes.
 */
#define _GNU_SOURCE
#include "capture.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic unsigned captures_ongoing;
struct capture *captures;
static uint64_t last_id;

int capture_thread(void) {
    return (int)syscall(SYS_gettid);
}

bool capture_add_needs(CUstream stream, const CUgraphNode *needs, size_t count) {
    CUgraphNode *all = malloc((stream->need_count + count + 1) * sizeof *all);
    size_t total = stream->need_count;

    if (!all)
        return false;
    if (total)
        memcpy(all, stream->needs, total * sizeof *all);
    for (size_t i = 0; i < count; i++) {
        size_t j = 0;

        while (j < total && all[j] != needs[i])
            j++;
        if (j == total)
            all[total++] = needs[i];
    }
    free(stream->needs);
    stream->needs = all;
    stream->need_count = total;
    return true;
}

bool capture_set_needs(CUstream stream, const CUgraphNode *needs, size_t count) {
    size_t before = stream->need_count;

    stream->need_count = 0;
    if (capture_add_needs(stream, needs, count))
        return true;
    stream->need_count = before;
    return false;
}

static void join(CUstream stream, struct capture *capture) {
    stream->capture = capture;
    stream->next_captured = capture->members;
    capture->members = stream;
}

static void leave(CUstream stream) {
    CUstream *link = &stream->capture->members;

    while (*link != stream)
        link = &(*link)->next_captured;
    *link = stream->next_captured;
    stream->capture = NULL;
    free(stream->needs);
    stream->needs = NULL;
    stream->need_count = 0;
}

struct capture *capture_begin(CUstream stream, CUgraph graph, int mode) {
    struct capture *capture = calloc(1, sizeof *capture);

    if (!capture)
        return NULL;
    *capture = (struct capture){
        .id = ++last_id, .graph = graph, .origin = stream, .mode = mode, .thread = capture_thread(), .next = captures};
    captures = capture;
    captures_ongoing++;
    join(stream, capture);
    return capture;
}

void capture_end(struct capture *capture) {
    struct capture **link = &captures;

    while (capture->members)
        leave(capture->members);
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    captures_ongoing--;
    free(capture);
}

void capture_forget(CUstream stream) {
    struct capture *capture = stream->capture;

    if (!capture)
        return;
    if (capture->origin == stream) {
        if (capture->own_graph)
            cuGraphDestroy(capture->graph);
        capture_end(capture);
        return;
    }
    capture->invalid = true;
    leave(stream);
}

void capture_invalidate(uint64_t id) {
    pthread_mutex_lock(&driver_lock);
    for (struct capture *capture = captures; capture; capture = capture->next)
        if (capture->id == id)
            capture->invalid = true;
    pthread_mutex_unlock(&driver_lock);
}

/* Whether the stream's next operation becomes a node. Under driver_lock. */
static CUresult usable(const struct CUctx_st *context, CUstream stream, bool *captured) {
    *captured = false;
    if (!stream)
        return capture_refuse_legacy(context);
    if (!stream->capture)
        return CUDA_SUCCESS;
    *captured = true;
    return stream->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS;
}

/* What went wrong while a node was made ends the capture's use. */
static CUresult next_is(CUstream stream, CUresult result, const CUgraphNode *node) {
    if (result == CUDA_SUCCESS && !capture_set_needs(stream, node, 1))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS)
        stream->capture->invalid = true;
    return result;
}

CUresult capture_take(const struct CUctx_st *context, CUstream stream, const struct work *work, bool *taken) {
    CUgraphNode node = NULL;
    CUresult result;

    pthread_mutex_lock(&driver_lock);
    result = usable(context, stream, taken);
    if (result == CUDA_SUCCESS && *taken)
        result =
            next_is(stream, graph_add(stream->capture->graph, work, stream->needs, stream->need_count, &node), &node);
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult capture_allocation(const struct CUctx_st *context, CUstream stream, int ordinal, size_t bytes,
                            CUdeviceptr *pointer, bool *taken) {
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, ordinal}},
        .bytesize = bytes};
    CUgraphNode node = NULL;
    CUresult result;

    pthread_mutex_lock(&driver_lock);
    result = usable(context, stream, taken);
    if (result == CUDA_SUCCESS && *taken)
        result = next_is(
            stream, graph_add_allocation(&node, stream->capture->graph, stream->needs, stream->need_count, &params),
            &node);
    pthread_mutex_unlock(&driver_lock);
    if (result == CUDA_SUCCESS && *taken)
        *pointer = params.dptr;
    return result;
}

CUresult capture_record(CUstream stream, CUevent event, bool external, struct captured *captured, bool *taken) {
    struct work work = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .event = event};
    CUgraphNode node = NULL;
    CUresult result;

    pthread_mutex_lock(&driver_lock);
    result = stream ? usable(NULL, stream, taken) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS && *taken && external)
        result =
            next_is(stream, graph_add(stream->capture->graph, &work, stream->needs, stream->need_count, &node), &node);
    if (result == CUDA_SUCCESS && *taken && !external) {
        CUgraphNode *needs = malloc((stream->need_count + 1) * sizeof *needs);

        if (!needs) {
            result = CUDA_ERROR_OUT_OF_MEMORY;
        } else {
            if (stream->need_count)
                memcpy(needs, stream->needs, stream->need_count * sizeof *needs);
            free(captured->needs);
            *captured = (struct captured){stream->capture->id, needs, stream->need_count};
        }
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

/* Under driver_lock. */
static CUresult wait_for(const struct CUctx_st *context, CUstream stream, const struct captured *captured) {
    struct capture *capture = captures;

    while (capture && capture->id != captured->id)
        capture = capture->next;
    if (!capture) /* it has ended: the event tells nothing that one could wait for */
        return CUDA_ERROR_CAPTURED_EVENT;
    if (!stream) {
        capture->invalid = true;
        return capture_has_blocking(context) ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
                                             : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    if (capture->invalid)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (stream->capture && stream->capture != capture) {
        stream->capture->invalid = capture->invalid = true;
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (!stream->capture)
        join(stream, capture);
    return capture_add_needs(stream, captured->needs, captured->count) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult capture_wait(const struct CUctx_st *context, CUstream stream, CUevent event, bool external,
                      const struct captured *captured, bool *taken) {
    struct work work = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .event = event};
    CUgraphNode node = NULL;
    CUresult result;

    pthread_mutex_lock(&driver_lock);
    result = usable(context, stream, taken);
    if (result == CUDA_SUCCESS && captured->id) {
        *taken = true;
        result = wait_for(context, stream, captured);
    } else if (result == CUDA_SUCCESS && *taken && external) {
        result =
            next_is(stream, graph_add(stream->capture->graph, &work, stream->needs, stream->need_count, &node), &node);
    } else if (result == CUDA_SUCCESS && *taken) {
        stream->capture->invalid = true;
        result = CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}
