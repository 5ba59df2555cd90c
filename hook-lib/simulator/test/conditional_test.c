/* SPDX-License-Identifier: Apache-2.0 */
/* Conditional nodes of graphs: which bodies run, how often, how long that takes, and what may be in them. */
#include <unistd.h>

#include "cuda_capture.h"
#include "cuda_graphs.h"
#include "spinning.h"

static CUfunction set_conditional, count_down;
static CUgraph graph;
static CUgraphConditionalHandle handle;

static void start(unsigned value, unsigned flags) {
    install_node("t4x1");
    begin_spinning();
    CHECK_EQUAL(CU(cuModuleGetFunction)(&set_conditional, spin_module, "partita_set_conditional"), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuModuleGetFunction)(&count_down, spin_module, "partita_count_down"), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphConditionalHandleCreate)(&handle, graph, NULL, value, flags), CUDA_SUCCESS);
}

static CUgraphNode add_kernel(CUgraph to, CUgraphNode after, CUfunction function, uint64_t first, unsigned second) {
    void *parameters[] = {&first, &second};
    CUDA_KERNEL_NODE_PARAMS_v2 params = {.func = function,
                                         .gridDimX = 1,
                                         .gridDimY = 1,
                                         .gridDimZ = 1,
                                         .blockDimX = 1,
                                         .blockDimY = 1,
                                         .blockDimZ = 1,
                                         .kernelParams = parameters};
    CUgraphNode node;

    CHECK_EQUAL(CU(cuGraphAddKernelNode_v2)(&node, to, after ? &after : NULL, after != NULL, &params), CUDA_SUCCESS);
    return node;
}

static CUresult try_conditional(CUgraph to, CUgraphNode after, int type, unsigned size, CUgraphNode *node,
                                CUgraph **bodies) {
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
                                .conditional = {.handle = handle, .type = type, .size = size}};
    CUresult result = CU(cuGraphAddNode)(node, to, after ? &after : NULL, after != NULL, &params);

    *bodies = params.conditional.phGraph_out;
    return result;
}

static CUgraph *add_conditional(CUgraph to, CUgraphNode after, int type, unsigned size) {
    CUgraph *bodies;
    CUgraphNode node;

    CHECK_EQUAL(try_conditional(to, after, type, size, &node, &bodies), CUDA_SUCCESS);
    return bodies;
}

static CUgraphExec executable(void) {
    CUgraphExec exec;

    CHECK_EQUAL(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0), CUDA_SUCCESS);
    return exec;
}

