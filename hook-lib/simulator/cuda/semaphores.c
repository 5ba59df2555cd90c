/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Semaphores that another API made, as files that CUDA imports. No other API is there to signal one: only CUDA does, in
 * the same process. A signal is a point in a stream, and a wait waits for that; a stream that waits for a signal which
 * nobody has submitted yet is held by a host function, so that the program may submit it.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "semaphores.h"
#include "timeline.h"

#define KEPT 64 /* signals; a wait for an older one waits for the oldest of these */

/* What importing the same file twice gives two handles of. */
struct semaphore {
    dev_t device;
    ino_t file; /* 0: one of its own */
    bool timeline;
    unsigned holders;
    uint64_t waits; /* of one that is no timeline: each takes a signal */
    uint64_t count; /* of signals; their values go up */
    struct signal {
        uint64_t value;
        int ordinal;
        struct point point;
    } signals[KEPT];
    struct semaphore *next;
};

struct CUextSemaphore_st {
    struct semaphore *of;
    struct CUextSemaphore_st *next;
};

static struct CUextSemaphore_st *handles;
static struct semaphore *semaphores;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all of these */
static pthread_cond_t signalled = PTHREAD_COND_INITIALIZER;

/* Under the lock. */
static struct semaphore *semaphore_of(int descriptor, bool timeline) {
    struct semaphore *semaphore = semaphores;
    struct stat about;
    bool known = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);

    while (semaphore && !(known && semaphore->file == about.st_ino && semaphore->device == about.st_dev &&
                          semaphore->timeline == timeline))
        semaphore = semaphore->next;
    if (!semaphore) {
        semaphore = calloc(1, sizeof *semaphore);
        if (!semaphore)
            return NULL;
        semaphore->device = known ? about.st_dev : 0;
        semaphore->file = known ? about.st_ino : 0;
        semaphore->timeline = timeline;
        semaphore->next = semaphores;
        semaphores = semaphore;
    }
    semaphore->holders++;
    return semaphore;
}

/* Under the lock. */
static void let_go(struct semaphore *semaphore) {
    struct semaphore **link = &semaphores;

    if (--semaphore->holders > 0)
        return;
    while (*link != semaphore)
        link = &(*link)->next;
    *link = semaphore->next;
    free(semaphore);
}

CUresult cuImportExternalSemaphore(CUexternalSemaphore *semaphore, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *handle) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_home(&context);
    struct CUextSemaphore_st *made;

    if (result != CUDA_SUCCESS)
        return result;
    if (!semaphore || !handle || handle->flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (handle->type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD &&
        handle->type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD)
        return CUDA_ERROR_NOT_SUPPORTED;
    made = calloc(1, sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    made->of = semaphore_of(handle->handle.fd, handle->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD);
    if (made->of) {
        made->next = handles;
        handles = made;
    }
    pthread_mutex_unlock(&lock);
    if (!made->of) {
        free(made);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    close(handle->handle.fd); /* CUDA's from now on */
    *semaphore = made;
    return CUDA_SUCCESS;
}

CUresult cuDestroyExternalSemaphore(CUexternalSemaphore semaphore) {
    FAULT_POINT();
    struct CUextSemaphore_st **link = &handles;
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&lock);
    while (*link && *link != semaphore)
        link = &(*link)->next;
    if (*link) {
        *link = semaphore->next;
        let_go(semaphore->of);
        free(semaphore);
    } else {
        result = CUDA_ERROR_INVALID_HANDLE;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* Under the lock. */
static bool lives(CUexternalSemaphore semaphore) {
    const struct CUextSemaphore_st *each = handles;

    while (each && each != semaphore)
        each = each->next;
    return each;
}

bool semaphore_lives(CUexternalSemaphore semaphore) {
    bool is;

    pthread_mutex_lock(&lock);
    is = lives(semaphore);
    pthread_mutex_unlock(&lock);
    return is;
}

void semaphore_signal(CUexternalSemaphore semaphore, uint64_t value, const struct CUctx_st *context, CUstream stream) {
    struct semaphore *of;

    pthread_mutex_lock(&lock);
    if (lives(semaphore)) {
        of = semaphore->of;
        of->signals[of->count % KEPT] =
            (struct signal){of->timeline ? value : of->count + 1, context->ordinal, stream_point(context, stream)};
        of->count++;
        pthread_cond_broadcast(&signalled);
    }
    pthread_mutex_unlock(&lock);
}

/* Under the lock: the first signal that brings the value; NULL: none was submitted. */
static const struct signal *find(const struct semaphore *of, uint64_t value) {
    uint64_t i = of->count > KEPT ? of->count - KEPT : 0;

    while (i < of->count && of->signals[i % KEPT].value < value)
        i++;
    return i < of->count ? &of->signals[i % KEPT] : NULL;
}

struct waiting {
    struct semaphore *of;
    uint64_t value;
};

/* Called by the thread for host functions, which cannot wait for those behind this one. */
static void wait_until_signalled(void *data) {
    struct waiting *waiting = data;
    const struct signal *found;
    struct signal signal;

    pthread_mutex_lock(&lock);
    while (!(found = find(waiting->of, waiting->value)))
        pthread_cond_wait(&signalled, &lock);
    signal = *found;
    let_go(waiting->of);
    pthread_mutex_unlock(&lock);
    if (signal.point.work)
        timeline_wait(signal.ordinal, signal.point.work);
    free(waiting);
}

CUresult semaphore_wait(CUexternalSemaphore semaphore, uint64_t value, const struct CUctx_st *context,
                        CUstream stream) {
    struct waiting *waiting = malloc(sizeof *waiting);
    const struct signal *found;
    struct signal signal = {.ordinal = -1};
    CUresult result;

    if (!waiting)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&lock);
    if (!lives(semaphore)) {
        pthread_mutex_unlock(&lock);
        free(waiting);
        return CUDA_ERROR_INVALID_HANDLE;
    }
    *waiting = (struct waiting){semaphore->of, semaphore->of->timeline ? value : ++semaphore->of->waits};
    found = find(waiting->of, waiting->value);
    if (found)
        signal = *found;
    else
        waiting->of->holders++;
    pthread_mutex_unlock(&lock);
    if (signal.ordinal < 0) {
        result = cuLaunchHostFunc(stream ? stream : CU_STREAM_LEGACY, wait_until_signalled, waiting);
        if (result == CUDA_SUCCESS)
            return result;
        pthread_mutex_lock(&lock);
        let_go(waiting->of);
        pthread_mutex_unlock(&lock);
        free(waiting);
        return result;
    }
    free(waiting);
    if (signal.ordinal != context->ordinal) {
        point_wait(signal.ordinal, signal.point);
    } else if (stream) {
        stream->end = signal.point.work > stream->end ? signal.point.work : stream->end;
        stream->host = signal.point.host > stream->host ? signal.point.host : stream->host;
    }
    return CUDA_SUCCESS;
}
