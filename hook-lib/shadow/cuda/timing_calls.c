/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/timing_calls.h"

#include <errno.h>
#include <sched.h>
#include <time.h>

#include "common/atomics.h"
#include "common/cancelling.h"
#include "common/this_thread.h"
#include "cores/cores.h"
#include "cuda/cuda_contexts.h"

static const uint64_t LOCK_PATIENCE_NS = 50000000, LOCK_PAUSE_NS = 100000, LOCK_YIELDING_NS = 2000000;

static struct timing_lock {
    uint32_t taken, stuck; /* stuck: somebody gave up waiting for who holds it */
    uint32_t waiters;
    int cancelling;       /* of the thread that holds it */
    uint64_t turns, last; /* how often it was taken, and by which thread */
} __attribute__((aligned(64))) locks[TIMING_LOCKS];

void timing_sleep(uint64_t ns) {
    struct timespec pause = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    int error = errno, cancelling = cancelling_off(); /* no function of the driver's is a cancellation point */
    nanosleep(&pause, NULL);                          /* a signal ends it early: who waits asks again */
    cancelling_back(cancelling);
    errno = error;
}

static bool take(struct timing_lock *lock) {
    return __atomic_exchange_n(&lock->taken, 1, __ATOMIC_ACQUIRE) == 0;
}

/*
 * Until it is free, or the same holder has kept it for longer than a thread that lost its processor is away; while he
 * goes on keeping it, nobody else waits so long again.
 */
static bool take_patiently(struct timing_lock *lock) {
    uint64_t begin = cores_now(), turn = load_relaxed(&lock->turns);
    bool taken = false;
    __atomic_fetch_add(&lock->waiters, 1, __ATOMIC_RELAXED);
    while (!taken && !load_relaxed(&lock->stuck)) {
        uint64_t now = cores_now(), turns = load_relaxed(&lock->turns);
        if (turns != turn)
            begin = now;
        else if (now - begin > LOCK_PATIENCE_NS)
            store_relaxed(&lock->stuck, 1);
        turn = turns;
        timing_sleep(LOCK_PAUSE_NS);
        taken = take(lock);
    }
    __atomic_fetch_sub(&lock->waiters, 1, __ATOMIC_RELAXED);
    return taken;
}

static void note_holder(struct timing_lock *lock, int cancelling) {
    store_relaxed(&lock->turns, load_relaxed(&lock->turns) + 1);
    store_relaxed(&lock->last, this_thread());
    lock->cancelling = cancelling;
}

bool timing_lock_try(int which) {
    int cancelling = cancelling_off();
    bool taken = take(&locks[which]);
    if (taken)
        note_holder(&locks[which], cancelling);
    else
        cancelling_back(cancelling);
    return taken;
}

bool timing_lock_enter(int which) {
    struct timing_lock *lock = &locks[which];
    int cancelling = cancelling_off();
    if (load_relaxed(&lock->waiters) && load_relaxed(&lock->last) == this_thread())
        timing_sleep(2 * LOCK_PAUSE_NS); /* who waits looks only now and then: his turn */
    bool taken = take(lock);
    /* On a busy machine a single yield may last longer than all patience. */
    for (uint64_t begin = taken ? 0 : cores_now(); !taken && cores_now() - begin < LOCK_YIELDING_NS;) {
        sched_yield();
        taken = take(lock);
    }
    if (!taken && !take_patiently(lock)) {
        cancelling_back(cancelling);
        return false;
    }
    note_holder(lock, cancelling);
    return true;
}

void timing_lock_wait(int which) {
    while (!timing_lock_enter(which))
        timing_sleep(LOCK_PAUSE_NS);
}

void timing_lock_leave(int which) {
    struct timing_lock *lock = &locks[which];
    int cancelling = lock->cancelling;
    store_relaxed(&lock->stuck, 0);
    store_release(&lock->taken, 0);
    cancelling_back(cancelling);
}

void timing_lock_forget(void) {
    for (int i = 0; i < TIMING_LOCKS; i++)
        locks[i].taken = locks[i].stuck = locks[i].waiters = 0;
}

bool timing_can(void) {
    return DRIVER(cuEventCreate) && DRIVER(cuEventRecord) && DRIVER(cuEventQuery) &&
           (DRIVER(cuEventElapsedTime) || DRIVER(cuEventElapsedTime_v2)) && DRIVER(cuCtxGetCurrent) &&
           DRIVER(cuCtxGetDevice);
}

int timing_calls_begin(void) {
    int mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (DRIVER(cuThreadExchangeStreamCaptureMode))
        DRIVER(cuThreadExchangeStreamCaptureMode)(&mode);
    return mode;
}

void timing_calls_end(int mode) {
    if (DRIVER(cuThreadExchangeStreamCaptureMode))
        DRIVER(cuThreadExchangeStreamCaptureMode)(&mode);
}

enum capturing stream_capture(CUstream stream) {
    int status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (DRIVER(cuStreamIsCapturing) && DRIVER(cuStreamIsCapturing)(stream, &status) != CUDA_SUCCESS)
        return CAPTURES_UNKNOWN;
    return status == CU_STREAM_CAPTURE_STATUS_NONE ? CAPTURES_NOTHING : CAPTURES;
}

void context_leave(bool pushed) {
    CUcontext popped;
    if (pushed)
        DRIVER(cuCtxPopCurrent_v2)(&popped);
}

bool context_enter(CUcontext context, bool *pushed) {
    *pushed = false;
    if (context_current() == context)
        return true;
    if (!DRIVER(cuCtxPushCurrent_v2) || !DRIVER(cuCtxPopCurrent_v2))
        return false;
    *pushed = DRIVER(cuCtxPushCurrent_v2)(context) == CUDA_SUCCESS;
    return *pushed;
}

/* Drivers of CUDA 12 do not tell a green context's streams by the first version. */
static bool ask_contexts(CUstream stream, struct stream_contexts *contexts) {
    CUgreenCtx green = NULL;
    if (!DRIVER(cuStreamGetCtx_v2)) {
        if (DRIVER(cuStreamGetCtx)(stream, &contexts->own) != CUDA_SUCCESS)
            return false;
        contexts->home = cuda_context_home(contexts->own);
        return contexts->own != NULL;
    }
    if (DRIVER(cuStreamGetCtx_v2)(stream, &contexts->home, &green) != CUDA_SUCCESS)
        return false;
    contexts->own = contexts->home;
    return contexts->home &&
           (!green || !DRIVER(cuCtxFromGreenCtx) || DRIVER(cuCtxFromGreenCtx)(&contexts->own, green) == CUDA_SUCCESS);
}

bool stream_contexts(CUstream stream, struct stream_contexts *contexts) {
    if (!stream_is_default(stream) && (DRIVER(cuStreamGetCtx_v2) || DRIVER(cuStreamGetCtx)))
        return ask_contexts(stream, contexts);
    contexts->own = context_current();
    contexts->home = cuda_context_home(contexts->own);
    return contexts->own != NULL;
}

bool stream_enter(CUstream stream, const struct stream_contexts *contexts, bool *pushed) {
    *pushed = false;
    if (stream_is_default(stream) && contexts->own != contexts->home)
        return context_current() == contexts->own;
    return context_enter(contexts->home, pushed);
}