static uint64_t taken_by(CUgraphExec exec) {
    uint64_t before = use_of(getpid()).busy;

    CHECK_EQUAL(CU(cuGraphLaunch)(exec, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
    return use_of(getpid()).busy - before;
}

static void finish(CUgraphExec exec) {
    CHECK_EQUAL(CU(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphDestroy)(graph), CUDA_SUCCESS);
}

static void an_if_runs_its_body_or_the_other_one(void) {
    CUgraphNode before;
    CUgraph *bodies;
    CUgraphExec exec;
    uint64_t other = 5 * MS;
    void *parameters[] = {&other};
    CUDA_KERNEL_NODE_PARAMS_v2 longer = {.gridDimX = 1,
                                         .gridDimY = 1,
                                         .gridDimZ = 1,
                                         .blockDimX = 1,
                                         .blockDimY = 1,
                                         .blockDimZ = 1,
                                         .kernelParams = parameters};
    CUgraphNode within;

    start(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    before = add_kernel(graph, NULL, spin, MS, 0);
    bodies = add_conditional(graph, before, CU_GRAPH_COND_TYPE_IF, 2);
    within = add_kernel(bodies[0], NULL, spin, 2 * MS, 0);
    /* the node has asked already, and the next launch begins with 1 */
    add_kernel(bodies[0], within, set_conditional, handle, 0);
    add_kernel(bodies[1], NULL, spin, 4 * MS, 0);
    exec = executable();
    CHECK_EQUAL(taken_by(exec), 3 * MS);
    CHECK_EQUAL(use_of(getpid()).launches, 3);
    CHECK_EQUAL(taken_by(exec), 3 * MS);
    longer.func = spin;
    CHECK_EQUAL(CU(cuGraphExecKernelNodeSetParams_v2)(exec, within, &longer), CUDA_SUCCESS);
    CHECK_EQUAL(taken_by(exec), 6 * MS);
    finish(exec);
}

static void a_kernel_decides_by_the_handles_value(void) {
    CUgraphNode decides;
    CUgraph *bodies;
    CUgraphExec exec;

    start(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    decides = add_kernel(graph, NULL, set_conditional, handle, 0);
    bodies = add_conditional(graph, decides, CU_GRAPH_COND_TYPE_IF, 2);
    add_kernel(bodies[0], NULL, spin, 2 * MS, 0);
    add_kernel(bodies[1], NULL, spin, 4 * MS, 0);
    exec = executable();
    CHECK_EQUAL(taken_by(exec), 4 * MS);
    finish(exec);
}

static void a_while_goes_on_until_its_value_is_0(void) {
    CUgraph *bodies;
    CUgraphNode node;
    CUgraphExec exec;

    start(10, CU_GRAPH_COND_ASSIGN_DEFAULT);
    bodies = add_conditional(graph, NULL, CU_GRAPH_COND_TYPE_WHILE, 1);
    node = add_kernel(bodies[0], NULL, spin, MS, 0);
    add_kernel(bodies[0], node, count_down, handle, 0);
    exec = executable();
    CHECK_EQUAL(taken_by(exec), 10 * MS);
    CHECK_EQUAL(taken_by(exec), 10 * MS);
    CHECK_EQUAL(use_of(getpid()).launches, 40);
    finish(exec);
}

static void without_a_default_a_value_stays_between_launches(void) {
    CUgraph *bodies;
    CUgraphNode node;
    CUgraphExec exec;

    start(10, 0);
    bodies = add_conditional(graph, NULL, CU_GRAPH_COND_TYPE_IF, 1);
    add_kernel(bodies[0], NULL, spin, MS, 0);
    node = add_kernel(graph, NULL, spin, MS, 0);
    add_kernel(graph, node, set_conditional, handle, 7);
    exec = executable();
    CHECK_EQUAL(taken_by(exec), MS);
    CHECK_EQUAL(taken_by(exec), 2 * MS);
    finish(exec);
}

static void a_switch_runs_the_body_of_its_value_or_none(void) {
    static const uint64_t takes[] = {MS, 2 * MS, 4 * MS, 0};
    CUgraphNode decides;
    CUgraph *bodies;

    start(0, CU_GRAPH_COND_ASSIGN_DEFAULT);
    decides = add_kernel(graph, NULL, set_conditional, handle, 0);
    bodies = add_conditional(graph, decides, CU_GRAPH_COND_TYPE_SWITCH, 3);
    for (int i = 0; i < 3; i++)
        add_kernel(bodies[i], NULL, spin, takes[i], 0);
    for (unsigned i = 0; i < 4; i++) {
        void *parameters[] = {&handle, &i};
        CUDA_KERNEL_NODE_PARAMS_v2 params = {.func = set_conditional,
                                             .gridDimX = 1,
                                             .gridDimY = 1,
                                             .gridDimZ = 1,
                                             .blockDimX = 1,
                                             .blockDimY = 1,
                                             .blockDimZ = 1,
                                             .kernelParams = parameters};
        CUgraphExec exec = executable();

        CHECK_EQUAL(CU(cuGraphExecKernelNodeSetParams_v2)(exec, decides, &params), CUDA_SUCCESS);
        CHECK_EQUAL(taken_by(exec), takes[i]);
        CHECK_EQUAL(CU(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
    }
    CHECK_EQUAL(CU(cuGraphDestroy)(graph), CUDA_SUCCESS);
}

/* A body holds a loop and a child graph, and that another conditional node. */
static void bodies_hold_child_graphs_and_conditional_nodes(void) {
    CUgraphConditionalHandle outer = 0, inner = 0;
    CUgraph *bodies, *loop, *last, child, within;
    CUgraphNode node, nested;
    CUgraphExec exec;

    start(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    outer = handle;
    bodies = add_conditional(graph, NULL, CU_GRAPH_COND_TYPE_IF, 1);
    CHECK_EQUAL(CU(cuGraphConditionalHandleCreate)(&inner, bodies[0], NULL, 3, CU_GRAPH_COND_ASSIGN_DEFAULT),
                CUDA_SUCCESS);
    handle = inner;
    loop = add_conditional(bodies[0], NULL, CU_GRAPH_COND_TYPE_WHILE, 1);
    node = add_kernel(loop[0], NULL, spin, MS, 0);
    add_kernel(loop[0], node, count_down, inner, 0);
    CHECK_EQUAL(CU(cuGraphCreate)(&child, 0), CUDA_SUCCESS);
    add_kernel(child, NULL, spin, 10 * MS, 0);
    CHECK_EQUAL(CU(cuGraphAddChildGraphNode)(&nested, bodies[0], NULL, 0, child), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphChildGraphNodeGetGraph)(nested, &within), CUDA_SUCCESS);
    handle = outer; /* is for this graph as well, and is 1 */
    last = add_conditional(within, NULL, CU_GRAPH_COND_TYPE_IF, 1);
    add_kernel(last[0], NULL, spin, 20 * MS, 0);
    exec = executable();
    CHECK_EQUAL(taken_by(exec), 33 * MS);
    handle = inner; /* is not for a graph around its own */
    CHECK_EQUAL(try_conditional(graph, NULL, CU_GRAPH_COND_TYPE_IF, 1, &node, &last), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuGraphDestroy)(child), CUDA_SUCCESS);
    finish(exec);
}

static void ignore(void *data) {
    (void)data;
}

static void only_what_the_documentation_allows_is_in_a_body(void) {
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = MIB};
    CUDA_HOST_NODE_PARAMS host = {ignore, NULL};
    CUDA_MEMSET_NODE_PARAMS fill = {.value = 1, .elementSize = 1, .width = 1, .height = 1};
    CUgraph *bodies, other, within;
    CUgraphNode node;
    CUstream stream;
    CUevent event;

    start(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    bodies = add_conditional(graph, NULL, CU_GRAPH_COND_TYPE_IF, 1);
    CHECK_EQUAL(CU(cuEventCreate)(&event, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&fill.dst, 1), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphAddMemsetNode)(&node, bodies[0], NULL, 0, &fill, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphAddEmptyNode)(&node, bodies[0], NULL, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphAddMemAllocNode)(&node, bodies[0], NULL, 0, &alloc), CUDA_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(CU(cuGraphAddHostNode)(&node, bodies[0], NULL, 0, &host), CUDA_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(CU(cuGraphAddEventRecordNode)(&node, bodies[0], NULL, 0, event), CUDA_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(CU(cuGraphCreate)(&other, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphAddHostNode)(&node, other, NULL, 0, &host), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphAddChildGraphNode)(&node, bodies[0], NULL, 0, other), CUDA_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(CU(cuGraphDestroyNode)(node), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphAddChildGraphNode)(&node, bodies[0], NULL, 0, other), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphChildGraphNodeGetGraph)(node, &within), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphAddHostNode)(&node, within, NULL, 0, &host), CUDA_ERROR_NOT_SUPPORTED);
    /* A capture into it, as the documentation says that bodies are filled. */
    CHECK_EQUAL(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamBeginCaptureToGraph)(stream, bodies[0], NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_GLOBAL),
                CUDA_SUCCESS);
    spin_for(MS, stream);
    CHECK_EQUAL(CU(cuStreamEndCapture)(stream, &within), CUDA_SUCCESS);
    CHECK(within == bodies[0]);
    CHECK_EQUAL(CU(cuGraphDestroy)(other), CUDA_SUCCESS);
    CHECK_EQUAL(taken_by(executable()), MS);
}

static void a_graph_with_a_conditional_node_is_no_child_has_no_copy_and_one_executable(void) {
    CUgraphNodeParams params;
    CUgraphExec exec, second;
    CUgraph *bodies, other;
    CUgraphNode node;
    CUstream stream;

    start(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    CHECK_EQUAL(try_conditional(graph, NULL, CU_GRAPH_COND_TYPE_WHILE, 2, &node, &bodies), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(try_conditional(graph, NULL, CU_GRAPH_COND_TYPE_IF, 3, &node, &bodies), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(try_conditional(graph, NULL, 3, 1, &node, &bodies), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(try_conditional(graph, NULL, CU_GRAPH_COND_TYPE_IF, 2, &node, &bodies), CUDA_SUCCESS);
    add_kernel(bodies[0], NULL, spin, MS, 0);
    CHECK_EQUAL(CU(cuGraphNodeGetParams)(node, &params), CUDA_SUCCESS);
    CHECK(params.type == CU_GRAPH_NODE_TYPE_CONDITIONAL && params.conditional.phGraph_out == bodies &&
          params.conditional.size == 2);
    CHECK_EQUAL(CU(cuGraphClone)(&other, graph), CUDA_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(CU(cuGraphCreate)(&other, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphAddChildGraphNode)(&node, other, NULL, 0, graph), CUDA_ERROR_NOT_SUPPORTED);
    handle++;
    CHECK_EQUAL(try_conditional(graph, NULL, CU_GRAPH_COND_TYPE_IF, 1, &node, &bodies), CUDA_ERROR_INVALID_VALUE);
    handle--;
    CHECK_EQUAL(try_conditional(other, NULL, CU_GRAPH_COND_TYPE_IF, 1, &node, &bodies), CUDA_ERROR_INVALID_VALUE);
    exec = executable();
    CHECK_EQUAL(CU(cuGraphInstantiateWithFlags)(&second, graph, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphLaunch)(exec, stream), CUDA_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(CU(cuStreamEndCapture)(stream, &other), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
    exec = executable();
    CHECK_EQUAL(CU(cuGraphDestroy)(graph), CUDA_SUCCESS);
    CHECK_EQUAL(taken_by(exec), MS);
    CHECK_EQUAL(CU(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
}

static void an_update_changes_bodies_in_place(void) {
    CUgraphExecUpdateResultInfo info;
    CUgraph *bodies, first;
    CUgraphExec exec;

    start(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    bodies = add_conditional(graph, NULL, CU_GRAPH_COND_TYPE_IF, 1);
    add_kernel(bodies[0], NULL, spin, MS, 0);
    exec = executable();
    first = graph;
    CHECK_EQUAL(CU(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphConditionalHandleCreate)(&handle, graph, NULL, 1, CU_GRAPH_COND_ASSIGN_DEFAULT),
                CUDA_SUCCESS);
    bodies = add_conditional(graph, NULL, CU_GRAPH_COND_TYPE_IF, 1);
    CHECK_EQUAL(CU(cuGraphExecUpdate_v2)(exec, graph, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    CHECK_EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
    add_kernel(bodies[0], NULL, spin, 3 * MS, 0);
    CHECK_EQUAL(CU(cuGraphExecUpdate_v2)(exec, graph, &info), CUDA_SUCCESS);
    CHECK_EQUAL(taken_by(exec), 3 * MS);
    CHECK_EQUAL(CU(cuGraphDestroy)(first), CUDA_SUCCESS);
    finish(exec);
}

static void a_loop_without_an_end_keeps_the_card_busy(void) {
    CUgraph *bodies;
    CUgraphExec exec;

    start(1, CU_GRAPH_COND_ASSIGN_DEFAULT);
    bodies = add_conditional(graph, NULL, CU_GRAPH_COND_TYPE_WHILE, 1);
    add_kernel(bodies[0], NULL, spin, 100, 0);
    exec = executable();
    CHECK_EQUAL(CU(cuGraphLaunch)(exec, NULL), CUDA_SUCCESS);
    usleep(300000); /* more than a million rounds take */
    CHECK_EQUAL(CU(cuStreamQuery)(NULL), CUDA_ERROR_NOT_READY);
    finish(exec);
}

RUN(TEST(an_if_runs_its_body_or_the_other_one), TEST(a_kernel_decides_by_the_handles_value),
    TEST(a_while_goes_on_until_its_value_is_0), TEST(without_a_default_a_value_stays_between_launches),
    TEST(a_switch_runs_the_body_of_its_value_or_none), TEST(bodies_hold_child_graphs_and_conditional_nodes),
    TEST(only_what_the_documentation_allows_is_in_a_body),
    TEST(a_graph_with_a_conditional_node_is_no_child_has_no_copy_and_one_executable),
    TEST(an_update_changes_bodies_in_place), TEST(a_loop_without_an_end_keeps_the_card_busy))
