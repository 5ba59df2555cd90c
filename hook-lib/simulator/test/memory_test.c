/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator's model and its figures. */
#include "simulated.h"

#include <dlfcn.h>
#include <pthread.h>

#define T4_CAPACITY (14920 * MIB) /* 15360 MiB less what the driver reserves */
#define CONTEXT (300 * MIB)

static size_t free_bytes(void) {
    size_t free, total;

    CHECK_EQUAL(CU(cuMemGetInfo_v2)(&free, &total), CUDA_SUCCESS);
    CHECK_EQUAL(total, T4_CAPACITY);
    return free;
}

static void a_context_costs_memory_that_only_figures_show(void) {
    size_t total;

    install_node("t4x1");
    CHECK_EQUAL(nvml_used(0), 0);
    begin_cuda(0);
    CHECK_EQUAL(CU(cuDeviceTotalMem_v2)(&total, 0), CUDA_SUCCESS);
    CHECK_EQUAL(total, T4_CAPACITY);
    CHECK_EQUAL(free_bytes(), T4_CAPACITY - CONTEXT);
    CHECK_EQUAL(nvml_used(0), CONTEXT);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRelease_v2)(0), CUDA_SUCCESS);
    CHECK_EQUAL(nvml_used(0), 0);
}

static void large_requests_take_whole_granules(void) {
    CUdeviceptr pointer, base;
    size_t size;

    install_node("t4x1");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, 3 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(pointer % (2 * MIB), 0);
    CHECK_EQUAL(nvml_used(0), CONTEXT + 4 * MIB);
    CHECK_EQUAL(CU(cuMemGetAddressRange_v2)(&base, &size, pointer + 3 * MIB - 1), CUDA_SUCCESS);
    CHECK(base == pointer && size == 3 * MIB);
    CHECK_EQUAL(CU(cuMemGetAddressRange_v2)(&base, &size, pointer + 3 * MIB), CUDA_ERROR_NOT_FOUND);
    CHECK_EQUAL(CU(cuMemFree_v2)(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(nvml_used(0), CONTEXT);
}

static void small_requests_share_a_slab(void) {
    CUdeviceptr pointers[4096];

    install_node("t4x1");
    begin_cuda(0);
    for (int i = 0; i < 4096; i++) {
        CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointers[i], 100), CUDA_SUCCESS);
        CHECK_EQUAL(pointers[i] % 256, 0);
    }
    CHECK_EQUAL(nvml_used(0), CONTEXT + 2 * MIB);
    for (int i = 0; i < 4095; i++)
        CHECK_EQUAL(CU(cuMemFree_v2)(pointers[i]), CUDA_SUCCESS);
    CHECK_EQUAL(nvml_used(0), CONTEXT + 2 * MIB);
    CHECK_EQUAL(CU(cuMemFree_v2)(pointers[4095]), CUDA_SUCCESS);
    CHECK_EQUAL(nvml_used(0), CONTEXT);
}

static void the_card_is_full_to_the_last_granule(void) {
    CUdeviceptr pointer, more;

    install_node("t4x1");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, T4_CAPACITY), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, ~0ull), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, T4_CAPACITY - CONTEXT), CUDA_SUCCESS);
    CHECK_EQUAL(free_bytes(), 0);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&more, 1), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(CU(cuMemFree_v2)(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&more, 1), CUDA_SUCCESS);
}

static void a_context_that_does_not_fit_is_out_of_memory(void) {
    CUcontext context;
    CUdeviceptr pointer;

    install_node("t4x1");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, T4_CAPACITY - CONTEXT - 2 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxCreate_v2)(&context, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
}

static void a_dying_context_gives_its_memory_back(void) {
    CUdeviceptr pointer;
    CUcontext context;

    install_node("t4x1");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuCtxCreate_v2)(&context, 0, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, 100 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, 100), CUDA_SUCCESS);
    CHECK_EQUAL(nvml_used(0), 2 * CONTEXT + 102 * MIB);
    CHECK_EQUAL(CU(cuCtxDestroy_v2)(context), CUDA_SUCCESS);
    CHECK_EQUAL(nvml_used(0), CONTEXT);
    CHECK_EQUAL(CU(cuMemFree_v2)(pointer), CUDA_ERROR_INVALID_VALUE);
}

