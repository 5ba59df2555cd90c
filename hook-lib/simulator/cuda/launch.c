/* Modules, streams and launches. Kernels do nothing yet and take no time; a launch is checked and counted. */
#include <stdlib.h>

#include "cuda_pools.h"
#include "driver.h"

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    struct CUctx_st *context;
    CUresult result = driver_current(&context);
    struct CUmod_st *loaded;

    if (result != CUDA_SUCCESS)
        return result;
    if (!module || !image)
        return CUDA_ERROR_INVALID_VALUE;
    loaded = calloc(1, sizeof *loaded);
    if (!loaded)
        return CUDA_ERROR_OUT_OF_MEMORY;
    loaded->context = context;
    loaded->function.module = loaded;
    pthread_mutex_lock(&driver_lock);
    loaded->next = context->modules;
    context->modules = loaded;
    pthread_mutex_unlock(&driver_lock);
    *module = loaded;
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    struct CUctx_st *context;
    CUresult result = driver_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    result = CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&driver_lock);
    for (struct CUmod_st **link = &context->modules; *link; link = &(*link)->next)
        if (*link == module) {
            *link = module->next;
            free(module);
            result = CUDA_SUCCESS;
            break;
        }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    struct CUctx_st *context;
    CUresult result = driver_current(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!function || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!*name)
        return CUDA_ERROR_NOT_FOUND;
    *function = &module->function;
    return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned int flags)
{
    struct CUctx_st *context;
    CUresult result = driver_current(&context);
    struct CUstream_st *created;

    if (!stream || flags > CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    if (result != CUDA_SUCCESS)
        return result;
    created = calloc(1, sizeof *created);
    if (!created)
        return CUDA_ERROR_OUT_OF_MEMORY;
    created->context = context;
    created->alive = true;
    pthread_mutex_lock(&driver_lock);
    created->next = context->streams;
    context->streams = created;
    pthread_mutex_unlock(&driver_lock);
    *stream = created;
    return CUDA_SUCCESS;
}

CUresult cuStreamDestroy_v2(CUstream stream)
{
    struct CUctx_st *context;
    CUresult result = stream ? driver_current(&context) : CUDA_ERROR_INVALID_HANDLE;

    if (result != CUDA_SUCCESS)
        return result;
    result = CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&driver_lock);
    for (struct CUstream_st **link = &context->streams; *link; link = &(*link)->next)
        if (*link == stream) {
            *link = stream->next;
            free(stream);
            result = CUDA_SUCCESS;
            break;
        }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuStreamDestroy(CUstream stream)
{
    return cuStreamDestroy_v2(stream);
}

CUresult cuStreamSynchronize(CUstream stream)
{
    struct CUctx_st *context;

    CUresult result = driver_current(&context);

    (void)stream;
    if (result == CUDA_SUCCESS) {
        pthread_mutex_lock(&driver_lock);
        pool_observe();
        pthread_mutex_unlock(&driver_lock);
    }
    return result;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    struct CUctx_st *current;
    CUresult result = driver_current(&current);

    if (result != CUDA_SUCCESS)
        return result;
    if (!context)
        return CUDA_ERROR_INVALID_VALUE;
    *context = stream && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD ? stream->context : current;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCtx_ptsz(CUstream stream, CUcontext *context)
{
    return cuStreamGetCtx(stream, context);
}

CUresult cuStreamSynchronize_ptsz(CUstream stream)
{
    return cuStreamSynchronize(stream);
}

CUresult cuLaunchKernel(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                        unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes,
                        CUstream stream, void **parameters, void **extra)
{
    struct CUctx_st *context;
    CUresult result = driver_current(&context);
    uint64_t threads = (uint64_t)blockX * blockY * blockZ;

    (void)stream;
    (void)sharedBytes;
    if (!function)
        return CUDA_ERROR_INVALID_HANDLE;
    if (result != CUDA_SUCCESS)
        return result;
    if (!gridX || !gridY || !gridZ || !threads || threads > 1024 || gridY > 65535 || gridZ > 65535 ||
        (parameters && extra))
        return CUDA_ERROR_INVALID_VALUE;
    atomic_fetch_add_explicit(
        &driver_state.region->processes[driver_state.slot].cards[driver_devices[context->ordinal].card->index].launches, 1,
        memory_order_relaxed);
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                             unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes,
                             CUstream stream, void **parameters, void **extra)
{
    return cuLaunchKernel(function, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, parameters, extra);
}

void context_release_handles(struct CUctx_st *context)
{
    while (context->modules) {
        struct CUmod_st *module = context->modules;

        context->modules = module->next;
        free(module);
    }
    while (context->streams) {
        struct CUstream_st *stream = context->streams;

        context->streams = stream->next;
        free(stream);
    }
}
