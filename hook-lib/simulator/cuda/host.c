/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host functions in streams. Each card has one thread, started at its first host function, that calls them in the order
 * in which they were submitted, each when the work before it is done. Waiting for a stream waits for its host functions
 * as well; kernels behind a host function do not wait for it.
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "capture.h"
#include "timeline.h"

#define KEPT 1024 /* for so many it is known when they ended */

struct call {
    struct CUctx_st *context;
    uint64_t work;
    CUhostFn function;
    CUstreamCallback callback; /* where function is NULL */
    CUstream stream;
    void *data;
    struct call *next;
};

static struct caller {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool runs;
    struct call *first, **last;
    uint64_t submitted, ended;
    uint64_t times[KEPT];
} callers[SIM_MAX_CARDS] = {
    [0 ... SIM_MAX_CARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER}};

__thread bool driver_in_host_function;

static void *call_all(void *argument) {
    struct caller *caller = argument;
    int ordinal = (int)(caller - callers);

    driver_in_host_function = true;
    pthread_mutex_lock(&caller->lock);
    for (;;) {
        struct call *call = caller->first;

        if (!call) {
            pthread_cond_wait(&caller->changed, &caller->lock);
            continue;
        }
        pthread_mutex_unlock(&caller->lock);
        if (call->work)
            timeline_wait(ordinal, call->work);
        if (call->function)
            call->function(call->data);
        else
            call->callback(call->stream, CUDA_SUCCESS, call->data);
        pthread_mutex_lock(&caller->lock);
        caller->first = call->next;
        if (!caller->first)
            caller->last = &caller->first;
        caller->times[++caller->ended % KEPT] = sim_clock_time();
        free(call);
        pthread_cond_broadcast(&caller->changed);
    }
    return NULL;
}

/* Under the caller's lock. */
static bool start(struct caller *caller) {
    sigset_t all, before;
    pthread_t thread;

    if (caller->runs)
        return true;
    caller->last = &caller->first;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    __atomic_store_n(&caller->runs, pthread_create(&thread, NULL, call_all, caller) == 0, __ATOMIC_RELAXED);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (caller->runs)
        pthread_detach(thread);
    return caller->runs;
}

static CUresult enqueue(struct CUctx_st *context, CUstream stream, const struct call *wanted) {
    struct call *call = malloc(sizeof *call);
    struct caller *caller;

    if (!call)
        return CUDA_ERROR_OUT_OF_MEMORY;
    stream_order(context, stream);
    *call = *wanted;
    call->context = context;
    call->work = stream_point(context, stream).work;
    call->next = NULL;
    caller = &callers[context->ordinal];
    pthread_mutex_lock(&caller->lock);
    if (!start(caller)) {
        pthread_mutex_unlock(&caller->lock);
        free(call);
        return CUDA_ERROR_OPERATING_SYSTEM;
    }
    *caller->last = call;
    caller->last = &call->next;
    caller->submitted++;
    if (stream)
        stream->host = caller->submitted;
    else
        context_home(context)->host_barrier = caller->submitted;
    pthread_cond_broadcast(&caller->changed);
    pthread_mutex_unlock(&caller->lock);
    return CUDA_SUCCESS;
}

static CUresult submit(CUstream handle, const struct call *wanted) {
    struct work work = {.type = CU_GRAPH_NODE_TYPE_HOST, .host = {wanted->function, wanted->data}};
    CUstream stream = handle;
    struct CUctx_st *context;
    CUresult result = driver_stream(&stream, &context);
    struct call call = *wanted;
    bool taken = false;

    if (result == CUDA_SUCCESS)
        result = wanted->function ? captured_work(context, stream, &work, &taken) : stream_call(context, stream);
    if (result != CUDA_SUCCESS || taken)
        return result;
    call.stream = handle;
    return enqueue(context, stream, &call);
}

static void pass(void *ns) {
    struct timespec pause = {(time_t)((uintptr_t)ns / 1000000000), (long)((uintptr_t)ns % 1000000000)};

    nanosleep(&pause, NULL);
}

CUresult host_take(struct CUctx_st *context, CUstream stream, uint64_t ns) {
    return enqueue(context, stream, &(struct call){.function = pass, .data = (void *)(uintptr_t)ns});
}

uint64_t host_last(int ordinal) {
    struct caller *caller = &callers[ordinal];
    uint64_t last;

    if (!__atomic_load_n(&caller->runs, __ATOMIC_RELAXED))
        return 0;
    pthread_mutex_lock(&caller->lock);
    last = caller->submitted > caller->ended ? caller->submitted : 0;
    pthread_mutex_unlock(&caller->lock);
    return last;
}

bool host_ended(int ordinal, uint64_t number, uint64_t *time) {
    struct caller *caller = &callers[ordinal];
    bool ended;

    pthread_mutex_lock(&caller->lock);
    ended = caller->ended >= number;
    *time = ended && caller->ended - number < KEPT ? caller->times[number % KEPT] : 0;
    pthread_mutex_unlock(&caller->lock);
    return ended;
}

void host_wait(int ordinal, uint64_t number) {
    struct caller *caller = &callers[ordinal];

    pthread_mutex_lock(&caller->lock);
    while (caller->ended < number)
        pthread_cond_wait(&caller->changed, &caller->lock);
    pthread_mutex_unlock(&caller->lock);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *userData) {
    FAULT_POINT();
    if (!function)
        return driver_ready() == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_INITIALIZED;
    return submit(stream, &(struct call){.function = function, .data = userData});
}

CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function, void *userData) {
    FAULT_POINT();
    return cuLaunchHostFunc(PTSZ(stream), function, userData);
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *userData, unsigned int flags) {
    FAULT_POINT();
    if (!callback || flags)
        return driver_ready() == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_INITIALIZED;
    return submit(stream, &(struct call){.callback = callback, .data = userData});
}

CUresult cuStreamAddCallback_ptsz(CUstream stream, CUstreamCallback callback, void *userData, unsigned int flags) {
    FAULT_POINT();
    return cuStreamAddCallback(PTSZ(stream), callback, userData, flags);
}
