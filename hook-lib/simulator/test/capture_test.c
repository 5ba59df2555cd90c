/* SPDX-License-Identifier: Apache-2.0 */
/* Capture: what is submitted becomes a graph, and calls that do not belong into one fail and spoil it. */
#include <pthread.h>
#include <unistd.h>

#include "cuda_capture.h"
#include "cuda_copies.h"
#include "spinning.h"

static CUstream stream;

static CUstream new_stream(unsigned flags) {
    CUstream created;

    CHECK_EQUAL(CU(cuStreamCreate)(&created, flags), CUDA_SUCCESS);
    return created;
}

static void begin(int mode) {
    CHECK_EQUAL(CU(cuStreamBeginCapture_v2)(stream, mode), CUDA_SUCCESS);
}

static CUgraph end(void) {
    CUgraph graph = NULL;

    CHECK_EQUAL(CU(cuStreamEndCapture)(stream, &graph), CUDA_SUCCESS);
    CHECK(graph != NULL);
    return graph;
}

static int status_of(CUstream asked) {
    int status = -1;

    CHECK_EQUAL(CU(cuStreamIsCapturing)(asked, &status), CUDA_SUCCESS);
    return status;
}

static void prepare(void) {
    install_node("t4x1");
    begin_spinning();
    stream = new_stream(CU_STREAM_NON_BLOCKING);
}

static void what_is_submitted_becomes_a_graph(void) {
    CUgraphNode nodes[8];
    size_t count = 8;
    CUgraphExec exec;
    CUgraph graph;
    cuuint64_t id;
    int status, type;

    prepare();
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    CHECK_EQUAL(status_of(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    spin_for(2 * MS, stream);
    spin_for(3 * MS, stream);
    CHECK_EQUAL(CU(cuStreamGetCaptureInfo_v2)(stream, &status, &id, &graph, NULL, NULL), CUDA_SUCCESS);
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && id != 0 && graph != NULL);
    CHECK(end() == graph);
    CHECK_EQUAL(status_of(stream), CU_STREAM_CAPTURE_STATUS_NONE);
    CHECK_EQUAL(use_of(getpid()).launches, 0);
    CHECK_EQUAL(use_of(getpid()).pending, 0);
    CHECK_EQUAL(CU(cuGraphGetNodes)(graph, nodes, &count), CUDA_SUCCESS);
    CHECK_EQUAL(count, 2);
    CHECK_EQUAL(CU(cuGraphNodeGetType)(nodes[1], &type), CUDA_SUCCESS);
    CHECK_EQUAL(type, CU_GRAPH_NODE_TYPE_KERNEL);
    count = 6;
    CHECK_EQUAL(CU(cuGraphNodeGetDependencies)(nodes[1], nodes + 2, &count), CUDA_SUCCESS);
    CHECK(count == 1 && nodes[2] == nodes[0]);
    CHECK_EQUAL(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0), CUDA_SUCCESS);
    for (int i = 1; i <= 2; i++) {
        CHECK_EQUAL(CU(cuGraphLaunch)(exec, stream), CUDA_SUCCESS);
        CHECK_EQUAL(CU(cuStreamSynchronize)(stream), CUDA_SUCCESS);
        CHECK_EQUAL(use_of(getpid()).busy, (uint64_t)i * 5 * MS);
    }
    CHECK_EQUAL(CU(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphDestroy)(graph), CUDA_SUCCESS);
}

static void nothing(void *data) {
    ++*(int *)data;
}

static void memory_copies_and_host_functions_are_captured(void) {
    CUdeviceptr pointer, kept;
    CUgraphExec exec;
    CUgraph graph;
    int called = 0;
    char byte = 7, seen = 0;

    prepare();
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&kept, MIB), CUDA_SUCCESS);
    begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    CHECK_EQUAL(CU(cuMemAllocAsync)(&pointer, 8 * MIB, stream), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemcpyHtoDAsync_v2)(kept, &byte, 1, stream), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemcpyDtoDAsync_v2)(kept + 1, kept, 1, stream), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemsetD8Async)(kept + 2, 9, 1, stream), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLaunchHostFunc)(stream, nothing, &called), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemFreeAsync)(pointer, stream), CUDA_SUCCESS);
    graph = end();
    CHECK_EQUAL(called, 0);
    CHECK_EQUAL(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphLaunch)(exec, stream), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamSynchronize)(stream), CUDA_SUCCESS);
    CHECK_EQUAL(called, 1);
    CHECK_EQUAL(use_of(getpid()).memory, 10 * MIB); /* the slab, and the graph's memory */
    CHECK_EQUAL(CU(cuMemcpyDtoH_v2)(&seen, kept + 1, 1), CUDA_SUCCESS);
    CHECK_EQUAL(seen, 7);
    CHECK_EQUAL(CU(cuMemcpyDtoH_v2)(&seen, kept + 2, 1), CUDA_SUCCESS);
    CHECK_EQUAL(seen, 9);
    CHECK_EQUAL(CU(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphDestroy)(graph), CUDA_SUCCESS);
}

