/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams. Work of one process on one card runs in the order in which it was submitted, over all streams (timeline.h).
 */
#include <stdlib.h>

#include "capture.h"
#include "timeline.h"

#define GREATEST_PRIORITY (-5)

static CUresult create(struct CUctx_st *context, unsigned flags, int priority, int thread, CUstream *stream) {
    struct CUstream_st *created = calloc(1, sizeof *created);

    if (!created)
        return CUDA_ERROR_OUT_OF_MEMORY;
    created->context = context;
    created->flags = flags;
    created->priority = priority;
    created->default_of = thread;
    pthread_mutex_lock(&driver_lock);
    created->next = context_home(context)->streams;
    context_home(context)->streams = created;
    pthread_mutex_unlock(&driver_lock);
    *stream = created;
    return CUDA_SUCCESS;
}

/* The calling thread's own default stream in the context. */
static CUresult own_stream(struct CUctx_st *context, CUstream *stream) {
    static __thread struct CUctx_st *last_context;
    static __thread CUstream last;
    CUresult result = CUDA_SUCCESS;

    if (last_context != context) {
        int thread = capture_thread();

        pthread_mutex_lock(&driver_lock);
        for (last = context_home(context)->streams; last && (last->default_of != thread || last->context != context);)
            last = last->next;
        pthread_mutex_unlock(&driver_lock);
        if (!last)
            result = create(context, CU_STREAM_DEFAULT, 0, thread, &last);
        last_context = result == CUDA_SUCCESS ? context : NULL;
    }
    *stream = last;
    return result;
}

/* Its green context was destroyed. */
static bool detached(CUstream stream) {
    return stream->context->whole && !stream->context->alive;
}

CUresult driver_any_stream(CUstream *stream, struct CUctx_st **context) {
    CUresult result = driver_current(context);

    if (result != CUDA_SUCCESS || !*stream)
        return result;
    if (*stream == CU_STREAM_LEGACY) {
        *stream = NULL;
        return CUDA_SUCCESS;
    }
    if (*stream == CU_STREAM_PER_THREAD)
        return own_stream(*context, stream);
    *context = (*stream)->context;
    return detached(*stream) ? CUDA_ERROR_STREAM_DETACHED : CUDA_SUCCESS;
}

CUresult driver_stream(CUstream *stream, struct CUctx_st **context) {
    CUresult result = driver_any_stream(stream, context);
    struct CUctx_st *current;

    if (result != CUDA_SUCCESS || !*stream)
        return result;
    result = driver_current(&current);
    return result == CUDA_SUCCESS && context_home(current) != context_home(*context) ? CUDA_ERROR_INVALID_HANDLE
                                                                                     : result;
}

static bool is_default(CUstream stream) {
    return !stream || stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

void stream_submit(struct CUctx_st *context, CUstream stream, uint64_t cost) {
    uint64_t end = timeline_submit(context->ordinal, cost);

    if (end && stream)
        stream->end = end;
    else if (end)
        context_home(context)->barrier = end;
}

/*
 * Of the legacy stream, as cuda.h says of streams that are not CU_STREAM_NON_BLOCKING: it waits for the context's
 * blocking streams, and for no other.
 */
static struct point legacy_point(const struct CUctx_st *home) {
    struct point point = {home->barrier, home->host_barrier};

    pthread_mutex_lock(&driver_lock);
    for (const struct CUstream_st *stream = home->streams; stream; stream = stream->next)
        if (!(stream->flags & CU_STREAM_NON_BLOCKING)) {
            point.work = stream->end > point.work ? stream->end : point.work;
            point.host = stream->host > point.host ? stream->host : point.host;
        }
    pthread_mutex_unlock(&driver_lock);
    return point;
}

void stream_order(struct CUctx_st *context, CUstream stream) {
    struct CUctx_st *home = context_home(context);
    struct point point;

    if (!sim_contrary(&driver_node, SIM_LEGACY_BARRIERS))
        return;
    if (!stream) {
        point = legacy_point(home);
        home->barrier = point.work;
        home->host_barrier = point.host;
    } else if (!(stream->flags & CU_STREAM_NON_BLOCKING)) {
        stream->end = home->barrier > stream->end ? home->barrier : stream->end;
        stream->host = home->host_barrier > stream->host ? home->host_barrier : stream->host;
    }
}

struct point stream_point(const struct CUctx_st *context, CUstream stream) {
    if (stream)
        return (struct point){stream->end, stream->host};
    if (sim_contrary(&driver_node, SIM_LEGACY_BARRIERS))
        return legacy_point(context->whole ? context->whole : context);
    return (struct point){timeline_end(context->ordinal), host_last(context->ordinal)};
}

bool point_passed(int ordinal, struct point point, uint64_t *time) {
    uint64_t worked = 0, called = 0;

    if (point.work && !timeline_reached(ordinal, point.work, &worked))
        return false;
    if (point.host && !host_ended(ordinal, point.host, &called))
        return false;
    if (time)
        *time = called > worked ? called : worked;
    return true;
}

void point_wait(int ordinal, struct point point) {
    if (point.work)
        timeline_wait(ordinal, point.work);
    if (point.host)
        host_wait(ordinal, point.host);
}

void driver_settle(const struct CUctx_st *context) {
    point_wait(context->ordinal, (struct point){timeline_end(context->ordinal), host_last(context->ordinal)});
}

CUresult stream_create_in(struct CUctx_st *context, unsigned flags, int priority, CUstream *stream) {
    priority = priority > 0 ? 0 : priority < GREATEST_PRIORITY ? GREATEST_PRIORITY : priority;
    return create(context, flags, priority, 0, stream);
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned int flags, int priority) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_current(&context);

    if (!stream || flags > CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    return stream_create_in(context, flags, priority, stream);
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags) {
    FAULT_POINT();
    return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (least)
        *least = 0;
    if (greatest)
        *greatest = GREATEST_PRIORITY;
    return CUDA_SUCCESS;
}

/* What it still holds goes on; the driver frees the stream itself when it is done. */
CUresult cuStreamDestroy_v2(CUstream stream) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = stream ? driver_current(&context) : CUDA_ERROR_INVALID_HANDLE;

    if (result != CUDA_SUCCESS)
        return result;
    result = CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&driver_lock);
    for (struct CUstream_st **link = &context_home(context)->streams; *link; link = &(*link)->next)
        if (*link == stream) {
            capture_forget(stream);
            *link = stream->next;
            free(stream);
            result = CUDA_SUCCESS;
            break;
        }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuStreamDestroy(CUstream stream) {
    FAULT_POINT();
    return cuStreamDestroy_v2(stream);
}

