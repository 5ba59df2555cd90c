/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores of other APIs: streams and graphs signal them and wait for them. */
#include <fcntl.h>
#include <unistd.h>

#include "cuda_capture.h"
#include "cuda_graphs.h"
#include "spinning.h"

static int file;
static CUstream first, second;

static CUexternalSemaphore import(int type) {
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC handle = {.type = type, .handle = {.fd = dup(file)}};
    CUexternalSemaphore semaphore;

    CHECK_EQUAL(CU(cuImportExternalSemaphore)(&semaphore, &handle), CUDA_SUCCESS);
    CHECK(dup2(handle.handle.fd, handle.handle.fd) < 0); /* it was taken over */
    return semaphore;
}

static void start(const char *gpus) {
    char path[PATH_MAX + 16];

    install_node(gpus);
    begin_spinning();
    snprintf(path, sizeof path, "%s/semaphore", node_root);
    file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(file >= 0);
    CHECK_EQUAL(CU(cuStreamCreate)(&first, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamCreate)(&second, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
}

static void signal_in(CUexternalSemaphore semaphore, uint64_t value, CUstream stream) {
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS params = {.params.fence.value = value};

    CHECK_EQUAL(CU(cuSignalExternalSemaphoresAsync)(&semaphore, &params, 1, stream), CUDA_SUCCESS);
}

static void wait_in(CUexternalSemaphore semaphore, uint64_t value, CUstream stream) {
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS params = {.params.fence.value = value};

    CHECK_EQUAL(CU(cuWaitExternalSemaphoresAsync)(&semaphore, &params, 1, stream), CUDA_SUCCESS);
}

static void a_stream_waits_until_a_semaphore_is_signalled(void) {
    static const int types[] = {CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD,
                                CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD};

    start("t4x1");
    for (uint64_t i = 0; i < 4; i++) {
        CUexternalSemaphore semaphore = import(types[i % 2]), same = import(types[i % 2]);

        spin_for(50 * MS, first);
        if (i < 2) /* before */
            signal_in(semaphore, i + 1, first);
        wait_in(same, i + 1, second);
        CHECK_EQUAL(CU(cuStreamQuery)(second), CUDA_ERROR_NOT_READY);
        if (i >= 2) {
            CHECK_EQUAL(CU(cuStreamSynchronize)(first), CUDA_SUCCESS);
            CHECK_EQUAL(CU(cuStreamQuery)(second), CUDA_ERROR_NOT_READY);
            signal_in(semaphore, i + 1, first);
        }
        CHECK_EQUAL(CU(cuStreamSynchronize)(second), CUDA_SUCCESS);
        CHECK_EQUAL(CU(cuStreamQuery)(first), CUDA_SUCCESS);
        CHECK_EQUAL(CU(cuDestroyExternalSemaphore)(semaphore), CUDA_SUCCESS);
        CHECK_EQUAL(CU(cuDestroyExternalSemaphore)(same), CUDA_SUCCESS);
    }
    CHECK_EQUAL(use_of(getpid()).busy, 200 * MS);
}

static void each_signal_is_for_one_wait_and_a_timelines_for_all(void) {
    CUexternalSemaphore binary, timeline;

    start("t4x1");
    binary = import(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD);
    timeline = import(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD);
    signal_in(binary, 0, first);
    wait_in(binary, 0, second);
    CHECK_EQUAL(CU(cuStreamSynchronize)(second), CUDA_SUCCESS);
    wait_in(binary, 0, second);
    CHECK_EQUAL(CU(cuStreamQuery)(second), CUDA_ERROR_NOT_READY);
    signal_in(binary, 0, first);
    CHECK_EQUAL(CU(cuStreamSynchronize)(second), CUDA_SUCCESS);
    signal_in(timeline, 5, first);
    wait_in(timeline, 3, second);
    wait_in(timeline, 5, second);
    CHECK_EQUAL(CU(cuStreamSynchronize)(second), CUDA_SUCCESS);
    wait_in(timeline, 6, second);
    CHECK_EQUAL(CU(cuStreamQuery)(second), CUDA_ERROR_NOT_READY);
    signal_in(timeline, 6, first);
    CHECK_EQUAL(CU(cuStreamSynchronize)(second), CUDA_SUCCESS);
}

static void a_graph_signals_and_waits_and_takes_no_time_for_it(void) {
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS value = {.params.fence.value = 7}, next = {.params.fence.value = 8};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS least = {.params.fence.value = 7}, later = {.params.fence.value = 8};
    CUexternalSemaphore semaphore;
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 signals = {&semaphore, &value, 1}, told;
    CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 waits = {&semaphore, &least, 1}, asked;
    CUgraphNode signal, wait;
    CUgraphExec exec;
    CUgraph graph, copy;
    int type;

    start("t4x1");
    semaphore = import(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD);
    CHECK_EQUAL(CU(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphAddExternalSemaphoresSignalNode)(&signal, graph, NULL, 0, &signals), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphAddExternalSemaphoresWaitNode)(&wait, graph, &signal, 1, &waits), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphNodeGetType)(wait, &type), CUDA_SUCCESS);
    CHECK_EQUAL(type, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
    CHECK_EQUAL(CU(cuGraphExternalSemaphoresSignalNodeGetParams)(signal, &told), CUDA_SUCCESS);
    CHECK(told.extSemArray != signals.extSemArray && told.extSemArray[0] == semaphore &&
          told.paramsArray[0].params.fence.value == 7);
    CHECK_EQUAL(CU(cuGraphExternalSemaphoresWaitNodeGetParams)(wait, &asked), CUDA_SUCCESS);
    CHECK(asked.numExtSems == 1 && asked.paramsArray[0].params.fence.value == 7);
    CHECK_EQUAL(CU(cuGraphExternalSemaphoresWaitNodeGetParams)(signal, &asked), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuGraphClone)(&copy, graph), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphDestroy)(copy), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphLaunch)(exec, first), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamSynchronize)(first), CUDA_SUCCESS);
    signals.paramsArray = &next;
    waits.paramsArray = &later;
    CHECK_EQUAL(CU(cuGraphExternalSemaphoresSignalNodeSetParams)(signal, &signals), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphExternalSemaphoresWaitNodeSetParams)(wait, &waits), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphExecExternalSemaphoresSignalNodeSetParams)(exec, signal, &signals), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphExecExternalSemaphoresWaitNodeSetParams)(exec, wait, &waits), CUDA_SUCCESS);
    waits.numExtSems = 0;
    CHECK_EQUAL(CU(cuGraphExecExternalSemaphoresWaitNodeSetParams)(exec, wait, &waits), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuGraphDestroy)(graph), CUDA_SUCCESS);
    wait_in(semaphore, 8, second);
    CHECK_EQUAL(CU(cuStreamQuery)(second), CUDA_ERROR_NOT_READY);
    CHECK_EQUAL(CU(cuGraphLaunch)(exec, first), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamSynchronize)(second), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
    CHECK_EQUAL(use_of(getpid()).busy, 0);
}

