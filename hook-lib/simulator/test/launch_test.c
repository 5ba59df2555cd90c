/* SPDX-License-Identifier: Apache-2.0 */
/* Every way to launch a kernel takes the kernel's time. */
#include <unistd.h>

#include "cuda_events.h"
#include "cuda_launch.h"
#include "spinning.h"

static uint64_t ns = MS;
static void *parameters[] = {&ns};

/* What the process' kernels took since the last time it was asked. */
static uint64_t taken(void) {
    static uint64_t before;
    uint64_t busy, since;

    CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
    busy = use_of(getpid()).busy;
    since = busy - before;
    before = busy;
    return since;
}

static void plain_launches_take_their_time(void) {
    size_t size = sizeof ns;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &ns, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};

    install_node("t4x1");
    begin_spinning();
    CHECK_EQUAL(CU(cuLaunchKernel)(spin, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(taken(), MS);
    CHECK_EQUAL(CU(cuLaunchKernel)(spin, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra), CUDA_SUCCESS);
    CHECK_EQUAL(taken(), MS);
    CHECK_EQUAL(CU(cuLaunchKernel_ptsz)(spin, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(taken(), MS);
    CHECK_EQUAL(use_of(getpid()).launches, 3);
}

static void launches_by_a_configuration_take_their_time(void) {
    CUlaunchAttribute priority = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = -1};
    CUlaunchConfig config = {1, 1, 1, 32, 1, 1, 0, NULL, &priority, 1};

    install_node("t4x1");
    begin_spinning();
    CHECK_EQUAL(CU(cuLaunchKernelEx)(&config, spin, parameters, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLaunchKernelEx_ptsz)(&config, spin, parameters, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(taken(), 2 * MS);
    CHECK_EQUAL(CU(cuLaunchKernelEx)(NULL, spin, parameters, NULL), CUDA_ERROR_INVALID_VALUE);
    config.attrs = NULL;
    CHECK_EQUAL(CU(cuLaunchKernelEx)(&config, spin, parameters, NULL), CUDA_ERROR_INVALID_VALUE);
    config.numAttrs = 0;
    config.blockDimX = 4096;
    CHECK_EQUAL(CU(cuLaunchKernelEx)(&config, spin, parameters, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void cooperative_launches_take_their_time_if_they_fit(void) {
    install_node("t4x1");
    begin_spinning();
    CHECK_EQUAL(CU(cuLaunchCooperativeKernel)(spin, 40, 1, 1, 1024, 1, 1, 0, NULL, parameters), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLaunchCooperativeKernel_ptsz)(spin, 40, 1, 1, 1024, 1, 1, 0, NULL, parameters), CUDA_SUCCESS);
    CHECK_EQUAL(taken(), 2 * MS);
    CHECK_EQUAL(CU(cuLaunchCooperativeKernel)(spin, 10000, 1, 1, 1024, 1, 1, 0, NULL, parameters),
                CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

static void a_launch_on_several_devices_is_one_on_each(void) {
    CUDA_LAUNCH_PARAMS launches[2];
    CUcontext contexts[2];

    install_node("t4x2");
    CHECK_EQUAL(CU(cuInit)(0), CUDA_SUCCESS);
    for (int i = 0; i < 2; i++) {
        CUmodule module;

        CHECK_EQUAL(CU(cuCtxCreate_v2)(&contexts[i], 0, i), CUDA_SUCCESS);
        CHECK_EQUAL(CU(cuModuleLoadData)(&module, "image"), CUDA_SUCCESS);
        launches[i] = (CUDA_LAUNCH_PARAMS){NULL, 1, 1, 1, 1, 1, 1, 0, NULL, parameters};
        CHECK_EQUAL(CU(cuModuleGetFunction)(&launches[i].function, module, "partita_spin"), CUDA_SUCCESS);
        CHECK_EQUAL(CU(cuStreamCreate)(&launches[i].hStream, 0), CUDA_SUCCESS);
    }
    CHECK_EQUAL(CU(cuLaunchCooperativeKernelMultiDevice)(launches, 2, 0), CUDA_SUCCESS);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(CU(cuCtxSetCurrent)(contexts[i]), CUDA_SUCCESS);
        CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
        CHECK_EQUAL(sim_clock_read(truth(), (unsigned)i).busy, MS);
    }
    CHECK_EQUAL(CU(cuLaunchCooperativeKernelMultiDevice)(launches, 3, 0), CUDA_ERROR_INVALID_VALUE);
    launches[1].hStream = NULL;
    CHECK_EQUAL(CU(cuLaunchCooperativeKernelMultiDevice)(launches, 2, 0), CUDA_ERROR_INVALID_HANDLE);
}

static void launches_of_before_cuda_4_take_their_time(void) {
    install_node("t4x1");
    begin_spinning();
    CHECK_EQUAL(CU(cuFuncSetBlockShape)(spin, 32, 1, 1), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuParamSetSize)(spin, sizeof ns), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuParamSeti)(spin, 0, (unsigned)MS), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuParamSeti)(spin, 4, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLaunch)(spin), CUDA_SUCCESS);
    CHECK_EQUAL(taken(), MS);
    ns = 2 * MS;
    CHECK_EQUAL(CU(cuParamSetv)(spin, 0, &ns, sizeof ns), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLaunchGrid)(spin, 2, 2), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLaunchGridAsync)(spin, 2, 2, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(taken(), 4 * MS);
    CHECK_EQUAL(CU(cuParamSetv)(spin, 4095, &ns, sizeof ns), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuFuncSetBlockShape)(spin, 2000, 1, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuLaunchGrid)(spin, 0, 1), CUDA_ERROR_INVALID_VALUE);
}

static void a_librarys_kernel_is_launched_as_itself_and_as_a_function(void) {
    CUlibrary library, of_kernel;
    CUfunction function;
    CUmodule module, of_function;
    CUkernel kernel;

    install_node("t4x1");
    begin_spinning();
    CHECK_EQUAL(CU(cuLibraryLoadData)(&library, "code", NULL, NULL, 0, NULL, NULL, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLibraryGetKernel)(&kernel, library, "partita_spin"), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuKernelGetFunction)(&function, kernel), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLaunchKernel)((CUfunction)kernel, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(taken(), 2 * MS);
    CHECK_EQUAL(CU(cuKernelGetLibrary)(&of_kernel, kernel), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLibraryGetModule)(&module, library), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuFuncGetModule)(&of_function, function), CUDA_SUCCESS);
    CHECK(of_kernel == library && of_function == module);
    CHECK_EQUAL(CU(cuLibraryUnload)(library), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLibraryUnload)(library), CUDA_ERROR_INVALID_HANDLE);
    CHECK_EQUAL(CU(cuLibraryLoadFromFile)(&library, "/no such file", NULL, NULL, 0, NULL, NULL, 0),
                CUDA_ERROR_FILE_NOT_FOUND);
}

