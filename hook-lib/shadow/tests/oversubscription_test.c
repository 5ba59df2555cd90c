/* SPDX-License-Identifier: Apache-2.0 */
/* A share that may exceed its part of the card, and quotas whose overhead changes, against the simulated driver. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "cases.h"
#include "check.h"
#include "cuda_arrays.h"
#include "cuda_capture.h"
#include "cuda_pools.h"
#include "nvml_api.h"
#include "partita/usage_region.h"
#include "scratch.h"
#include "stage.h"

static const char *box;

/* The simulated card has 141 GB. */
static void set_quota(uint64_t memory, const char *lines) {
    write_quota_with(box, "share", stage_gpu(0), memory, 2, lines);
}

static const char *physical(uint64_t bytes) {
    return text("physical %llu\n", (unsigned long long)bytes);
}

static void prepare(uint64_t memory, const char *lines) {
    stage_driver("h200x2");
    box = stage_container("box");
    stage_share(box, "share", 0, memory);
    set_quota(memory, lines);
}

static void start(uint64_t memory, const char *lines) {
    prepare(memory, lines);
    cuda_start(box, 0);
}

static CUdeviceptr must_alloc(uint64_t bytes) {
    CUdeviceptr pointer = 0;
    CHECK_EQUAL(cuda.alloc(&pointer, bytes), CUDA_SUCCESS);
    return pointer;
}

