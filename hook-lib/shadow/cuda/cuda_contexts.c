/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ends with a context: memory allocated in it and never freed. The driver frees it with cuCtxDestroy, with the
 * last release of a primary context, and with its reset; the charges go then, too.
 *
 * As soon as the driver is done, another thread may get a context with the same handle and allocate in it, before the
 * charges of the former one are given back. So a context's number changes before the call that ends it. Whether a
 * release was the last one is known only after it: there the device's primary context is retained and ended by one
 * thread at a time, and the number changes in its turn.
 *
 * A green context is a part of its device's primary context and retains that. What is allocated in it is the primary
 * one's.
 *
 * What a context itself takes of the card is charged before the call that makes it, and given back when it has ended.
 */
#include "cuda/cuda_contexts.h"

#include <stddef.h>
#include <string.h>

#include "common/atomics.h"
#include "common/cancelling.h"
#include "common/lifetime.h"
#include "cuda/context_memory.h"
#include "cuda/cuda_charge.h"
#include "cuda/cuda_driver.h"
#include "cuda/cuda_timing.h"
#include "cuda/greens.h"
#include "cuda/pools.h"
#include "cuda/sparse.h"
#include "cuda/timing_calls.h"

enum { CONTEXTS = 1024, DEVICES = 128 };
static const uint64_t TURN_PAUSE_NS = 100000;

/* A handle keeps its place until its context is over and another one finds no other place. */
static uint64_t contexts[CONTEXTS];      /* the handle; with OVER, its context has ended, or was expected to */
static uint32_t lives[CONTEXTS];         /* how many contexts in the place have ended, or were expected to */
static uint32_t attached[CONTEXTS + 1];  /* by place, how often cuCtxAttach was called; the last one: without a place */
static CUcontext primaries[DEVICES];     /* by device, as last retained */
static uint8_t charged[CONTEXTS];        /* for the context itself: the card + 1; 0: nothing */
static uint8_t charged_primary[DEVICES]; /* likewise, in the device's turn */
static uint32_t turns[DEVICES];          /* 1: a call that may make or end the primary context is under way */

_Static_assert(CONTEXTS < 1 << CONTEXT_HANDLE_BITS, "a handle's number fits");

/* A handle is an address of the host. */
#define OVER (UINT64_C(1) << 63)

