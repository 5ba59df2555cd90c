/* SPDX-License-Identifier: Apache-2.0 */
/* What contexts themselves take counts within the share from the moment on at which they are made. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cases.h"
#include "check.h"
#include "partita/quota_file.h"
#include "partita/usage_region.h"
#include "scratch.h"
#include "stage.h"

#define CONTEXT (300 * MIB) /* of a simulated one */
#define GUESS (528 * MIB)   /* 132 multiprocessors of 4 MiB */

static const char *box;

static void stage_with(uint64_t memory, const char *line) {
    stage_driver("h200x2");
    box = stage_container("box");
    stage_share(box, "share", 0, memory);
    const char *quota =
        text("partita-quota 1\ngpu %s\nmemory %llu\n%send\n", stage_gpu(0), (unsigned long long)memory, line);
    write_file(text("%s" PARTITA_SHARES_FOLDER "/share/" PARTITA_QUOTA_NAME, box), quota, strlen(quota));
}

/* `context`: what the quota file says that one takes; 0: nothing is known. */
static void stage(uint64_t memory, uint64_t context) {
    stage_with(memory, context ? text("context %llu\n", (unsigned long long)context) : "");
}

static struct partita_region *region(void) {
    int file = open(region_path(box, "share"), O_RDWR | O_CLOEXEC);
    CHECK(file >= 0);
    void *at = mmap(NULL, PARTITA_USAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(at != MAP_FAILED);
    close(file); /* in a child of its own: this would drop the locks of who has a seat */
    return at;
}

static CUresult take(uint64_t bytes) {
    CUdeviceptr pointer;
    return cuda.alloc(&pointer, bytes);
}

static void fill(void) {
    while (take(2 * MIB) == CUDA_SUCCESS)
        ;
}

/* A process of its own: the test has no seat in the region, so that it may open it. */
static void in_a_process(void (*work)(void)) {
    struct child child = stage_child(work);
    child_end(&child);
}

static void start(void) {
    cuda_start(box, 0);
}

static void start_and_fill(void) {
    start();
    CHECK_EQUAL(cuda_free(), GIB - CONTEXT);
    fill();
    CHECK_EQUAL(stage_card_used(0), GIB);
    stage_ready();
}

static void is_refused_a_context(void) {
    CUdevice device;
    CUcontext context = NULL;
    cuda_load(box, RTLD_NOW | RTLD_LOCAL);
    CHECK_EQUAL(cuda.init(0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.device_get(&device, 0), CUDA_SUCCESS);
    __typeof__(&cuDevicePrimaryCtxRetain) retain = cuda_function("cuDevicePrimaryCtxRetain");
    uint64_t refused = stage_refusals(box, "share");
    CHECK_EQUAL(cuda.context_create(&context, 0, device), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(retain(&context, device), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(stage_card_used(0), GIB);
    CHECK_EQUAL(stage_refusals(box, "share"), refused + 2);
}

static void a_share_is_filled_beside_its_contexts_and_takes_no_context_more(void) {
    stage(GIB, CONTEXT);
    struct child first = stage_child(start_and_fill);
    child_wait(&first);
    in_a_process(is_refused_a_context);
    child_end(&first);
    in_a_process(start);
}

static void fills_by_the_guess(void) {
    start();
    CHECK_EQUAL(cuda_free(), 2 * GIB - GUESS);
    CHECK_EQUAL(take(2 * GIB - GUESS), CUDA_SUCCESS);
    CHECK_EQUAL(take(2 * MIB), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(stage_card_used(0) <= 2 * GIB);
}

static void until_contexts_are_measured_they_are_charged_a_guess_by_the_cards_architecture(void) {
    stage(2 * GIB, 0);
    in_a_process(fills_by_the_guess);
}

/* A neighbour that says in its region that it holds nearly all that NVML shows makes the plugin learn that. */
static void what_is_too_little_for_a_context_is_not_believed(void) {
    stage(2 * GIB, GUESS / 2 - PARTITA_UNIT);
    in_a_process(fills_by_the_guess);
}

static void waits_for_a_measurement(void) {
    start();
    CHECK_EQUAL(take(GIB), CUDA_SUCCESS);
    stage_ready();
    CHECK_EQUAL(take(GIB - CONTEXT), CUDA_SUCCESS); /* would be refused by the guess, so all is looked at anew */
    CHECK_EQUAL(stage_card_used(0), 2 * GIB);
    CHECK_EQUAL(cuda_free(), 0);
    CHECK_EQUAL(take(512), CUDA_ERROR_OUT_OF_MEMORY);
}

/* The plugin writes into the slot what NVML shows beside the allocations. */
static void what_contexts_are_charged_too_much_is_given_back_once_it_is_measured(void) {
    stage(2 * GIB, 0);
    struct child child = stage_child(waits_for_a_measurement);
    child_wait(&child);
    struct partita_slot *slot = &region()->slots[0];
    CHECK_EQUAL(slot->contexts, GUESS / PARTITA_UNIT);
    CHECK_EQUAL(slot->overhead, 0);
    slot->overhead = CONTEXT / PARTITA_UNIT;
    child_end(&child);
    CHECK_EQUAL(slot->contexts, CONTEXT / PARTITA_UNIT);
}

static void makes_a_context_more(void) {
    start();
    stage_ready();
    CUcontext second;
    CHECK_EQUAL(cuda.context_create(&second, 0, 0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 2 * GIB - 2 * CONTEXT);
    stage_ready();
}

static void a_measurement_without_the_newest_context_does_not_count(void) {
    stage(2 * GIB, CONTEXT);
    struct child child = stage_child(makes_a_context_more);
    child_wait(&child);
    struct partita_slot *slot = &region()->slots[0];
    slot->overhead = CONTEXT / PARTITA_UNIT;
    child_go(&child);
    child_wait(&child);
    CHECK_EQUAL(slot->overhead, 0);
    CHECK_EQUAL(slot->contexts, 2 * CONTEXT / PARTITA_UNIT);
    child_end(&child);
}

static void makes_and_ends_contexts(void) {
    CUcontext primary;
    __typeof__(&cuDevicePrimaryCtxRetain) retain = cuda_function("cuDevicePrimaryCtxRetain");
    __typeof__(&cuDevicePrimaryCtxRelease_v2) release = cuda_function("cuDevicePrimaryCtxRelease_v2");
    __typeof__(&cuDevicePrimaryCtxReset_v2) reset = cuda_function("cuDevicePrimaryCtxReset_v2");
    __typeof__(&cuGreenCtxDestroy) end_green = cuda_function("cuGreenCtxDestroy");
    CUcontext second, of_green;
    CHECK_EQUAL(cuda_free(), 4 * GIB - CONTEXT);
    CHECK_EQUAL(cuda.context_create(&second, 0, 0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 4 * GIB - 2 * CONTEXT);
    CHECK_EQUAL(cuda.context_destroy(second), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuCtxSetCurrent))cuda_function("cuCtxSetCurrent"))(cuda.context), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 4 * GIB - CONTEXT);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(retain(&primary, 0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 4 * GIB - 2 * CONTEXT);
    CHECK_EQUAL(release(0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 4 * GIB - 2 * CONTEXT);
    CHECK_EQUAL(reset(0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free() + stage_card_used(0), 4 * GIB);
    for (int i = 0; i < 2; i++)
        CHECK_EQUAL(release(0), CUDA_SUCCESS); /* a reset does not release it */
    CHECK_EQUAL(cuda_free() + stage_card_used(0), 4 * GIB);
    CUgreenCtx green = cuda_green(0, &of_green);
    CHECK_EQUAL(cuda_free() + stage_card_used(0), 4 * GIB);
    CHECK_EQUAL(end_green(green), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free() + stage_card_used(0), 4 * GIB);
}

static void makes_and_ends(void) {
    start();
    makes_and_ends_contexts();
}

static void what_a_context_takes_is_given_back_when_it_ends_however_it_was_made(void) {
    stage(4 * GIB, CONTEXT);
    in_a_process(makes_and_ends);
}

static void is_charged(CUresult result, const CUcontext *context) {
    CHECK_EQUAL(result, CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 4 * GIB - 2 * CONTEXT);
    CHECK_EQUAL(cuda.context_destroy(*context), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuCtxSetCurrent))cuda_function("cuCtxSetCurrent"))(cuda.context), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 4 * GIB - CONTEXT);
}

static void a_context_is_charged_by_every_version_of_the_function_that_makes_it(void) {
    CUcontext context;
    stage(4 * GIB, CONTEXT);
    start();
    is_charged(((__typeof__(&cuCtxCreate))cuda_function("cuCtxCreate"))(&context, 0, 0), &context);
    is_charged(((__typeof__(&cuCtxCreate_v3))cuda_function("cuCtxCreate_v3"))(&context, NULL, 0, 0, 0), &context);
    is_charged(((__typeof__(&cuCtxCreate_v4))cuda_function("cuCtxCreate_v4"))(&context, NULL, 0, 0), &context);
}

static void fails(void) {
    CUcontext context;
    start();
    stage_fail("cuCtxCreate_v2", CUDA_ERROR_LAUNCH_FAILED);
    CHECK_EQUAL(cuda.context_create(&context, 0, 0), CUDA_ERROR_LAUNCH_FAILED);
    stage_fail(NULL, 0);
    CHECK_EQUAL(cuda_free(), GIB - CONTEXT);
    CHECK_EQUAL(cuda.context_create(&context, 0, 1), CUDA_SUCCESS); /* a card without a share */
    CHECK_EQUAL(((__typeof__(&cuCtxSetCurrent))cuda_function("cuCtxSetCurrent"))(cuda.context), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - CONTEXT);
}

static void a_context_that_could_not_be_made_is_not_charged(void) {
    stage(GIB, CONTEXT);
    in_a_process(fails);
}

static void fills_a_small_share(void) {
    start();
    CHECK_EQUAL(cuda_free(), 0);
    CHECK_EQUAL(take(512), CUDA_ERROR_OUT_OF_MEMORY);
    stage_ready();
    CHECK_EQUAL(take(100 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(take(512), CUDA_ERROR_OUT_OF_MEMORY);
}

static void a_share_that_is_smaller_than_the_guess_is_full_until_its_context_is_measured(void) {
    stage(CONTEXT + 100 * MIB, 0);
    struct child child = stage_child(fills_a_small_share);
    child_wait(&child);
    region()->slots[0].overhead = CONTEXT / PARTITA_UNIT;
    child_end(&child);
}

static void fills_a_small_part_of_the_card(void) {
    start();
    CHECK_EQUAL(cuda_free(), 4 * GIB - CONTEXT - 100 * MIB);
    stage_ready();
    CHECK_EQUAL(take(100 * MIB), CUDA_SUCCESS); /* had no room on the card before, so all is looked at anew */
    CHECK_EQUAL(cuda_free(), 4 * GIB - CONTEXT - 100 * MIB);
    CHECK_EQUAL(take(2 * GIB), CUDA_SUCCESS); /* managed */
}

static void a_share_whose_part_of_the_card_is_smaller_than_the_guess_has_its_context(void) {
    stage_with(4 * GIB, text("physical %llu\n", (unsigned long long)(CONTEXT + 100 * MIB)));
    struct child child = stage_child(fills_a_small_part_of_the_card);
    child_wait(&child);
    region()->slots[0].overhead = CONTEXT / PARTITA_UNIT;
    child_end(&child);
}

static void is_refused_a_context_of_known_size(void) {
    CUcontext context;
    cuda_load(box, RTLD_NOW | RTLD_LOCAL);
    CHECK_EQUAL(cuda.init(0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.context_create(&context, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
}

static void a_context_that_is_known_not_to_fit_into_the_shares_part_of_the_card_is_refused(void) {
    stage_with(4 * GIB, text("context %llu\nphysical %llu\n", (unsigned long long)CONTEXT,
                             (unsigned long long)(CONTEXT - 2 * MIB)));
    in_a_process(is_refused_a_context_of_known_size);
}

/* Each has a handle of its own: the driver gives none out again. */
static void makes_and_ends_many(void) {
    CUdevice device;
    CUcontext context;
    cuda_load(box, RTLD_NOW | RTLD_LOCAL);
    CHECK_EQUAL(cuda.init(0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.device_get(&device, 0), CUDA_SUCCESS);
    for (int i = 0; i < 1100; i++) {
        CHECK_EQUAL(cuda.context_create(&context, 0, device), CUDA_SUCCESS);
        CHECK_EQUAL(take(512 * MIB), CUDA_SUCCESS); /* ends with it */
        CHECK_EQUAL(cuda.context_destroy(context), CUDA_SUCCESS);
    }
    CHECK_EQUAL(stage_card_used(0), 0);
}

static void however_many_contexts_come_and_go_each_gives_back_what_it_was_charged(void) {
    stage(GIB, CONTEXT);
    in_a_process(makes_and_ends_many);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(a_share_is_filled_beside_its_contexts_and_takes_no_context_more),
        CASE(until_contexts_are_measured_they_are_charged_a_guess_by_the_cards_architecture),
        CASE(what_is_too_little_for_a_context_is_not_believed),
        CASE(what_contexts_are_charged_too_much_is_given_back_once_it_is_measured),
        CASE(a_measurement_without_the_newest_context_does_not_count),
        CASE(what_a_context_takes_is_given_back_when_it_ends_however_it_was_made),
        CASE(a_context_is_charged_by_every_version_of_the_function_that_makes_it),
        CASE(a_context_that_could_not_be_made_is_not_charged),
        CASE(a_share_that_is_smaller_than_the_guess_is_full_until_its_context_is_measured),
        CASE(a_share_whose_part_of_the_card_is_smaller_than_the_guess_has_its_context),
        CASE(a_context_that_is_known_not_to_fit_into_the_shares_part_of_the_card_is_refused),
        CASE(however_many_contexts_come_and_go_each_gives_back_what_it_was_charged),
    };
    return RUN_CASES(cases, argc, argv);
}