static void must_refuse(uint64_t bytes) {
    CUdeviceptr pointer = 42;
    CHECK_EQUAL(cuda.alloc(&pointer, bytes), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(pointer, 42);
}

/* The simulator's managed memory can be read by the host, other memory of the card cannot. */
static bool is_managed(CUdeviceptr pointer) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    bool readable = write(ends[1], (const void *)(uintptr_t)pointer, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return readable;
}

static void beyond_its_part_of_the_card_a_share_gets_managed_memory_up_to_its_quota(void) {
    start(8 * GIB, physical(3 * GIB));
    CHECK_EQUAL(cuda_total(), 8 * GIB);
    CHECK_EQUAL(cuda_free(), 8 * GIB);
    CUdeviceptr first = must_alloc(2 * GIB), second = must_alloc(2 * GIB), third = must_alloc(GIB);
    CHECK(!is_managed(first));
    CHECK(is_managed(second));
    CHECK(!is_managed(third));
    CHECK_EQUAL(cuda_free(), 3 * GIB);
    CHECK(is_managed(must_alloc(3 * GIB)));
    must_refuse(1);
    CHECK_EQUAL(cuda.free(second), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 2 * GIB);
    CHECK_EQUAL(cuda.free(first), CUDA_SUCCESS);
    CHECK(!is_managed(must_alloc(2 * GIB)));
    CHECK_EQUAL(cuda_free(), 2 * GIB);
}

static void a_quota_may_exceed_the_card(void) {
    start(500 * GIB, physical(100 * GIB));
    size_t total;
    CHECK_EQUAL(cuda.total(&total, 0), CUDA_SUCCESS);
    CHECK_EQUAL(total, 500 * GIB);
    CHECK_EQUAL(cuda_free(), 500 * GIB);
    CHECK(!is_managed(must_alloc(100 * GIB))); /* first: the simulated card does not move managed memory out for it */
    CHECK(is_managed(must_alloc(200 * GIB)));
    CHECK_EQUAL(cuda_free(), 200 * GIB);
    must_refuse(200 * GIB + 1);
}

static void without_the_key_nothing_becomes_managed(void) {
    start(2 * GIB, "");
    CHECK(!is_managed(must_alloc(2 * GIB)));
    must_refuse(1);
}

static void a_programs_own_managed_memory_needs_no_room_on_the_card(void) {
    CUdeviceptr own;
    start(8 * GIB, physical(2 * GIB));
    __typeof__(&cuMemAllocManaged) managed = cuda_function("cuMemAllocManaged");
    CHECK_EQUAL(managed(&own, 5 * GIB, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    CHECK(!is_managed(must_alloc(2 * GIB)));
    CHECK_EQUAL(cuda_free(), GIB);
    CHECK_EQUAL(cuda.free(own), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 6 * GIB);
}

static void pitched_memory_may_be_managed(void) {
    CUdeviceptr pointer;
    size_t pitch = 0;
    start(64 * MIB, physical(2 * MIB));
    __typeof__(&cuMemAllocPitch_v2) alloc = cuda_function("cuMemAllocPitch_v2");
    must_alloc(2 * MIB);
    CHECK_EQUAL(alloc(&pointer, &pitch, 1000, 8192, 4), CUDA_SUCCESS);
    CHECK(is_managed(pointer) && pitch == 1024);
    CHECK_EQUAL(cuda_free(), 54 * MIB);
    CHECK_EQUAL(alloc(&pointer, &pitch, 1000, 8192, 5), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(alloc(&pointer, &pitch, 60 * MIB, 1, 4), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(cuda_free(), 54 * MIB);
}

static void stream_ordered_memory_may_be_managed_and_is_freed_in_its_stream(void) {
    CUdeviceptr first, second;
    start(256 * MIB, physical(32 * MIB));
    __typeof__(&cuMemAllocAsync) alloc = cuda_function("cuMemAllocAsync");
    __typeof__(&cuMemFreeAsync) release = cuda_function("cuMemFreeAsync");
    CHECK_EQUAL(alloc(&first, 32 * MIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(alloc(&second, 64 * MIB, NULL), CUDA_SUCCESS);
    CHECK(!is_managed(first) && is_managed(second));
    CHECK_EQUAL(cuda_free(), 160 * MIB);
    CHECK_EQUAL(release(second, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 224 * MIB);
    CHECK_EQUAL(release(first, NULL), CUDA_SUCCESS);
}

static void what_becomes_managed_was_not_refused(void) {
    CUdeviceptr pointer;
    start(256 * MIB, physical(32 * MIB));
    __typeof__(&cuMemAllocAsync) alloc = cuda_function("cuMemAllocAsync");
    must_alloc(32 * MIB);
    must_alloc(32 * MIB);
    CHECK_EQUAL(alloc(&pointer, 64 * MIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(stage_refusals(box, "share"), 0);
    CHECK_EQUAL(alloc(&pointer, 200 * MIB, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(stage_refusals(box, "share"), 1);
    must_refuse(200 * MIB);
    CHECK_EQUAL(stage_refusals(box, "share"), 2);
}

/* Captures in `captured`, runs `inside`, and expects that the capture came to a good end. */
static void while_capturing(CUstream captured, void (*inside)(CUstream captured)) {
    CUgraph graph;
    CHECK_EQUAL(((__typeof__(&cuStreamBeginCapture_v2))cuda_function("cuStreamBeginCapture_v2"))(
                    captured, CU_STREAM_CAPTURE_MODE_GLOBAL),
                CUDA_SUCCESS);
    inside(captured);
    CHECK_EQUAL(((__typeof__(&cuStreamEndCapture))cuda_function("cuStreamEndCapture"))(captured, &graph), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuGraphDestroy))cuda_function("cuGraphDestroy"))(graph), CUDA_SUCCESS);
}

static CUstream new_stream(void) {
    CUstream stream;
    CHECK_EQUAL(((__typeof__(&cuStreamCreate))cuda_function("cuStreamCreate"))(&stream, CU_STREAM_NON_BLOCKING),
                CUDA_SUCCESS);
    return stream;
}

static CUdeviceptr stand_in;
static CUstream other_stream;

static void free_in_it(CUstream captured) {
    CHECK_EQUAL(((__typeof__(&cuMemFreeAsync))cuda_function("cuMemFreeAsync"))(stand_in, captured),
                CUDA_ERROR_INVALID_VALUE);
    CHECK(is_managed(stand_in));
}

static void allocate_and_free_elsewhere(CUstream captured) {
    (void)captured;
    CHECK_EQUAL(((__typeof__(&cuMemFreeAsync))cuda_function("cuMemFreeAsync"))(stand_in, other_stream), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuMemAllocAsync))cuda_function("cuMemAllocAsync"))(&stand_in, 64 * MIB, other_stream),
                CUDA_SUCCESS);
    CHECK(is_managed(stand_in));
}

static void managed_memory_that_stands_in_ends_no_capture(void) {
    start(256 * MIB, physical(32 * MIB));
    must_alloc(32 * MIB);
    CUstream stream = new_stream();
    other_stream = new_stream();
    CHECK_EQUAL(((__typeof__(&cuMemAllocAsync))cuda_function("cuMemAllocAsync"))(&stand_in, 64 * MIB, other_stream),
                CUDA_SUCCESS);
    while_capturing(stream, free_in_it);
    CHECK_EQUAL(cuda_free(), 160 * MIB);
    while_capturing(stream, allocate_and_free_elsewhere);
    CHECK_EQUAL(cuda_free(), 160 * MIB);
    CHECK_EQUAL(((__typeof__(&cuMemFreeAsync))cuda_function("cuMemFreeAsync"))(stand_in, stream), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 224 * MIB);
}

static void what_cannot_be_managed_is_refused_and_what_is_held_stays(void) {
    CUarray array;
    const CUDA_ARRAY_DESCRIPTOR descriptor = {
        .Width = 4096, .Height = 4096, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    start(8 * GIB, physical(GIB));
    __typeof__(&cuArrayCreate_v2) create = cuda_function("cuArrayCreate_v2");
    __typeof__(&cuMemAlloc) alloc_v1 = cuda_function("cuMemAlloc");
    CUdeviceptr_v1 low;
    CUdeviceptr all = must_alloc(GIB);
    CHECK_EQUAL(create(&array, &descriptor), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(alloc_v1(&low, MIB), CUDA_ERROR_OUT_OF_MEMORY); /* an address of 32 bits */
    CHECK_EQUAL(cuda_free(), 7 * GIB);
    CHECK_EQUAL(cuda.free(all), CUDA_SUCCESS);
    CHECK_EQUAL(create(&array, &descriptor), CUDA_SUCCESS);
}

static void a_share_that_may_oversubscribe_from_now_on_and_no_more(void) {
    start(2 * GIB, "");
    must_alloc(2 * GIB);
    must_refuse(GIB);
    set_quota(4 * GIB, physical(2 * GIB));
    CUdeviceptr managed = must_alloc(GIB);
    CHECK(is_managed(managed));
    set_quota(4 * GIB, "");
    while (is_managed(must_alloc(512))) { /* seen within 100 ms */
    }
    CHECK_EQUAL(cuda.free(managed), CUDA_SUCCESS);
}

static void hold_2_gib(void) {
    cuda_start(box, 0);
    must_alloc(2 * GIB);
    must_alloc(3 * GIB);
    stage_ready();
}

static void processes_share_the_part_of_the_card_and_the_dead_give_back_both(void) {
    prepare(8 * GIB, physical(3 * GIB));
    struct child other = stage_child(hold_2_gib);
    child_wait(&other);
    cuda_start(box, 0);
    CHECK_EQUAL(cuda_free(), 3 * GIB);
    CHECK(!is_managed(must_alloc(GIB)));
    CHECK(is_managed(must_alloc(GIB)));
    must_refuse(2 * GIB);
    child_kill(&other);
    CHECK(!is_managed(must_alloc(2 * GIB)));
    CHECK(is_managed(must_alloc(4 * GIB)));
    must_refuse(1);
}

static void *churn(void *data) {
    unsigned int random = (unsigned int)(uintptr_t)data;
    CHECK_EQUAL(((__typeof__(&cuCtxSetCurrent))cuda_function("cuCtxSetCurrent"))(cuda.context), CUDA_SUCCESS);
    for (int i = 0; i < 200; i++) {
        CUdeviceptr pointers[4];
        int got = 0;
        for (int j = 0; j < 4; j++) {
            random = random * 1103515245 + 12345;
            got += cuda.alloc(&pointers[got], ((random >> 16) % 20 + 1) * MIB) == CUDA_SUCCESS;
        }
        while (got > 0)
            CHECK_EQUAL(cuda.free(pointers[--got]), CUDA_SUCCESS);
    }
    return NULL;
}

static void after_many_threads_both_accounts_are_right(void) {
    pthread_t threads[4];
    start(128 * MIB, physical(64 * MIB));
    for (uintptr_t i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQUAL(cuda_free(), 128 * MIB);
    CHECK(!is_managed(must_alloc(64 * MIB)));
    CHECK(is_managed(must_alloc(64 * MIB)));
    must_refuse(1);
}

static void nvml_shows_the_whole_quota_of_an_oversubscribed_share(void) {
    nvmlMemory_t memory;
    nvmlDevice_t device;
    start(500 * GIB, physical(2 * GIB));
    void *library = dlopen(text("%s/lib/libnvidia-ml.so.1", box), RTLD_NOW);
    CHECK(library);
#define NVML(name) ((__typeof__(&name))dlsym(library, #name))
    CHECK_EQUAL(NVML(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NVML(nvmlDeviceGetHandleByIndex_v2)(0, &device), NVML_SUCCESS);
    must_alloc(2 * GIB);
    must_alloc(8 * GIB);
    CHECK_EQUAL(NVML(nvmlDeviceGetMemoryInfo)(device, &memory), NVML_SUCCESS);
    CHECK(memory.total == 500 * GIB && memory.used == 10 * GIB && memory.free == 490 * GIB);
}

static void overhead_counts_against_the_quota_and_shows_as_used(void) {
    start(4 * GIB, "overhead 1073741824\n");
    CHECK_EQUAL(cuda_total(), 4 * GIB);
    CHECK_EQUAL(cuda_free(), 3 * GIB);
    must_refuse(3 * GIB + 1);
    CUdeviceptr all = must_alloc(3 * GIB);
    must_refuse(1);
    set_quota(4 * GIB, "overhead 536870912\n"); /* a context went: there is room at once */
    must_alloc(512 * MIB);
    set_quota(4 * GIB, "overhead 2147483648\n"); /* one grew: nothing until enough is freed */
    while (cuda_free() != 0)
        usleep(1000);
    must_refuse(1);
    CHECK_EQUAL(cuda.free(all), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 1536 * MIB);
    must_alloc(1536 * MIB);
    set_quota(4 * GIB, "overhead 99999999999999\n");
    must_refuse(1);
    CHECK_EQUAL(cuda_total(), 4 * GIB);
}

static void overhead_lies_on_the_card(void) {
    start(8 * GIB, text("%soverhead 1073741824\n", physical(3 * GIB)));
    CHECK_EQUAL(cuda_free(), 7 * GIB);
    CHECK(!is_managed(must_alloc(2 * GIB)));
    CHECK(is_managed(must_alloc(5 * GIB)));
    must_refuse(1);
}

static void hold_and_watch(void) {
    cuda_start(box, 0);
    CUdeviceptr pointer = must_alloc(2 * GIB);
    stage_ready();
    while (cuda_total() != GIB) /* within 100 ms */
        usleep(1000);
    CHECK_EQUAL(cuda_free(), 0);
    must_refuse(1);
    CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
    must_alloc(GIB);
    stage_ready();
    must_alloc(3 * GIB); /* grown again: at once */
    CHECK_EQUAL(cuda_free(), 0);
}

static void a_quota_that_changes_is_seen_by_processes_that_are_running(void) {
    prepare(4 * GIB, "");
    struct child watcher = stage_child(hold_and_watch);
    child_wait(&watcher);
    set_quota(GIB, "");
    child_go(&watcher);
    child_wait(&watcher);
    set_quota(4 * GIB, "");
    child_end(&watcher);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(beyond_its_part_of_the_card_a_share_gets_managed_memory_up_to_its_quota),
        CASE(a_quota_may_exceed_the_card),
        CASE(without_the_key_nothing_becomes_managed),
        CASE(a_programs_own_managed_memory_needs_no_room_on_the_card),
        CASE(pitched_memory_may_be_managed),
        CASE(stream_ordered_memory_may_be_managed_and_is_freed_in_its_stream),
        CASE(what_becomes_managed_was_not_refused),
        CASE(managed_memory_that_stands_in_ends_no_capture),
        CASE(what_cannot_be_managed_is_refused_and_what_is_held_stays),
        CASE(a_share_that_may_oversubscribe_from_now_on_and_no_more),
        CASE(processes_share_the_part_of_the_card_and_the_dead_give_back_both),
        CASE(after_many_threads_both_accounts_are_right),
        CASE(nvml_shows_the_whole_quota_of_an_oversubscribed_share),
        CASE(overhead_counts_against_the_quota_and_shows_as_used),
        CASE(overhead_lies_on_the_card),
        CASE(a_quota_that_changes_is_seen_by_processes_that_are_running),
    };
    return RUN_CASES(cases, argc, argv);
}