static void primary_contexts_are_counted(void) {
    CUcontext first, second;
    unsigned flags;
    int active;

    install_node("t4x1");
    CHECK_EQUAL(CU(cuInit)(0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxGetState)(0, &flags, &active), CUDA_SUCCESS);
    CHECK_EQUAL(active, 0);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRetain)(&first, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRetain)(&second, 0), CUDA_SUCCESS);
    CHECK(first == second);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRelease_v2)(0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxGetState)(0, &flags, &active), CUDA_SUCCESS);
    CHECK_EQUAL(active, 1);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRelease_v2)(0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxGetState)(0, &flags, &active), CUDA_SUCCESS);
    CHECK_EQUAL(active, 0);
}

static bool primary_is_active(void) {
    unsigned flags;
    int active;

    CHECK_EQUAL(CU(cuDevicePrimaryCtxGetState)(0, &flags, &active), CUDA_SUCCESS);
    return active;
}

static void a_reset_of_the_primary_context_does_not_release_it(void) {
    CUcontext context, again;

    install_node("t4x1");
    CHECK_EQUAL(CU(cuInit)(0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxReset_v2)(0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRetain)(&context, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRetain)(&context, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxReset_v2)(0), CUDA_SUCCESS);
    CHECK(!primary_is_active());
    CHECK_EQUAL(nvml_used(0), 0);
    CHECK_EQUAL(CU(cuCtxSetCurrent)(context), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRelease_v2)(0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRetain)(&again, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRelease_v2)(0), CUDA_SUCCESS);
    CHECK(primary_is_active());
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRelease_v2)(0), CUDA_SUCCESS);
    CHECK(!primary_is_active());
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRelease_v2)(0), CUDA_ERROR_INVALID_CONTEXT);
}

static void the_first_abi_has_32_bit_pointers_and_sizes(void) {
    struct {
        CUdeviceptr_v1 pointer;
        unsigned guard;
    } small = {0, 0x5a5a5a5a};
    unsigned free = 0, total = 0;

    install_node("t4x1");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuMemAlloc)(&small.pointer, 5 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(small.guard, 0x5a5a5a5a);
    CHECK_EQUAL(nvml_used(0), CONTEXT + 6 * MIB);
    CHECK_EQUAL(CU(cuMemGetInfo)(&free, &total), CUDA_SUCCESS);
    CHECK(free == UINT32_MAX && total == UINT32_MAX);
    CHECK_EQUAL(CU(cuMemsetD8)(small.pointer, 7, 1024), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemFree)(small.pointer), CUDA_SUCCESS);
    CHECK_EQUAL(nvml_used(0), CONTEXT);
}

static void pitch_is_the_drivers_and_rows_are_charged_with_it(void) {
    CUdeviceptr pointer;
    size_t pitch;

    install_node("t4x1");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuMemAllocPitch_v2)(&pointer, &pitch, 1000, 4096, 4), CUDA_SUCCESS);
    CHECK_EQUAL(pitch, 1024);
    CHECK_EQUAL(nvml_used(0), CONTEXT + 4 * MIB);
}

