/* SPDX-License-Identifier: Apache-2.0 */
/* The shadow gets no memory for its books: an allocation fails then, and no charge is left behind. */
#include "cases.h"
#include "check.h"
#include "cuda_arrays.h"
#include "cuda_graphs.h"
#include "cuda_pages.h"
#include "cuda_pools.h"
#include "no_memory.h"
#include "stage.h"

#define CUDA(name) ((__typeof__(&name))cuda_function(#name))

static void start(void) {
    stage_driver("h200x1");
    const char *box = stage_container("box");
    stage_share(box, "share", 0, GIB);
    cuda_start(box, 0);
    CHECK_EQUAL(cuda_free(), GIB);
    no_memory = true;
}

static void nothing_is_held(void) {
    CHECK_EQUAL(stage_hardware_used(0), 0);
    CHECK_EQUAL(cuda_free(), GIB);
}

static void linear_memory_is_refused_and_costs_nothing(void) {
    CUdeviceptr pointer = 42;
    size_t pitch;
    start();
    CHECK_EQUAL(cuda.alloc(&pointer, MIB), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(pointer, 42);
    CHECK_EQUAL(CUDA(cuMemAllocManaged)(&pointer, MIB, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(CUDA(cuMemAllocPitch_v2)(&pointer, &pitch, 100, 100, 4), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(pointer, 42);
    nothing_is_held();
    no_memory = false;
    CHECK_EQUAL(cuda.alloc(&pointer, GIB), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
    nothing_is_held();
}

static void what_fits_in_the_books_is_given_back_when_it_is_freed(void) {
    enum { MANY = 4000 };
    static CUdeviceptr pointers[MANY];
    int got = 1;
    start();
    no_memory = false;
    CHECK_EQUAL(cuda.alloc(&pointers[0], 512), CUDA_SUCCESS);
    no_memory = true;
    while (got < MANY && cuda.alloc(&pointers[got], 512) == CUDA_SUCCESS)
        got++;
    CHECK(got < MANY);
    while (got-- > 0)
        CHECK_EQUAL(cuda.free(pointers[got]), CUDA_SUCCESS);
    nothing_is_held();
}

static void an_array_is_refused_and_costs_nothing(void) {
    const CUDA_ARRAY_DESCRIPTOR flat = {.Width = 1024, .Height = 1024, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    const CUDA_ARRAY3D_DESCRIPTOR deep = {.Width = 256, .Height = 256, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    CUarray array;
    CUmipmappedArray mipmapped;
    start();
    CHECK_EQUAL(CUDA(cuArrayCreate_v2)(&array, &flat), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(CUDA(cuMipmappedArrayCreate)(&mipmapped, &deep, 2), CUDA_ERROR_OUT_OF_MEMORY);
    nothing_is_held();
}

static void stream_ordered_memory_is_refused_and_costs_nothing(void) {
    enum { MANY = 2000 };
    static CUdeviceptr pointers[MANY];
    CUdeviceptr first;
    CUmemoryPool pool;
    int got = 0;
    start();
    CHECK_EQUAL(CUDA(cuMemAllocAsync)(&first, MIB, NULL), CUDA_ERROR_OUT_OF_MEMORY); /* no account of the pool */
    no_memory = false;
    CHECK_EQUAL(CUDA(cuMemAllocAsync)(&first, MIB, NULL), CUDA_SUCCESS);
    no_memory = true;
    for (pointers[0] = 42; got + 1 < MANY && CUDA(cuMemAllocAsync)(&pointers[got], 512, NULL) == CUDA_SUCCESS;)
        pointers[++got] = 42;
    CHECK(got + 1 < MANY);
    CHECK_EQUAL(pointers[got], 42);
    while (got-- > 0)
        CHECK_EQUAL(CUDA(cuMemFreeAsync)(pointers[got], NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemFreeAsync)(first, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuDeviceGetDefaultMemPool)(&pool, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemPoolTrimTo)(pool, 0), CUDA_SUCCESS);
    nothing_is_held();
    CHECK_EQUAL(CUDA(cuMemAllocAsync)(&first, GIB, NULL), CUDA_SUCCESS); /* no loan is left open */
}

static const CUmemAllocationProp on_card = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};

static void physical_memory_is_refused_and_costs_nothing(void) {
    CUmemGenericAllocationHandle handle;
    start();
    CHECK_EQUAL(CUDA(cuMemCreate)(&handle, 2 * MIB, &on_card, 0), CUDA_ERROR_OUT_OF_MEMORY);
    nothing_is_held();
}

/* The books hold 256 entries before they need more memory. */
static void a_mapping_or_handle_for_which_there_is_no_room_is_refused_and_costs_nothing(void) {
    enum { MANY = 300 };
    static CUmemGenericAllocationHandle again[MANY];
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at;
    int mapped = 0, retained = 0;
    start();
    no_memory = false;
    CHECK_EQUAL(CUDA(cuMemCreate)(&handle, 2 * MIB, &on_card, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemAddressReserve)(&at, MANY * 2 * MIB, 0, 0, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemMap)(at, 2 * MIB, 0, handle, 0), CUDA_SUCCESS);
    no_memory = true;
    while (++mapped < MANY && CUDA(cuMemMap)(at + (uint64_t)mapped * 2 * MIB, 2 * MIB, 0, handle, 0) == CUDA_SUCCESS) {
    }
    while (retained < MANY &&
           CUDA(cuMemRetainAllocationHandle)(&again[retained], (void *)(uintptr_t)at) == CUDA_SUCCESS)
        retained++;
    CHECK(mapped < MANY);
    while (retained-- > 0)
        CHECK_EQUAL(CUDA(cuMemRelease)(again[retained]), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(handle), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemUnmap)(at, (uint64_t)mapped * 2 * MIB), CUDA_SUCCESS);
    nothing_is_held();
}

static void a_graph_whose_needs_cannot_be_noted_is_not_instantiated(void) {
    CUDA_MEM_ALLOC_NODE_PARAMS request = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = 2 * GIB};
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec = (CUgraphExec)42;
    start();
    CHECK_EQUAL(CUDA(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuGraphAddMemAllocNode)(&node, graph, NULL, 0, &request), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuGraphInstantiateWithFlags)(&exec, graph, 0), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(exec == (CUgraphExec)42);
    no_memory = false;
    CHECK_EQUAL(CUDA(cuGraphInstantiateWithFlags)(&exec, graph, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuGraphLaunch)(exec, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(CUDA(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
    nothing_is_held();
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(linear_memory_is_refused_and_costs_nothing),
        CASE(what_fits_in_the_books_is_given_back_when_it_is_freed),
        CASE(an_array_is_refused_and_costs_nothing),
        CASE(stream_ordered_memory_is_refused_and_costs_nothing),
        CASE(a_graph_whose_needs_cannot_be_noted_is_not_instantiated),
        CASE(physical_memory_is_refused_and_costs_nothing),
        CASE(a_mapping_or_handle_for_which_there_is_no_room_is_refused_and_costs_nothing),
    };
    return RUN_CASES(cases, argc, argv);
}
