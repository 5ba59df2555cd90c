/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts whose handles are given out again at once, against a driver that does so. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

#include "cases.h"
#include "check.h"
#include "cuda_green.h"
#include "cuda_pools.h"
#include "scratch.h"

#define MIB (UINT64_C(1) << 20)

static void *library;
static __typeof__(&cuCtxCreate_v2) create;
static __typeof__(&cuCtxDestroy_v2) destroy;
static __typeof__(&cuCtxSetCurrent) set_current;
static __typeof__(&cuDevicePrimaryCtxRetain) retain;
static __typeof__(&cuDevicePrimaryCtxRelease_v2) release;
static __typeof__(&cuDevicePrimaryCtxReset_v2) reset;
static __typeof__(&cuMemAlloc_v2) alloc;
static size_t (*used)(void);
static void (**meanwhile)(void);

static void start(void) {
    const char *box = scratch_folder();
    make_folders(text("%s/lib/partita", box));
    copy_file(shadow_cuda(), text("%s/lib/libcuda.so.1", box));
    copy_file(CONTEXTS_DRIVER, text("%s/lib/partita/libcuda-real.so.1", box));
    write_quota(box, "share", "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", 8 * MIB, 1);
    make_region(box, "share");
    CHECK((library = dlopen(text("%s/lib/libcuda.so.1", box), RTLD_NOW)) != NULL);
    *(void **)&create = dlsym(library, "cuCtxCreate_v2");
    *(void **)&destroy = dlsym(library, "cuCtxDestroy_v2");
    *(void **)&set_current = dlsym(library, "cuCtxSetCurrent");
    *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    *(void **)&release = dlsym(library, "cuDevicePrimaryCtxRelease_v2");
    *(void **)&reset = dlsym(library, "cuDevicePrimaryCtxReset_v2");
    *(void **)&alloc = dlsym(library, "cuMemAlloc_v2");
    *(void **)&used = dlsym(library, "contexts_driver_used");
    *(void **)&meanwhile = dlsym(library, "contexts_driver_meanwhile");
}

static void must_alloc(uint64_t bytes) {
    CUdeviceptr pointer;
    CHECK_EQUAL(alloc(&pointer, bytes), CUDA_SUCCESS);
    CHECK(used() <= 8 * MIB);
}

static void must_refuse(uint64_t bytes) {
    CUdeviceptr pointer;
    CHECK_EQUAL(alloc(&pointer, bytes), CUDA_ERROR_OUT_OF_MEMORY);
}

static CUcontext context;

static void create_again(void) {
    CUcontext again;
    CHECK_EQUAL(create(&again, 0, 0), CUDA_SUCCESS);
    CHECK(again == context);
    must_alloc(2 * MIB);
}

static void what_is_allocated_under_the_handle_of_a_context_that_is_ending_stays_charged(void) {
    start();
    CHECK_EQUAL(create(&context, 0, 0), CUDA_SUCCESS);
    must_alloc(6 * MIB);
    *meanwhile = create_again;
    CHECK_EQUAL(destroy(context), CUDA_SUCCESS);
    CHECK_EQUAL(used(), 2 * MIB);
    must_refuse(8 * MIB);
    must_alloc(6 * MIB);
    CHECK_EQUAL(destroy(context), CUDA_SUCCESS);
    CHECK_EQUAL(create(&context, 0, 0), CUDA_SUCCESS);
    must_alloc(8 * MIB);
}

static void a_context_that_could_not_be_destroyed_gives_all_back_when_it_is(void) {
    CUcontext primary;
    start();
    CHECK_EQUAL(retain(&primary, 0), CUDA_SUCCESS);
    for (int i = 0; i < 10000; i++) {
        CHECK_EQUAL(set_current(primary), CUDA_SUCCESS);
        if (i % 2500 == 0)
            must_alloc(2 * MIB);
        CHECK_EQUAL(retain(&primary, 0), CUDA_SUCCESS);
        CHECK_EQUAL(release(0), CUDA_SUCCESS);
    }
    CHECK_EQUAL(destroy(primary), CUDA_ERROR_INVALID_CONTEXT);
    must_refuse(2 * MIB);
    CHECK_EQUAL(release(0), CUDA_SUCCESS);
    CHECK_EQUAL(used(), 0);
    CHECK_EQUAL(create(&context, 0, 0), CUDA_SUCCESS);
    must_alloc(8 * MIB);
}