static bool change_place(int place, uint64_t from, uint64_t to) {
    return __atomic_compare_exchange_n(&contexts[place], &from, to, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/*
 * The place that the handle has or, -1 - the place, that it may have: a free one or, where there is none, one whose
 * context is over. CONTEXTS: none. *there: what stands in it.
 */
static int look_for_place(uint64_t handle, uint64_t *there) {
    uint64_t hash = handle * UINT64_C(0x9e3779b97f4a7c15);
    int over = CONTEXTS;
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        int place = (int)(((uint32_t)(hash >> 32) + i) % CONTEXTS);
        uint64_t now = load_relaxed(&contexts[place]);
        if ((now & ~OVER) == handle || now == 0) {
            *there = now;
            return now ? place : -1 - place;
        }
        if (now & OVER && over == CONTEXTS) {
            *there = now;
            over = -1 - place;
        }
    }
    return over;
}

/* `fresh`: the handle is a living context's, and gets a place. -1: there is none for it. */
static int handle_place(CUcontext context, bool fresh) {
    uint64_t handle = (uint64_t)(uintptr_t)context, there = 0;
    while (handle) {
        int found = look_for_place(handle, &there), place = found < 0 ? -1 - found : found;
        if (found == CONTEXTS || (found < 0 && !fresh))
            break;
        if (fresh && there != handle && !change_place(place, there, handle))
            continue;
        if (found < 0)
            store_relaxed(&attached[place], 0); /* the former one's */
        return place;
    }
    return -1;
}

static uint32_t number_of(int place, uint32_t life) {
    uint32_t lives_mask = (1u << CONTEXT_LIFE_BITS) - 1;
    return place < 0 ? 0 : (life & lives_mask) << CONTEXT_HANDLE_BITS | ((uint32_t)place + 1);
}

CUcontext cuda_context_home(CUcontext context) {
    CUdevice device = greens_device(context);
    CUcontext primary = device < 0 ? NULL : load_relaxed(&primaries[device]);
    return primary ? primary : context;
}

uint32_t cuda_context_number(CUcontext context) {
    int place = handle_place(cuda_context_home(context), true);
    return number_of(place, place < 0 ? 0 : load_acquire(&lives[place]));
}

/* From now on the handle is another context's; the number that it had. 0: nothing was ever known to be in it. */
static uint32_t next_life(CUcontext context) {
    int place = handle_place(context, false);
    if (place < 0)
        return 0;
    uint32_t number = number_of(place, __atomic_fetch_add(&lives[place], 1, __ATOMIC_ACQ_REL));
    change_place(place, (uint64_t)(uintptr_t)context, (uint64_t)(uintptr_t)context | OVER);
    return number;
}

/* It did not end. */
static void goes_on(CUcontext context) {
    int place = handle_place(context, false);
    if (place >= 0)
        change_place(place, (uint64_t)(uintptr_t)context | OVER, (uint64_t)(uintptr_t)context);
}

static uint8_t note_of(const struct context_memory *memory) {
    return memory->card < 0 ? 0 : (uint8_t)(memory->card + 1);
}

/* Keeps what the context that was made is charged, until it ends. */
static void keep_memory(CUcontext context, const struct context_memory *memory) {
    int place = memory->card < 0 ? -1 : handle_place(context, true);
    uint8_t former = place < 0 ? 0 : __atomic_exchange_n(&charged[place], note_of(memory), __ATOMIC_ACQ_REL);
    context_memory_gone(former - 1); /* ended in a way that we did not see */
}

/* Before the call that may end the context: another one may have its handle as soon as the driver is done. */
static uint8_t take_memory(CUcontext context) {
    int place = handle_place(context, false);
    return place < 0 ? 0 : __atomic_exchange_n(&charged[place], 0, __ATOMIC_ACQ_REL);
}

/* After it. */
static void give_back_memory(CUcontext context, uint8_t taken, bool gone) {
    int place = gone ? -1 : handle_place(context, false);
    if (gone)
        context_memory_gone(taken - 1);
    else if (place >= 0)
        __atomic_store_n(&charged[place], taken, __ATOMIC_RELEASE);
}

/* Who is between begin and end is not cancelled: nobody would end it. */
#define CONTEXT_CREATE(name, parameters, arguments)                                                                    \
    CUresult name parameters {                                                                                         \
        NEED(name);                                                                                                    \
        struct context_memory memory;                                                                                  \
        int cancelling = cancelling_off();                                                                             \
        CUresult result = context_memory_begin(&memory, device);                                                       \
        if (result == CUDA_SUCCESS) {                                                                                  \
            result = DRIVER(name) arguments;                                                                           \
            context_memory_end(&memory, result);                                                                       \
            if (result == CUDA_SUCCESS)                                                                                \
                keep_memory(*context, &memory);                                                                        \
        }                                                                                                              \
        cancelling_back(cancelling);                                                                                   \
        return result;                                                                                                 \
    }

CONTEXT_CREATE(cuCtxCreate, (CUcontext * context, unsigned int flags, CUdevice device), (context, flags, device))
CONTEXT_CREATE(cuCtxCreate_v2, (CUcontext * context, unsigned int flags, CUdevice device), (context, flags, device))
CONTEXT_CREATE(cuCtxCreate_v3,
               (CUcontext * context, void *affinities, int affinityCount, unsigned int flags, CUdevice device),
               (context, affinities, affinityCount, flags, device))
CONTEXT_CREATE(cuCtxCreate_v4, (CUcontext * context, void *parameters, unsigned int flags, CUdevice device),
               (context, parameters, flags, device))

/* Before the call that may end the context. NULL: nothing. */
static void context_ends(CUcontext context) {
    timing_context_ends(context);
    sparse_context_ends(context);
}

/* After it: whether the context is gone, and everything in it. */
static void context_ended(CUcontext context, uint32_t number, bool gone) {
    if (gone) {
        charge_context_gone(number);
        timing_context_gone(context);
        sparse_context_gone(number);
    } else {
        goes_on(context);
        timing_context_stays(context);
        sparse_context_stays(context);
    }
}

/* A context is destroyed however often it was attached to: another one with its handle is not. */
static uint32_t take_attachments(CUcontext context) {
    int place = handle_place(context, false);
    return place < 0 ? 0 : __atomic_exchange_n(&attached[place], 0, __ATOMIC_RELAXED);
}

static void give_back_attachments(CUcontext context, uint32_t taken) {
    int place = handle_place(context, false);
    if (place >= 0)
        __atomic_fetch_add(&attached[place], taken, __ATOMIC_RELAXED);
}

#define CONTEXT_DESTROY(name)                                                                                          \
    CUresult name(CUcontext context) {                                                                                 \
        NEED(name);                                                                                                    \
        context_ends(context);                                                                                         \
        uint32_t attachments = take_attachments(context);                                                              \
        uint8_t memory = take_memory(context);                                                                         \
        uint32_t number = next_life(context);                                                                          \
        CUresult result = DRIVER(name)(context);                                                                       \
        context_ended(context, number, result == CUDA_SUCCESS);                                                        \
        give_back_memory(context, memory, result == CUDA_SUCCESS);                                                     \
        if (result != CUDA_SUCCESS)                                                                                    \
            give_back_attachments(context, attachments);                                                               \
        return result;                                                                                                 \
    }

CONTEXT_DESTROY(cuCtxDestroy)
CONTEXT_DESTROY(cuCtxDestroy_v2)

/* Of a context that was attached to more often than it was detached from, nothing ends. */
static uint32_t *attached_to(CUcontext context) {
    int place = handle_place(context, true);
    return &attached[place < 0 ? CONTEXTS : place];
}

CUresult cuCtxAttach(CUcontext *context, unsigned int flags) {
    NEED(cuCtxAttach);
    CUresult result = DRIVER(cuCtxAttach)(context, flags);
    if (result == CUDA_SUCCESS && context)
        __atomic_fetch_add(attached_to(*context), 1, __ATOMIC_RELAXED);
    return result;
}

CUresult cuCtxDetach(CUcontext context) {
    NEED(cuCtxDetach);
    uint32_t *attachments = attached_to(context);
    context_ends(context);
    uint8_t memory = take_memory(context);
    uint32_t number = next_life(context);
    CUresult result = DRIVER(cuCtxDetach)(context);
    uint32_t more = load_relaxed(attachments);
    while (result == CUDA_SUCCESS && more > 0 &&
           !__atomic_compare_exchange_n(attachments, &more, more - 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    context_ended(context, number, result == CUDA_SUCCESS && more == 0);
    give_back_memory(context, memory, result == CUDA_SUCCESS && more == 0);
    return result;
}

static bool is_device(CUdevice device) {
    return device >= 0 && device < DEVICES;
}

/* What the driver does with the primary context in between may take long; who has the turn is not cancelled. */
static int turn_begin(CUdevice device) {
    int cancelling = cancelling_off();
    while (is_device(device) && __atomic_exchange_n(&turns[device], 1, __ATOMIC_ACQUIRE))
        timing_sleep(TURN_PAUSE_NS);
    return cancelling;
}

static void turn_end(CUdevice device, int cancelling) {
    if (is_device(device))
        store_release(&turns[device], 0);
    cancelling_back(cancelling);
}

/* In the device's turn, around a call that may make its primary context. */
static CUresult primary_memory_begin(struct context_memory *memory, CUdevice device) {
    *memory = (struct context_memory){-1, 0};
    return is_device(device) && !charged_primary[device] ? context_memory_begin(memory, device) : CUDA_SUCCESS;
}

static void primary_memory_end(const struct context_memory *memory, CUdevice device, CUresult result) {
    context_memory_end(memory, result);
    if (result == CUDA_SUCCESS && memory->card >= 0)
        charged_primary[device] = note_of(memory);
}

/* In the device's turn, after its primary context has ended. */
static void primary_memory_gone(CUdevice device) {
    if (is_device(device)) {
        context_memory_gone(charged_primary[device] - 1);
        charged_primary[device] = 0;
    }
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    NEED(cuDevicePrimaryCtxRetain);
    struct context_memory memory;
    int cancelling = turn_begin(device);
    CUresult result = primary_memory_begin(&memory, device);
    if (result == CUDA_SUCCESS) {
        result = DRIVER(cuDevicePrimaryCtxRetain)(context, device);
        primary_memory_end(&memory, device, result);
    }
    if (result == CUDA_SUCCESS && context && is_device(device))
        store_relaxed(&primaries[device], *context);
    turn_end(device, cancelling);
    return result;
}

static CUcontext primary_of(CUdevice device) {
    return is_device(device) ? load_relaxed(&primaries[device]) : NULL;
}

static bool active(CUdevice device) {
    unsigned int flags;
    int is = 1;
    return !DRIVER(cuDevicePrimaryCtxGetState) ||
           DRIVER(cuDevicePrimaryCtxGetState)(device, &flags, &is) != CUDA_SUCCESS || is;
}

/* In the device's turn: after a call that released the primary context once. */
static bool released(CUdevice device, CUcontext context, CUresult result, uint32_t *number) {
    bool gone = result == CUDA_SUCCESS && !active(device);
    *number = gone ? next_life(context) : 0;
    if (gone)
        primary_memory_gone(device);
    return gone;
}

static CUresult release_primary(CUresult (*call)(CUdevice device), CUdevice device) {
    int cancelling = turn_begin(device);
    CUcontext context = primary_of(device);
    context_ends(context);
    CUresult result = call(device);
    uint32_t number;
    bool gone = released(device, context, result, &number);
    turn_end(device, cancelling);
    context_ended(context, number, gone);
    return result;
}

/*
 * Whoever retains the primary context goes on with it: its next life begins without a retain. Its green contexts do
 * not.
 */
static CUresult reset_primary(CUresult (*call)(CUdevice device), CUdevice device) {
    int cancelling = turn_begin(device);
    CUcontext context = primary_of(device);
    context_ends(context);
    uint32_t number = next_life(context);
    uint64_t pools = pools_before_reset();
    CUresult result = call(device);
    if (result == CUDA_SUCCESS) {
        greens_drop_of(device);
        if (!active(device))
            primary_memory_gone(device);
    }
    turn_end(device, cancelling);
    if (result == CUDA_SUCCESS)
        pools_device_reset(device, pools);
    context_ended(context, number, result == CUDA_SUCCESS);
    return result;
}

#define PRIMARY_END(name, how)                                                                                         \
    CUresult name(CUdevice device) {                                                                                   \
        NEED(name);                                                                                                    \
        return how(DRIVER(name), device);                                                                              \
    }

PRIMARY_END(cuDevicePrimaryCtxRelease, release_primary)
PRIMARY_END(cuDevicePrimaryCtxRelease_v2, release_primary)
PRIMARY_END(cuDevicePrimaryCtxReset, reset_primary)
PRIMARY_END(cuDevicePrimaryCtxReset_v2, reset_primary)

static CUcontext context_from(CUgreenCtx green) {
    CUcontext context = NULL;
    return green && DRIVER(cuCtxFromGreenCtx) && DRIVER(cuCtxFromGreenCtx)(&context, green) == CUDA_SUCCESS ? context
                                                                                                            : NULL;
}

/*
 * The program need not have retained the primary context itself; it is retained now, so that this does not make or end
 * it.
 */
static void learn_primary(CUdevice device) {
    __typeof__(&cuDevicePrimaryCtxRelease_v2) release_again =
        DRIVER(cuDevicePrimaryCtxRelease_v2) ? DRIVER(cuDevicePrimaryCtxRelease_v2) : DRIVER(cuDevicePrimaryCtxRelease);
    CUcontext context;
    if (!DRIVER(cuDevicePrimaryCtxRetain) || !release_again ||
        DRIVER(cuDevicePrimaryCtxRetain)(&context, device) != CUDA_SUCCESS)
        return;
    store_relaxed(&primaries[device], context);
    release_again(device);
}

CUresult cuGreenCtxCreate(CUgreenCtx *green, CUdevResourceDesc descriptor, CUdevice device, unsigned int flags) {
    NEED(cuGreenCtxCreate);
    struct context_memory memory;
    int cancelling = turn_begin(device);
    CUresult result = primary_memory_begin(&memory, device);
    if (result == CUDA_SUCCESS) {
        result = DRIVER(cuGreenCtxCreate)(green, descriptor, device, flags);
        primary_memory_end(&memory, device, result);
    }
    CUcontext context = result == CUDA_SUCCESS ? context_from(*green) : NULL;
    if (context && is_device(device)) {
        learn_primary(device);
        greens_add(context, device);
    }
    turn_end(device, cancelling);
    return result;
}

/* Another context may have the handle as soon as the driver is done: it is not to be taken for a green one. */
static CUresult green_end(CUgreenCtx green, CUcontext context, CUdevice device) {
    int cancelling = turn_begin(device);
    CUcontext primary = primary_of(device);
    context_ends(primary);
    greens_drop(context);
    CUresult result = DRIVER(cuGreenCtxDestroy)(green);
    if (result != CUDA_SUCCESS)
        greens_add(context, device);
    uint32_t number;
    bool gone = released(device, primary, result, &number);
    turn_end(device, cancelling);
    context_ended(primary, number, gone);
    return result;
}

CUresult cuGreenCtxDestroy(CUgreenCtx green) {
    NEED(cuGreenCtxDestroy);
    CUcontext context = context_from(green);
    CUdevice device = greens_device(context);
    timing_green_ends(context);
    return device < 0 ? DRIVER(cuGreenCtxDestroy)(green) : green_end(green, context, device);
}

void cuda_contexts_forget(void) {
    memset(turns, 0, sizeof turns);
    memset(charged, 0, sizeof charged);
    memset(charged_primary, 0, sizeof charged_primary);
}
