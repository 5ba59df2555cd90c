/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that is mapped into sparse and deferred arrays. It is mapped and unmapped in the order of a stream: what a
 * call takes out of an array stays charged until an event behind the call is done, or the stream's context is gone.
 * Where there are too many events, or none, the stream is waited for. Memory that cuMemFreeAsync frees waits here
 * likewise.
 */
#include "common/atomics.h"
#include "cuda/sparse.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "common/cancelling.h"
#include "common/lifetime.h"
#include "common/owned_lock.h"
#include "cuda/cuda_charge.h"
#include "cuda/cuda_contexts.h"
#include "cuda/cuda_driver.h"
#include "cuda/page_refs.h"
#include "cuda/timing_calls.h"
#include "share/cards.h"

enum { LEAVING_MOST = 256, FEW = 64 };

/* Owners of parts that are no array's any more: above all addresses. */
#define LEAVING (UINT64_C(3) << 62)
#define ARRAY (UINT64_C(1) << 63)

static struct leaving {
    CUevent event;
    uint64_t owner;    /* 0: free */
    CUcontext context; /* the event's */
    uint32_t number;   /* the context's */
    uint32_t ending;   /* calls that may end the context are under way */
    bool asked;        /* the driver is asked about the event: its context does not end meanwhile */
} leaving[LEAVING_MOST];
static uint32_t leaving_count;
static struct owned_lock leaving_lock;
static uint64_t owners;

static void leaving_enter(void) {
    owned_lock_enter(&leaving_lock);
}

static void leaving_leave(void) {
    owned_lock_leave(&leaving_lock);
}

static struct page_part part_of(const CUarrayMapInfo *info, uint32_t context) {
    struct page_part part = {.owner = (uint64_t)(uintptr_t)info->resource.array | ARRAY, .context = context};
    if (info->subresourceType == CU_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL) {
        part.kind = UINT64_C(1) << 63 | info->subresource.miptail.layer;
        part.from[0] = info->subresource.miptail.offset;
        part.extent[0] = info->subresource.miptail.size;
    } else {
        part.kind = (uint64_t)info->subresource.sparseLevel.level << 32 | info->subresource.sparseLevel.layer;
        part.from[0] = info->subresource.sparseLevel.offsetX;
        part.from[1] = info->subresource.sparseLevel.offsetY;
        part.from[2] = info->subresource.sparseLevel.offsetZ;
        part.extent[0] = info->subresource.sparseLevel.extentWidth;
        part.extent[1] = info->subresource.sparseLevel.extentHeight;
        part.extent[2] = info->subresource.sparseLevel.extentDepth;
    }
    return part;
}

static bool maps(const CUarrayMapInfo *info) {
    return info->memOperationType == CU_MEM_OPERATION_TYPE_MAP && info->memHandle.memHandle != 0;
}

static bool keep_leaving(CUevent event, uint64_t owner, CUcontext context) {
    bool kept = false;
    leaving_enter();
    for (int i = 0; i < LEAVING_MOST && !kept; i++)
        if (leaving[i].owner == 0) {
            leaving[i] =
                (struct leaving){event, owner, cuda_context_home(context), cuda_context_number(context), 0, false};
            __atomic_fetch_add(&leaving_count, 1, __ATOMIC_RELAXED);
            kept = true;
        }
    leaving_leave();
    return kept;
}

