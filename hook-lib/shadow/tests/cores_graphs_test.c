/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Core limits and graphs: kernels within graphs within graphs, and loops on the card, by the simulated card's own
 * account of its time.
 */
#include <fcntl.h>
#include <unistd.h>

#include "cases.h"
#include "check.h"
#include "cores_stage.h"
#include "cuda_capture.h"

static const char *box;
static CUfunction spins, sets, counts;

static CUfunction function(const char *name) {
    CUmodule module;
    CUfunction found;
    CHECK_EQUAL(CUDA(cuModuleLoadData)(&module, "image"), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuModuleGetFunction)(&found, module, name), CUDA_SUCCESS);
    return found;
}

static void start(unsigned int cores) {
    cores_stage();
    box = cores_container("box", cores, "hard", 1);
    cuda_start(box, 0);
    spins = function("partita_spin");
    sets = function("partita_set_conditional");
    counts = function("partita_count_down");
}

/* GPU time that the share's account has, once the card is done. */
static uint64_t timed(void) {
    CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
    return cores_region(box)->compute.account.busy_ns;
}

static uint32_t compute_of_first_slot(void) {
    return cores_region(box)->slots[0].compute;
}

static CUgraph new_graph(void) {
    CUgraph graph;
    CHECK_EQUAL(CUDA(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
    return graph;
}

static CUDA_KERNEL_NODE_PARAMS_v2 kernel(CUfunction of, uint64_t *first, unsigned int *second) {
    static void *parameters[2];
    parameters[0] = first;
    parameters[1] = second;
    return kernel_of_one_thread(of, parameters);
}

static CUgraphNode add(CUgraph graph, CUgraphNode after, CUfunction of, uint64_t first, unsigned int second) {
    CUDA_KERNEL_NODE_PARAMS_v2 params = kernel(of, &first, &second);
    CUgraphNode node;
    CHECK_EQUAL(CUDA(cuGraphAddKernelNode_v2)(&node, graph, after ? &after : NULL, after != NULL, &params),
                CUDA_SUCCESS);
    return node;
}

static CUgraph *conditional(CUgraph graph, CUgraphNode after, CUgraphConditionalHandle handle, int type) {
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
                                .conditional = {.handle = handle, .type = type, .size = 1}};
    CUgraphNode node;
    CHECK_EQUAL(CUDA(cuGraphAddNode)(&node, graph, after ? &after : NULL, after != NULL, &params), CUDA_SUCCESS);
    return params.conditional.phGraph_out;
}

static CUgraphConditionalHandle handle_of(CUgraph graph, unsigned int value) {
    CUgraphConditionalHandle handle;
    CHECK_EQUAL(CUDA(cuGraphConditionalHandleCreate)(&handle, graph, NULL, value, CU_GRAPH_COND_ASSIGN_DEFAULT),
                CUDA_SUCCESS);
    return handle;
}

static CUgraph child(CUgraph graph) {
    CUgraph within;
    CUgraphNode node;
    CHECK_EQUAL(CUDA(cuGraphAddChildGraphNode)(&node, graph, NULL, 0, new_graph()), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuGraphChildGraphNodeGetGraph)(node, &within), CUDA_SUCCESS);
    return within;
}

static CUgraphExec executable(CUgraph graph) {
    CUgraphExec exec;
    CHECK_EQUAL(CUDA(cuGraphInstantiateWithFlags)(&exec, graph, 0), CUDA_SUCCESS);
    return exec;
}

static void launch(CUgraphExec exec) {
    CHECK_EQUAL(CUDA(cuGraphLaunch)(exec, NULL), CUDA_SUCCESS);
}

