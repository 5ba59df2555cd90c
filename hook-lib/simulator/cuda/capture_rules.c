/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What may not be called while streams are captured.
 * Which calls are potentially unsafe: allocating, freeing, synchronous copies, loading modules, synchronising a
 * context, asking and waiting for events. A forbidden call fails and invalidates the captures that forbid it.
 */
#include "capture.h"

static __thread int thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
    FAULT_POINT();
    CUresult ready = driver_ready();
    int before = thread_mode;

    if (ready != CUDA_SUCCESS)
        return ready;
    if (!mode || *mode < CU_STREAM_CAPTURE_MODE_GLOBAL || *mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    thread_mode = *mode;
    *mode = before;
    return CUDA_SUCCESS;
}

static bool forbids(const struct capture *capture) {
    if (capture->thread == capture_thread())
        return thread_mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

CUresult capture_refuse_unsafe(void) {
    CUresult result = CUDA_SUCCESS;

    pthread_mutex_lock(&driver_lock);
    for (struct capture *capture = captures; capture; capture = capture->next)
        if (forbids(capture)) {
            capture->invalid = true;
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

/* In any mode: the context has a stream in capture. */
CUresult capture_refuse_context(const struct CUctx_st *context) {
    CUresult result = CUDA_SUCCESS;

    pthread_mutex_lock(&driver_lock);
    for (CUstream stream = context->streams; stream; stream = stream->next)
        if (stream->capture) {
            stream->capture->invalid = true;
            result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    pthread_mutex_unlock(&driver_lock);
    return result == CUDA_SUCCESS ? capture_refuse_unsafe() : result;
}

bool capture_has_blocking(const struct CUctx_st *context) {
    for (CUstream stream = context->streams; stream; stream = stream->next)
        if (stream->capture && !(stream->flags & CU_STREAM_NON_BLOCKING))
            return true;
    return false;
}

/* The legacy stream waits for all blocking ones: while one of them is captured, it cannot be used. */
CUresult capture_refuse_legacy(const struct CUctx_st *context) {
    if (!capture_has_blocking(context))
        return CUDA_SUCCESS;
    for (CUstream stream = context->streams; stream; stream = stream->next)
        if (stream->capture && !(stream->flags & CU_STREAM_NON_BLOCKING))
            stream->capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
}

CUresult capture_refuse_stream(const struct CUctx_st *context, CUstream stream) {
    CUresult result = CUDA_SUCCESS;

    pthread_mutex_lock(&driver_lock);
    if (!stream)
        result = capture_refuse_legacy(context);
    else if (stream->capture) {
        result =
            stream->capture->invalid ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        stream->capture->invalid = true;
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}
