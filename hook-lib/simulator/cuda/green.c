/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Green contexts. Each retains its device's primary context, to which memory, modules and events belong that are made
 * while it is current; streams are its own. Kernels have the whole device's time all the same.
 */
#include <stdlib.h>

#include "cuda_green.h"
#include "driver.h"

/* As the public header lays it out; how many multiprocessors is not simulated further. */
struct resource {
    int type;
    unsigned char internal[92];
    unsigned sm_count;
    unsigned char rest[44];
};
_Static_assert(sizeof(struct resource) == DEV_RESOURCE_BYTES, "a CUdevResource");

/* Never given back to malloc, so that a stale handle is told from a wrong one. */
struct CUgreenCtx_st {
    struct CUctx_st *context;
    struct CUgreenCtx_st *next;
};

static struct CUgreenCtx_st *greens; /* every one there ever was */

CUresult cuDeviceGetDevResource(CUdevice device, void *resource, int type) {
    FAULT_POINT();
    struct device *found;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    if (!resource)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_DEV_RESOURCE_TYPE_SM)
        return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    *(struct resource *)resource = (struct resource){.type = type, .sm_count = found->card->sm_count};
    return CUDA_SUCCESS;
}

/* A descriptor stays for the life of the process. */
CUresult cuDevResourceGenerateDesc(CUdevResourceDesc *descriptor, void *resources, unsigned int count) {
    FAULT_POINT();
    static struct resource descriptors;
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (!descriptor || !resources || !count)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        if (((struct resource *)resources)[i].type != CU_DEV_RESOURCE_TYPE_SM)
            return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    *descriptor = (CUdevResourceDesc)&descriptors;
    return CUDA_SUCCESS;
}

CUresult cuGreenCtxCreate(CUgreenCtx *green, CUdevResourceDesc descriptor, CUdevice device, unsigned int flags) {
    FAULT_POINT();
    struct device *found;
    struct CUctx_st *primary;
    struct CUgreenCtx_st *created;
    CUresult result = driver_device(device, &found);

    if (result != CUDA_SUCCESS)
        return result;
    if (!green || !descriptor || flags > CU_GREEN_CTX_DEFAULT_STREAM)
        return CUDA_ERROR_INVALID_VALUE;
    created = calloc(1, sizeof *created);
    if (!created)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&driver_lock);
    result = primary_retain(device, &primary);
    if (result == CUDA_SUCCESS) {
        created->context = context_part_of(primary);
        created->next = greens;
        greens = created;
        *green = created;
    }
    pthread_mutex_unlock(&driver_lock);
    if (result != CUDA_SUCCESS)
        free(created);
    return result;
}

/* Under driver_lock. */
static CUresult check(CUgreenCtx green) {
    for (struct CUgreenCtx_st *known = greens; known; known = known->next)
        if (known == green)
            return known->context->alive ? CUDA_SUCCESS : CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return CUDA_ERROR_INVALID_CONTEXT;
}

/* Its streams stay, detached, until they are destroyed. */
CUresult cuGreenCtxDestroy(CUgreenCtx green) {
    FAULT_POINT();
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    result = check(green);
    if (result == CUDA_SUCCESS) {
        green->context->alive = false;
        primary_release(green->context->ordinal);
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuCtxFromGreenCtx(CUcontext *context, CUgreenCtx green) {
    FAULT_POINT();
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    result = check(green);
    if (result == CUDA_SUCCESS)
        *context = green->context;
    pthread_mutex_unlock(&driver_lock);
    return result;
}

/* The thread's own default stream is none of a green context's, says cuda.h. */
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext *context, CUgreenCtx *green) {
    FAULT_POINT();
    CUcontext of;
    CUresult result = !context || !green ? CUDA_ERROR_INVALID_VALUE : stream_context(stream, &of);

    if (result != CUDA_SUCCESS)
        return result;
    if (of->whole && stream == CU_STREAM_PER_THREAD)
        return CUDA_ERROR_INVALID_HANDLE;
    *context = context_home(of);
    *green = NULL;
    pthread_mutex_lock(&driver_lock);
    for (struct CUgreenCtx_st *known = greens; known && of->whole; known = known->next)
        if (known->context == of)
            *green = known;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx_v2_ptsz(CUstream stream, CUcontext *context, CUgreenCtx *green) {
    FAULT_POINT();
    return cuStreamGetCtx_v2(PTSZ(stream), context, green);
}

CUresult cuGreenCtxStreamCreate(CUstream *stream, CUgreenCtx green, unsigned int flags, int priority) {
    FAULT_POINT();
    CUcontext context;
    CUresult result = cuCtxFromGreenCtx(&context, green);

    if (result != CUDA_SUCCESS)
        return result;
    if (!stream || flags != CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    return stream_create_in(context, flags, priority, stream);
}
