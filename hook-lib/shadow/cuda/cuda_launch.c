/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: each waits until its card's limit allows it, and is timed. */
#include "cuda_launch.h"

#include "common/lifetime.h"
#include "cuda/cuda_driver.h"
#include "cuda/cuda_timing.h"

#define LAUNCH(name, parameters, arguments, stream, per_thread)                                                        \
    CUresult name parameters {                                                                                         \
        NEED(name);                                                                                                    \
        if (__builtin_expect(!timing_watch(), 1))                                                                      \
            return DRIVER(name) arguments;                                                                             \
        struct timed_launch launch;                                                                                    \
        launch.open_ended = false;                                                                                     \
        timing_begin(&launch, stream, per_thread);                                                                     \
        CUresult result = DRIVER(name) arguments;                                                                      \
        timing_end(&launch, 1, result);                                                                                \
        return result;                                                                                                 \
    }

#define SHAPE                                                                                                          \
    CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ, unsigned int blockX,              \
        unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes, CUstream stream, void **parameters

#define SHAPE_ARGUMENTS function, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, parameters

LAUNCH(cuLaunchKernel, (SHAPE, void **extra), (SHAPE_ARGUMENTS, extra), stream, false)
LAUNCH(cuLaunchKernel_ptsz, (SHAPE, void **extra), (SHAPE_ARGUMENTS, extra), stream, true)
LAUNCH(cuLaunchCooperativeKernel, (SHAPE), (SHAPE_ARGUMENTS), stream, false)
LAUNCH(cuLaunchCooperativeKernel_ptsz, (SHAPE), (SHAPE_ARGUMENTS), stream, true)

#define EX const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra

LAUNCH(cuLaunchKernelEx, (EX), (config, function, parameters, extra), config ? config->hStream : NULL, false)
LAUNCH(cuLaunchKernelEx_ptsz, (EX), (config, function, parameters, extra), config ? config->hStream : NULL, true)

LAUNCH(cuLaunch, (CUfunction function), (function), NULL, false)
LAUNCH(cuLaunchGrid, (CUfunction function, int width, int height), (function, width, height), NULL, false)
LAUNCH(cuLaunchGridAsync, (CUfunction function, int width, int height, CUstream stream),
       (function, width, height, stream), stream, false)

/* One launch a device, each in a stream of its own. */
CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launches, unsigned int count, unsigned int flags) {
    enum { DEVICES = 64 };
    struct timed_launch timed[DEVICES];
    NEED(cuLaunchCooperativeKernelMultiDevice);
    if (!timing_watch())
        return DRIVER(cuLaunchCooperativeKernelMultiDevice)(launches, count, flags);
    unsigned int known = launches && count <= DEVICES ? count : 0; /* more than there can be: the driver refuses */
    for (unsigned int i = 0; i < known; i++) {
        timed[i].open_ended = false;
        timing_begin(&timed[i], launches[i].hStream, false);
    }
    CUresult result = DRIVER(cuLaunchCooperativeKernelMultiDevice)(launches, count, flags);
    for (unsigned int i = 0; i < known; i++)
        timing_end(&timed[i], 1, result);
    return result;
}

/*
 * The program waits, or looks whether it still has to: what it launched ends in the card's time, and not where it
 * launches next. More calls of the driver wait, but few programs wait by them alone.
 */
static void before_stream(unsigned int flags) {
    if (!(flags & CU_STREAM_NON_BLOCKING))
        timing_blocking_stream();
}

#define WAITS(name, parameters, arguments, before)                                                                     \
    CUresult name parameters {                                                                                         \
        NEED(name);                                                                                                    \
        before;                                                                                                        \
        return DRIVER(name) arguments;                                                                                 \
    }

WAITS(cuStreamQuery, (CUstream stream), (stream), timing_before_stream_wait(stream, false))
WAITS(cuStreamQuery_ptsz, (CUstream stream), (stream), timing_before_stream_wait(stream, true))
WAITS(cuEventQuery, (CUevent event), (event), timing_before_poll())
WAITS(cuMemcpyDtoH, (void *to, CUdeviceptr_v1 from, unsigned int bytes), (to, from, bytes), timing_before_wait())
WAITS(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes), (to, from, bytes), timing_before_wait())
WAITS(cuMemcpyDtoH_v2_ptds, (void *to, CUdeviceptr from, size_t bytes), (to, from, bytes), timing_before_wait())
WAITS(cuMemcpyHtoD, (CUdeviceptr_v1 to, const void *from, unsigned int bytes), (to, from, bytes), timing_before_wait())
WAITS(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes), (to, from, bytes), timing_before_wait())
WAITS(cuMemcpyHtoD_v2_ptds, (CUdeviceptr to, const void *from, size_t bytes), (to, from, bytes), timing_before_wait())

WAITS(cuStreamCreate, (CUstream * stream, unsigned int flags), (stream, flags), before_stream(flags))
WAITS(cuStreamCreateWithPriority, (CUstream * stream, unsigned int flags, int priority), (stream, flags, priority),
      before_stream(flags))

#define STREAM_DESTROY(name)                                                                                           \
    CUresult name(CUstream stream) {                                                                                   \
        NEED(name);                                                                                                    \
        timing_stream_ends(stream);                                                                                    \
        return DRIVER(name)(stream);                                                                                   \
    }

STREAM_DESTROY(cuStreamDestroy)
STREAM_DESTROY(cuStreamDestroy_v2)