/* A loop of a kernel, whose rounds can be changed. */
static struct loop {
    CUgraphExec exec;
    CUgraphNode begins;
    CUgraphConditionalHandle handle;
} loop_of(uint64_t round_ns) {
    struct loop loop;
    CUgraph graph = new_graph();
    loop.handle = handle_of(graph, 0);
    loop.begins = add(graph, NULL, sets, loop.handle, 1);
    CUgraph body = conditional(graph, loop.begins, loop.handle, CU_GRAPH_COND_TYPE_WHILE)[0];
    add(body, add(body, NULL, spins, round_ns, 0), counts, loop.handle, 0);
    loop.exec = executable(graph);
    return loop;
}

static void set_rounds(struct loop *loop, unsigned int rounds) {
    CUDA_KERNEL_NODE_PARAMS_v2 params = kernel(sets, &loop->handle, &rounds);
    CHECK_EQUAL(CUDA(cuGraphExecKernelNodeSetParams_v2)(loop->exec, loop->begins, &params), CUDA_SUCCESS);
}

static void check_timed(CUgraph graph, uint64_t ns) {
    uint64_t before = timed(), hardware = cores_busy(getpid());
    launch(executable(graph));
    uint64_t more = timed() - before;
    CHECK_EQUAL(cores_busy(getpid()) - hardware, ns);
    CHECK(more >= ns - 10 * US);
}

static void kernels_are_timed_wherever_in_a_graph_they_are(void) {
    start(90);
    CUgraph graph = new_graph();
    add(conditional(graph, NULL, handle_of(graph, 1), CU_GRAPH_COND_TYPE_IF)[0], NULL, spins, 5 * MS, 0);
    check_timed(graph, 5 * MS);
    graph = new_graph();
    add(child(child(graph)), NULL, spins, 5 * MS, 0);
    check_timed(graph, 5 * MS);
    graph = new_graph();
    add(conditional(child(graph), NULL, handle_of(graph, 1), CU_GRAPH_COND_TYPE_IF)[0], NULL, spins, 5 * MS, 0);
    check_timed(graph, 5 * MS);
    graph = new_graph();
    CUgraphConditionalHandle handle = handle_of(graph, 1);
    CUgraph body = conditional(graph, NULL, handle, CU_GRAPH_COND_TYPE_IF)[0];
    add(conditional(child(body), NULL, handle, CU_GRAPH_COND_TYPE_IF)[0], NULL, spins, 5 * MS, 0);
    check_timed(graph, 5 * MS);
}

static void graphs_without_a_kernel_anywhere_are_not_timed(void) {
    start(10);
    CUDA_MEMSET_NODE_PARAMS fill = {.value = 1, .elementSize = 1, .width = 1, .height = 1};
    CUgraph graph = new_graph(), body = conditional(child(graph), NULL, handle_of(graph, 1), CU_GRAPH_COND_TYPE_IF)[0];
    CUgraphNode node;
    CHECK_EQUAL(cuda.alloc(&fill.dst, 1), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuGraphAddMemsetNode)(&node, body, NULL, 0, &fill, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuGraphAddEmptyNode)(&node, child(child(graph)), NULL, 0), CUDA_SUCCESS);
    CUgraphExec exec = executable(graph);
    for (int i = 0; i < 100; i++)
        launch(exec);
    CHECK_EQUAL(timed(), 0);
    CHECK_EQUAL(compute_of_first_slot(), PARTITA_COMPUTE_UNUSED);
}

/* A window ends with the kernels that it has, and not with the graphs. */
static void the_kernels_of_child_graphs_count_one_by_one(void) {
    start(90);
    CUgraph graph = new_graph(), within = child(child(graph));
    for (int i = 0; i < 100; i++)
        add(within, NULL, spins, 20 * US, 0);
    CUgraphExec exec = executable(graph);
    for (int i = 0; i < 40; i++) { /* after which a window would be 32 of them */
        spin(spins, 20 * US, NULL);
        CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
    }
    uint64_t begin = cores_now();
    for (int i = 0; i < 60; i++)
        launch(exec);
    CHECK(cores_now() - begin >= 10 * MS); /* 120 ms of work, of which no more than 50 ms are launched ahead */
    CHECK_EQUAL(compute_of_first_slot(), PARTITA_COMPUTE_ENFORCED);
}

