/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that graphs allocate is charged when they are launched, against the simulated driver. */
#include "cases.h"
#include "check.h"
#include "cuda_graphs.h"
#include "stage.h"

static __typeof__(&cuGraphCreate) create;
static __typeof__(&cuGraphAddMemAllocNode) add_alloc;
static __typeof__(&cuGraphAddMemFreeNode) add_free;
static __typeof__(&cuGraphInstantiateWithFlags) instantiate;
static __typeof__(&cuGraphLaunch) launch;
static __typeof__(&cuGraphExecDestroy) destroy;
static __typeof__(&cuDeviceGraphMemTrim) trim;

static void start(uint64_t memory) {
    stage_driver("h200x2");
    const char *box = stage_container("box");
    stage_share(box, "share", 0, memory);
    cuda_start(box, 0);
    create = cuda_function("cuGraphCreate");
    add_alloc = cuda_function("cuGraphAddMemAllocNode");
    add_free = cuda_function("cuGraphAddMemFreeNode");
    instantiate = cuda_function("cuGraphInstantiateWithFlags");
    launch = cuda_function("cuGraphLaunch");
    destroy = cuda_function("cuGraphExecDestroy");
    trim = cuda_function("cuDeviceGraphMemTrim");
}

static CUDA_MEM_ALLOC_NODE_PARAMS request(int device, size_t bytes) {
    return (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}},
        .bytesize = bytes};
}

/* A graph that allocates and frees so often, one after the other (in a chain) or all at once. */
static CUgraph graph_of(int device, size_t bytes, int times, int chained) {
    CUgraph graph;
    CUgraphNode node, last = NULL;
    CHECK_EQUAL(create(&graph, 0), CUDA_SUCCESS);
    for (int i = 0; i < times; i++) {
        CUDA_MEM_ALLOC_NODE_PARAMS alloc = request(device, bytes);
        CHECK_EQUAL(add_alloc(&node, graph, chained ? &last : NULL, chained && last, &alloc), CUDA_SUCCESS);
        CHECK_EQUAL(add_free(&last, graph, &node, 1, alloc.dptr), CUDA_SUCCESS);
    }
    return graph;
}

static CUgraphExec exec_of(CUgraph graph) {
    CUgraphExec exec;
    CHECK_EQUAL(instantiate(&exec, graph, 0), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuGraphDestroy))cuda_function("cuGraphDestroy"))(graph), CUDA_SUCCESS);
    return exec;
}