static void managed_memory_may_exceed_the_card(void) {
    CUdeviceptr pointer;
    volatile char *host;

    install_node("t4x1");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuMemAllocManaged)(&pointer, 2 * T4_CAPACITY, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    CHECK_EQUAL(free_bytes(), 0);
    host = (volatile char *)(uintptr_t)pointer;
    host[5] = 9;
    CHECK_EQUAL(host[5], 9);
    CHECK_EQUAL(CU(cuMemFree_v2)(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(nvml_used(0), CONTEXT);
}

static void stream_ordered_memory_is_charged_and_given_back(void) {
    CUdeviceptr first, second;

    install_node("t4x1");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuMemAllocAsync)(&first, 10 * MIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemAllocAsync_ptsz)(&second, 10 * MIB, CU_STREAM_PER_THREAD), CUDA_SUCCESS);
    CHECK_EQUAL(nvml_used(0), CONTEXT + 32 * MIB);
    CHECK_EQUAL(CU(cuMemFreeAsync)(first, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(nvml_used(0), CONTEXT + 32 * MIB); /* nobody has waited for it yet */
    CHECK_EQUAL(CU(cuMemFree_v2)(second), CUDA_SUCCESS);
    CHECK_EQUAL(nvml_used(0), CONTEXT);
}

static void host_memory_is_not_charged(void) {
    void *pointer;

    install_node("t4x1");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuMemHostAlloc)(&pointer, 10 * MIB, 0), CUDA_SUCCESS);
    memset(pointer, 1, 10 * MIB);
    CHECK_EQUAL(nvml_used(0), CONTEXT);
    CHECK_EQUAL(CU(cuMemFreeHost)(pointer), CUDA_SUCCESS);
}

static void copies_come_back_and_stay_in_bounds(void) {
    unsigned char out[4096], in[4096];
    CUdeviceptr pointer, small;

    install_node("t4x1");
    begin_cuda(0);
    for (size_t i = 0; i < sizeof out; i++)
        out[i] = (unsigned char)(i * 7);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, 4 * GIB), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&small, 700), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemcpyHtoD_v2)(pointer + 1000, out, sizeof out), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemcpyDtoH_v2)(in, pointer + 1000, sizeof in), CUDA_SUCCESS);
    CHECK(memcmp(in, out, sizeof in) == 0);
    CHECK_EQUAL(CU(cuMemsetD8_v2)(pointer, 3, 4 * GIB), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemcpyDtoH_v2)(in, pointer + 63 * MIB, 1), CUDA_SUCCESS);
    CHECK_EQUAL(in[0], 3);
    CHECK_EQUAL(CU(cuMemsetD8_v2)(pointer + 1, 3, 4 * GIB), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuMemcpyHtoD_v2)(small, out, 700), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemcpyHtoD_v2)(small, out, 701), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuMemcpyDtoH_v2)(in, small + 100, 600), CUDA_SUCCESS);
    CHECK(memcmp(in, out + 100, 600) == 0);
}

static void *churn(void *context) {
    CHECK_EQUAL(CU(cuCtxSetCurrent)(context), CUDA_SUCCESS);
    for (unsigned round = 0; round < 300; round++) {
        CUdeviceptr pointers[8];

        for (unsigned i = 0; i < 8; i++)
            CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointers[i], 1u << (8 + (round + 3 * i) % 16)), CUDA_SUCCESS);
        for (unsigned i = 0; i < 8; i++)
            CHECK_EQUAL(CU(cuMemFree_v2)(pointers[(i + round) % 8]), CUDA_SUCCESS);
    }
    return NULL;
}

static void many_threads_leave_nothing_behind(void) {
    pthread_t threads[8];
    CUcontext context;

    install_node("t4x1");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuCtxGetCurrent)(&context), CUDA_SUCCESS);
    for (int i = 0; i < 8; i++)
        CHECK(pthread_create(&threads[i], NULL, churn, context) == 0);
    for (int i = 0; i < 8; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_EQUAL(nvml_used(0), CONTEXT);
}

RUN(TEST(a_context_costs_memory_that_only_figures_show), TEST(large_requests_take_whole_granules),
    TEST(small_requests_share_a_slab), TEST(the_card_is_full_to_the_last_granule),
    TEST(a_context_that_does_not_fit_is_out_of_memory), TEST(a_dying_context_gives_its_memory_back),
    TEST(primary_contexts_are_counted), TEST(a_reset_of_the_primary_context_does_not_release_it),
    TEST(the_first_abi_has_32_bit_pointers_and_sizes), TEST(pitch_is_the_drivers_and_rows_are_charged_with_it),
    TEST(managed_memory_may_exceed_the_card), TEST(stream_ordered_memory_is_charged_and_given_back),
    TEST(host_memory_is_not_charged), TEST(copies_come_back_and_stay_in_bounds),
    TEST(many_threads_leave_nothing_behind))