static void loops_are_held_to_the_limit_and_paid_for_afterwards(void) {
    start(25);
    struct loop loop = loop_of(MS);
    uint64_t begin = cores_now();
    for (unsigned int i = 0; cores_now() - begin < 6000 * MS; i++) {
        set_rounds(&loop, i % 3 ? 1 : 150);
        launch(loop.exec);
    }
    uint64_t passed = cores_now() - begin;
    CHECK(cores_busy(getpid()) <= passed * 35 / 100);
    CHECK(cores_busy(getpid()) >= passed * 5 / 100);
}

static void loops_that_suddenly_take_long_are_not_launched_far_ahead(void) {
    start(90);
    struct loop loop = loop_of(50 * US);
    for (int i = 0; i < 200; i++)
        launch(loop.exec);
    CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
    set_rounds(&loop, 6000); /* 300 ms */
    uint64_t begin = cores_now();
    for (int i = 0; i < 8; i++)
        launch(loop.exec);
    CHECK(cores_now() - begin >= 900 * MS);
    CHECK(timed() >= 2400 * MS);
}

/* The first ones: nothing is known of them, and nobody waits for what may be waiting for this program. */
static void loops_that_run_for_long_let_few_others_come_behind(void) {
    start(90);
    struct loop loop = loop_of(10 * MS);
    set_rounds(&loop, 400);
    uint64_t begin = cores_now();
    for (int i = 0; i < 3; i++)
        launch(loop.exec);
    CHECK(cores_now() - begin >= 1000 * MS);
    CHECK(cores_busy(getpid()) < 4000 * MS);
}

/*
 * Its processor was taken from it between the two events, as far as can be told: the card may have waited, but no
 * longer than that.
 */
static void what_is_launched_slowly_is_charged_what_it_takes(void) {
    start(90);
    struct loop loop = loop_of(MS);
    spin(spins, 0, NULL);
    stage_delay("cuGraphLaunch", 2000);
    for (int i = 0; i < 5; i++) {
        launch(loop.exec);
        CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
    }
    uint64_t before = timed();
    set_rounds(&loop, 200);
    launch(loop.exec);
    CHECK(timed() - before >= 100 * MS);
    stage_delay("cuLaunchKernel", 2000);
    for (int i = 0; i < 5; i++) {
        spin(spins, MS, NULL);
        CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
    }
    before = timed();
    spin(spins, 200 * MS, NULL);
    CHECK(timed() - before >= 100 * MS);
}

enum { KERNELS = 10 };

static CUgraphExec chain_of_kernels(uint64_t each_ns) {
    CUgraph graph = new_graph();
    CUgraphNode last = NULL;
    for (int i = 0; i < KERNELS; i++)
        last = add(graph, last, spins, each_ns, 0);
    return executable(graph);
}

/* Of which each fourth has a long graph at its end; the card waits for the program behind each. */
static void bursts(unsigned int count, CUgraphExec quick, CUgraphExec slow, CUstream stream) {
    for (unsigned int i = 0; i < count; i++) {
        for (int j = 0; j < 6; j++)
            spin(spins, 10 * US, stream);
        CHECK_EQUAL(CUDA(cuGraphLaunch)(i % 4 ? quick : slow, stream), CUDA_SUCCESS);
        wait_ms(12);
    }
}

