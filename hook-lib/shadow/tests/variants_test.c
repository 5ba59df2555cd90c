/* SPDX-License-Identifier: Apache-2.0 */
/* The older and the per-thread variants of a function keep the same account as the one that today's programs call. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "cases.h"
#include "check.h"
#include "cuda_graphs.h"
#include "cuda_pools.h"
#include "nvml_api.h"
#include "scratch.h"
#include "stage.h"

static const char *box;

/* The libcuda's function of that name, typed. */
#define CUDA(name) ((__typeof__(&name))cuda_function(#name))

static void start(void) {
    stage_driver("h200x2");
    box = stage_container("box");
    stage_share(box, "share", 0, GIB);
    cuda_start(box, 0);
}

static CUmemoryPool pool_on(int device) {
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    CUmemoryPool pool;
    CHECK_EQUAL(CUDA(cuMemPoolCreate)(&pool, &props), CUDA_SUCCESS);
    return pool;
}

static void an_allocation_from_a_pool_of_the_threads_own_stream_is_charged(void) {
    CUdeviceptr pointer, refused;
    start();
    CUmemoryPool pool = pool_on(0);
    CHECK_EQUAL(CUDA(cuMemAllocFromPoolAsync_ptsz)(&pointer, 768 * MIB, pool, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 256 * MIB);
    CHECK_EQUAL(CUDA(cuMemAllocFromPoolAsync_ptsz)(&refused, 512 * MIB, pool, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(stage_hardware_used(0), 768 * MIB);
    CHECK_EQUAL(CUDA(cuMemFreeAsync_ptsz)(pointer, NULL), CUDA_SUCCESS);
}

static void each_way_to_wait_shows_what_a_pool_gave_up(void) {
    CUdeviceptr pointer;
    start();
    for (int own = 0; own < 2; own++) {
        CHECK_EQUAL(CUDA(cuMemAllocAsync)(&pointer, 256 * MIB, NULL), CUDA_SUCCESS);
        CHECK_EQUAL(CUDA(cuMemFreeAsync)(pointer, NULL), CUDA_SUCCESS);
        CHECK_EQUAL(cuda_free(), 768 * MIB);
        CHECK_EQUAL(own ? CUDA(cuStreamSynchronize_ptsz)(NULL) : CUDA(cuStreamSynchronize)(NULL), CUDA_SUCCESS);
        CHECK_EQUAL(cuda_free(), GIB - stage_pool_keeps(256 * MIB));
    }
}

static void a_graph_instantiated_with_parameters_is_charged(void) {
    CUgraph graph;
    CUgraphNode node, freeing;
    CUgraphExec exec;
    start();
    for (int own = 0; own < 2; own++) {
        CUDA_MEM_ALLOC_NODE_PARAMS alloc = {
            .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
            .bytesize = 100 * MIB};
        CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
        CHECK_EQUAL(CUDA(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
        CHECK_EQUAL(CUDA(cuGraphAddMemAllocNode)(&node, graph, NULL, 0, &alloc), CUDA_SUCCESS);
        CHECK_EQUAL(CUDA(cuGraphAddMemFreeNode)(&freeing, graph, &node, 1, alloc.dptr), CUDA_SUCCESS);
        CHECK_EQUAL(own ? CUDA(cuGraphInstantiateWithParams_ptsz)(&exec, graph, &params)
                        : CUDA(cuGraphInstantiateWithParams)(&exec, graph, &params),
                    CUDA_SUCCESS);
        CHECK_EQUAL(cuda_free(), GIB);
        CHECK_EQUAL(CUDA(cuGraphLaunch)(exec, NULL), CUDA_SUCCESS);
        CHECK_EQUAL(cuda_free(), GIB - 100 * MIB);
        CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
        CHECK_EQUAL(CUDA(cuGraphExecDestroy)(exec), CUDA_SUCCESS);
        CHECK_EQUAL(CUDA(cuGraphDestroy)(graph), CUDA_SUCCESS);
        CHECK_EQUAL(CUDA(cuDeviceGraphMemTrim)(0), CUDA_SUCCESS);
        CHECK_EQUAL(cuda_free(), GIB);
    }
}

static void the_first_functions_to_end_a_context_give_back_what_it_held(void) {
    CUcontext primary;
    CUdeviceptr pointer;
    start();
    for (int how = 0; how < 2; how++) {
        CHECK_EQUAL(CUDA(cuDevicePrimaryCtxRetain)(&primary, 0), CUDA_SUCCESS);
        CHECK_EQUAL(CUDA(cuCtxSetCurrent)(primary), CUDA_SUCCESS);
        CHECK_EQUAL(cuda.alloc(&pointer, 512 * MIB), CUDA_SUCCESS);
        CHECK_EQUAL(how ? CUDA(cuDevicePrimaryCtxReset)(0) : CUDA(cuDevicePrimaryCtxRelease)(0), CUDA_SUCCESS);
        if (how)
            CHECK_EQUAL(CUDA(cuDevicePrimaryCtxRelease)(0), CUDA_SUCCESS); /* a reset does not release it */
        CHECK_EQUAL(CUDA(cuCtxSetCurrent)(cuda.context), CUDA_SUCCESS);
        CHECK_EQUAL(cuda_free(), GIB);
    }
    CUcontext other;
    CHECK_EQUAL(CUDA(cuCtxCreate_v2)(&other, 0, 0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.alloc(&pointer, 512 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuCtxDestroy)(other), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuCtxSetCurrent)(cuda.context), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB);
    CHECK_EQUAL(stage_hardware_used(0), 0);
}

static void nvmls_lists_say_the_same_in_every_version(void) {
    CUdeviceptr pointer;
    nvmlDevice_t device;
    start();
    CHECK_EQUAL(cuda.alloc(&pointer, 512 * MIB), CUDA_SUCCESS);
    void *library = dlopen(text("%s/lib/libnvidia-ml.so.1", box), RTLD_NOW);
    CHECK(library);
#define NVML(name) ((__typeof__(&name))dlsym(library, #name))
    CHECK_EQUAL(NVML(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NVML(nvmlDeviceGetHandleByIndex_v2)(0, &device), NVML_SUCCESS);
    nvmlProcessInfo_v1_t first[4];
    nvmlProcessInfo_t later[4];
    unsigned int count;
#define LISTS(name, list, expected)                                                                                    \
    do {                                                                                                               \
        count = 4;                                                                                                     \
        CHECK_EQUAL(NVML(name)(device, &count, list), NVML_SUCCESS);                                                   \
        CHECK_EQUAL(count, expected);                                                                                  \
        if (count) {                                                                                                   \
            CHECK_EQUAL(list[0].pid, getpid());                                                                        \
            CHECK_EQUAL(list[0].usedGpuMemory, 512 * MIB);                                                             \
        }                                                                                                              \
    } while (0)
    LISTS(nvmlDeviceGetComputeRunningProcesses, first, 1);
    LISTS(nvmlDeviceGetComputeRunningProcesses_v2, later, 1);
    LISTS(nvmlDeviceGetComputeRunningProcesses_v3, later, 1);
    LISTS(nvmlDeviceGetGraphicsRunningProcesses, first, 0);
    LISTS(nvmlDeviceGetGraphicsRunningProcesses_v2, later, 0);
    LISTS(nvmlDeviceGetGraphicsRunningProcesses_v3, later, 0);
    LISTS(nvmlDeviceGetMPSComputeRunningProcesses, first, 0);
    LISTS(nvmlDeviceGetMPSComputeRunningProcesses_v2, later, 0);
    LISTS(nvmlDeviceGetMPSComputeRunningProcesses_v3, later, 0);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(an_allocation_from_a_pool_of_the_threads_own_stream_is_charged),
        CASE(each_way_to_wait_shows_what_a_pool_gave_up),
        CASE(a_graph_instantiated_with_parameters_is_charged),
        CASE(the_first_functions_to_end_a_context_give_back_what_it_held),
        CASE(nvmls_lists_say_the_same_in_every_version),
    };
    return RUN_CASES(cases, argc, argv);
}
