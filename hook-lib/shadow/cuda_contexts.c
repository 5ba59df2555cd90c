/*
 * What ends with a context: memory allocated in it and never freed. The driver frees it with cuCtxDestroy, with the last release of a
 * primary context, and with its reset; the charges go then, too.
 */
#include "cuda_contexts.h"

#include <stdbool.h>
#include <stddef.h>

#include "cuda_charge.h"
#include "cuda_driver.h"
#include "cuda_timing.h"
#include "lifetime.h"
#include "pools.h"
#include "sparse.h"

enum { CONTEXTS = 1024, DEVICES = 128 };

/* A handle keeps its place: a context that later has the same handle has the same number, and nothing of the former left. */
static CUcontext contexts[CONTEXTS];
static CUcontext primaries[DEVICES]; /* by device, as last retained */

uint32_t cuda_context_number(CUcontext context) {
    if (!context)
        return 0;
    uint64_t hash = (uint64_t)(uintptr_t)context * UINT64_C(0x9e3779b97f4a7c15);
    for (uint32_t i = 0; i < CONTEXTS; i++) {
        uint32_t place = ((uint32_t)(hash >> 32) + i) % CONTEXTS;
        CUcontext there = __atomic_load_n(&contexts[place], __ATOMIC_RELAXED);
        if (!there && __atomic_compare_exchange_n(&contexts[place], &there, context, false, __ATOMIC_RELAXED,
                                                  __ATOMIC_RELAXED))
            return place + 1;
        if (there == context)
            return place + 1;
    }
    return 0;
}

/* Before the call that may end the context. NULL: nothing. */
static void context_ends(CUcontext context) {
    timing_context_ends(context);
    sparse_context_ends(context);
}

/* After it: whether the context is gone, and everything in it. */
static void context_ended(CUcontext context, bool gone) {
    if (gone) {
        charge_context_gone(cuda_context_number(context));
        timing_context_gone(context);
        sparse_context_gone(context);
    } else {
        timing_context_stays(context);
        sparse_context_stays(context);
    }
}

#define CONTEXT_DESTROY(name)                                                                                         \
    CUresult name(CUcontext context) {                                                                                \
        NEED(name);                                                                                                   \
        context_ends(context);                                                                                        \
        CUresult result = DRIVER(name)(context);                                                                      \
        context_ended(context, result == CUDA_SUCCESS);                                                               \
        return result;                                                                                                \
    }

CONTEXT_DESTROY(cuCtxDestroy)
CONTEXT_DESTROY(cuCtxDestroy_v2)

/* Of a context that was attached to more often than it was detached from, nothing ends. */
static uint32_t attached[CONTEXTS + 1];

CUresult cuCtxAttach(CUcontext *context, unsigned int flags) {
    NEED(cuCtxAttach);
    CUresult result = DRIVER(cuCtxAttach)(context, flags);
    if (result == CUDA_SUCCESS && context)
        __atomic_fetch_add(&attached[cuda_context_number(*context)], 1, __ATOMIC_RELAXED);
    return result;
}

CUresult cuCtxDetach(CUcontext context) {
    NEED(cuCtxDetach);
    uint32_t number = cuda_context_number(context);
    context_ends(context);
    CUresult result = DRIVER(cuCtxDetach)(context);
    uint32_t more = __atomic_load_n(&attached[number], __ATOMIC_RELAXED);
    while (result == CUDA_SUCCESS && more > 0 &&
           !__atomic_compare_exchange_n(&attached[number], &more, more - 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    context_ended(context, result == CUDA_SUCCESS && more == 0);
    return result;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    NEED(cuDevicePrimaryCtxRetain);
    CUresult result = DRIVER(cuDevicePrimaryCtxRetain)(context, device);
    if (result == CUDA_SUCCESS && context && device >= 0 && device < DEVICES)
        __atomic_store_n(&primaries[device], *context, __ATOMIC_RELAXED);
    return result;
}

static CUcontext primary_of(CUdevice device) {
    return device >= 0 && device < DEVICES ? __atomic_load_n(&primaries[device], __ATOMIC_RELAXED) : NULL;
}

static bool active(CUdevice device) {
    unsigned int flags;
    int is = 1;
    return !DRIVER(cuDevicePrimaryCtxGetState) ||
           DRIVER(cuDevicePrimaryCtxGetState)(device, &flags, &is) != CUDA_SUCCESS || is;
}

#define PRIMARY_END(name, still_there)                                                                                \
    CUresult name(CUdevice device) {                                                                                  \
        NEED(name);                                                                                                   \
        CUcontext context = primary_of(device);                                                                       \
        context_ends(context);                                                                                        \
        CUresult result = DRIVER(name)(device);                                                                       \
        context_ended(context, result == CUDA_SUCCESS && !(still_there));                                             \
        return result;                                                                                                \
    }

PRIMARY_END(cuDevicePrimaryCtxRelease, active(device))
PRIMARY_END(cuDevicePrimaryCtxRelease_v2, active(device))
PRIMARY_END(cuDevicePrimaryCtxReset, (pools_device_reset(device), false))
PRIMARY_END(cuDevicePrimaryCtxReset_v2, (pools_device_reset(device), false))