/* What every question of a stream's figures asks first. */
static CUresult answerable(const void *output, CUcontext *current) {
    CUresult result = driver_current(current);

    return result == CUDA_SUCCESS && !output ? CUDA_ERROR_INVALID_VALUE : result;
}

CUresult stream_context(CUstream stream, CUcontext *context) {
    CUcontext current;
    CUresult result = answerable(context, &current);

    if (result == CUDA_SUCCESS && !is_default(stream) && detached(stream))
        return CUDA_ERROR_STREAM_DETACHED;
    if (result == CUDA_SUCCESS)
        *context = is_default(stream) ? current : stream->context;
    return result;
}

/* Up to CUDA 12.9 this version does not tell of green contexts' streams; since CUDA 13 it does. */
CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    FAULT_POINT();
    if (!is_default(stream) && stream->context->whole && sim_contrary(&driver_node, SIM_GREEN_STREAMS_UNTOLD))
        return CUDA_ERROR_NOT_SUPPORTED;
    return stream_context(stream, context);
}

CUresult cuStreamGetCtx_ptsz(CUstream stream, CUcontext *context) {
    FAULT_POINT();
    return cuStreamGetCtx(PTSZ(stream), context);
}

CUresult cuStreamGetPriority(CUstream stream, int *priority) {
    FAULT_POINT();
    CUcontext current;
    CUresult result = answerable(priority, &current);

    if (result == CUDA_SUCCESS)
        *priority = is_default(stream) ? 0 : stream->priority;
    return result;
}

CUresult cuStreamGetPriority_ptsz(CUstream stream, int *priority) {
    FAULT_POINT();
    return cuStreamGetPriority(PTSZ(stream), priority);
}

CUresult cuStreamGetFlags(CUstream stream, unsigned int *flags) {
    FAULT_POINT();
    CUcontext current;
    CUresult result = answerable(flags, &current);

    if (result == CUDA_SUCCESS)
        *flags = is_default(stream) ? CU_STREAM_DEFAULT : stream->flags;
    return result;
}

CUresult cuStreamGetFlags_ptsz(CUstream stream, unsigned int *flags) {
    FAULT_POINT();
    return cuStreamGetFlags(PTSZ(stream), flags);
}

CUresult cuStreamQuery(CUstream stream) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_any_stream(&stream, &context);

    if (result == CUDA_SUCCESS)
        result = stream_call(context, stream);
    if (result != CUDA_SUCCESS)
        return result;
    return point_passed(context->ordinal, stream_point(context, stream), NULL) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuStreamQuery_ptsz(CUstream stream) {
    FAULT_POINT();
    return cuStreamQuery(PTSZ(stream));
}

CUresult cuStreamSynchronize(CUstream stream) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_any_stream(&stream, &context);

    if (result == CUDA_SUCCESS)
        result = stream_call(context, stream);
    if (result != CUDA_SUCCESS)
        return result;
    point_wait(context->ordinal, stream_point(context, stream));
    pthread_mutex_lock(&driver_lock);
    pool_observe();
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize_ptsz(CUstream stream) {
    FAULT_POINT();
    return cuStreamSynchronize(PTSZ(stream));
}

void context_release_handles(struct CUctx_st *context) {
    context_release_modules(context);
    while (context->streams) {
        struct CUstream_st *stream = context->streams;

        capture_forget(stream);
        context->streams = stream->next;
        free(stream);
    }
}
