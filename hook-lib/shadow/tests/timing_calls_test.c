/* SPDX-License-Identifier: Apache-2.0 */
/* What the timing of launches calls the driver for, and when: before a driver that notes all of it. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include "cases.h"
#include "check.h"
#include "cuda_copies.h"
#include "cuda_events.h"
#include "cuda_green.h"
#include "cuda_launch.h"
#include "cuda_pools.h"
#include "cuda_semaphores.h"
#include "scratch.h"

enum { PRIMARY = 1, GREEN = 2 };

struct call {
    const char *name;
    CUstream stream;
    CUcontext current;
};

static void *library;

#define CUDA(name) ((__typeof__(&name))function(#name))

static void *function(const char *name) {
    void *found = dlsym(library, name);
    CHECK(found);
    return found;
}

static CUcontext context(uintptr_t number) {
    return (CUcontext)number;
}

static CUstream stream_of(uintptr_t in, uintptr_t number) {
    return (CUstream)(in * 4096 + number);
}

static void start(void) {
    const char *box = scratch_folder();
    CUcontext primary;
    make_folders(text("%s/lib/partita", box));
    copy_file(shadow_cuda(), text("%s/lib/libcuda.so.1", box));
    copy_file(CALLS_DRIVER, text("%s/lib/partita/libcuda-real.so.1", box));
    write_quota_with(box, "share", "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", 1 << 30, 1, "cores 90\n");
    make_region(box, "share");
    CHECK((library = dlopen(text("%s/lib/libcuda.so.1", box), RTLD_NOW)) != NULL);
    CHECK_EQUAL(CUDA(cuDevicePrimaryCtxRetain)(&primary, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuCtxSetCurrent)(primary), CUDA_SUCCESS);
}

static unsigned int calls(void) {
    return ((unsigned int (*)(void))function("calls_driver_count"))();
}

static const struct call *call(unsigned int number) {
    return ((const struct call *(*)(unsigned int))function("calls_driver_call"))(number);
}

static bool is(unsigned int number, const char *name, CUstream stream) {
    const struct call *made = number < calls() ? call(number) : NULL;
    return made && strcmp(made->name, name) == 0 && made->stream == stream;
}

/* How often that was called in the stream from call `from` on. */
static unsigned int times(unsigned int from, const char *name, CUstream stream) {
    unsigned int found = 0;
    for (unsigned int i = from; i < calls(); i++)
        found += is(i, name, stream);
    return found;
}

static void launch(CUstream stream) {
    static __typeof__(&cuLaunchKernel) kernel;
    if (!kernel)
        kernel = CUDA(cuLaunchKernel);
    CHECK_EQUAL(kernel(NULL, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL), CUDA_SUCCESS);
}

/* Behind launches right after each other: the first ones are timed one by one. */
static void launch_until_a_window_is_open(CUstream stream) {
    for (int i = 0; i < 2000; i++) {
        launch(stream);
        launch(stream);
        launch(stream);
        if (is(calls() - 1, "launch", stream))
            return;
    }
    CHECK(!"a window stays open");
}

static void pass_us(long us) {
    struct timespec pause = {us / 1000000, us % 1000000 * 1000};
    nanosleep(&pause, NULL);
}

/* An event that is recorded there later would be a barrier for all blocking streams. */
static void beside_blocking_streams_no_window_is_left_open_in_the_legacy_stream(void) {
    CUstream blocking;
    start();
    launch_until_a_window_is_open(NULL);
    unsigned int before = calls();
    CHECK_EQUAL(CUDA(cuStreamCreate)(&blocking, CU_STREAM_DEFAULT), CUDA_SUCCESS);
    CHECK(is(before, "record", CU_STREAM_LEGACY) && is(before + 1, "make a blocking stream", blocking));
    for (int i = 0; i < 1000; i++) {
        before = calls();
        launch(NULL);
        unsigned int at = calls() - 1;
        CHECK(is(at, "record", CU_STREAM_LEGACY) && is(at - 1, "launch", NULL));
        CHECK(is(at - 2, "record", CU_STREAM_LEGACY) && at - 2 == before);
    }
    before = calls();
    launch(blocking);
    CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
    CHECK_EQUAL(times(before, "record", CU_STREAM_LEGACY), 0);
}