/* Calls `unsafe` in a capture of that mode: what it must answer, and whether the capture is spoilt then. */
static void expect(int mode, CUresult (*unsafe)(void), CUresult expected, bool spoilt) {
    CUgraph graph = (CUgraph)(void *)&graph;

    begin(mode);
    spin_for(MS, stream);
    CHECK_EQUAL(unsafe(), expected);
    CHECK_EQUAL(status_of(stream), spoilt ? CU_STREAM_CAPTURE_STATUS_INVALIDATED : CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CHECK_EQUAL(CU(cuStreamEndCapture)(stream, &graph), spoilt ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED : CUDA_SUCCESS);
    CHECK((graph == NULL) == spoilt);
    if (graph)
        CHECK_EQUAL(CU(cuGraphDestroy)(graph), CUDA_SUCCESS);
    CHECK_EQUAL(status_of(stream), CU_STREAM_CAPTURE_STATUS_NONE);
}

static CUdeviceptr held;
static CUevent event;

static CUresult allocate(void) {
    CUdeviceptr pointer;

    return CU(cuMemAlloc_v2)(&pointer, MIB);
}

static CUresult deallocate(void) {
    CUresult result = CU(cuMemFree_v2)(held);

    if (result == CUDA_SUCCESS)
        CHECK_EQUAL(CU(cuMemAlloc_v2)(&held, MIB), CUDA_SUCCESS);
    return result;
}

static CUresult copy_synchronously(void) {
    char byte = 0;

    return CU(cuMemcpyHtoD_v2)(held, &byte, 1);
}

static CUresult query_event(void) {
    return CU(cuEventQuery)(event);
}

static CUresult wait_for_event(void) {
    return CU(cuEventSynchronize)(event);
}

static CUresult synchronize_context(void) {
    return CU(cuCtxSynchronize)();
}

static CUresult synchronize_stream(void) {
    return CU(cuStreamSynchronize)(stream);
}

static CUresult query_stream(void) {
    return CU(cuStreamQuery)(stream);
}

static CUresult record_and_query(void) {
    CHECK_EQUAL(CU(cuEventRecord)(event, stream), CUDA_SUCCESS);
    return CU(cuEventQuery)(event);
}

static CUresult record_and_measure(void) {
    float ms;

    CHECK_EQUAL(CU(cuEventRecord)(event, stream), CUDA_SUCCESS);
    return CU(cuEventElapsedTime)(&ms, event, event);
}

static void unsafe_calls_fail_and_spoil_the_capture_unless_it_is_relaxed(void) {
    CUresult (*const unsafe[])(void) = {allocate, deallocate, copy_synchronously, query_event, wait_for_event};
    CUresult (*const never[])(void) = {synchronize_context, synchronize_stream, query_stream};
    CUresult (*const captured[])(void) = {record_and_query, record_and_measure};

    prepare();
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&held, MIB), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventCreate)(&event, 0), CUDA_SUCCESS);
    for (size_t i = 0; i < sizeof unsafe / sizeof *unsafe; i++) {
        expect(CU_STREAM_CAPTURE_MODE_GLOBAL, unsafe[i], CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, true);
        expect(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, unsafe[i], CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, true);
        expect(CU_STREAM_CAPTURE_MODE_RELAXED, unsafe[i], CUDA_SUCCESS, false);
    }
    for (int mode = CU_STREAM_CAPTURE_MODE_GLOBAL; mode <= CU_STREAM_CAPTURE_MODE_RELAXED; mode++) {
        for (size_t i = 0; i < sizeof never / sizeof *never; i++)
            expect(mode, never[i], CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, true);
        for (size_t i = 0; i < sizeof captured / sizeof *captured; i++)
            expect(mode, captured[i], CUDA_ERROR_CAPTURED_EVENT, true);
    }
    CHECK_EQUAL(CU(cuEventQuery)(event), CUDA_ERROR_CAPTURED_EVENT);
    CHECK_EQUAL(CU(cuEventRecord)(event, stream), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventSynchronize)(event), CUDA_SUCCESS);
}

