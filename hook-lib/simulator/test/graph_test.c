/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs that launch kernels, and host functions. */
#include <pthread.h>
#include <unistd.h>

#include "cuda_graphs.h"
#include "spinning.h"

static CUDA_KERNEL_NODE_PARAMS_v2 spinning(uint64_t *ns) {
    static void *parameters[1];

    parameters[0] = ns;
    return (CUDA_KERNEL_NODE_PARAMS_v2){.func = spin,
                                        .gridDimX = 1,
                                        .gridDimY = 1,
                                        .gridDimZ = 1,
                                        .blockDimX = 1,
                                        .blockDimY = 1,
                                        .blockDimZ = 1,
                                        .kernelParams = parameters};
}

static CUgraphNode add_spin(CUgraph graph, CUgraphNode after, uint64_t ns) {
    CUDA_KERNEL_NODE_PARAMS_v2 params = spinning(&ns);
    CUgraphNode node;

    CHECK_EQUAL(CU(cuGraphAddKernelNode_v2)(&node, graph, after ? &after : NULL, after != NULL, &params), CUDA_SUCCESS);
    return node;
}

static CUgraph new_graph(void) {
    CUgraph graph;

    CHECK_EQUAL(CU(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
    return graph;
}

static CUgraphExec executable(CUgraph graph) {
    CUgraphExec exec;

    CHECK_EQUAL(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0), CUDA_SUCCESS);
    return exec;
}

static uint64_t taken_by(CUgraphExec exec) {
    uint64_t before;

    CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
    before = use_of(getpid()).busy;
    CHECK_EQUAL(CU(cuGraphLaunch)(exec, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
    return use_of(getpid()).busy - before;
}

static void a_graph_takes_the_sum_of_its_kernels(void) {
    CUDA_KERNEL_NODE_PARAMS_v1 old;
    CUgraphNode first, second;
    CUgraphNodeParams any = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
    CUgraphExec exec;
    CUgraph graph;
    uint64_t ns = 4 * MS;

    install_node("t4x1");
    begin_spinning();
    graph = new_graph();
    first = add_spin(graph, NULL, MS);
    second = add_spin(graph, first, 2 * MS);
    CHECK_EQUAL(CU(cuGraphKernelNodeGetParams)(second, &old), CUDA_SUCCESS);
    CHECK(old.func == spin && *(uint64_t *)old.kernelParams[0] == 2 * MS);
    CHECK_EQUAL(CU(cuGraphAddKernelNode)(&second, graph, &first, 1, &old), CUDA_SUCCESS);
    any.kernel = spinning(&ns);
    CHECK_EQUAL(CU(cuGraphAddNode)(&second, graph, NULL, 0, &any), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphAddEmptyNode)(&second, graph, &second, 1), CUDA_SUCCESS);
    exec = executable(graph);
    CHECK_EQUAL(CU(cuGraphDestroy)(graph), CUDA_SUCCESS);
    CHECK_EQUAL(taken_by(exec), 9 * MS);
    CHECK_EQUAL(use_of(getpid()).launches, 4);
    CHECK_EQUAL(taken_by(exec), 9 * MS);
    CHECK_EQUAL(CU(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
}

static void child_graphs_count_and_are_copies(void) {
    CUgraph child, parent, copy;
    CUgraphNode node, last;
    CUgraphExec exec;

    install_node("t4x1");
    begin_spinning();
    child = new_graph();
    last = add_spin(child, NULL, MS);
    parent = new_graph();
    CHECK_EQUAL(CU(cuGraphAddChildGraphNode)(&node, parent, NULL, 0, child), CUDA_SUCCESS);
    add_spin(child, last, 5 * MS); /* comes too late for the parent */
    add_spin(parent, node, MS);
    CHECK_EQUAL(CU(cuGraphClone)(&copy, parent), CUDA_SUCCESS);
    exec = executable(copy);
    CHECK_EQUAL(taken_by(exec), 2 * MS);
    CHECK_EQUAL(CU(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphDestroy)(copy), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphDestroy)(child), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphDestroy)(parent), CUDA_SUCCESS);
}

static void executable_graphs_are_changed_in_place(void) {
    CUgraphExecUpdateResultInfo info;
    CUDA_KERNEL_NODE_PARAMS_v2 params;
    CUgraph graph, other;
    CUgraphNode node;
    CUgraphExec exec;
    uint64_t ns = 3 * MS;

    install_node("t4x1");
    begin_spinning();
    graph = new_graph();
    node = add_spin(graph, NULL, MS);
    exec = executable(graph);
    params = spinning(&ns);
    CHECK_EQUAL(CU(cuGraphExecKernelNodeSetParams_v2)(exec, node, &params), CUDA_SUCCESS);
    CHECK_EQUAL(taken_by(exec), 3 * MS);
    other = new_graph();
    add_spin(other, NULL, 2 * MS);
    CHECK_EQUAL(CU(cuGraphExecUpdate_v2)(exec, other, &info), CUDA_SUCCESS);
    CHECK_EQUAL(taken_by(exec), 2 * MS);
    add_spin(other, NULL, 2 * MS);
    CHECK_EQUAL(CU(cuGraphExecUpdate_v2)(exec, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    CHECK_EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    CHECK_EQUAL(taken_by(exec), 2 * MS);
    CHECK_EQUAL(CU(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphDestroy)(graph), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphDestroy)(other), CUDA_SUCCESS);
}

static void nodes_run_after_what_they_need(void) {
    CUgraphNode first, second, third, needs[4];
    CUevent start, end;
    CUgraphExec exec;
    CUgraph graph;
    size_t count = 4;
    float ms;

    install_node("t4x1");
    begin_spinning();
    CHECK_EQUAL(CU(cuEventCreate)(&start, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventCreate)(&end, 0), CUDA_SUCCESS);
    graph = new_graph();
    CHECK_EQUAL(CU(cuGraphAddEventRecordNode)(&third, graph, NULL, 0, end), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphAddEventRecordNode)(&first, graph, NULL, 0, start), CUDA_SUCCESS);
    second = add_spin(graph, first, 5 * MS);
    CHECK_EQUAL(CU(cuGraphAddDependencies)(graph, &second, &third, 1), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphNodeGetDependencies)(third, needs, &count), CUDA_SUCCESS);
    CHECK(count == 1 && needs[0] == second);
    exec = executable(graph);
    spin_for(200 * MS, NULL);
    CHECK_EQUAL(CU(cuGraphLaunch_ptsz)(exec, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventSynchronize)(end), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventElapsedTime)(&ms, start, end), CUDA_SUCCESS);
    CHECK(ms == 5);
    CHECK_EQUAL(CU(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphAddDependencies)(graph, &third, &first, 1), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuGraphDestroyNode)(third), CUDA_SUCCESS);
    exec = executable(graph);
    CHECK_EQUAL(CU(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphDestroy)(graph), CUDA_SUCCESS);
}

