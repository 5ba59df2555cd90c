/* Contexts: primary ones (counted), own ones, and each thread's stack of them. */
#include <stdlib.h>

#include "driver.h"

#define STACK_DEPTH 32

static struct CUctx_st *contexts; /* every one there ever was */
static __thread struct CUctx_st *stack[STACK_DEPTH];
static __thread int depth;

CUresult driver_current(struct CUctx_st **context)
{
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (depth == 0 || !stack[depth - 1])
        return CUDA_ERROR_INVALID_CONTEXT;
    if (!stack[depth - 1]->alive)
        return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    *context = stack[depth - 1];
    return CUDA_SUCCESS;
}

/* Under driver_lock. */
static CUresult check(CUcontext context)
{
    for (struct CUctx_st *known = contexts; known; known = known->next)
        if (known == context)
            return known->alive ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return CUDA_ERROR_INVALID_CONTEXT;
}

/* Under driver_lock. */
static CUresult create(CUdevice ordinal, unsigned flags, bool primary, struct CUctx_st **created)
{
    struct device *device = &driver_devices[ordinal];
    const struct sim_card *card = device->card;
    struct CUctx_st *context;

    if (sim_card_lost(&driver_node, card))
        return CUDA_ERROR_UNKNOWN;
    context = calloc(1, sizeof *context);
    if (!context ||
        !sim_state_reserve(&driver_state, card->index, SIM_OVERHEAD, card->context_overhead, device_capacity(device))) {
        free(context);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    sim_state_count_context(&driver_state, card->index, 1);
    context->ordinal = ordinal;
    context->flags = flags;
    context->primary = primary;
    context->alive = true;
    context->next = contexts;
    contexts = context;
    *created = context;
    return CUDA_SUCCESS;
}

/* Under driver_lock. */
static void destroy(struct CUctx_st *context)
{
    const struct sim_card *card = driver_devices[context->ordinal].card;

    context_release_handles(context);
    context_release_arrays(context);
    context_release_memory(context);
    context->alive = false;
    sim_state_release(&driver_state, card->index, SIM_OVERHEAD, card->context_overhead);
    sim_state_count_context(&driver_state, card->index, -1);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    struct device *found;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    if (!found->primary)
        result = create(device, found->primary_flags, true, &found->primary);
    if (result == CUDA_SUCCESS) {
        found->primary->retained++;
        *context = found->primary;
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

static CUresult release(CUdevice device, bool all)
{
    struct device *found;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    if (all) {
        pool_reset(device);
        graph_memory_reset(device);
    }
    if (!found->primary)
        result = all ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
    else if (all || --found->primary->retained == 0) {
        destroy(found->primary);
        found->primary = NULL;
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    return release(device, false);
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    return release(device, false);
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device)
{
    return release(device, true);
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    return release(device, true);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active)
{
    struct device *found;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    if (!flags || !active)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    *flags = found->primary_flags;
    *active = found->primary != NULL;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags)
{
    struct device *found;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    if (flags & ~CU_CTX_FLAGS_MASK)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    found->primary_flags = flags;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

/* Before _v2 the flags of an active context could not change. */
CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned int flags)
{
    struct device *found;
    CUresult result = driver_device(device, &found);

    bool active;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    active = found->primary != NULL;
    pthread_mutex_unlock(&driver_lock);
    return active ? CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE : cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CUresult cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device)
{
    struct device *found;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    if (!context || (flags & ~CU_CTX_FLAGS_MASK) || depth == STACK_DEPTH)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    result = create(device, flags, false, context);
    pthread_mutex_unlock(&driver_lock);
    if (result == CUDA_SUCCESS)
        stack[depth++] = *context;
    return result;
}

CUresult cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device)
{
    return cuCtxCreate_v2(context, flags, device);
}

/* Execution affinities need MPS. */
CUresult cuCtxCreate_v3(CUcontext *context, void *affinities, int affinityCount, unsigned int flags, CUdevice device)
{
    return affinities || affinityCount ? CUDA_ERROR_NOT_SUPPORTED : cuCtxCreate_v2(context, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext *context, void *parameters, unsigned int flags, CUdevice device)
{
    return parameters ? CUDA_ERROR_NOT_SUPPORTED : cuCtxCreate_v2(context, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext context)
{
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    result = check(context);
    if (result == CUDA_SUCCESS && context->primary)
        result = CUDA_ERROR_INVALID_CONTEXT;
    if (result == CUDA_SUCCESS) {
        destroy(context);
        if (depth > 0 && stack[depth - 1] == context)
            depth--;
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuCtxDestroy(CUcontext context)
{
    return cuCtxDestroy_v2(context);
}

static CUresult usable(CUcontext context)
{
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    result = check(context);
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    CUresult result = context ? usable(context) : driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    if (!context) {
        if (depth > 0)
            depth--;
    } else if (depth == 0) {
        stack[depth++] = context;
    } else {
        stack[depth - 1] = context;
    }
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    *context = depth > 0 ? stack[depth - 1] : NULL;
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    CUresult result = usable(context);

    if (result != CUDA_SUCCESS)
        return result;
    if (depth == STACK_DEPTH)
        return CUDA_ERROR_INVALID_VALUE;
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext context)
{
    return cuCtxPushCurrent_v2(context);
}

CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (depth == 0)
        return CUDA_ERROR_INVALID_CONTEXT;
    depth--;
    if (context)
        *context = stack[depth];
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    return cuCtxPopCurrent_v2(context);
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    struct CUctx_st *context;
    CUresult result = driver_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!device)
        return CUDA_ERROR_INVALID_VALUE;
    *device = context->ordinal;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned int *flags)
{
    struct CUctx_st *context;
    CUresult result = driver_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!flags)
        return CUDA_ERROR_INVALID_VALUE;
    *flags = context->flags;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned int *version)
{
    CUresult result = context ? usable(context) : driver_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
    struct CUctx_st *context;
    CUresult result = driver_current(&context);

    if (result == CUDA_SUCCESS) {
        pthread_mutex_lock(&driver_lock);
        pool_observe();
        pthread_mutex_unlock(&driver_lock);
    }
    return result;
}