static void a_context_with_the_handle_of_one_that_was_destroyed_while_attached_ends_when_it_is_detached(void) {
    __typeof__(&cuCtxAttach) attach;
    __typeof__(&cuCtxDetach) detach;
    CUcontext primary, again;
    start();
    *(void **)&attach = dlsym(library, "cuCtxAttach");
    *(void **)&detach = dlsym(library, "cuCtxDetach");
    CHECK_EQUAL(create(&context, 0, 0), CUDA_SUCCESS);
    CHECK_EQUAL(attach(&again, 0), CUDA_SUCCESS);
    CHECK_EQUAL(destroy(context), CUDA_SUCCESS);
    CHECK_EQUAL(create(&context, 0, 0), CUDA_SUCCESS);
    CHECK(context == again);
    must_alloc(6 * MIB);
    CHECK_EQUAL(detach(context), CUDA_SUCCESS);
    CHECK_EQUAL(used(), 0);
    CHECK_EQUAL(create(&context, 0, 0), CUDA_SUCCESS);
    must_alloc(8 * MIB);
    CHECK_EQUAL(destroy(context), CUDA_SUCCESS);
    CHECK_EQUAL(retain(&primary, 0), CUDA_SUCCESS);
    CHECK_EQUAL(set_current(primary), CUDA_SUCCESS);
    CHECK_EQUAL(attach(&again, 0), CUDA_SUCCESS);
    must_alloc(6 * MIB);
    CHECK_EQUAL(destroy(primary), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_EQUAL(detach(primary), CUDA_ERROR_INVALID_CONTEXT);
    must_refuse(4 * MIB);
}

static void a_context_with_the_handle_of_a_green_one_that_is_ending_is_one_of_its_own(void) {
    CUgreenCtx green;
    start();
    __typeof__(&cuGreenCtxCreate) create_green;
    __typeof__(&cuGreenCtxDestroy) destroy_green;
    void (*refuse_green)(bool);
    *(void **)&create_green = dlsym(library, "cuGreenCtxCreate");
    *(void **)&destroy_green = dlsym(library, "cuGreenCtxDestroy");
    *(void **)&refuse_green = dlsym(library, "contexts_driver_refuse_green");
    __typeof__(&cuCtxFromGreenCtx) from;
    *(void **)&from = dlsym(library, "cuCtxFromGreenCtx");
    CHECK_EQUAL(create_green(&green, NULL, 0, 0), CUDA_SUCCESS);
    CHECK_EQUAL(from(&context, green), CUDA_SUCCESS);
    CHECK_EQUAL(set_current(context), CUDA_SUCCESS);
    must_alloc(4 * MIB);
    refuse_green(true);
    CHECK_EQUAL(destroy_green(green), CUDA_ERROR_UNKNOWN);
    must_alloc(2 * MIB); /* still the primary context's */
    refuse_green(false);
    *meanwhile = create_again;
    CHECK_EQUAL(destroy_green(green), CUDA_SUCCESS);
    CHECK_EQUAL(used(), 2 * MIB);
    must_refuse(8 * MIB);
    must_alloc(6 * MIB);
    CHECK_EQUAL(destroy(context), CUDA_SUCCESS);
    CHECK_EQUAL(create(&context, 0, 0), CUDA_SUCCESS);
    must_alloc(8 * MIB);
}

static uint32_t retained;
static pthread_t retainer;

static void *retain_again(void *unused) {
    CUcontext again;
    CHECK_EQUAL(retain(&again, 0), CUDA_SUCCESS);
    CHECK_EQUAL(set_current(again), CUDA_SUCCESS);
    __atomic_store_n(&retained, 1, __ATOMIC_RELEASE);
    must_alloc(2 * MIB);
    return unused;
}

/* The other thread's call may wait until this one has returned. */
static void another_thread_retains(void) {
    CHECK(pthread_create(&retainer, NULL, retain_again, NULL) == 0);
    for (int ms = 0; ms < 200 && !__atomic_load_n(&retained, __ATOMIC_ACQUIRE); ms++)
        usleep(1000);
}

static void primary_again(bool by_reset) {
    CUcontext primary;
    start();
    CHECK_EQUAL(retain(&primary, 0), CUDA_SUCCESS);
    CHECK_EQUAL(set_current(primary), CUDA_SUCCESS);
    must_alloc(6 * MIB);
    *meanwhile = another_thread_retains;
    CHECK_EQUAL(by_reset ? reset(0) : release(0), CUDA_SUCCESS);
    CHECK(pthread_join(retainer, NULL) == 0);
    CHECK_EQUAL(used(), 2 * MIB);
    must_refuse(8 * MIB);
    must_alloc(6 * MIB);
}

static void a_primary_context_that_another_thread_retains_as_it_ends_gives_back_what_it_held(void) {
    primary_again(false);
}

static void a_primary_context_that_another_thread_retains_as_it_is_reset_keeps_what_is_new(void) {
    primary_again(true);
}

static void must_alloc_from_the_default_pool(uint64_t bytes) {
    CUdeviceptr pointer;
    CHECK_EQUAL(((__typeof__(&cuMemAllocAsync))dlsym(library, "cuMemAllocAsync"))(&pointer, bytes, NULL), CUDA_SUCCESS);
    CHECK(used() <= 8 * MIB);
}

static void must_alloc_from_a_fresh_pool(uint64_t bytes) {
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemoryPool pool;
    CUdeviceptr pointer;
    CHECK_EQUAL(((__typeof__(&cuMemPoolCreate))dlsym(library, "cuMemPoolCreate"))(&pool, &props), CUDA_SUCCESS);
    CHECK_EQUAL(
        ((__typeof__(&cuMemAllocFromPoolAsync))dlsym(library, "cuMemAllocFromPoolAsync"))(&pointer, bytes, pool, NULL),
        CUDA_SUCCESS);
}

static void start_with_the_primary_context(void) {
    CUcontext primary;
    start();
    CHECK_EQUAL(retain(&primary, 0), CUDA_SUCCESS);
    CHECK_EQUAL(set_current(primary), CUDA_SUCCESS);
}

static void go_on_after_the_reset(void) {
    CUcontext primary;
    CHECK_EQUAL(retain(&primary, 0), CUDA_SUCCESS);
}

static void all_but_two_mib_can_be_had(void) {
    go_on_after_the_reset();
    CHECK_EQUAL(used(), 2 * MIB);
    must_refuse(8 * MIB);
    must_alloc(6 * MIB);
}

static void allocate_from_the_default_pool(void) {
    must_alloc_from_the_default_pool(2 * MIB);
}

static void allocate_from_a_fresh_pool(void) {
    must_alloc_from_a_fresh_pool(2 * MIB);
}

static void what_a_pool_gives_while_a_reset_returns_stays_charged(void) {
    start_with_the_primary_context();
    must_alloc_from_the_default_pool(4 * MIB);
    *meanwhile = allocate_from_the_default_pool;
    CHECK_EQUAL(reset(0), CUDA_SUCCESS);
    all_but_two_mib_can_be_had();
}

static void what_a_pool_made_while_a_reset_returns_gives_stays_charged(void) {
    start_with_the_primary_context();
    must_alloc_from_the_default_pool(4 * MIB);
    *meanwhile = allocate_from_a_fresh_pool;
    CHECK_EQUAL(reset(0), CUDA_SUCCESS);
    all_but_two_mib_can_be_had();
}

static void reset_the_device(void) {
    CHECK_EQUAL(reset(0), CUDA_SUCCESS);
}

static void what_a_pool_gives_after_a_reset_to_a_call_from_before_it_is_charged(void) {
    start_with_the_primary_context();
    must_alloc_from_the_default_pool(4 * MIB);
    *meanwhile = reset_the_device;
    must_alloc_from_the_default_pool(2 * MIB);
    all_but_two_mib_can_be_had();
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(what_is_allocated_under_the_handle_of_a_context_that_is_ending_stays_charged),
        CASE(a_context_that_could_not_be_destroyed_gives_all_back_when_it_is),
        CASE(a_context_with_the_handle_of_one_that_was_destroyed_while_attached_ends_when_it_is_detached),
        CASE(a_context_with_the_handle_of_a_green_one_that_is_ending_is_one_of_its_own),
        CASE(a_primary_context_that_another_thread_retains_as_it_ends_gives_back_what_it_held),
        CASE(a_primary_context_that_another_thread_retains_as_it_is_reset_keeps_what_is_new),
        CASE(what_a_pool_gives_while_a_reset_returns_stays_charged),
        CASE(what_a_pool_made_while_a_reset_returns_gives_stays_charged),
        CASE(what_a_pool_gives_after_a_reset_to_a_call_from_before_it_is_charged),
    };
    return RUN_CASES(cases, argc, argv);
}
