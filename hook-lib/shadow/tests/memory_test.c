/* SPDX-License-Identifier: Apache-2.0 */
/* What one program sees of its share, against the simulated driver. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

#include "cases.h"
#include "check.h"
#include "cuda_pools.h"
#include "scratch.h"
#include "stage.h"

static const char *box;

static void start(uint64_t memory) {
    stage_driver("h200x2");
    box = stage_container("box");
    stage_share(box, "share", 0, memory);
    cuda_start(box, 0);
}

static CUdeviceptr must_alloc(uint64_t bytes) {
    CUdeviceptr pointer = 0;
    CHECK_EQUAL(cuda.alloc(&pointer, bytes), CUDA_SUCCESS);
    CHECK(pointer);
    return pointer;
}

static void must_refuse(uint64_t bytes) {
    CUdeviceptr pointer = 42;
    CHECK_EQUAL(cuda.alloc(&pointer, bytes), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(pointer, 42);
}

static void the_quota_is_the_cards_memory_and_what_exceeds_it_is_refused(void) {
    size_t total;
    start(8 * GIB);
    CHECK_EQUAL(cuda.total(&total, 0), CUDA_SUCCESS);
    CHECK_EQUAL(total, 8 * GIB);
    CHECK_EQUAL(cuda_total(), 8 * GIB);
    CHECK_EQUAL(cuda_free(), 8 * GIB);
    CUdeviceptr first = must_alloc(5 * GIB);
    CHECK_EQUAL(cuda_free(), 3 * GIB);
    must_refuse(3 * GIB + 1);
    must_refuse(SIZE_MAX);
    CUdeviceptr second = must_alloc(3 * GIB);
    CHECK_EQUAL(cuda_free(), 0);
    must_refuse(1);
    CHECK_EQUAL(stage_hardware_used(0), 8 * GIB);
    CHECK_EQUAL(cuda.free(first), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 5 * GIB);
    CHECK_EQUAL(cuda.free(second), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 8 * GIB);
    CHECK_EQUAL(stage_hardware_used(0), 0);
}

static void small_allocations_are_charged_in_steps_of_512_bytes(void) {
    start(MIB + 1024 + 511);
    must_alloc(MIB);
    must_alloc(1);
    CHECK_EQUAL(cuda_free(), 512);
    must_refuse(513);
    must_alloc(512);
    must_refuse(1);
}

static void the_oldest_functions_keep_their_32_bit_arguments(void) {
    start(6 * GIB);
    __typeof__(&cuMemAlloc) alloc = cuda_function("cuMemAlloc");
    __typeof__(&cuMemFree) free_v1 = cuda_function("cuMemFree");
    __typeof__(&cuMemGetInfo) info = cuda_function("cuMemGetInfo");
    __typeof__(&cuDeviceTotalMem) total_v1 = cuda_function("cuDeviceTotalMem");
    unsigned int room[3] = {7, 0, 7}, free, total;
    CHECK_EQUAL(alloc(&room[1], 4 * MIB), CUDA_SUCCESS);
    CHECK(room[0] == 7 && room[1] != 0 && room[2] == 7);
    CHECK_EQUAL(cuda_free(), 6 * GIB - 4 * MIB);
    CHECK_EQUAL(info(&free, &total), CUDA_SUCCESS);
    CHECK(free <= UINT_MAX && total <= UINT_MAX && free > 0);
    CHECK_EQUAL(free_v1(room[1]), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 6 * GIB);
    write_quota(box, "share", stage_gpu(0), 3 * GIB, 2);
    while (cuda_total() != 3 * GIB)
        usleep(1000);
    CHECK_EQUAL(total_v1(&total, 0), CUDA_SUCCESS);
    CHECK_EQUAL(total, 3 * GIB);
}

static void every_kind_of_allocation_is_charged_and_given_back(void) {
    start(GIB);
    __typeof__(&cuMemAllocPitch_v2) pitched = cuda_function("cuMemAllocPitch_v2");
    __typeof__(&cuMemAllocPitch) pitched_v1 = cuda_function("cuMemAllocPitch");
    __typeof__(&cuMemAllocManaged) managed = cuda_function("cuMemAllocManaged");
    __typeof__(&cuMemAllocAsync) async = cuda_function("cuMemAllocAsync");
    __typeof__(&cuMemFreeAsync) free_async = cuda_function("cuMemFreeAsync");
    __typeof__(&cuMemAllocAsync_ptsz) async_ptsz = cuda_function("cuMemAllocAsync_ptsz");
    __typeof__(&cuMemFreeAsync_ptsz) free_async_ptsz = cuda_function("cuMemFreeAsync_ptsz");
    CUdeviceptr pointer;
    CUdeviceptr_v1 narrow;
    size_t pitch;
    unsigned int narrow_pitch;

    CHECK_EQUAL(pitched(&pointer, &pitch, 1000, 8192, 4), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - (pitch * 8192 + 2 * MIB - 1) / (2 * MIB) * (2 * MIB));
    CHECK_EQUAL(cuda_free(), GIB - stage_hardware_used(0));
    CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(pitched(&pointer, &pitch, SIZE_MAX / 2, 3, 4), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(pitched_v1(&narrow, &narrow_pitch, 1000, 8192, 4), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - stage_hardware_used(0));
    CHECK_EQUAL(cuda.free(narrow), CUDA_SUCCESS);

    CHECK_EQUAL(managed(&pointer, 100, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 2 * MIB);
    CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(managed(&pointer, 2 * GIB, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_OUT_OF_MEMORY);

    CHECK_EQUAL(async(&pointer, 100 * MIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 100 * MIB);
    CHECK_EQUAL(free_async(pointer, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(async_ptsz(&pointer, 2 * GIB, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(async_ptsz(&pointer, 100 * MIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(free_async_ptsz(pointer, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuCtxSynchronize))cuda_function("cuCtxSynchronize"))(), CUDA_SUCCESS);
    uint64_t kept = stage_pool_keeps(200 * MIB); /* of two streams */
    CHECK_EQUAL(cuda_free(), GIB - kept);
    CHECK_EQUAL(stage_hardware_used(0), kept);
}