static void streams_that_do_not_block_leave_windows_in_the_legacy_stream_open(void) {
    CUstream other;
    start();
    CHECK_EQUAL(CUDA(cuStreamCreateWithPriority)(&other, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
    launch_until_a_window_is_open(NULL);
    CHECK_EQUAL(CUDA(cuStreamCreateWithPriority)(&other, CU_STREAM_DEFAULT, 0), CUDA_SUCCESS);
    launch(NULL);
    CHECK(is(calls() - 1, "record", CU_STREAM_LEGACY));
}

static void a_threads_own_stream_is_a_blocking_one(void) {
    start();
    launch_until_a_window_is_open(NULL);
    unsigned int before = calls();
    launch(CU_STREAM_PER_THREAD);
    CHECK(is(before, "record", CU_STREAM_LEGACY));
    launch(NULL);
    CHECK(is(calls() - 1, "record", CU_STREAM_LEGACY));
}

/* Copies, waits and functions of the program are no kernels: the card's time for them is not charged. */
static void windows_end_before_what_is_no_kernel(void) {
    CUstream stream = stream_of(PRIMARY, 1), other = stream_of(PRIMARY, 2);
    start();
#define ONE(name, ...)                                                                                                 \
    launch_until_a_window_is_open(other);                                                                              \
    launch_until_a_window_is_open(stream);                                                                             \
    from = calls();                                                                                                    \
    CHECK_EQUAL(CUDA(name)(__VA_ARGS__), CUDA_SUCCESS);                                                                \
    CHECK(is(from, "record", stream) && is(from + 1, #name, stream) && calls() == from + 2);                           \
    CHECK_EQUAL(CUDA(name)(__VA_ARGS__), CUDA_SUCCESS);                                                                \
    CHECK(is(from + 2, #name, stream) && calls() == from + 3);                                                         \
    launch(stream);                                                                                                    \
    CHECK(is(from + 3, "record", stream) && is(from + 4, "launch", stream));
#define CALL(name, ...)                                                                                                \
    {                                                                                                                  \
        unsigned int from;                                                                                             \
        ONE(name, __VA_ARGS__)                                                                                         \
        ONE(name##_ptsz, __VA_ARGS__)                                                                                  \
    }
    CALL(cuMemcpyAsync, 0, 0, 0, stream)
    CALL(cuMemcpyPeerAsync, 0, NULL, 0, NULL, 0, stream)
    CALL(cuMemcpyHtoDAsync_v2, 0, NULL, 0, stream)
    CALL(cuMemcpyDtoHAsync_v2, NULL, 0, 0, stream)
    CALL(cuMemcpyDtoDAsync_v2, 0, 0, 0, stream)
    CALL(cuMemcpy2DAsync_v2, NULL, stream)
    CALL(cuMemcpy3DAsync_v2, NULL, stream)
    CALL(cuMemcpyBatchAsync, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, stream)
    CALL(cuMemcpyBatchAsync_v2, NULL, NULL, NULL, 0, NULL, NULL, 0, stream)
    CALL(cuMemPrefetchAsync, 0, 0, 0, stream)
    CALL(cuMemPrefetchAsync_v2, 0, 0, (CUmemLocation){0}, 0, stream)
    CALL(cuStreamWaitEvent, stream, NULL, 0)
    CALL(cuStreamWaitValue32, stream, 0, 0, 0)
    CALL(cuStreamWaitValue32_v2, stream, 0, 0, 0)
    CALL(cuStreamWaitValue64, stream, 0, 0, 0)
    CALL(cuStreamWaitValue64_v2, stream, 0, 0, 0)
    CALL(cuStreamBatchMemOp, stream, 0, NULL, 0)
    CALL(cuStreamBatchMemOp_v2, stream, 0, NULL, 0)
    CALL(cuStreamAddCallback, stream, NULL, NULL, 0)
    CALL(cuLaunchHostFunc, stream, NULL, NULL)
    CALL(cuLaunchHostFunc_v2, stream, NULL, NULL, 0)
    CALL(cuWaitExternalSemaphoresAsync, NULL, NULL, 0, stream)
#undef CALL
#undef ONE
}

static int go[2];

static uint32_t asked, answered;
static void (*what_is_asked)(void);

static void poll(void) {
    static __typeof__(&cuEventQuery) query;
    if (!query)
        query = CUDA(cuEventQuery);
    CHECK_EQUAL(query(NULL), CUDA_SUCCESS);
}

static void *act_when_asked(void *nothing) {
    CHECK_EQUAL(CUDA(cuCtxSetCurrent)(context(PRIMARY)), CUDA_SUCCESS);
    for (uint32_t done = 0; done != UINT32_MAX;) {
        uint32_t wanted = __atomic_load_n(&asked, __ATOMIC_ACQUIRE);
        if (wanted == done) {
            sched_yield();
            continue;
        }
        what_is_asked();
        done = wanted;
        __atomic_store_n(&answered, done, __ATOMIC_RELEASE);
    }
    return nothing;
}

static pthread_t start_the_other_thread(void (*what)(void)) {
    pthread_t thread;
    asked = answered = 0;
    what_is_asked = what;
    CHECK_EQUAL(pthread_create(&thread, NULL, act_when_asked, NULL), 0);
    return thread;
}

static unsigned int ask(uint32_t number) {
    unsigned int from = calls();
    __atomic_store_n(&asked, number, __ATOMIC_RELEASE);
    while (__atomic_load_n(&answered, __ATOMIC_ACQUIRE) != number)
        sched_yield();
    return from;
}

/* The number of the first call that it makes. */
static unsigned int ask_the_other_thread(void) {
    return ask(asked + 1);
}

/* It acts once more. */
static unsigned int end_the_other_thread(pthread_t thread) {
    unsigned int from = ask(UINT32_MAX);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    return from;
}

static void a_thread_that_polls_ends_only_old_windows_of_others(void) {
    enum { TRIES = 1000 }; /* most windows get old before the poll comes, where the machine is busy */
    CUstream stream = stream_of(PRIMARY, 1);
    bool left_open = false;
    start();
    pthread_t thread = start_the_other_thread(poll);
    for (int i = 0; i < TRIES && !left_open; i++) {
        launch_until_a_window_is_open(stream);
        left_open = times(ask_the_other_thread(), "record", stream) == 0;
    }
    CHECK(left_open);
    pass_us(1000);
    unsigned int from = end_the_other_thread(thread);
    CHECK(is(from, "record", stream) && is(from + 1, "query", NULL));
}

static void a_thread_that_polls_ends_its_own_windows(void) {
    CUstream stream = stream_of(PRIMARY, 1);
    start();
    launch_until_a_window_is_open(stream);
    unsigned int from = calls();
    CHECK_EQUAL(CUDA(cuEventQuery)(NULL), CUDA_SUCCESS);
    CHECK(is(from, "record", stream) && is(from + 1, "query", NULL));
}

/*
 * Under a sanitizer, beside other tests, a launch takes longer than two launches may be apart that are timed together.
 * Then it may be that none is seen within an open window; without a sanitizer some are.
 */
#ifdef __SANITIZE_ADDRESS__
enum { LAUNCHES_MAY_BE_TOO_SLOW = 1 };
#else
enum { LAUNCHES_MAY_BE_TOO_SLOW = 0 };
#endif

static void (**within_launch)(void);

static void wait_and_ask_the_other_thread(void) {
    pass_us(1000); /* the window is old by then */
    ask_the_other_thread();
}

static bool is_timed_to_its_end(unsigned int from, CUstream stream) {
    return is(from, "query", NULL) && is(from + 1, "launch", stream) && is(from + 2, "record", stream);
}

/* The driver has the launch only then: behind the window's end it would not be timed. */
static void a_window_that_another_thread_ends_while_a_launch_is_on_its_way_ends_behind_that(void) {
    enum { TRIES = 1000 }; /* launches may be sparse, or on their way for long, where the machine is busy */
    CUstream stream = stream_of(PRIMARY, 1);
    int opens = 0, joins = 0, not_timed = 0;
    start();
    within_launch = function("calls_driver_launching");
    pthread_t thread = start_the_other_thread(poll);
    for (int i = 0; i < TRIES && (opens < 10 || joins < 10); i++) {
        launch_until_a_window_is_open(stream);
        if (i % 2)
            CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
        unsigned int from = calls();
        *within_launch = wait_and_ask_the_other_thread;
        launch(stream);
        *within_launch = NULL;
        opens += is(from, "record", stream) && is_timed_to_its_end(from + 1, stream);
        joins += is_timed_to_its_end(from, stream);
        not_timed += !is(calls() - 1, "record", stream);
    }
    CHECK(opens > 0);
    CHECK(joins > 0 || LAUNCHES_MAY_BE_TOO_SLOW);
    CHECK(not_timed <= (opens + joins) / 10); /* the thread may have been away for long */
    end_the_other_thread(thread);
}

static CUstream shared_stream;

static void launch_too(void) {
    launch(shared_stream);
}

static void ask_the_other_thread_once(void) {
    *within_launch = NULL;
    ask_the_other_thread();
}

/* The one that began first ends last. None is on its way then, and the window must not be left open over a wait. */
static void a_window_ends_before_a_wait_behind_two_launches_that_were_on_their_way_at_once(void) {
    enum { TRIES = 1000 }; /* windows may be full, or launches sparse, where the machine is busy */
    bool is_open = false;
    start();
    shared_stream = stream_of(PRIMARY, 1);
    within_launch = function("calls_driver_launching");
    pthread_t thread = start_the_other_thread(launch_too);
    for (int i = 0; i < TRIES && !is_open; i++) {
        launch_until_a_window_is_open(shared_stream);
        unsigned int from = calls();
        *within_launch = ask_the_other_thread_once;
        launch(shared_stream);
        is_open = calls() == from + 2;
        from = calls();
        CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
        CHECK(!is_open || is(from, "record", shared_stream));
    }
    CHECK(is_open || LAUNCHES_MAY_BE_TOO_SLOW);
    end_the_other_thread(thread);
}

static void *launch_in_a_green_context(void *nothing) {
    CHECK_EQUAL(CUDA(cuCtxSetCurrent)(context(GREEN)), CUDA_SUCCESS);
    launch_until_a_window_is_open(stream_of(GREEN, 1));
    launch(NULL);
    char byte = 0;
    CHECK(write(go[1], &byte, 1) == 1);
    pass_us(500000); /* it is still current in this thread */
    return nothing;
}

/* CUDA 12: a green context is current in one thread at most. */
static void a_green_context_is_made_current_in_no_other_thread(void) {
    pthread_t thread;
    CUgreenCtx green;
    CUcontext current;
    char byte;
    start();
    CHECK_EQUAL(CUDA(cuGreenCtxCreate)(&green, NULL, 0, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_SUCCESS);
    CHECK(pipe(go) == 0);
    CHECK_EQUAL(pthread_create(&thread, NULL, launch_in_a_green_context, NULL), 0);
    CHECK(read(go[0], &byte, 1) == 1);
    unsigned int from = calls();
    CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
    CHECK(is(from, "record", stream_of(GREEN, 1)) && call(from)->current == context(PRIMARY));
    CHECK(is(from + 1, "wait", NULL));
    CHECK_EQUAL(CUDA(cuCtxGetCurrent)(&current), CUDA_SUCCESS);
    CHECK(current == context(PRIMARY));
    launch(stream_of(GREEN, 2));
    CHECK_EQUAL(times(from, "record", stream_of(GREEN, 2)), 2);
    CHECK_EQUAL(times(0, "green twice", NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

static bool *hangs;
static long first_pause;

/* In the place of the C library's, so that it is seen for how long the library sleeps. */
PARTITA_EXPORT int nanosleep(const struct timespec *pause, struct timespec *rest) {
    if (hangs && *hangs) {
        first_pause = (long)pause->tv_sec * 1000000000 + pause->tv_nsec;
        *hangs = false;
    }
    return clock_nanosleep(CLOCK_MONOTONIC, 0, pause, rest);
}

static long first_pause_of_a_full_stream(CUstream stream) {
    enum { MANY = 100 };
    *hangs = true;
    for (int i = 0; i < MANY && *hangs; i++) { /* each in a window for itself */
        for (clock_t begin = clock(); clock() - begin < CLOCKS_PER_SEC / 10000;) {
        }
        launch(stream);
    }
    CHECK(!*hangs);
    return first_pause;
}

/* Short windows are done soon, and the card has nothing to do then. */
static void a_launch_that_waits_only_for_room_among_its_streams_windows_looks_again_soon(void) {
    enum { TRIES = 20 }; /* the thread may have been away before it sleeps, where the machine is busy */
    CUstream stream = stream_of(PRIMARY, 1);
    bool soon = false;
    start();
    hangs = function("calls_driver_hangs");
    launch(stream); /* now it is known what a launch takes */
    CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
    for (int i = 0; i < TRIES && !soon; i++)
        soon = first_pause_of_a_full_stream(stream) < 50000;
    CHECK(soon);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(beside_blocking_streams_no_window_is_left_open_in_the_legacy_stream),
        CASE(streams_that_do_not_block_leave_windows_in_the_legacy_stream_open),
        CASE(a_threads_own_stream_is_a_blocking_one),
        CASE(windows_end_before_what_is_no_kernel),
        CASE(a_thread_that_polls_ends_only_old_windows_of_others),
        CASE(a_thread_that_polls_ends_its_own_windows),
        CASE(a_window_that_another_thread_ends_while_a_launch_is_on_its_way_ends_behind_that),
        CASE(a_window_ends_before_a_wait_behind_two_launches_that_were_on_their_way_at_once),
        CASE(a_launch_that_waits_only_for_room_among_its_streams_windows_looks_again_soon),
        CASE(a_green_context_is_made_current_in_no_other_thread),
    };
    return RUN_CASES(cases, argc, argv);
}