static void a_thread_may_relax_its_own_mode(void) {
    CUdeviceptr pointer;
    int mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    prepare();
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    CHECK_EQUAL(CU(cuThreadExchangeStreamCaptureMode)(&mode), CUDA_SUCCESS);
    CHECK_EQUAL(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, MIB), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuThreadExchangeStreamCaptureMode)(&mode), CUDA_SUCCESS);
    CHECK_EQUAL(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
    CHECK_EQUAL(CU(cuGraphDestroy)(end()), CUDA_SUCCESS);
    mode = 3;
    CHECK_EQUAL(CU(cuThreadExchangeStreamCaptureMode)(&mode), CUDA_ERROR_INVALID_VALUE);
}

struct elsewhere {
    CUcontext context;
    int mode;
};

static void *allocate_elsewhere(void *argument) {
    struct elsewhere *elsewhere = argument;
    CUgraph graph;

    CHECK_EQUAL(CU(cuCtxSetCurrent)(elsewhere->context), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuThreadExchangeStreamCaptureMode)(&elsewhere->mode), CUDA_SUCCESS);
    if (status_of(stream) == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        CHECK_EQUAL(CU(cuStreamEndCapture)(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
    return (void *)(intptr_t)allocate();
}

static CUresult in_another_thread(int mode) {
    struct elsewhere elsewhere = {.mode = mode};
    pthread_t thread;
    void *result;

    CHECK_EQUAL(CU(cuCtxGetCurrent)(&elsewhere.context), CUDA_SUCCESS);
    CHECK(pthread_create(&thread, NULL, allocate_elsewhere, &elsewhere) == 0);
    CHECK(pthread_join(thread, &result) == 0);
    return (CUresult)(intptr_t)result;
}

static void only_global_captures_forbid_calls_of_other_threads(void) {
    CUgraph graph;

    prepare();
    begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    CHECK_EQUAL(in_another_thread(CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphDestroy)(end()), CUDA_SUCCESS);
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    CHECK_EQUAL(in_another_thread(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), CUDA_SUCCESS);
    CHECK_EQUAL(in_another_thread(CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    CHECK_EQUAL(status_of(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CHECK_EQUAL(in_another_thread(CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK_EQUAL(CU(cuStreamEndCapture)(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void the_legacy_stream_is_unusable_while_a_blocking_stream_is_captured(void) {
    uint64_t ns = MS;
    void *parameters[] = {&ns};
    CUgraph graph;
    int status;

    prepare();
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    spin_for(MS, NULL);
    CHECK_EQUAL(CU(cuGraphDestroy)(end()), CUDA_SUCCESS);
    stream = new_stream(CU_STREAM_DEFAULT);
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    CHECK_EQUAL(CU(cuStreamIsCapturing)(NULL, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    CHECK_EQUAL(status_of(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CHECK_EQUAL(CU(cuLaunchKernel)(spin, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL),
                CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    CHECK_EQUAL(CU(cuStreamEndCapture)(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK_EQUAL(CU(cuStreamBeginCapture_v2)(NULL, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK_EQUAL(CU(cuStreamBeginCapture_v2)(CU_STREAM_LEGACY, 0), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

static void a_threads_own_default_stream_can_be_captured(void) {
    uint64_t ns = MS;
    void *parameters[] = {&ns};
    CUgraph graph;
    size_t count = 0;
    int status;

    prepare();
    CHECK_EQUAL(CU(cuStreamBeginCapture_v2_ptsz)(NULL, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLaunchKernel_ptsz)(spin, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLaunchKernel)(spin, 1, 1, 1, 1, 1, 1, 0, CU_STREAM_PER_THREAD, parameters, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamIsCapturing_ptsz)(NULL, &status), CUDA_SUCCESS);
    CHECK_EQUAL(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CHECK_EQUAL(CU(cuStreamEndCapture)(CU_STREAM_PER_THREAD, &graph), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphGetNodes)(graph, NULL, &count), CUDA_SUCCESS);
    CHECK_EQUAL(count, 2);
    CHECK_EQUAL(use_of(getpid()).launches, 0);
    CHECK_EQUAL(CU(cuGraphDestroy)(graph), CUDA_SUCCESS);
}

static CUevent new_event(void) {
    CUevent created;

    CHECK_EQUAL(CU(cuEventCreate)(&created, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    return created;
}

static void another_stream_joins_by_an_event_and_must_come_back(void) {
    CUstream other;
    CUevent fork, join;
    CUgraph graph;
    size_t count = 0;

    prepare();
    other = new_stream(CU_STREAM_NON_BLOCKING);
    fork = new_event();
    join = new_event();
    for (int joins = 0; joins <= 1; joins++) {
        begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
        spin_for(MS, stream);
        CHECK_EQUAL(CU(cuEventRecord)(fork, stream), CUDA_SUCCESS);
        CHECK_EQUAL(CU(cuStreamWaitEvent)(other, fork, 0), CUDA_SUCCESS);
        CHECK_EQUAL(status_of(other), CU_STREAM_CAPTURE_STATUS_ACTIVE);
        spin_for(MS, other);
        spin_for(MS, stream);
        CHECK_EQUAL(CU(cuEventRecord)(join, other), CUDA_SUCCESS);
        if (joins)
            CHECK_EQUAL(CU(cuStreamWaitEvent)(stream, join, 0), CUDA_SUCCESS);
        CHECK_EQUAL(CU(cuStreamEndCapture)(stream, &graph), joins ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
        CHECK_EQUAL(status_of(other), CU_STREAM_CAPTURE_STATUS_NONE);
    }
    CHECK_EQUAL(CU(cuGraphGetNodes)(graph, NULL, &count), CUDA_SUCCESS);
    CHECK_EQUAL(count, 3);
    CHECK_EQUAL(CU(cuGraphDestroy)(graph), CUDA_SUCCESS);
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    CHECK_EQUAL(CU(cuEventRecord)(fork, stream), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamWaitEvent)(other, fork, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamEndCapture)(other, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
    CHECK_EQUAL(CU(cuStreamEndCapture)(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void captures_do_not_mix_with_each_other_or_with_what_is_not_captured(void) {
    CUstream other;
    CUevent outside, inside;
    CUgraph graph;

    prepare();
    other = new_stream(CU_STREAM_NON_BLOCKING);
    outside = new_event();
    inside = new_event();
    CHECK_EQUAL(CU(cuEventRecord)(outside, other), CUDA_SUCCESS);
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    CHECK_EQUAL(CU(cuStreamWaitEvent)(stream, outside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
    CHECK_EQUAL(CU(cuStreamEndCapture)(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    CHECK_EQUAL(CU(cuStreamWaitEvent)(stream, outside, CU_EVENT_WAIT_EXTERNAL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventRecordWithFlags)(inside, stream, CU_EVENT_RECORD_EXTERNAL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphDestroy)(end()), CUDA_SUCCESS);
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    CHECK_EQUAL(CU(cuStreamBeginCapture_v2)(other, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventRecord)(inside, stream), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamWaitEvent)(other, inside, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
    CHECK_EQUAL(CU(cuStreamEndCapture)(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK_EQUAL(CU(cuStreamEndCapture)(other, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    CHECK_EQUAL(CU(cuStreamEndCapture)(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    CHECK_EQUAL(CU(cuStreamBeginCapture_v2)(stream, 0), CUDA_ERROR_ILLEGAL_STATE);
    CHECK_EQUAL(CU(cuGraphDestroy)(end()), CUDA_SUCCESS);
}

static void a_graph_launched_in_a_capture_becomes_a_child(void) {
    CUgraph inner, outer;
    CUgraphExec exec, outer_exec;

    prepare();
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    spin_for(3 * MS, stream);
    inner = end();
    CHECK_EQUAL(CU(cuGraphInstantiateWithFlags)(&exec, inner, 0), CUDA_SUCCESS);
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    CHECK_EQUAL(CU(cuGraphLaunch)(exec, stream), CUDA_SUCCESS);
    spin_for(MS, stream);
    outer = end();
    CHECK_EQUAL(CU(cuGraphInstantiateWithFlags)(&outer_exec, outer, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphLaunch)(outer_exec, stream), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamSynchronize)(stream), CUDA_SUCCESS);
    CHECK_EQUAL(use_of(getpid()).busy, 4 * MS);
    CHECK_EQUAL(CU(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphExecDestroy)(outer_exec), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphDestroy)(inner), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphDestroy)(outer), CUDA_SUCCESS);
}

static void a_stream_that_ends_takes_its_capture_along(void) {
    CUdeviceptr pointer;

    prepare();
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    spin_for(MS, stream);
    CHECK_EQUAL(CU(cuStreamDestroy_v2)(stream), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, MIB), CUDA_SUCCESS);
    stream = new_stream(0);
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    spin_for(MS, stream);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxReset_v2)(0), CUDA_SUCCESS);
}

RUN(TEST(what_is_submitted_becomes_a_graph), TEST(memory_copies_and_host_functions_are_captured),
    TEST(unsafe_calls_fail_and_spoil_the_capture_unless_it_is_relaxed), TEST(a_thread_may_relax_its_own_mode),
    TEST(only_global_captures_forbid_calls_of_other_threads),
    TEST(the_legacy_stream_is_unusable_while_a_blocking_stream_is_captured),
    TEST(a_threads_own_default_stream_can_be_captured), TEST(another_stream_joins_by_an_event_and_must_come_back),
    TEST(captures_do_not_mix_with_each_other_or_with_what_is_not_captured),
    TEST(a_graph_launched_in_a_capture_becomes_a_child), TEST(a_stream_that_ends_takes_its_capture_along))