static void a_long_graph_at_the_end_of_bursts_is_charged_what_it_takes(void) {
    CUstream stream;
    start(90);
    CUgraphExec quick = chain_of_kernels(10 * US), slow = chain_of_kernels(MS);
    CHECK_EQUAL(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    bursts(160, quick, slow, stream); /* until it is known that some are long */
    uint64_t before = timed(), hardware = cores_busy(getpid());
    bursts(100, quick, slow, stream);
    double charged = (double)(timed() - before) / MS, busy = (double)(cores_busy(getpid()) - hardware) / MS;
    fprintf(stderr, "%.1f of %.1f ms are charged\n", charged, busy);
    CHECK(charged > busy * 0.8 && charged < busy * 1.2);
}

static CUexternalSemaphore semaphore_of_another_api(void) {
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC handle = {.type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD};
    CUexternalSemaphore semaphore;
    handle.handle.fd = open(text("%s/semaphore", scratch_folder()), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(handle.handle.fd >= 0);
    CHECK_EQUAL(CUDA(cuImportExternalSemaphore)(&semaphore, &handle), CUDA_SUCCESS);
    return semaphore;
}

static void semaphores_pass_through_and_cost_nothing(void) {
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS value = {.params.fence.value = 1};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS least = {.params.fence.value = 1};
    start(10);
    CUexternalSemaphore semaphore = semaphore_of_another_api();
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 signals = {&semaphore, &value, 1};
    CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 waits = {&semaphore, &least, 1};
    CUgraph graph = new_graph();
    CUgraphNode node;
    size_t free_before = cuda_free();
    CHECK_EQUAL(CUDA(cuGraphAddExternalSemaphoresSignalNode)(&node, graph, NULL, 0, &signals), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuGraphAddExternalSemaphoresWaitNode)(&node, graph, &node, 1, &waits), CUDA_SUCCESS);
    CUgraphExec exec = executable(graph);
    for (int i = 0; i < 50; i++) {
        launch(exec);
        CHECK_EQUAL(CUDA(cuSignalExternalSemaphoresAsync)(&semaphore, &value, 1, NULL), CUDA_SUCCESS);
        CHECK_EQUAL(CUDA(cuWaitExternalSemaphoresAsync)(&semaphore, &least, 1, NULL), CUDA_SUCCESS);
    }
    CHECK_EQUAL(timed(), 0);
    CHECK_EQUAL(compute_of_first_slot(), PARTITA_COMPUTE_UNUSED);
    CHECK_EQUAL(cuda_free(), free_before);
}

static void semaphores_between_kernels_are_captured_while_a_limit_is_in_force(void) {
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS value = {.params.fence.value = 1};
    CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS least = {.params.fence.value = 1};
    CUgraph graph;
    CUstream stream;
    size_t count = 0;
    start(90);
    CUexternalSemaphore semaphore = semaphore_of_another_api();
    CHECK_EQUAL(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    spin(spins, MS, stream);
    CHECK_EQUAL(CUDA(cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    spin(spins, 2 * MS, stream);
    CHECK_EQUAL(CUDA(cuSignalExternalSemaphoresAsync_ptsz)(&semaphore, &value, 1, stream), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuWaitExternalSemaphoresAsync_ptsz)(&semaphore, &least, 1, stream), CUDA_SUCCESS);
    spin(spins, 3 * MS, stream);
    CHECK_EQUAL(CUDA(cuStreamEndCapture)(stream, &graph), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuGraphGetNodes)(graph, NULL, &count), CUDA_SUCCESS);
    CHECK_EQUAL(count, 4);
    check_timed(graph, 5 * MS);
    CHECK_EQUAL(CUDA(cuDestroyExternalSemaphore)(semaphore), CUDA_SUCCESS);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(kernels_are_timed_wherever_in_a_graph_they_are),
        CASE(graphs_without_a_kernel_anywhere_are_not_timed),
        CASE(the_kernels_of_child_graphs_count_one_by_one),
        CASE(loops_are_held_to_the_limit_and_paid_for_afterwards),
        CASE(loops_that_suddenly_take_long_are_not_launched_far_ahead),
        CASE(loops_that_run_for_long_let_few_others_come_behind),
        CASE(what_is_launched_slowly_is_charged_what_it_takes),
        CASE(a_long_graph_at_the_end_of_bursts_is_charged_what_it_takes),
        CASE(semaphores_pass_through_and_cost_nothing),
        CASE(semaphores_between_kernels_are_captured_while_a_limit_is_in_force),
    };
    return RUN_CASES(cases, argc, argv);
}