static void a_graph_fills_memory(void) {
    CUDA_MEMSET_NODE_PARAMS fill = {.value = 0x01020304, .elementSize = 4, .width = 2, .height = 2, .pitch = 512};
    unsigned words[2] = {0};
    CUdeviceptr pointer;
    CUgraphNode node;
    CUgraphExec exec;
    CUgraph graph;

    install_node("t4x1");
    begin_spinning();
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, MIB), CUDA_SUCCESS);
    graph = new_graph();
    fill.dst = pointer;
    CHECK_EQUAL(CU(cuGraphAddMemsetNode)(&node, graph, NULL, 0, &fill, NULL), CUDA_SUCCESS);
    exec = executable(graph);
    CHECK_EQUAL(CU(cuGraphLaunch)(exec, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemcpyDtoH_v2)(words, pointer + 512, sizeof words), CUDA_SUCCESS);
    CHECK(words[0] == 0x01020304 && words[1] == 0x01020304);
    CHECK_EQUAL(CU(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphDestroy)(graph), CUDA_SUCCESS);
}

static _Atomic uint64_t called_at;
static _Atomic int inside;

static void note(void *data) {
    CUcontext context;

    inside = (int)CU(cuMemAlloc_v2)((CUdeviceptr *)data, 1) + 1000 * (int)CU(cuCtxGetCurrent)(&context);
    called_at = sim_clock_time();
}

static void note_stream(CUstream stream, CUresult status, void *data) {
    *(CUstream *)data = status == CUDA_SUCCESS ? stream : NULL;
}

static void a_host_function_runs_when_the_work_before_it_is_done(void) {
    CUdeviceptr pointer = 42;
    CUstream stream, seen = NULL;
    CUevent event;

    install_node("t4x1");
    begin_spinning();
    CHECK_EQUAL(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventCreate)(&event, 0), CUDA_SUCCESS);
    spin_for(30 * MS, stream);
    CHECK_EQUAL(CU(cuLaunchHostFunc)(stream, note, &pointer), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventRecord)(event, stream), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventSynchronize)(event), CUDA_SUCCESS);
    CHECK(called_at != 0);
    CHECK_EQUAL(use_of(getpid()).busy, 30 * MS);
    CHECK_EQUAL(inside % 1000, CUDA_ERROR_NOT_PERMITTED);
    CHECK_EQUAL(CU(cuStreamAddCallback_ptsz)(stream, note_stream, &seen, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamSynchronize)(stream), CUDA_SUCCESS);
    CHECK(seen == stream);
    CHECK_EQUAL(CU(cuStreamAddCallback)(stream, note_stream, &seen, 1), CUDA_ERROR_INVALID_VALUE);
}

static void a_graphs_host_node_is_called_at_each_launch(void) {
    CUDA_HOST_NODE_PARAMS host = {note, NULL};
    CUdeviceptr pointer;
    CUgraphNode node;
    CUgraphExec exec;
    CUgraph graph;

    install_node("t4x1");
    begin_spinning();
    host.userData = &pointer;
    graph = new_graph();
    node = add_spin(graph, NULL, MS);
    CHECK_EQUAL(CU(cuGraphAddHostNode)(&node, graph, &node, 1, &host), CUDA_SUCCESS);
    exec = executable(graph);
    for (int i = 0; i < 2; i++) {
        called_at = 0;
        CHECK_EQUAL(taken_by(exec), MS);
        CHECK(called_at != 0);
    }
    CHECK_EQUAL(CU(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphDestroy)(graph), CUDA_SUCCESS);
}

RUN(TEST(a_graph_takes_the_sum_of_its_kernels), TEST(child_graphs_count_and_are_copies),
    TEST(executable_graphs_are_changed_in_place), TEST(nodes_run_after_what_they_need), TEST(a_graph_fills_memory),
    TEST(a_host_function_runs_when_the_work_before_it_is_done), TEST(a_graphs_host_node_is_called_at_each_launch))
