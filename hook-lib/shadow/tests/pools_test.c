/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream-ordered pools are charged what they have reserved, against the simulated driver, whose pools grow by 32 MiB.
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "cases.h"
#include "check.h"
#include "cuda_pools.h"
#include "scratch.h"
#include "stage.h"

static const char *box;
static __typeof__(&cuMemAllocAsync) alloc;
static __typeof__(&cuMemFreeAsync) release;
static __typeof__(&cuMemAllocFromPoolAsync) alloc_from;
static __typeof__(&cuMemPoolCreate) create;
static __typeof__(&cuMemPoolDestroy) destroy;
static __typeof__(&cuMemPoolSetAttribute) set;
static __typeof__(&cuMemPoolTrimTo) trim;
static __typeof__(&cuDeviceGetDefaultMemPool) default_pool;
static __typeof__(&cuCtxSynchronize) synchronize;

static void start(uint64_t memory) {
    stage_driver("h200x2");
    box = stage_container("box");
    stage_share(box, "share", 0, memory);
    cuda_start(box, 0);
    alloc = cuda_function("cuMemAllocAsync");
    release = cuda_function("cuMemFreeAsync");
    alloc_from = cuda_function("cuMemAllocFromPoolAsync");
    create = cuda_function("cuMemPoolCreate");
    destroy = cuda_function("cuMemPoolDestroy");
    set = cuda_function("cuMemPoolSetAttribute");
    trim = cuda_function("cuMemPoolTrimTo");
    default_pool = cuda_function("cuDeviceGetDefaultMemPool");
    synchronize = cuda_function("cuCtxSynchronize");
}

static void agree(uint64_t quota) {
    CHECK_EQUAL(quota - cuda_free(), stage_hardware_used(0));
}

static CUmemoryPool pool_on(int device) {
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, device}};
    CUmemoryPool pool;
    CHECK_EQUAL(create(&pool, &props), CUDA_SUCCESS);
    return pool;
}

static void keep_everything(CUmemoryPool pool) {
    cuuint64_t all = UINT64_MAX;
    CHECK_EQUAL(set(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all), CUDA_SUCCESS);
}

