/* SPDX-License-Identifier: Apache-2.0 */
/* Every way to launch a kernel. A launch is checked and counted, and takes the time that its kernel takes. */
#include <string.h>

#include "capture.h"

/* At the parameters' addresses, or in a buffer of them. */
void kernel_parameters(void *const *parameters, void *const *extra, bool two, uint64_t *first, unsigned *second) {
    if (parameters && parameters[0])
        memcpy(first, parameters[0], sizeof *first);
    if (two && parameters && parameters[0] && parameters[1])
        memcpy(second, parameters[1], sizeof *second);
    for (; extra && *extra; extra += 2)
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER && extra[1]) {
            memcpy(first, extra[1], sizeof *first);
            if (two)
                memcpy(second, (const char *)extra[1] + sizeof *first, sizeof *second);
        }
}

static bool shape_fits(const CUlaunchConfig *shape) {
    uint64_t threads = (uint64_t)shape->blockDimX * shape->blockDimY * shape->blockDimZ;

    return shape->gridDimX && shape->gridDimY && shape->gridDimZ && threads && threads <= 1024 &&
           shape->gridDimY <= 65535 && shape->gridDimZ <= 65535;
}

uint64_t kernel_cost(const struct CUctx_st *context, CUfunction function, void *const *parameters, void *const *extra) {
    uint64_t ns = 0;

    if (function->kind != KERNEL_SPIN)
        return driver_devices[context->ordinal].card->kernel_time;
    kernel_parameters(parameters, extra, false, &ns, NULL);
    return ns < SIM_MAX_COST ? ns : SIM_MAX_COST;
}

void count_launches(const struct CUctx_st *context, uint64_t count) {
    unsigned card = driver_devices[context->ordinal].card->unit;

    atomic_fetch_add_explicit(&driver_state.region->processes[driver_state.slot].cards[card].launches, count,
                              memory_order_relaxed);
}

static CUresult capture_launch(const struct CUctx_st *context, CUstream stream, const CUlaunchConfig *shape,
                               CUfunction function, void *const *parameters, void *const *extra, bool *taken) {
    CUDA_KERNEL_NODE_PARAMS_v2 params = {function,
                                         shape->gridDimX,
                                         shape->gridDimY,
                                         shape->gridDimZ,
                                         shape->blockDimX,
                                         shape->blockDimY,
                                         shape->blockDimZ,
                                         shape->sharedMemBytes,
                                         (void **)parameters,
                                         (void **)extra,
                                         NULL,
                                         NULL};
    struct work work;
    CUresult result = kernel_work(&params, &work);

    return result == CUDA_SUCCESS ? captured_work(context, stream, &work, taken) : result;
}

static CUresult launch(const CUlaunchConfig *shape, CUfunction function, void *const *parameters, void *const *extra) {
    CUstream stream = shape->hStream;
    struct CUctx_st *context;
    CUresult result = driver_stream(&stream, &context);
    bool taken = false;

    if (!function)
        return CUDA_ERROR_INVALID_HANDLE;
    if (result != CUDA_SUCCESS)
        return result;
    if (!shape_fits(shape) || (parameters && extra))
        return CUDA_ERROR_INVALID_VALUE;
    if (function->module && function->module->context != context_home(context))
        return CUDA_ERROR_INVALID_HANDLE;
    if (captures_ongoing)
        result = capture_launch(context, stream, shape, function, parameters, extra, &taken);
    if (result != CUDA_SUCCESS || taken)
        return result;
    count_launches(context, 1);
    stream_submit(context, stream, kernel_cost(context, function, parameters, extra));
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                        unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes,
                        CUstream stream, void **parameters, void **extra) {
    FAULT_POINT();
    return launch(&(CUlaunchConfig){gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, NULL, 0},
                  function, parameters, extra);
}

CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                             unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes,
                             CUstream stream, void **parameters, void **extra) {
    FAULT_POINT();
    return cuLaunchKernel(function, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, PTSZ(stream), parameters,
                          extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra) {
    FAULT_POINT();
    if (!config || (config->numAttrs && !config->attrs))
        return driver_ready() == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_INITIALIZED;
    return launch(config, function, parameters, extra);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra) {
    FAULT_POINT();
    CUlaunchConfig own;

    if (!config)
        return cuLaunchKernelEx(config, function, parameters, extra);
    own = *config;
    own.hStream = PTSZ(config->hStream);
    return cuLaunchKernelEx(&own, function, parameters, extra);
}

/* All blocks must run at once: 2048 threads an SM, 32 blocks at most. */
static bool runs_at_once(const CUlaunchConfig *shape) {
    uint64_t blocks = (uint64_t)shape->gridDimX * shape->gridDimY * shape->gridDimZ;
    uint64_t threads = (uint64_t)shape->blockDimX * shape->blockDimY * shape->blockDimZ, per_sm;
    struct CUctx_st *context;

    if (!shape_fits(shape) || driver_current(&context) != CUDA_SUCCESS)
        return true; /* the launch says what is wrong */
    per_sm = 2048 / threads < 32 ? 2048 / threads : 32;
    return blocks <= per_sm * (uint64_t)driver_devices[context->ordinal].card->sm_count;
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                                   unsigned int blockX, unsigned int blockY, unsigned int blockZ,
                                   unsigned int sharedBytes, CUstream stream, void **parameters) {
    FAULT_POINT();
    CUlaunchConfig shape = {gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, stream, NULL, 0};

    if (function && !runs_at_once(&shape))
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    return launch(&shape, function, parameters, NULL);
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                                        unsigned int blockX, unsigned int blockY, unsigned int blockZ,
                                        unsigned int sharedBytes, CUstream stream, void **parameters) {
    FAULT_POINT();
    return cuLaunchCooperativeKernel(function, gridX, gridY, gridZ, blockX, blockY, blockZ, sharedBytes, PTSZ(stream),
                                     parameters);
}

/* One launch a device, each in a stream of its own that is no default stream; none is made if one cannot be. */
CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launches, unsigned int count, unsigned int flags) {
    FAULT_POINT();
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    if (!launches || count == 0 || count > (unsigned)driver_device_count || flags > 3)
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        if (!launches[i].function || !launches[i].hStream || launches[i].hStream == CU_STREAM_LEGACY ||
            launches[i].hStream == CU_STREAM_PER_THREAD)
            return CUDA_ERROR_INVALID_HANDLE;
        for (unsigned j = 0; j < i; j++)
            if (launches[i].hStream->context->ordinal == launches[j].hStream->context->ordinal)
                return CUDA_ERROR_INVALID_DEVICE;
    }
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++) {
        const CUDA_LAUNCH_PARAMS *one = &launches[i];
        CUcontext popped;

        result = cuCtxPushCurrent_v2(one->hStream->context);
        if (result != CUDA_SUCCESS)
            return result;
        result = cuLaunchCooperativeKernel(one->function, one->gridDimX, one->gridDimY, one->gridDimZ, one->blockDimX,
                                           one->blockDimY, one->blockDimZ, one->sharedMemBytes, one->hStream,
                                           one->kernelParams);
        cuCtxPopCurrent_v2(&popped);
    }
    return result;
}