/* An event can only be recorded in streams of its own context. */
static bool watch(uint64_t owner, CUstream stream, bool per_thread) {
    __typeof__(&cuEventRecord) record = per_thread ? DRIVER(cuEventRecord_ptsz) : DRIVER(cuEventRecord);
    CUstream name = stream_name(stream, per_thread);
    CUevent event;
    struct stream_contexts contexts;
    bool pushed, watched = false;
    if (!record || !DRIVER(cuEventQuery) || !DRIVER(cuEventDestroy_v2) || !DRIVER(cuEventCreate) ||
        !DRIVER(cuCtxGetCurrent) || !stream_contexts(name, &contexts) || !stream_enter(name, &contexts, &pushed))
        return false;
    if (DRIVER(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS) {
        watched = record(event, stream) == CUDA_SUCCESS && keep_leaving(event, owner, contexts.own);
        if (!watched)
            DRIVER(cuEventDestroy_v2)(event);
    }
    context_leave(pushed);
    return watched;
}

uint64_t sparse_new_owner(void) {
    return LEAVING | __atomic_add_fetch(&owners, 1, __ATOMIC_RELAXED);
}

/* The stream has done it. */
static void given_back(uint64_t owner) {
    page_parts_gone(owner);
    charge_return(charge_take(owner), CUDA_SUCCESS, owner);
}

/* What is returned is over. */
static uint64_t settle_leaving(struct leaving *one) {
    leaving_enter();
    bool ask = one->owner != 0 && one->ending == 0 && !one->asked;
    if (ask)
        one->asked = true;
    leaving_leave();
    if (!ask)
        return 0;
    bool done = DRIVER(cuEventQuery)(one->event) == CUDA_SUCCESS;
    if (done)
        DRIVER(cuEventDestroy_v2)(one->event);
    leaving_enter();
    uint64_t owner = done ? one->owner : 0;
    one->asked = false;
    if (done) {
        one->owner = 0;
        __atomic_fetch_sub(&leaving_count, 1, __ATOMIC_RELAXED);
    }
    leaving_leave();
    return owner;
}

/* The driver is asked in the mode in which that ends no capture. */
bool sparse_settle(void) {
    if (owned_lock_mine(&leaving_lock) || page_refs_interrupted())
        return false;
    int mode = CU_STREAM_CAPTURE_MODE_RELAXED, cancelling = cancelling_off();
    bool settled = false, exchanged = DRIVER(cuThreadExchangeStreamCaptureMode) &&
                                      DRIVER(cuThreadExchangeStreamCaptureMode)(&mode) == CUDA_SUCCESS;
    for (int i = 0; i < LEAVING_MOST; i++) {
        uint64_t owner = settle_leaving(&leaving[i]);
        if (owner)
            given_back(owner);
        settled |= owner != 0;
    }
    if (exchanged)
        DRIVER(cuThreadExchangeStreamCaptureMode)(&mode);
    cancelling_back(cancelling);
    return settled;
}

bool sparse_watch(uint64_t owner, CUstream stream, bool per_thread) {
    return watch(owner, stream, per_thread) || (sparse_settle() && watch(owner, stream, per_thread));
}

bool sparse_wait(CUstream stream, bool per_thread) {
    __typeof__(&cuStreamSynchronize) synchronize =
        per_thread ? DRIVER(cuStreamSynchronize_ptsz) : DRIVER(cuStreamSynchronize);
    return synchronize && synchronize(stream) == CUDA_SUCCESS;
}

void sparse_context_ends(CUcontext context) {
    bool asked = false;
    if (!context || !sparse_waiting())
        return;
    leaving_enter();
    for (int i = 0; i < LEAVING_MOST; i++)
        if (leaving[i].owner && leaving[i].context == context) {
            leaving[i].ending++;
            asked |= leaving[i].asked;
        }
    leaving_leave();
    while (asked) {
        sched_yield();
        asked = false;
        leaving_enter();
        for (int i = 0; i < LEAVING_MOST; i++)
            asked |= leaving[i].owner && leaving[i].context == context && leaving[i].asked;
        leaving_leave();
    }
}

void sparse_context_stays(CUcontext context) {
    if (!context || !sparse_waiting())
        return;
    leaving_enter();
    for (int i = 0; i < LEAVING_MOST; i++)
        if (leaving[i].owner && leaving[i].context == context && leaving[i].ending > 0)
            leaving[i].ending--;
    leaving_leave();
}

void sparse_context_gone(uint32_t number) {
    page_parts_of_context_gone(number);
    if (!number || !sparse_waiting())
        return;
    for (int i = 0; i < LEAVING_MOST; i++) {
        uint64_t owner = 0;
        leaving_enter();
        if (leaving[i].owner && cuda_context_ended_with(leaving[i].number, number)) {
            owner = leaving[i].owner;
            leaving[i].owner = 0;
            __atomic_fetch_sub(&leaving_count, 1, __ATOMIC_RELAXED);
        }
        leaving_leave();
        if (owner)
            given_back(owner);
    }
}

bool sparse_waiting(void) {
    return load_relaxed(&leaving_count) > 0;
}

uint64_t sparse_array_ends(const void *array) {
    uint64_t owner = sparse_new_owner();
    page_parts_moved((uint64_t)(uintptr_t)array | ARRAY, owner);
    return owner;
}

void sparse_array_ended(uint64_t owner, const void *array, bool gone) {
    if (gone)
        page_parts_gone(owner);
    else
        page_parts_moved(owner, (uint64_t)(uintptr_t)array | ARRAY);
}

void sparse_forget(void) {
    memset(leaving, 0, sizeof leaving);
    leaving_count = 0;
    leaving_lock = (struct owned_lock){0};
}

/* An array can be mapped in streams of its own context only. */
static uint32_t context_of(CUstream stream) {
    struct stream_contexts contexts;
    bool known = DRIVER(cuCtxGetCurrent) && stream_contexts(stream, &contexts);
    return cuda_context_number(known ? contexts.home : NULL);
}

static void give_back_in_order(uint64_t owner, CUstream stream, bool per_thread) {
    int mode = timing_calls_begin();
    if (!sparse_watch(owner, stream, per_thread) && sparse_wait(stream, per_thread))
        given_back(owner);
    timing_calls_end(mode);
}

static CUresult map(CUarrayMapInfo *list, unsigned int count, CUstream stream, bool per_thread) {
    __typeof__(&cuMemMapArrayAsync) call = per_thread ? DRIVER(cuMemMapArrayAsync_ptsz) : DRIVER(cuMemMapArrayAsync);
    if (!list)
        return call(list, count, stream);
    /* The references are taken before the driver's call, so that no other thread's release comes between. */
    page_object few[FEW], *objects = few;
    if (count > FEW) {
        int error = errno;
        objects = mmap(NULL, count * sizeof *objects, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        errno = error;
        if (objects == MAP_FAILED)
            return CUDA_ERROR_OUT_OF_MEMORY;
    }
    uint32_t parts = 0;
    for (unsigned int i = 0; i < count; i++) {
        objects[i] = maps(&list[i]) ? page_map_begin(list[i].memHandle.memHandle) : 0;
        parts += objects[i] != 0;
    }
    CUresult result = parts > 0 && !page_room(parts) ? CUDA_ERROR_OUT_OF_MEMORY : call(list, count, stream);
    uint32_t context = result == CUDA_SUCCESS ? context_of(stream_name(stream, per_thread)) : 0;
    uint64_t owner = sparse_new_owner();
    bool any = false;
    for (unsigned int i = 0; i < count; i++) {
        struct page_part part = part_of(&list[i], context);
        if (result == CUDA_SUCCESS)
            any |= page_part_moved(&part, owner);
        page_part_end(objects[i], &part, result == CUDA_SUCCESS);
    }
    if (objects != few)
        munmap(objects, count * sizeof *objects);
    if (any)
        give_back_in_order(owner, stream, per_thread);
    return result;
}

CUresult cuMemMapArrayAsync(CUarrayMapInfo *list, unsigned int count, CUstream stream) {
    NEED(cuMemMapArrayAsync);
    return map(list, count, stream, false);
}

CUresult cuMemMapArrayAsync_ptsz(CUarrayMapInfo *list, unsigned int count, CUstream stream) {
    NEED(cuMemMapArrayAsync_ptsz);
    return map(list, count, stream, true);
}