static void a_launch_is_charged_what_the_devices_graph_memory_grows_by(void) {
    start(GIB);
    CUgraphExec exec = exec_of(graph_of(0, 100 * MIB, 3, 0)), small = exec_of(graph_of(0, 50 * MIB, 1, 0));
    CHECK_EQUAL(cuda_free(), GIB);
    CHECK_EQUAL(launch(exec, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 300 * MIB);
    CHECK_EQUAL(stage_hardware_used(0), 300 * MIB);
    for (int i = 0; i < 5; i++) {
        CHECK_EQUAL(launch(exec, NULL), CUDA_SUCCESS);
        CHECK_EQUAL(launch(small, NULL), CUDA_SUCCESS);
    }
    CHECK_EQUAL(cuda_free(), GIB - 300 * MIB);
    CHECK_EQUAL(destroy(exec), CUDA_SUCCESS);
    CHECK_EQUAL(destroy(small), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 300 * MIB); /* kept by the device */
    CHECK_EQUAL(trim(0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB);
    CHECK_EQUAL(stage_hardware_used(0), 0);
}

static void a_launch_beyond_the_quota_is_refused_and_costs_nothing(void) {
    start(256 * MIB);
    CUgraphExec exec = exec_of(graph_of(0, 100 * MIB, 3, 0)), fits = exec_of(graph_of(0, 128 * MIB, 2, 0));
    CHECK_EQUAL(launch(exec, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(((__typeof__(&cuGraphUpload_ptsz))cuda_function("cuGraphUpload_ptsz"))(exec, NULL),
                CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(stage_hardware_used(0), 0);
    CHECK_EQUAL(cuda_free(), 256 * MIB);
    CHECK_EQUAL(launch(fits, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 0);
}

static void an_upload_while_instantiating_is_refused_beyond_the_quota(void) {
    CUgraphExec exec;
    start(256 * MIB);
    CHECK_EQUAL(instantiate(&exec, graph_of(0, GIB, 1, 0), CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD),
                CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(stage_hardware_used(0), 0);
    CHECK_EQUAL(instantiate(&exec, graph_of(0, 64 * MIB, 1, 0), CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 192 * MIB);
    CHECK_EQUAL(launch(exec, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 192 * MIB);
}

static void allocations_that_do_not_live_at_once_count_once(void) {
    start(256 * MIB);
    CUgraphExec exec = exec_of(graph_of(0, 200 * MIB, 8, 1));
    CHECK_EQUAL(launch(exec, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 56 * MIB);
    CHECK_EQUAL(stage_hardware_used(0), 200 * MIB);
}

static void idle_graph_memory_makes_room_for_other_allocations(void) {
    CUdeviceptr pointer;
    start(256 * MIB);
    CUgraphExec exec = exec_of(graph_of(0, 200 * MIB, 1, 0));
    CHECK_EQUAL(launch(exec, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.alloc(&pointer, 100 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(stage_hardware_used(0), 100 * MIB);
    CHECK_EQUAL(launch(exec, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(launch(exec, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(stage_hardware_used(0), 200 * MIB);
}

static void a_graph_of_another_card_charges_that_card(void) {
    start(4 * MIB);
    CUgraphExec exec = exec_of(graph_of(1, GIB, 1, 0));
    CHECK_EQUAL(launch(exec, NULL), CUDA_SUCCESS); /* no share of it: not limited */
    CHECK_EQUAL(cuda_free(), 4 * MIB);
}

static void every_way_to_build_and_start_a_graph_is_charged(void) {
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
    CUDA_GRAPH_INSTANTIATE_PARAMS how = {.flags = 0};
    start(64 * MIB);
    CHECK_EQUAL(create(&graph, 0), CUDA_SUCCESS);
    params.alloc = request(0, GIB);
    CHECK_EQUAL(((__typeof__(&cuGraphAddNode))cuda_function("cuGraphAddNode"))(&node, graph, NULL, 0, &params),
                CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuGraphInstantiate))cuda_function("cuGraphInstantiate"))(&exec, graph, NULL, NULL, 0),
                CUDA_SUCCESS);
    CHECK_EQUAL(launch(exec, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(
        ((__typeof__(&cuGraphInstantiate_v2))cuda_function("cuGraphInstantiate_v2"))(&exec, graph, NULL, NULL, 0),
        CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuGraphLaunch_ptsz))cuda_function("cuGraphLaunch_ptsz"))(exec, NULL),
                CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(((__typeof__(&cuGraphInstantiateWithParams_ptsz))cuda_function("cuGraphInstantiateWithParams_ptsz"))(
                    &exec, graph, &how),
                CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuGraphUpload))cuda_function("cuGraphUpload"))(exec, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(stage_hardware_used(0), 0);
    CHECK_EQUAL(instantiate(&exec, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(launch(NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(a_launch_is_charged_what_the_devices_graph_memory_grows_by),
        CASE(a_launch_beyond_the_quota_is_refused_and_costs_nothing),
        CASE(an_upload_while_instantiating_is_refused_beyond_the_quota),
        CASE(allocations_that_do_not_live_at_once_count_once),
        CASE(idle_graph_memory_makes_room_for_other_allocations),
        CASE(a_graph_of_another_card_charges_that_card),
        CASE(every_way_to_build_and_start_a_graph_is_charged),
    };
    return RUN_CASES(cases, argc, argv);
}
