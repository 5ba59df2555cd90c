/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts, and each thread's stack of them. */
#include <stdlib.h>

#include "capture.h"

#define STACK_DEPTH 32

static struct CUctx_st *contexts; /* every one there ever was */
static __thread struct CUctx_st *stack[STACK_DEPTH];
static __thread int depth;

CUresult driver_current(struct CUctx_st **context) {
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (driver_in_host_function)
        return CUDA_ERROR_NOT_PERMITTED;
    if (depth == 0 || !stack[depth - 1])
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!stack[depth - 1]->alive)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *context = stack[depth - 1];
    return CUDA_SUCCESS;
}

CUresult driver_home(struct CUctx_st **context) {
    CUresult result = driver_current(context);

    if (result == CUDA_SUCCESS)
        *context = context_home(*context);
    return result;
}

/* Under driver_lock. */
static CUresult check(CUcontext context) {
    for (struct CUctx_st *known = contexts; known; known = known->next)
        if (known == context)
            return known->alive ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return CUDA_ERROR_INVALID_CONTEXT;
}

CUresult context_create(CUdevice ordinal, unsigned flags, bool primary, struct CUctx_st **created) {
    struct device *device = &driver_devices[ordinal];
    const struct sim_card *card = device->card;
    struct CUctx_st *context;

    if (sim_card_lost(&driver_node, card))
        return CUDA_ERROR_UNKNOWN;
    context = calloc(1, sizeof *context);
    if (!context ||
        !sim_state_reserve(&driver_state, card->unit, SIM_OVERHEAD, card->context_overhead, device_capacity(device))) {
        free(context);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (!device_present(device)) { /* what is charged keeps it there from here on */
        sim_state_release(&driver_state, card->unit, SIM_OVERHEAD, card->context_overhead);
        free(context);
        return CUDA_ERROR_UNKNOWN;
    }
    sim_state_count_context(&driver_state, card->unit, 1);
    context->ordinal = ordinal;
    context->flags = flags;
    context->primary = primary;
    context->alive = true;
    context->next = contexts;
    contexts = context;
    *created = context;
    return CUDA_SUCCESS;
}

struct CUctx_st *context_part_of(struct CUctx_st *primary) {
    struct CUctx_st *context = calloc(1, sizeof *context);

    if (!context)
        abort();
    context->ordinal = primary->ordinal;
    context->flags = primary->flags;
    context->whole = primary;
    context->alive = true;
    context->next = contexts;
    contexts = context;
    return context;
}

unsigned context_parts(const struct CUctx_st *primary) {
    unsigned count = 0;

    for (const struct CUctx_st *part = contexts; part; part = part->next)
        count += part->whole == primary && part->alive;
    return count;
}

void context_destroy(struct CUctx_st *context) {
    const struct sim_card *card = driver_devices[context->ordinal].card;

    context_release_handles(context);
    context_release_arrays(context);
    context_release_memory(context);
    context->alive = false;
    for (struct CUctx_st *part = contexts; part; part = part->next)
        if (part->whole == context)
            part->alive = false;
    sim_state_release(&driver_state, card->unit, SIM_OVERHEAD, card->context_overhead);
    sim_state_count_context(&driver_state, card->unit, -1);
}

/* What a thread that ends had in its stack may be current to others. */
static pthread_key_t thread_end;
static pthread_once_t thread_end_once = PTHREAD_ONCE_INIT;

static void let_go(struct CUctx_st *context) {
    if (context && context->holds && context->holder == capture_thread() && --context->holds == 0)
        context->holder = 0;
}

static void let_all_go(void *nothing) {
    (void)nothing;
    while (depth > 0)
        let_go(stack[--depth]);
}

static void make_thread_end(void) {
    pthread_key_create(&thread_end, let_all_go);
}

/* Up to CUDA 12.9 cuda.h says that a green context can be current to one thread at a time; since 13.0 it does not. */
static CUresult take_hold(struct CUctx_st *context) {
    int nobody = 0, own = capture_thread();

    if (!context->whole || !sim_contrary(&driver_node, SIM_GREEN_ONE_THREAD))
        return CUDA_SUCCESS;
    if (context->holder != own && !atomic_compare_exchange_strong(&context->holder, &nobody, own))
        return CUDA_ERROR_CONTEXT_ALREADY_IN_USE;
    pthread_once(&thread_end_once, make_thread_end);
    pthread_setspecific(thread_end, &depth);
    context->holds++;
    return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device) {
    FAULT_POINT();
    struct device *found;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    if (!context || (flags & ~CU_CTX_FLAGS_MASK) || depth == STACK_DEPTH)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    result = context_create(device, flags, false, context);
    pthread_mutex_unlock(&driver_lock);
    if (result == CUDA_SUCCESS)
        stack[depth++] = *context;
    return result;
}

CUresult cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device) {
    FAULT_POINT();
    return cuCtxCreate_v2(context, flags, device);
}

/* Execution affinities need MPS. */
CUresult cuCtxCreate_v3(CUcontext *context, void *affinities, int affinityCount, unsigned int flags, CUdevice device) {
    FAULT_POINT();
    return affinities || affinityCount ? CUDA_ERROR_NOT_SUPPORTED : cuCtxCreate_v2(context, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext *context, void *parameters, unsigned int flags, CUdevice device) {
    FAULT_POINT();
    return parameters ? CUDA_ERROR_NOT_SUPPORTED : cuCtxCreate_v2(context, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext context) {
    FAULT_POINT();
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    result = check(context);
    if (result == CUDA_SUCCESS && (context->primary || context->whole))
        result = CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS) {
        context_destroy(context);
        if (depth > 0 && stack[depth - 1] == context)
            depth--;
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuCtxDestroy(CUcontext context) {
    FAULT_POINT();
    return cuCtxDestroy_v2(context);
}

static CUresult usable(CUcontext context) {
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    result = check(context);
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuCtxSetCurrent(CUcontext context) {
    FAULT_POINT();
    CUresult result = context ? usable(context) : driver_ready();

    if (result == CUDA_SUCCESS && context)
        result = take_hold(context);
    if (result != CUDA_SUCCESS)
        return result;
    if (depth > 0)
        let_go(stack[--depth]);
    if (context)
        stack[depth++] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    FAULT_POINT();
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    *context = depth > 0 ? stack[depth - 1] : NULL;
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
    FAULT_POINT();
    CUresult result = usable(context);

    if (result != CUDA_SUCCESS)
        return result;
    if (depth == STACK_DEPTH)
        return CUDA_ERROR_INVALID_VALUE;
    result = take_hold(context);
    if (result == CUDA_SUCCESS)
        stack[depth++] = context;
    return result;
}

CUresult cuCtxPushCurrent(CUcontext context) {
    FAULT_POINT();
    return cuCtxPushCurrent_v2(context);
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    FAULT_POINT();
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    let_go(stack[--depth]);
    if (context)
        *context = stack[depth];
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context) {
    FAULT_POINT();
    return cuCtxPopCurrent_v2(context);
}

CUresult cuCtxGetDevice(CUdevice *device) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = context->ordinal;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned int *flags) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = context->flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version) {
    FAULT_POINT();
    CUresult result = context ? usable(context) : driver_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_current(&context);

    if (result == CUDA_SUCCESS)
        result = context_call(context);
    if (result == CUDA_SUCCESS) {
        driver_settle(context);
        pthread_mutex_lock(&driver_lock);
        pool_observe();
        pthread_mutex_unlock(&driver_lock);
    }
    return result;
}
