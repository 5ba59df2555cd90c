/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes into streams between kernels: copies, waits, and functions of the program. While a stream is about one of
 * these, the card may do nothing for it, or something that costs others no time of it. So the window of launches ends
 * before it, and the next one begins behind it.
 */
#include "common/lifetime.h"
#include "cuda/cuda_driver.h"
#include "cuda/cuda_timing.h"

#define IN_STREAM(name, parameters, arguments, per_thread)                                                             \
    CUresult name parameters {                                                                                         \
        NEED(name);                                                                                                    \
        timing_before_stream_work(stream, per_thread);                                                                 \
        return DRIVER(name) arguments;                                                                                 \
    }

#define BETWEEN_KERNELS(name, parameters, arguments)                                                                   \
    IN_STREAM(name, parameters, arguments, false)                                                                      \
    IN_STREAM(name##_ptsz, parameters, arguments, true)

BETWEEN_KERNELS(cuMemcpyAsync, (CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream),
                (destination, source, bytes, stream))
BETWEEN_KERNELS(cuMemcpyPeerAsync,
                (CUdeviceptr destination, CUcontext destinationContext, CUdeviceptr source, CUcontext sourceContext,
                 size_t bytes, CUstream stream),
                (destination, destinationContext, source, sourceContext, bytes, stream))
BETWEEN_KERNELS(cuMemcpyHtoDAsync_v2, (CUdeviceptr destination, const void *source, size_t bytes, CUstream stream),
                (destination, source, bytes, stream))
BETWEEN_KERNELS(cuMemcpyDtoHAsync_v2, (void *destination, CUdeviceptr source, size_t bytes, CUstream stream),
                (destination, source, bytes, stream))
BETWEEN_KERNELS(cuMemcpyDtoDAsync_v2, (CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream),
                (destination, source, bytes, stream))
BETWEEN_KERNELS(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy, CUstream stream), (copy, stream))
BETWEEN_KERNELS(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *copy, CUstream stream), (copy, stream))
BETWEEN_KERNELS(cuMemcpyBatchAsync,
                (CUdeviceptr * destinations, CUdeviceptr *sources, size_t *sizes, size_t count,
                 CUmemcpyAttributes *attributes, size_t *indexes, size_t attributesCount, size_t *failed,
                 CUstream stream),
                (destinations, sources, sizes, count, attributes, indexes, attributesCount, failed, stream))
BETWEEN_KERNELS(cuMemcpyBatchAsync_v2,
                (CUdeviceptr * destinations, CUdeviceptr *sources, size_t *sizes, size_t count,
                 CUmemcpyAttributes *attributes, size_t *indexes, size_t attributesCount, CUstream stream),
                (destinations, sources, sizes, count, attributes, indexes, attributesCount, stream))
BETWEEN_KERNELS(cuMemPrefetchAsync, (CUdeviceptr pointer, size_t bytes, CUdevice device, CUstream stream),
                (pointer, bytes, device, stream))
BETWEEN_KERNELS(cuMemPrefetchAsync_v2,
                (CUdeviceptr pointer, size_t bytes, CUmemLocation location, unsigned int flags, CUstream stream),
                (pointer, bytes, location, flags, stream))
BETWEEN_KERNELS(cuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags), (stream, event, flags))
BETWEEN_KERNELS(cuStreamWaitValue32, (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags),
                (stream, address, value, flags))
BETWEEN_KERNELS(cuStreamWaitValue32_v2, (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned int flags),
                (stream, address, value, flags))
BETWEEN_KERNELS(cuStreamWaitValue64, (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags),
                (stream, address, value, flags))
BETWEEN_KERNELS(cuStreamWaitValue64_v2, (CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned int flags),
                (stream, address, value, flags))
BETWEEN_KERNELS(cuStreamBatchMemOp,
                (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *operations, unsigned int flags),
                (stream, count, operations, flags))
BETWEEN_KERNELS(cuStreamBatchMemOp_v2,
                (CUstream stream, unsigned int count, CUstreamBatchMemOpParams *operations, unsigned int flags),
                (stream, count, operations, flags))
BETWEEN_KERNELS(cuStreamAddCallback, (CUstream stream, CUstreamCallback callback, void *userData, unsigned int flags),
                (stream, callback, userData, flags))
BETWEEN_KERNELS(cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *userData), (stream, function, userData))
BETWEEN_KERNELS(cuLaunchHostFunc_v2, (CUstream stream, CUhostFn function, void *userData, unsigned int syncMode),
                (stream, function, userData, syncMode))
BETWEEN_KERNELS(cuWaitExternalSemaphoresAsync,
                (const CUexternalSemaphore *semaphores, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params,
                 unsigned int count, CUstream stream),
                (semaphores, params, count, stream))
