/* SPDX-License-Identifier: Apache-2.0 */
/* Green contexts: parts of the primary context, which they keep. */
#include <unistd.h>

#include "cuda_events.h"
#include "cuda_green.h"
#include "spinning.h"

static unsigned char resource[DEV_RESOURCE_BYTES] __attribute__((aligned(8)));

static CUgreenCtx make_green(CUcontext *context) {
    CUdevResourceDesc descriptor;
    CUgreenCtx green;

    CHECK_EQUAL(CU(cuDeviceGetDevResource)(0, resource, 2), CUDA_ERROR_INVALID_RESOURCE_TYPE);
    CHECK_EQUAL(CU(cuDeviceGetDevResource)(0, resource, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDevResourceGenerateDesc)(&descriptor, resource, 1), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGreenCtxCreate)(&green, NULL, 0, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuGreenCtxCreate)(&green, descriptor, 0, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxFromGreenCtx)(context, green), CUDA_SUCCESS);
    return green;
}

static bool primary_is_active(void) {
    unsigned flags;
    int active;

    CHECK_EQUAL(CU(cuDevicePrimaryCtxGetState)(0, &flags, &active), CUDA_SUCCESS);
    return active;
}

static void memory_of_a_green_context_is_the_primary_ones(void) {
    CUcontext context, primary;
    CUdeviceptr pointer;
    CUgreenCtx green;
    CUdevice device;

    install_node("t4x1");
    CHECK_EQUAL(CU(cuInit)(0), CUDA_SUCCESS);
    green = make_green(&context);
    CHECK(primary_is_active());
    CHECK_EQUAL(CU(cuCtxSetCurrent)(context), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxGetDevice)(&device), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, 64 * 1024 * 1024), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRetain)(&primary, 0), CUDA_SUCCESS);
    CHECK(primary != context);
    CHECK_EQUAL(CU(cuGreenCtxDestroy)(green), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemFree_v2)(pointer), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK_EQUAL(CU(cuCtxSetCurrent)(primary), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemFree_v2)(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGreenCtxDestroy)(green), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK_EQUAL(CU(cuCtxFromGreenCtx)(&context, NULL), CUDA_ERROR_INVALID_CONTEXT);
    CHECK(primary_is_active());
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRelease_v2)(0), CUDA_SUCCESS);
    CHECK(!primary_is_active());
}

static void the_last_green_context_ends_the_primary_one_and_a_reset_ends_green_ones(void) {
    CUcontext context;
    CUgreenCtx green;

    install_node("t4x1");
    CHECK_EQUAL(CU(cuInit)(0), CUDA_SUCCESS);
    green = make_green(&context);
    CHECK_EQUAL(CU(cuGreenCtxDestroy)(green), CUDA_SUCCESS);
    CHECK(!primary_is_active());
    green = make_green(&context);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxReset_v2)(0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxSetCurrent)(context), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK_EQUAL(CU(cuGreenCtxDestroy)(green), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRelease_v2)(0), CUDA_ERROR_INVALID_CONTEXT);
}

static void a_stream_of_a_green_context_takes_launches_and_is_detached_by_its_end(void) {
    CUcontext context, of;
    CUstream stream;
    CUgreenCtx green;

    install_node("t4x1");
    begin_spinning();
    green = make_green(&context);
    CHECK_EQUAL(CU(cuGreenCtxStreamCreate)(&stream, green, CU_STREAM_DEFAULT, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuGreenCtxStreamCreate)(&stream, green, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamGetCtx)(stream, &of), CUDA_SUCCESS);
    CHECK(of == context);
    spin_for(MS, stream);
    CHECK_EQUAL(CU(cuStreamSynchronize)(stream), CUDA_SUCCESS);
    CHECK_EQUAL(use_of(getpid()).busy, MS);
    CHECK_EQUAL(CU(cuGreenCtxDestroy)(green), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamGetCtx)(stream, &of), CUDA_ERROR_STREAM_DETACHED);
    CHECK_EQUAL(CU(cuStreamQuery)(stream), CUDA_ERROR_STREAM_DETACHED);
    CHECK_EQUAL(CU(cuStreamDestroy_v2)(stream), CUDA_SUCCESS);
}

RUN(TEST(memory_of_a_green_context_is_the_primary_ones),
    TEST(the_last_green_context_ends_the_primary_one_and_a_reset_ends_green_ones),
    TEST(a_stream_of_a_green_context_takes_launches_and_is_detached_by_its_end))