/* The rows would fit; what the driver makes of them does not. */
static void a_pitch_that_does_not_fit_the_quota_leaves_nothing_behind(void) {
    CUdeviceptr pointer;
    size_t pitch;
    start(4 * MIB);
    __typeof__(&cuMemAllocPitch_v2) pitched = cuda_function("cuMemAllocPitch_v2");
    CHECK_EQUAL(pitched(&pointer, &pitch, 513, 4 * MIB / 513, 4), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(stage_hardware_used(0), 0);
    CHECK_EQUAL(cuda_free(), 4 * MIB);
}

static void host_memory_is_never_charged(void) {
    void *pointer;
    start(4 * MIB);
    __typeof__(&cuMemHostAlloc) alloc = cuda_function("cuMemHostAlloc");
    __typeof__(&cuMemFreeHost) free_host = cuda_function("cuMemFreeHost");
    CHECK_EQUAL(alloc(&pointer, 64 * MIB, 0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 4 * MIB);
    CHECK_EQUAL(free_host(pointer), CUDA_SUCCESS);
}

static void an_unknown_pointer_reaches_the_driver(void) {
    start(GIB);
    void *real = dlopen(text("%s/lib/partita/libcuda-real.so.1", box), RTLD_NOW);
    CHECK(real);
    __typeof__(&cuMemAlloc_v2) behind = (__typeof__(&cuMemAlloc_v2))dlsym(real, "cuMemAlloc_v2");
    CUdeviceptr pointer;
    CHECK_EQUAL(behind(&pointer, 4 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(stage_hardware_used(0), 4 * MIB);
    CHECK_EQUAL(cuda_free(), GIB);
    CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(stage_hardware_used(0), 0);
    CHECK_EQUAL(cuda.free(pointer), CUDA_ERROR_INVALID_VALUE);
    CUdeviceptr mine = must_alloc(4 * MIB);
    CHECK_EQUAL(cuda.free(mine + 512), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(cuda_free(), GIB - 4 * MIB);
}

static void null_outputs_and_empty_sizes_get_the_drivers_answer(void) {
    CUdeviceptr pointer;
    size_t size;
    start(GIB);
    CHECK_EQUAL(cuda.alloc(NULL, MIB), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(cuda.alloc(&pointer, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK(cuda.info(NULL, &size) == CUDA_ERROR_INVALID_VALUE || size > GIB);
    cuda.info(&size, NULL);
    cuda.info(NULL, NULL);
    CHECK_EQUAL(cuda.total(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(((__typeof__(&cuMemAllocPitch_v2))cuda_function("cuMemAllocPitch_v2"))(&pointer, NULL, 1, 1, 4),
                CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(((__typeof__(&cuMemAllocAsync))cuda_function("cuMemAllocAsync"))(NULL, MIB, NULL),
                CUDA_ERROR_INVALID_VALUE);
    ((__typeof__(&cuGetProcAddress_v2))cuda_function("cuGetProcAddress_v2"))("cuInit", NULL, 12000, 0, NULL);
    CHECK_EQUAL(cuda_free(), GIB);
}

static void before_initialisation_the_drivers_errors_come_through(void) {
    CUdeviceptr pointer;
    size_t free, total;
    stage_driver("h200x1");
    box = stage_container("box");
    stage_share(box, "share", 0, GIB);
    cuda_load(box, RTLD_LAZY);
    CHECK_EQUAL(cuda.alloc(&pointer, MIB), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_EQUAL(cuda.info(&free, &total), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_EQUAL(cuda.init(0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.alloc(&pointer, MIB), CUDA_ERROR_INVALID_CONTEXT);
}

static void a_card_without_a_share_is_not_limited(void) {
    CUdevice device;
    CUcontext context;
    size_t total;
    start(GIB);
    CHECK_EQUAL(cuda.device_get(&device, 1), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.context_create(&context, 0, device), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.total(&total, device), CUDA_SUCCESS);
    CHECK(total > 100 * GIB);
    CHECK(cuda_free() > 100 * GIB);
    CUdeviceptr pointer = must_alloc(64 * GIB);
    CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
}

static void a_mig_instance_of_a_card_is_held_to_the_share_of_the_card(void) {
    stage_driver("h200x2");
    stage_instance(0, "1g.18gb");
    box = stage_container("box");
    stage_share(box, "share", 0, 8 * GIB);
    cuda_start(box, 0);
    CHECK_EQUAL(cuda_total(), 8 * GIB);
    CUdeviceptr pointer = must_alloc(6 * GIB);
    must_refuse(3 * GIB);
    CHECK_EQUAL(cuda_free(), 2 * GIB);
    CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
}

static void a_mig_instance_of_a_card_without_a_share_is_not_limited(void) {
    stage_driver("h200x2");
    stage_instance(0, "1g.18gb");
    box = stage_container("box");
    stage_share(box, "share", 1, GIB);
    cuda_start(box, 0);
    CHECK_EQUAL(cuda_total(), 16 * GIB);
    CHECK_EQUAL(cuda.free(must_alloc(6 * GIB)), CUDA_SUCCESS);
}

static void a_mig_instance_is_held_to_its_own_share(void) {
    stage_driver("h200x1");
    box = stage_container("box");
    stage_share_of(box, "share", stage_instance(0, "1g.18gb"), 4 * GIB);
    cuda_start(box, 0);
    CHECK_EQUAL(cuda_total(), 4 * GIB);
    CUdeviceptr pointer = must_alloc(3 * GIB);
    must_refuse(GIB + 1);
    CHECK_EQUAL(cuda_free(), GIB);
    CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
}

static void the_share_of_an_instance_holds_before_that_of_its_card(void) {
    stage_driver("h200x1");
    box = stage_container("box");
    stage_share(box, "of-the-card", 0, 8 * GIB);
    stage_share_of(box, "of-the-instance", stage_instance(0, "1g.18gb"), 4 * GIB);
    cuda_start(box, 0);
    CHECK_EQUAL(cuda_total(), 4 * GIB);
    must_refuse(5 * GIB);
}

static void a_mig_instance_is_not_held_to_the_share_of_another_one(void) {
    stage_driver("h200x1");
    box = stage_container("box");
    const char *first = text("%s", stage_instance(0, "1g.18gb"));
    stage_share_of(box, "share", stage_instance(0, "1g.18gb"), GIB);
    CHECK_EQUAL(setenv("CUDA_VISIBLE_DEVICES", first, 1), 0);
    cuda_start(box, 0);
    CHECK_EQUAL(cuda_total(), 16 * GIB);
    CHECK_EQUAL(cuda.free(must_alloc(6 * GIB)), CUDA_SUCCESS);
}

/* As in a chroot that has the libraries and hides the shares. */
static void without_a_shares_folder_nothing_is_granted(void) {
    CUdeviceptr pointer;
    stage_driver("h200x1");
    box = stage_container("box");
    cuda_start(box, 0);
    CHECK_EQUAL(cuda_free(), 0);
    CHECK_EQUAL(cuda.alloc(&pointer, MIB), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(stage_hardware_used(0), 0);
}

static void two_shares_of_one_card_are_their_sum(void) {
    stage_driver("h200x1");
    box = stage_container("box");
    stage_share(box, "a", 0, 3 * GIB);
    stage_share(box, "b", 0, 2 * GIB);
    cuda_start(box, 0);
    CHECK_EQUAL(cuda_total(), 5 * GIB);
    CUdeviceptr large = must_alloc(4 * GIB); /* more than either */
    CHECK_EQUAL(cuda_free(), GIB);
    must_refuse(GIB + 1);
    CHECK_EQUAL(cuda_free(), GIB); /* the refusal left nothing */
    CUdeviceptr small = must_alloc(GIB);
    CHECK_EQUAL(cuda.free(large), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 4 * GIB);
    must_alloc(4 * GIB);
    CHECK_EQUAL(cuda.free(small), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB);
}

static void an_unusable_quota_grants_nothing(void) {
    size_t total;
    stage_driver("h200x2");
    box = stage_container("box");
    stage_share(box, "share", 0, GIB);
    make_folders(text("%s/etc/partita/shares/broken", box));
    write_file(text("%s/etc/partita/shares/broken/quota", box), "partita-quota 1\nmemory", 22);
    cuda_start(box, 0);
    must_alloc(MIB); /* this card has a share that can be read */
    CUdevice device;
    CUcontext context;
    CHECK_EQUAL(cuda.device_get(&device, 1), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.context_create(&context, 0, device), CUDA_SUCCESS);
    must_refuse(MIB); /* the broken one may be this card's */
    CHECK_EQUAL(cuda_free(), 0);
    CHECK_EQUAL(cuda.total(&total, device), CUDA_SUCCESS);
    CHECK_EQUAL(total, 0);
    write_quota(box, "broken", stage_gpu(1), 2 * GIB, 1);
    make_region(box, "broken");
    while (cuda_free() != 2 * GIB)
        usleep(1000);
    must_alloc(2 * GIB);
    must_refuse(1);
}

static void a_share_without_its_region_grants_nothing(void) {
    stage_driver("h200x1");
    box = stage_container("box");
    write_quota(box, "share", stage_gpu(0), GIB, 1);
    cuda_start(box, 0);
    must_refuse(MIB);
    make_folders(text("%s/run/partita/shares/share", box));
    write_file(region_path(box, "share"), "short", 5);
    must_refuse(MIB);
    make_region(box, "share");
    must_alloc(MIB);
}

static void a_quota_that_grows_is_honoured_at_once(void) {
    start(GIB);
    must_alloc(GIB);
    must_refuse(MIB);
    write_quota(box, "share", stage_gpu(0), 2 * GIB, 2);
    must_alloc(GIB);
    must_refuse(1);
    CHECK_EQUAL(cuda_total(), 2 * GIB);
}

static void a_quota_that_shrinks_is_honoured_as_memory_is_freed(void) {
    start(4 * GIB);
    CUdeviceptr first = must_alloc(2 * GIB);
    must_alloc(GIB);
    write_quota(box, "share", stage_gpu(0), 2 * GIB, 2);
    while (cuda_total() != 2 * GIB)
        usleep(1000);
    CHECK_EQUAL(cuda_free(), 0);
    must_refuse(MIB);
    CHECK_EQUAL(cuda.free(first), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB);
    must_alloc(GIB);
    must_refuse(1);
}

static void overhead_counts_as_used_and_is_not_granted(void) {
    char line[64];
    start(4 * GIB);
    must_alloc(GIB);
    snprintf(line, sizeof line, "overhead %llu\n", (unsigned long long)(GIB - 100));
    write_quota_with(box, "share", stage_gpu(0), 4 * GIB, 2, line);
    while (cuda_free() != 2 * GIB)
        usleep(1000);
    CHECK_EQUAL(cuda_total(), 4 * GIB);
    must_refuse(2 * GIB + 1);
    CUdeviceptr rest = must_alloc(2 * GIB);
    CHECK_EQUAL(cuda_free(), 0);
    must_refuse(1);
    write_quota(box, "share", stage_gpu(0), 4 * GIB, 3);
    must_alloc(GIB); /* at once, for it would fail otherwise */
    write_quota_with(box, "share", stage_gpu(0), 4 * GIB, 4, "overhead 9223372036854775807\n");
    CHECK_EQUAL(cuda.free(rest), CUDA_SUCCESS);
    while (cuda_free() != 0)
        usleep(1000);
    must_refuse(1);
    CHECK_EQUAL(cuda_total(), 4 * GIB);
}

static void a_quota_that_becomes_unreadable_grants_nothing_more_and_keeps_what_is_held(void) {
    start(4 * GIB);
    CUdeviceptr held = must_alloc(GIB);
    write_file(text("%s/etc/partita/shares/share/quota", box), "rubbish", 7);
    while (cuda_total() != 0)
        usleep(1000);
    must_refuse(1);
    CHECK_EQUAL(cuda.free(held), CUDA_SUCCESS);
    write_quota(box, "share", stage_gpu(1), 4 * GIB, 2); /* another card: not this share's any more */
    must_refuse(1);
    write_quota(box, "share", stage_gpu(0), 4 * GIB, 3);
    must_alloc(4 * GIB);
}

/* The driver's functions may change errno; a refusal does not reach the driver. */
static void errno_is_kept(void) {
    CUdeviceptr pointer;
    start(GIB);
    for (int i = 0; i < 3; i++) { /* the first call initialises the library */
        errno = 77;
        CHECK_EQUAL(cuda.alloc(&pointer, 8 * GIB), CUDA_ERROR_OUT_OF_MEMORY);
        CHECK_EQUAL(errno, 77);
    }
}

static void a_program_that_closes_every_descriptor_stays_limited(void) {
    start(GIB);
    must_alloc(512 * MIB);
    for (int i = 3; i < 1024; i++)
        close(i);
    must_refuse(GIB);
    must_alloc(512 * MIB);
    must_refuse(1);
}

static void a_context_that_ends_gives_back_what_was_allocated_in_it(void) {
    CUcontext other;
    start(4 * GIB);
    must_alloc(GIB);
    CHECK_EQUAL(cuda.context_create(&other, 0, 0), CUDA_SUCCESS);
    must_alloc(2 * GIB);
    CHECK_EQUAL(cuda_free(), GIB);
    CHECK_EQUAL(cuda.context_destroy(other), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuCtxSetCurrent))cuda_function("cuCtxSetCurrent"))(cuda.context), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 3 * GIB);
    CHECK_EQUAL(stage_hardware_used(0), GIB);
}

static void a_reset_or_released_device_gives_back_what_it_held(void) {
    CUcontext primary;
    start(4 * GIB);
    __typeof__(&cuDevicePrimaryCtxRetain) retain = cuda_function("cuDevicePrimaryCtxRetain");
    __typeof__(&cuDevicePrimaryCtxRelease_v2) release = cuda_function("cuDevicePrimaryCtxRelease_v2");
    __typeof__(&cuDevicePrimaryCtxReset_v2) reset = cuda_function("cuDevicePrimaryCtxReset_v2");
    __typeof__(&cuCtxSetCurrent) set_current = cuda_function("cuCtxSetCurrent");
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(retain(&primary, 0), CUDA_SUCCESS);
        CHECK_EQUAL(retain(&primary, 0), CUDA_SUCCESS);
        CHECK_EQUAL(set_current(primary), CUDA_SUCCESS);
        must_alloc(3 * GIB);
        CHECK_EQUAL(release(0), CUDA_SUCCESS);
        CHECK_EQUAL(cuda_free(), GIB); /* still retained once */
        CHECK_EQUAL(i == 1 ? reset(0) : release(0), CUDA_SUCCESS);
        CHECK_EQUAL(set_current(cuda.context), CUDA_SUCCESS);
        CHECK_EQUAL(cuda_free(), 4 * GIB);
        CHECK_EQUAL(stage_hardware_used(0), 0);
        if (i == 1)
            CHECK_EQUAL(release(0), CUDA_SUCCESS); /* a reset does not release it */
    }
}

static void a_device_that_was_reset_keeps_what_it_holds_until_it_is_released_as_often_as_it_was_retained(void) {
    CUcontext primary;
    start(4 * GIB);
    __typeof__(&cuDevicePrimaryCtxRetain) retain = cuda_function("cuDevicePrimaryCtxRetain");
    __typeof__(&cuDevicePrimaryCtxRelease_v2) release = cuda_function("cuDevicePrimaryCtxRelease_v2");
    __typeof__(&cuDevicePrimaryCtxReset_v2) reset = cuda_function("cuDevicePrimaryCtxReset_v2");
    __typeof__(&cuCtxSetCurrent) set_current = cuda_function("cuCtxSetCurrent");
    CHECK_EQUAL(retain(&primary, 0), CUDA_SUCCESS);
    CHECK_EQUAL(reset(0), CUDA_SUCCESS);
    CHECK_EQUAL(retain(&primary, 0), CUDA_SUCCESS);
    CHECK_EQUAL(set_current(primary), CUDA_SUCCESS);
    must_alloc(3 * GIB);
    CHECK_EQUAL(release(0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB);
    CHECK_EQUAL(stage_hardware_used(0), 3 * GIB);
    CHECK_EQUAL(release(0), CUDA_SUCCESS);
    CHECK_EQUAL(set_current(cuda.context), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 4 * GIB);
    CHECK_EQUAL(stage_hardware_used(0), 0);
}

/* The memory is the primary context's, whether a green context ends before it or keeps it to the last. */
static void what_is_allocated_in_a_green_context_is_given_back_with_the_primary_context(void) {
    CUcontext primary, context;
    start(4 * GIB);
    __typeof__(&cuGreenCtxDestroy) destroy = cuda_function("cuGreenCtxDestroy");
    __typeof__(&cuDevicePrimaryCtxRetain) retain = cuda_function("cuDevicePrimaryCtxRetain");
    __typeof__(&cuDevicePrimaryCtxRelease_v2) release = cuda_function("cuDevicePrimaryCtxRelease_v2");
    __typeof__(&cuDevicePrimaryCtxReset_v2) reset = cuda_function("cuDevicePrimaryCtxReset_v2");
    __typeof__(&cuCtxSetCurrent) set_current = cuda_function("cuCtxSetCurrent");
    for (int i = 0; i < 4; i++) {
        if (i > 0)
            CHECK_EQUAL(retain(&primary, 0), CUDA_SUCCESS);
        CUgreenCtx green = cuda_green(0, &context);
        CHECK_EQUAL(set_current(context), CUDA_SUCCESS);
        must_alloc(3 * GIB);
        CHECK_EQUAL(set_current(cuda.context), CUDA_SUCCESS);
        if (i < 3)
            CHECK_EQUAL(destroy(green), CUDA_SUCCESS);
        if (i > 0) {
            CHECK_EQUAL(stage_hardware_used(0), 3 * GIB);
            CHECK_EQUAL(cuda_free(), GIB); /* the primary context keeps it */
            CHECK_EQUAL(i == 2 ? reset(0) : release(0), CUDA_SUCCESS);
            if (i == 2)
                CHECK_EQUAL(release(0), CUDA_SUCCESS); /* a reset does not release it */
        }
        if (i == 3) {
            CHECK_EQUAL(cuda_free(), GIB); /* as does the green one */
            CHECK_EQUAL(destroy(green), CUDA_SUCCESS);
        }
        CHECK_EQUAL(destroy(green), CUDA_ERROR_CONTEXT_IS_DESTROYED);
        CHECK_EQUAL(stage_hardware_used(0), 0);
        CHECK_EQUAL(cuda_free(), 4 * GIB);
    }
}

static void *churn(void *data) {
    unsigned int random = (unsigned int)(uintptr_t)data;
    CHECK_EQUAL(((__typeof__(&cuCtxSetCurrent))cuda_function("cuCtxSetCurrent"))(cuda.context), CUDA_SUCCESS);
    for (int i = 0; i < 300; i++) {
        CUdeviceptr pointer[4];
        int got = 0;
        for (int j = 0; j < 4; j++) {
            random = random * 1103515245 + 12345;
            if (cuda.alloc(&pointer[got], ((random >> 16) % 32 + 1) * 2 * MIB) == CUDA_SUCCESS)
                got++;
            CHECK(stage_hardware_used(0) <= 256 * MIB);
        }
        while (got > 0)
            CHECK_EQUAL(cuda.free(pointer[--got]), CUDA_SUCCESS);
    }
    return NULL;
}

static void threads_of_a_process_never_exceed_the_quota(void) {
    pthread_t threads[8];
    start(256 * MIB);
    stage_hardware_used(0);
    for (uintptr_t i = 0; i < 8; i++)
        CHECK(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)) == 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQUAL(cuda_free(), 256 * MIB);
    CHECK_EQUAL(stage_hardware_used(0), 0);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(the_quota_is_the_cards_memory_and_what_exceeds_it_is_refused),
        CASE(small_allocations_are_charged_in_steps_of_512_bytes),
        CASE(the_oldest_functions_keep_their_32_bit_arguments),
        CASE(every_kind_of_allocation_is_charged_and_given_back),
        CASE(a_pitch_that_does_not_fit_the_quota_leaves_nothing_behind),
        CASE(host_memory_is_never_charged),
        CASE(an_unknown_pointer_reaches_the_driver),
        CASE(null_outputs_and_empty_sizes_get_the_drivers_answer),
        CASE(before_initialisation_the_drivers_errors_come_through),
        CASE(a_card_without_a_share_is_not_limited),
        CASE(a_mig_instance_of_a_card_is_held_to_the_share_of_the_card),
        CASE(a_mig_instance_of_a_card_without_a_share_is_not_limited),
        CASE(a_mig_instance_is_held_to_its_own_share),
        CASE(the_share_of_an_instance_holds_before_that_of_its_card),
        CASE(a_mig_instance_is_not_held_to_the_share_of_another_one),
        CASE(without_a_shares_folder_nothing_is_granted),
        CASE(two_shares_of_one_card_are_their_sum),
        CASE(an_unusable_quota_grants_nothing),
        CASE(a_share_without_its_region_grants_nothing),
        CASE(a_quota_that_grows_is_honoured_at_once),
        CASE(a_quota_that_shrinks_is_honoured_as_memory_is_freed),
        CASE(overhead_counts_as_used_and_is_not_granted),
        CASE(a_quota_that_becomes_unreadable_grants_nothing_more_and_keeps_what_is_held),
        CASE(errno_is_kept),
        CASE(a_program_that_closes_every_descriptor_stays_limited),
        CASE(a_context_that_ends_gives_back_what_was_allocated_in_it),
        CASE(a_reset_or_released_device_gives_back_what_it_held),
        CASE(a_device_that_was_reset_keeps_what_it_holds_until_it_is_released_as_often_as_it_was_retained),
        CASE(what_is_allocated_in_a_green_context_is_given_back_with_the_primary_context),
        CASE(threads_of_a_process_never_exceed_the_quota),
    };
    return RUN_CASES(cases, argc, argv);
}