static void streams_have_priorities_and_belong_to_a_context(void) {
    CUstream stream, plain;
    CUcontext first, other;
    CUevent event;
    unsigned flags;
    int least, greatest, priority;

    install_node("t4x1");
    begin_spinning();
    CHECK_EQUAL(CU(cuCtxGetStreamPriorityRange)(&least, &greatest), CUDA_SUCCESS);
    CHECK(least == 0 && greatest == -5);
    CHECK_EQUAL(CU(cuStreamCreateWithPriority)(&stream, CU_STREAM_NON_BLOCKING, -9), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamCreate)(&plain, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamGetPriority)(stream, &priority), CUDA_SUCCESS);
    CHECK_EQUAL(priority, -5);
    CHECK_EQUAL(CU(cuStreamGetPriority)(plain, &priority), CUDA_SUCCESS);
    CHECK_EQUAL(priority, 0);
    CHECK_EQUAL(CU(cuStreamGetFlags)(stream, &flags), CUDA_SUCCESS);
    CHECK_EQUAL(flags, CU_STREAM_NON_BLOCKING);
    CHECK_EQUAL(CU(cuCtxGetCurrent)(&first), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxCreate_v2)(&other, 0, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLaunchKernel)(spin, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL), CUDA_ERROR_INVALID_HANDLE);
    CHECK_EQUAL(CU(cuLaunchKernel)(spin, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL), CUDA_ERROR_INVALID_HANDLE);
    CHECK_EQUAL(CU(cuStreamQuery)(stream), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamSynchronize)(stream), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventCreate)(&event, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventRecord)(event, stream), CUDA_ERROR_INVALID_HANDLE); /* is of the current context */
    CHECK_EQUAL(CU(cuCtxSetCurrent)(first), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventCreate)(&event, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxSetCurrent)(other), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventRecord)(event, stream), CUDA_SUCCESS);
}

static void a_stream_is_done_when_its_own_work_is(void) {
    CUstream first, second;

    install_node("t4x1");
    begin_spinning();
    CHECK_EQUAL(CU(cuStreamCreate)(&first, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamCreate)(&second, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    spin_for(10 * MS, first);
    spin_for(3600000 * MS, second);
    CHECK_EQUAL(CU(cuStreamSynchronize)(first), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamQuery_ptsz)(first), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamQuery)(second), CUDA_ERROR_NOT_READY);
}

static void work_waits_for_an_event_of_another_card(void) {
    CUcontext contexts[2];
    CUfunction spins[2];
    CUevent event, after;
    uint64_t long_ns = 50 * MS;
    void *longer[] = {&long_ns};

    install_node("t4x2");
    CHECK_EQUAL(CU(cuInit)(0), CUDA_SUCCESS);
    for (int i = 0; i < 2; i++) {
        CUmodule module;

        CHECK_EQUAL(CU(cuCtxCreate_v2)(&contexts[i], 0, i), CUDA_SUCCESS);
        CHECK_EQUAL(CU(cuModuleLoadData)(&module, "image"), CUDA_SUCCESS);
        CHECK_EQUAL(CU(cuModuleGetFunction)(&spins[i], module, "partita_spin"), CUDA_SUCCESS);
    }
    CHECK_EQUAL(CU(cuEventCreate)(&after, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxSetCurrent)(contexts[0]), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventCreate)(&event, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLaunchKernel)(spins[0], 1, 1, 1, 1, 1, 1, 0, NULL, longer, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventRecord)(event, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxSetCurrent)(contexts[1]), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamWaitEvent)(NULL, event, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLaunchKernel)(spins[1], 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventRecord)(after, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventSynchronize)(after), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventQuery)(event), CUDA_SUCCESS);
    CHECK_EQUAL(sim_clock_read(truth(), 0).busy, 50 * MS);
    CHECK_EQUAL(sim_clock_read(truth(), 1).busy, MS);
}

RUN(TEST(plain_launches_take_their_time), TEST(launches_by_a_configuration_take_their_time),
    TEST(cooperative_launches_take_their_time_if_they_fit), TEST(a_launch_on_several_devices_is_one_on_each),
    TEST(launches_of_before_cuda_4_take_their_time), TEST(a_librarys_kernel_is_launched_as_itself_and_as_a_function),
    TEST(streams_have_priorities_and_belong_to_a_context), TEST(a_stream_is_done_when_its_own_work_is),
    TEST(work_waits_for_an_event_of_another_card))
