/* SPDX-License-Identifier: Apache-2.0 */
/* Events. An event is a point in a stream; when that came, the card's clock tells however late one asks. */
#include <stdlib.h>

#include "capture.h"
#include "timeline.h"

#define LIVES 0x6576656e

/* Never given back to malloc, so that a stale handle is told. */
struct CUevent_st {
    unsigned lives;
    unsigned flags;
    struct CUctx_st *context;
    pthread_mutex_t lock; /* of what follows; the state's lock is taken inside it */
    bool recorded, done;
    struct point point;
    uint64_t time;            /* once done */
    struct captured captured; /* the last record was in a capture: it counts for none of the above */
    struct CUevent_st *next, *elder;
};

static struct CUevent_st *unused, *youngest; /* `elder` chains every one there ever was */
static pthread_mutex_t unused_lock = PTHREAD_MUTEX_INITIALIZER;

static CUresult check(CUevent event) {
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (!event || event->lives != LIVES)
        return CUDA_ERROR_INVALID_HANDLE;
    return event->context->alive ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
}

/* To which context events belong that are made now. */
static CUresult owner_now(struct CUctx_st **context) {
    return sim_contrary(&driver_node, SIM_GREEN_EVENTS) ? driver_current(context) : driver_home(context);
}

/* For functions that name CUDA_ERROR_INVALID_CONTEXT among their errors. */
static CUresult context_for_events(void) {
    struct CUctx_st *context;

    return sim_contrary(&driver_node, SIM_EVENTS_WANT_CONTEXT) ? driver_current(&context) : CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned int flags) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = owner_now(&context);
    struct CUevent_st *created;

    if (result != CUDA_SUCCESS)
        return result;
    if (!event || flags > (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS) ||
        ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_DISABLE_TIMING)))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&unused_lock);
    created = unused;
    if (created)
        unused = created->next;
    pthread_mutex_unlock(&unused_lock);
    if (!created) {
        created = calloc(1, sizeof *created);
        if (!created)
            return CUDA_ERROR_OUT_OF_MEMORY;
        pthread_mutex_init(&created->lock, NULL);
        pthread_mutex_lock(&unused_lock);
        created->elder = youngest;
        youngest = created;
        pthread_mutex_unlock(&unused_lock);
    }
    created->flags = flags;
    created->context = context;
    created->recorded = created->done = false;
    created->captured.id = 0;
    created->lives = LIVES;
    *event = created;
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy_v2(CUevent event) {
    FAULT_POINT();
    CUresult ready = driver_ready();

    if (ready == CUDA_SUCCESS)
        ready = context_for_events();
    if (ready != CUDA_SUCCESS)
        return ready;
    if (!event || event->lives != LIVES)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&unused_lock);
    event->lives = 0;
    event->next = unused;
    unused = event;
    pthread_mutex_unlock(&unused_lock);
    return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event) {
    FAULT_POINT();
    return cuEventDestroy_v2(event);
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned int flags) {
    FAULT_POINT();
    CUresult result = check(event);
    struct CUctx_st *context;
    struct point end;
    bool taken = false;

    if (result == CUDA_SUCCESS)
        result = driver_any_stream(&stream, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (context_home(event->context) != context_home(context))
        return CUDA_ERROR_INVALID_HANDLE;
    if (flags > CU_EVENT_RECORD_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    if (captures_ongoing)
        result = stream ? capture_record(stream, event, flags & CU_EVENT_RECORD_EXTERNAL, &event->captured, &taken)
                        : stream_call(context, stream);
    if (result != CUDA_SUCCESS || taken)
        return result;
    stream_order(context, stream);
    end = stream_point(context, stream);
    if (point_passed(context->ordinal, end, NULL))
        /* an event in an idle stream comes now, or when the process has the card, not when the last work was done */
        end = (struct point){.work = timeline_mark(context->ordinal)};
    if (stream && end.work > stream->end)
        stream->end = end.work;
    pthread_mutex_lock(&event->lock);
    event->captured.id = 0;
    event->recorded = true;
    event->point = end;
    event->done = end.work == 0 && end.host == 0;
    if (event->done)
        event->time = sim_clock_time();
    pthread_mutex_unlock(&event->lock);
    return CUDA_SUCCESS;
}

CUresult cuEventRecordWithFlags_ptsz(CUevent event, CUstream stream, unsigned int flags) {
    FAULT_POINT();
    return cuEventRecordWithFlags(event, PTSZ(stream), flags);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    FAULT_POINT();
    return cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_DEFAULT);
}

CUresult cuEventRecord_ptsz(CUevent event, CUstream stream) {
    FAULT_POINT();
    return cuEventRecord(event, PTSZ(stream));
}

struct record {
    bool recorded, waits;
    struct point point;
    uint64_t time; /* if it does not wait */
};

static struct record last_record(CUevent event) {
    struct record record;

    pthread_mutex_lock(&event->lock);
    if (event->recorded && !event->done)
        event->done = point_passed(event->context->ordinal, event->point, &event->time);
    record = (struct record){event->recorded, event->recorded && !event->done, event->point, event->time};
    pthread_mutex_unlock(&event->lock);
    return record;
}

/* In any mode: an event that was last recorded in a capture cannot be asked or waited for. */
static CUresult check_asked(CUevent event, bool waits) {
    CUresult result = check(event);

    if (result != CUDA_SUCCESS)
        return result;
    if (event->captured.id) {
        capture_invalidate(event->captured.id);
        return CUDA_ERROR_CAPTURED_EVENT;
    }
    return waits ? unsafe_call() : CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
    FAULT_POINT();
    CUresult result = check_asked(event, !sim_contrary(&driver_node, SIM_QUERIES_ARE_SAFE));

    if (result != CUDA_SUCCESS)
        return result;
    return last_record(event).waits ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

CUresult cuEventSynchronize(CUevent event) {
    FAULT_POINT();
    CUresult result = check_asked(event, true);
    struct record record;

    if (result == CUDA_SUCCESS)
        result = context_for_events();
    if (result != CUDA_SUCCESS)
        return result;
    record = last_record(event);
    if (record.waits)
        point_wait(event->context->ordinal, record.point);
    pthread_mutex_lock(&driver_lock);
    pool_observe();
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

/* In steps of half a microsecond, as the documentation has it. */
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
    FAULT_POINT();
    CUresult result = check_asked(start, false);
    struct record began, ended;

    if (result == CUDA_SUCCESS)
        result = check_asked(end, false);
    if (result == CUDA_SUCCESS)
        result = context_for_events();
    if (result != CUDA_SUCCESS)
        return result;
    if (!milliseconds)
        return CUDA_ERROR_INVALID_VALUE;
    began = last_record(start);
    ended = last_record(end);
    if (!began.recorded || !ended.recorded || ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING) ||
        start->context->ordinal != end->context->ordinal)
        return CUDA_ERROR_INVALID_HANDLE;
    if (began.waits || ended.waits)
        return CUDA_ERROR_NOT_READY;
    *milliseconds = (float)((double)((int64_t)(ended.time - began.time) / 500) * 0.0005);
    return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
    FAULT_POINT();
    return cuEventElapsedTime(milliseconds, start, end);
}

/* Work of one process on one card is in order anyway; what another card must wait for, the calling thread waits for. */
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned int flags) {
    FAULT_POINT();
    CUresult result = check(event);
    struct CUctx_st *context;
    struct record record;
    bool taken = false;

    if (result == CUDA_SUCCESS)
        result = driver_any_stream(&stream, &context);
    if (result != CUDA_SUCCESS)
        return result;
    if (flags > CU_EVENT_WAIT_EXTERNAL)
        return CUDA_ERROR_INVALID_VALUE;
    if (captures_ongoing || event->captured.id)
        result = capture_wait(context, stream, event, flags & CU_EVENT_WAIT_EXTERNAL, &event->captured, &taken);
    if (result != CUDA_SUCCESS || taken)
        return result;
    record = last_record(event);
    if (record.waits && context->ordinal != event->context->ordinal)
        point_wait(event->context->ordinal, record.point);
    else if (record.waits && stream) {
        stream->end = record.point.work > stream->end ? record.point.work : stream->end;
        stream->host = record.point.host > stream->host ? record.point.host : stream->host;
    }
    return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent_ptsz(CUstream stream, CUevent event, unsigned int flags) {
    FAULT_POINT();
    return cuStreamWaitEvent(PTSZ(stream), event, flags);
}
