/* SPDX-License-Identifier: Apache-2.0 */
/* Windows of launches in several streams, before a driver whose events are done when the test says so. */
#include "cuda/timing_windows.h"

#include <string.h>

#include "cases.h"
#include "check.h"
#include "common/ticks.h"
#include "cores/cores.h"
#include "cuda/cuda_contexts.h"

void *cuda_driver[CUDA_FUNCTION_COUNT];

static char context;
static bool done;
static unsigned int used;

static CUresult current(CUcontext *now) {
    *now = (CUcontext)(void *)&context;
    return CUDA_SUCCESS;
}

static CUresult create(CUevent *event, unsigned int flags) {
    static char events[256];
    static unsigned int made;
    *event = (CUevent)(void *)&events[made++ % sizeof events];
    return flags == CU_EVENT_DEFAULT ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult record(CUevent event, CUstream stream) {
    return event && stream ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult query(CUevent event) {
    return !event ? CUDA_ERROR_INVALID_HANDLE : done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

static CUresult elapsed(float *ms, CUevent start, CUevent end) {
    *ms = 1;
    return start && end ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* What cores.c would do with it is not asked here. */
uint64_t cores_now(void) {
    static uint64_t now = 1000000;
    return now += 1000;
}

void cores_used(int card, uint64_t launched, uint64_t from, uint64_t to) {
    CHECK(card == 0 && from <= to && launched > 0);
    used++;
}

static unsigned int under_way;

void cores_window_begins(int card, unsigned int turn) {
    CHECK(card == 0 && turn == 0);
    under_way++;
}

void cores_window_ends(int card, unsigned int turn) {
    CHECK(card == 0 && turn == 0);
    under_way--;
}

void cores_enforced(int card) {
    CHECK_EQUAL(card, 0);
}

void cores_unenforced(int card, uint32_t reason) {
    fprintf(stderr, "card %d is not limited: %u\n", card, reason);
    CHECK(0);
}

CUcontext cuda_context_home(CUcontext context) {
    return context;
}

static struct track *stream(uintptr_t number) {
    CUstream handle = (CUstream)(number * 4096);
    struct track *track = track_make(number * 4096, track_owner(handle), handle, (CUcontext)(void *)&context,
                                     clock_make((CUcontext)(void *)&context, 0));
    CHECK(track);
    return track;
}

static void launch_in_a_window(struct track *track) {
    window_open(track, 1, false, 0);
    CHECK(track->open);
    track->launches = 1;
}

static void start(void) {
    cuda_driver[CUDA_cuCtxGetCurrent] = (void *)&current;
    cuda_driver[CUDA_cuEventCreate] = (void *)&create;
    cuda_driver[CUDA_cuEventRecord] = (void *)&record;
    cuda_driver[CUDA_cuEventQuery] = (void *)&query;
    cuda_driver[CUDA_cuEventElapsedTime] = (void *)&elapsed;
}

/*
 * The second one can be closed only once what is done is taken account of. That takes the first from the list, and the
 * third into its place.
 */
static void all_windows_of_a_context_are_closed_though_closing_one_changes_the_list(void) {
    start();
    struct track *first = stream(1), *full = stream(2), *last = stream(3);
    launch_in_a_window(first);
    window_close(first, false);
    for (int i = 0; i < TRACK_PENDING; i++) {
        launch_in_a_window(full);
        window_close(full, false);
        CHECK(!full->open);
    }
    launch_in_a_window(full);
    window_close(full, false);
    CHECK(full->open); /* no room, and the card has done nothing yet */
    CHECK(windows_under_way(0));
    CHECK_EQUAL(under_way, 1 + TRACK_PENDING + 1);
    launch_in_a_window(last);
    CHECK_EQUAL(windows_clocks, 1);
    CHECK(first->listed && full->listed && last->listed);
    done = true;
    windows_close(clocks, &(struct windows_wanted){.context = (CUcontext)(void *)&context, .opened = UINT64_MAX});
    CHECK(!full->open && !last->open);
    windows_poll(clocks);
    CHECK_EQUAL(windows_clocks, 0);
    CHECK(!track_listed(clocks, 0));
    CHECK_EQUAL(used, 1 + TRACK_PENDING + 1 + 1);
    CHECK_EQUAL(backlogs[0].windows, 0);
    CHECK_EQUAL(under_way, 0);
}

/* The driver takes the name of a thread's own stream for the calling thread's. */
static void a_window_that_another_thread_left_open_in_its_own_stream_is_estimated_once_it_is_old(void) {
    uint64_t of_another = track_owner_in((CUcontext)(void *)&context, CU_STREAM_PER_THREAD) ^ 64;
    start();
    struct track *track = track_make((uint64_t)(uintptr_t)CU_STREAM_PER_THREAD, of_another, CU_STREAM_PER_THREAD,
                                     (CUcontext)(void *)&context, clock_make((CUcontext)(void *)&context, 0));
    CHECK(track);
    launch_in_a_window(track);
    track->last = ticks_now();
    windows_poll(clocks);
    CHECK(track->open);
    track->last = 1;
    windows_poll(clocks);
    CHECK(!track->open && !track->listed);
    CHECK_EQUAL(used, 1);
    CHECK_EQUAL(under_way, 0);
}

/* As one that has the driver load a module. It is charged when it comes back. */
static void a_window_whose_first_launch_is_in_the_driver_for_long_charges_nothing_that_was_not_used(void) {
    uint64_t of_another = track_owner_in((CUcontext)(void *)&context, CU_STREAM_PER_THREAD) ^ 64;
    start();
    struct track *track = track_make((uint64_t)(uintptr_t)CU_STREAM_PER_THREAD, of_another, CU_STREAM_PER_THREAD,
                                     (CUcontext)(void *)&context, clock_make((CUcontext)(void *)&context, 0));
    CHECK(track);
    window_open(track, 1, false, 0);
    track->last = 1;
    track->begun = 2;
    windows_poll(clocks);
    CHECK(!track->open && !track->listed);
    CHECK_EQUAL(used, 0);
    CHECK_EQUAL(under_way, 0);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(a_window_whose_first_launch_is_in_the_driver_for_long_charges_nothing_that_was_not_used),
        CASE(a_window_that_another_thread_left_open_in_its_own_stream_is_estimated_once_it_is_old),
        CASE(all_windows_of_a_context_are_closed_though_closing_one_changes_the_list),
    };
    return RUN_CASES(cases, argc, argv);
}