static void a_pool_is_charged_what_it_has_reserved_and_not_each_allocation(void) {
    CUdeviceptr pointers[64];
    start(GIB);
    for (int i = 0; i < 64; i++)
        CHECK_EQUAL(alloc(&pointers[i], 512 * 1024, NULL), CUDA_SUCCESS); /* 32 MiB in all */
    CHECK_EQUAL(cuda_free(), GIB - 32 * MIB);
    agree(GIB);
    for (int i = 0; i < 64; i++)
        CHECK_EQUAL(release(pointers[i], NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 32 * MIB); /* the pool has not given it up yet */
    CHECK_EQUAL(synchronize(), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - stage_pool_keeps(32 * MIB));
    agree(GIB);
}

static void a_stream_that_is_waited_for_gives_back_what_was_freed(void) {
    CUdeviceptr pointer;
    start(GIB);
    CHECK_EQUAL(alloc(&pointer, 256 * MIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(release(pointer, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 256 * MIB);
    CHECK_EQUAL(((__typeof__(&cuStreamSynchronize_ptsz))cuda_function("cuStreamSynchronize_ptsz"))(NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - stage_pool_keeps(256 * MIB));
}

static void a_full_share_still_serves_from_what_its_pool_keeps(void) {
    CUdeviceptr pointer, other;
    CUmemoryPool pool;
    start(512 * MIB);
    CHECK_EQUAL(default_pool(&pool, 0), CUDA_SUCCESS);
    keep_everything(pool);
    CHECK_EQUAL(alloc(&pointer, 512 * MIB, NULL), CUDA_SUCCESS);
    for (int i = 0; i < 20; i++) { /* as a training loop does */
        CHECK_EQUAL(release(pointer, NULL), CUDA_SUCCESS);
        CHECK_EQUAL(cuda_free(), 0);
        CHECK_EQUAL(alloc(&pointer, 300 * MIB, NULL), CUDA_SUCCESS);
        CHECK_EQUAL(alloc(&other, 212 * MIB, NULL), CUDA_SUCCESS);
        CHECK_EQUAL(release(other, NULL), CUDA_SUCCESS);
        agree(512 * MIB);
    }
    other = 42;
    CHECK_EQUAL(alloc(&other, 213 * MIB, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(other, 42);
    CHECK_EQUAL(alloc(&other, 212 * MIB, NULL), CUDA_SUCCESS);
}

static void what_a_pool_keeps_makes_room_for_any_other_allocation(void) {
    CUdeviceptr pointer;
    CUmemoryPool pool, second;
    start(512 * MIB);
    CHECK_EQUAL(default_pool(&pool, 0), CUDA_SUCCESS);
    keep_everything(pool);
    CHECK_EQUAL(alloc(&pointer, 512 * MIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(release(pointer, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.alloc(&pointer, 100 * MIB), CUDA_ERROR_OUT_OF_MEMORY); /* the free may still be under way */
    CHECK_EQUAL(synchronize(), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 0); /* the pool keeps everything */
    CHECK_EQUAL(cuda.alloc(&pointer, 100 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 412 * MIB);
    CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(alloc(&pointer, 512 * MIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(release(pointer, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(synchronize(), CUDA_SUCCESS);
    second = pool_on(0);
    CHECK_EQUAL(alloc_from(&pointer, 512 * MIB, second, NULL), CUDA_SUCCESS); /* one pool for another */
    CHECK_EQUAL(cuda_free(), 0);
    agree(512 * MIB);
}

static void a_pool_that_grows_by_more_than_the_quota_allows_is_refused(void) {
    CUdeviceptr pointer = 42;
    start(16 * MIB);
    CHECK_EQUAL(alloc(&pointer, MIB, NULL), CUDA_ERROR_OUT_OF_MEMORY); /* the driver takes 32 MiB */
    CHECK_EQUAL(pointer, 42);
    CHECK_EQUAL(synchronize(), CUDA_SUCCESS);
    CHECK_EQUAL(stage_hardware_used(0), 0);
    CHECK_EQUAL(cuda_free(), 16 * MIB);
    CHECK_EQUAL(alloc(&pointer, SIZE_MAX, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(alloc(&pointer, GIB, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(cuda_free(), 16 * MIB);
}

static void trimming_and_a_lower_threshold_give_back(void) {
    CUdeviceptr pointer;
    start(GIB);
    CUmemoryPool pool = pool_on(0);
    keep_everything(pool);
    CHECK_EQUAL(alloc_from(&pointer, 256 * MIB, pool, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(release(pointer, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(synchronize(), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 256 * MIB);
    CHECK_EQUAL(trim(pool, 64 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 64 * MIB);
    cuuint64_t nothing = 0;
    CHECK_EQUAL(set(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &nothing), CUDA_SUCCESS);
    CHECK_EQUAL(synchronize(), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - stage_pool_keeps(64 * MIB));
    agree(GIB);
}

static void a_destroyed_pool_is_charged_until_its_last_allocation_is_freed(void) {
    CUdeviceptr first, second;
    start(GIB);
    CUmemoryPool pool = pool_on(0);
    CHECK_EQUAL(alloc_from(&first, 100 * MIB, pool, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(alloc_from(&second, 100 * MIB, pool, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(destroy(pool), CUDA_SUCCESS);
    CHECK_EQUAL(destroy(pool), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(release(first, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 200 * MIB);
    CHECK_EQUAL(cuda.free(second), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB);
    CHECK_EQUAL(destroy(pool_on(0)), CUDA_SUCCESS);
    CHECK_EQUAL(default_pool(&pool, 0), CUDA_SUCCESS);
    CHECK_EQUAL(alloc(&first, 100 * MIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(destroy(pool), CUDA_ERROR_INVALID_VALUE); /* the default pool */
    CHECK_EQUAL(cuda.free(first), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB);
    agree(GIB);
}

static void a_pool_of_another_card_charges_that_card(void) {
    CUdeviceptr pointer;
    CUmemoryPool pool;
    start(64 * MIB);
    CHECK_EQUAL(alloc_from(&pointer, GIB, pool_on(1), NULL), CUDA_SUCCESS); /* no share of it: not limited */
    CHECK_EQUAL(default_pool(&pool, 1), CUDA_SUCCESS);
    CHECK_EQUAL(alloc_from(&pointer, GIB, pool, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(release(pointer, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 64 * MIB);
    CUcontext other;
    CUdevice device;
    CHECK_EQUAL(cuda.device_get(&device, 1), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.context_create(&other, 0, device), CUDA_SUCCESS);
    CHECK_EQUAL(alloc_from(&pointer, GIB, pool_on(0), NULL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(stage_hardware_used(0), 0);
}

static void a_stream_of_another_card_allocates_there(void) {
    CUdeviceptr pointer;
    CUcontext other;
    CUstream stream;
    start(64 * MIB);
    CHECK_EQUAL(((__typeof__(&cuStreamCreate))cuda_function("cuStreamCreate"))(&stream, 0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.context_create(&other, 0, 1), CUDA_SUCCESS);
    CHECK_EQUAL(alloc(&pointer, GIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(alloc(&pointer, GIB, stream), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(alloc(&pointer, 64 * MIB, stream), CUDA_SUCCESS);
    CHECK_EQUAL(stage_hardware_used(0), 64 * MIB);
}

static void a_pool_on_the_host_is_not_charged(void) {
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {CU_MEM_LOCATION_TYPE_HOST, 0}};
    CUmemoryPool pool;
    CUdeviceptr pointer;
    start(4 * MIB);
    CHECK_EQUAL(create(&pool, &props), CUDA_SUCCESS);
    CHECK_EQUAL(alloc_from(&pointer, GIB, pool, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 4 * MIB);
    CHECK_EQUAL(release(pointer, NULL), CUDA_SUCCESS);
}

static void a_reset_of_the_device_ends_its_pools(void) {
    CUdeviceptr pointer;
    start(GIB);
    CHECK_EQUAL(alloc(&pointer, 100 * MIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(alloc_from(&pointer, 100 * MIB, pool_on(0), NULL), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuDevicePrimaryCtxReset_v2))cuda_function("cuDevicePrimaryCtxReset_v2"))(0),
                CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB);
    agree(GIB);
    CHECK_EQUAL(alloc(&pointer, 100 * MIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 100 * MIB);
}

static void what_a_reset_took_is_not_freed_instead_of_what_has_its_address_since(void) {
    CUdeviceptr former, pointer;
    start(GIB);
    CHECK_EQUAL(alloc(&former, 100 * MIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuDevicePrimaryCtxReset_v2))cuda_function("cuDevicePrimaryCtxReset_v2"))(0),
                CUDA_SUCCESS);
    CHECK_EQUAL(cuda.alloc(&pointer, 100 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(pointer, former);
    CHECK_EQUAL(release(pointer, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(synchronize(), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB);
}

static void a_pool_made_while_the_quota_was_unreadable_is_limited_once_it_can_be_read(void) {
    CUdeviceptr pointer;
    stage_driver("h200x2");
    box = stage_container("box");
    make_folders(text("%s/etc/partita/shares/share", box));
    write_file(text("%s/etc/partita/shares/share/quota", box), "rubbish", 7);
    cuda_start(box, 0);
    alloc_from = cuda_function("cuMemAllocFromPoolAsync");
    create = cuda_function("cuMemPoolCreate");
    CUmemoryPool pool = pool_on(0);
    CHECK_EQUAL(alloc_from(&pointer, 64 * MIB, pool, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    write_quota(box, "share", stage_gpu(0), 128 * MIB, 1);
    make_region(box, "share");
    while (cuda_free() != 128 * MIB)
        usleep(1000);
    CHECK_EQUAL(alloc_from(&pointer, 64 * MIB, pool, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 64 * MIB);
    CHECK_EQUAL(alloc_from(&pointer, 128 * MIB, pool, NULL), CUDA_ERROR_OUT_OF_MEMORY);
}

static void only_what_was_refused_in_the_end_counts_as_refused(void) {
    CUdeviceptr pointer, other;
    CUmemoryPool pool;
    start(512 * MIB);
    CHECK_EQUAL(default_pool(&pool, 0), CUDA_SUCCESS);
    keep_everything(pool);
    CHECK_EQUAL(alloc(&pointer, 512 * MIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(release(pointer, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(alloc(&pointer, 300 * MIB, NULL), CUDA_SUCCESS); /* of what the pool keeps */
    CHECK_EQUAL(release(pointer, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(synchronize(), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.alloc(&pointer, 100 * MIB), CUDA_SUCCESS); /* what the pool gave up */
    CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(alloc(&pointer, 512 * MIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(release(pointer, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(synchronize(), CUDA_SUCCESS);
    CHECK_EQUAL(alloc_from(&pointer, 512 * MIB, pool_on(0), NULL), CUDA_SUCCESS);
    CHECK_EQUAL(stage_refusals(box, "share"), 0);
    CHECK_EQUAL(alloc(&other, MIB, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(stage_refusals(box, "share"), 1);
    CHECK_EQUAL(cuda.alloc(&other, MIB), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(stage_refusals(box, "share"), 2);
}

static void a_process_may_have_a_thousand_pools_at_once(void) {
    enum { MANY = 1200 };
    static CUmemoryPool pools[MANY];
    static CUdeviceptr pointers[MANY];
    start(64 * GIB);
    for (int i = 0; i < MANY; i++) {
        pools[i] = pool_on(0);
        CHECK_EQUAL(alloc_from(&pointers[i], MIB, pools[i], NULL), CUDA_SUCCESS);
    }
    agree(64 * GIB);
    for (int i = 0; i < MANY; i++) {
        CHECK_EQUAL(destroy(pools[i]), CUDA_SUCCESS);
        CHECK_EQUAL(release(pointers[i], NULL), CUDA_SUCCESS);
    }
    CHECK_EQUAL(synchronize(), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 64 * GIB);
}

static void *churn(void *data) {
    unsigned int random = (unsigned int)(uintptr_t)data;
    CHECK_EQUAL(((__typeof__(&cuCtxSetCurrent))cuda_function("cuCtxSetCurrent"))(cuda.context), CUDA_SUCCESS);
    for (int i = 0; i < 200; i++) {
        CUdeviceptr pointer[4];
        int got = 0;
        for (int j = 0; j < 4; j++) {
            random = random * 1103515245 + 12345;
            CUresult result = alloc(&pointer[got], (random >> 8) % (64 * MIB) + 1, NULL);
            CHECK(result == CUDA_SUCCESS || result == CUDA_ERROR_OUT_OF_MEMORY);
            got += result == CUDA_SUCCESS;
        }
        while (got > 0)
            CHECK_EQUAL(release(pointer[--got], NULL), CUDA_SUCCESS);
        if (i % 8 == 0)
            CHECK_EQUAL(synchronize(), CUDA_SUCCESS);
        CHECK_EQUAL(destroy(pool_on(0)), CUDA_SUCCESS);
    }
    return NULL;
}

static void the_account_of_a_pool_is_right_after_many_threads(void) {
    pthread_t threads[6];
    CUmemoryPool pool;
    start(512 * MIB);
    for (uintptr_t i = 0; i < 6; i++)
        CHECK(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)) == 0);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQUAL(synchronize(), CUDA_SUCCESS);
    agree(512 * MIB);
    CHECK_EQUAL(default_pool(&pool, 0), CUDA_SUCCESS);
    CHECK_EQUAL(trim(pool, 0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 512 * MIB);
    CHECK_EQUAL(stage_hardware_used(0), 0);
}

/* The most that the card held, looked at without a pause. */
static uint64_t most_used;
static int watching;

static void *watch(void *unused) {
    (void)unused;
    while (__atomic_load_n(&watching, __ATOMIC_RELAXED)) {
        uint64_t used = stage_hardware_used(0);
        if (used > most_used)
            most_used = used;
    }
    return NULL;
}

static void *want_a_third(void *unused) {
    (void)unused;
    CHECK_EQUAL(((__typeof__(&cuCtxSetCurrent))cuda_function("cuCtxSetCurrent"))(cuda.context), CUDA_SUCCESS);
    for (int i = 0; i < 200; i++) {
        CUdeviceptr pointer;
        if (alloc(&pointer, 100 * MIB, NULL) != CUDA_SUCCESS)
            continue;
        CHECK_EQUAL(release(pointer, NULL), CUDA_SUCCESS);
        if (i % 4 == 0)
            CHECK_EQUAL(synchronize(), CUDA_SUCCESS);
    }
    return NULL;
}

/* Each of them finds enough to spare, but not all of them at once. */
static void threads_that_want_what_a_pool_has_spare_never_hold_more_than_the_quota_together(void) {
    pthread_t watcher, threads[6];
    CUdeviceptr plain, pointer;
    CUmemoryPool pool;
    start(812 * MIB);
    CHECK_EQUAL(cuda.alloc(&plain, 500 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(default_pool(&pool, 0), CUDA_SUCCESS);
    keep_everything(pool);
    CHECK_EQUAL(alloc(&pointer, 288 * MIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(release(pointer, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(synchronize(), CUDA_SUCCESS);
    watching = 1;
    CHECK(pthread_create(&watcher, NULL, watch, NULL) == 0);
    for (int i = 0; i < 6; i++)
        CHECK(pthread_create(&threads[i], NULL, want_a_third, NULL) == 0);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    __atomic_store_n(&watching, 0, __ATOMIC_RELAXED);
    pthread_join(watcher, NULL);
    CHECK(most_used <= 812 * MIB);
    agree(812 * MIB);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(a_pool_is_charged_what_it_has_reserved_and_not_each_allocation),
        CASE(a_stream_that_is_waited_for_gives_back_what_was_freed),
        CASE(a_full_share_still_serves_from_what_its_pool_keeps),
        CASE(what_a_pool_keeps_makes_room_for_any_other_allocation),
        CASE(a_pool_that_grows_by_more_than_the_quota_allows_is_refused),
        CASE(trimming_and_a_lower_threshold_give_back),
        CASE(a_destroyed_pool_is_charged_until_its_last_allocation_is_freed),
        CASE(a_pool_of_another_card_charges_that_card),
        CASE(a_stream_of_another_card_allocates_there),
        CASE(a_pool_on_the_host_is_not_charged),
        CASE(a_pool_made_while_the_quota_was_unreadable_is_limited_once_it_can_be_read),
        CASE(only_what_was_refused_in_the_end_counts_as_refused),
        CASE(a_process_may_have_a_thousand_pools_at_once),
        CASE(a_reset_of_the_device_ends_its_pools),
        CASE(what_a_reset_took_is_not_freed_instead_of_what_has_its_address_since),
        CASE(the_account_of_a_pool_is_right_after_many_threads),
        CASE(threads_that_want_what_a_pool_has_spare_never_hold_more_than_the_quota_together),
    };
    return RUN_CASES(cases, argc, argv);
}