static void what_a_capture_signals_becomes_a_node(void) {
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS value = {.params.fence.value = 1};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS least = {.params.fence.value = 1};
    CUexternalSemaphore semaphore;
    CUgraphNode nodes[3];
    CUgraphExec exec;
    CUgraph graph;
    size_t count = 3;
    int types[2];

    start("t4x1");
    semaphore = import(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD);
    CHECK_EQUAL(CU(cuStreamBeginCapture_v2)(first, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuSignalExternalSemaphoresAsync_ptsz)(&semaphore, &value, 1, first), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuWaitExternalSemaphoresAsync_ptsz)(&semaphore, &least, 1, first), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamEndCapture)(first, &graph), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphGetNodes)(graph, nodes, &count), CUDA_SUCCESS);
    CHECK_EQUAL(count, 2);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(CU(cuGraphNodeGetType)(nodes[i], &types[i]), CUDA_SUCCESS);
    CHECK(types[0] == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL && types[1] == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
    wait_in(semaphore, 1, second);
    CHECK_EQUAL(CU(cuStreamQuery)(second), CUDA_ERROR_NOT_READY); /* the capture did not signal it */
    CHECK_EQUAL(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphLaunch)(exec, first), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamSynchronize)(second), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphDestroy)(graph), CUDA_SUCCESS);
}

static void what_is_no_semaphore_is_refused(void) {
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC handle = {.type = 4};
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS value = {.flags = 0};
    CUexternalSemaphore semaphore, none = (CUexternalSemaphore)&handle;

    start("t4x1");
    CHECK_EQUAL(CU(cuImportExternalSemaphore)(&semaphore, &handle), CUDA_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(CU(cuImportExternalSemaphore)(NULL, &handle), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuSignalExternalSemaphoresAsync)(&none, &value, 1, first), CUDA_ERROR_INVALID_HANDLE);
    CHECK_EQUAL(CU(cuSignalExternalSemaphoresAsync)(NULL, NULL, 1, first), CUDA_ERROR_INVALID_VALUE);
    semaphore = import(CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD);
    CHECK_EQUAL(CU(cuDestroyExternalSemaphore)(semaphore), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDestroyExternalSemaphore)(semaphore), CUDA_ERROR_INVALID_HANDLE);
}

RUN(TEST(a_stream_waits_until_a_semaphore_is_signalled), TEST(each_signal_is_for_one_wait_and_a_timelines_for_all),
    TEST(a_graph_signals_and_waits_and_takes_no_time_for_it), TEST(what_a_capture_signals_becomes_a_node),
    TEST(what_is_no_semaphore_is_refused))
