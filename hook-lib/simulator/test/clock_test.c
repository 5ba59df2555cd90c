/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels take the card's time, and processes share it. */
#include "simulated.h"

#include <time.h>
#include <unistd.h>

#include "cuda_events.h"
#include "spinning.h"

static CUevent event_in(CUstream stream) {
    CUevent event;

    CHECK_EQUAL(CU(cuEventCreate)(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventRecord)(event, stream), CUDA_SUCCESS);
    return event;
}

static double elapsed(CUevent start, CUevent end) {
    float ms;

    CHECK_EQUAL(CU(cuEventElapsedTime)(&ms, start, end), CUDA_SUCCESS);
    return ms;
}

static void a_kernel_takes_its_time_and_the_launch_returns_at_once(void) {
    uint64_t began, launched;

    install_node("t4x1");
    begin_spinning();
    began = sim_clock_time();
    spin_for(10000 * MS, NULL);
    launched = sim_clock_time();
    CHECK(launched - began < 10000 * MS);
    CHECK_EQUAL(CU(cuStreamQuery)(NULL), CUDA_ERROR_NOT_READY);
    CHECK(use_of(getpid()).pending > 0);
    CHECK_EQUAL(use_of(getpid()).launches, 1);
}

static void waiting_ends_when_the_work_is_done(void) {
    CUdeviceptr pointer;
    CUstream stream;
    CUevent event;
    char byte = 1;

    install_node("t4x1");
    begin_spinning();
    CHECK_EQUAL(CU(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, MIB), CUDA_SUCCESS);
    spin_for(20 * MS, stream);
    CHECK_EQUAL(CU(cuStreamSynchronize)(stream), CUDA_SUCCESS);
    CHECK_EQUAL(use_of(getpid()).busy, 20 * MS);
    spin_for(20 * MS, stream);
    CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
    CHECK_EQUAL(use_of(getpid()).busy, 40 * MS);
    spin_for(20 * MS, stream);
    event = event_in(stream);
    CHECK_EQUAL(CU(cuEventSynchronize)(event), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventQuery)(event), CUDA_SUCCESS);
    CHECK_EQUAL(use_of(getpid()).busy, 60 * MS);
    spin_for(20 * MS, NULL);
    CHECK_EQUAL(CU(cuMemcpyHtoD_v2)(pointer, &byte, 1), CUDA_SUCCESS);
    CHECK_EQUAL(use_of(getpid()).busy, 80 * MS);
    spin_for(20 * MS, NULL);
    CHECK_EQUAL(CU(cuMemFree_v2)(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(use_of(getpid()).busy, 100 * MS);
    CHECK_EQUAL(card_busy(), 100 * MS);
    CHECK_EQUAL(use_of(getpid()).pending, 0);
}

static void events_have_the_cards_time(void) {
    CUevent start, middle, end;
    float ms;

    install_node("t4x1");
    begin_spinning();
    spin_for(300 * MS, NULL);
    start = event_in(NULL);
    spin_for(20 * MS, NULL);
    middle = event_in(NULL);
    spin_for(7 * MS, NULL);
    end = event_in(NULL);
    CHECK_EQUAL(CU(cuEventQuery)(end), CUDA_ERROR_NOT_READY);
    CHECK_EQUAL(CU(cuEventElapsedTime)(&ms, start, end), CUDA_ERROR_NOT_READY);
    CHECK_EQUAL(CU(cuEventSynchronize)(end), CUDA_SUCCESS);
    CHECK(elapsed(start, middle) == 20 && elapsed(middle, end) == 7 && elapsed(start, end) == 27);
    CHECK_EQUAL(CU(cuEventDestroy_v2)(end), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventQuery)(end), CUDA_ERROR_INVALID_HANDLE);
}

static void events_without_times_have_none(void) {
    CUevent silent, fresh, timed;
    float ms;

    install_node("t4x1");
    begin_spinning();
    CHECK_EQUAL(CU(cuEventCreate)(&silent, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuEventCreate)(&silent, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventCreate)(&fresh, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventRecord)(silent, NULL), CUDA_SUCCESS);
    timed = event_in(NULL);
    CHECK_EQUAL(CU(cuEventElapsedTime)(&ms, timed, silent), CUDA_ERROR_INVALID_HANDLE);
    CHECK_EQUAL(CU(cuEventElapsedTime)(&ms, timed, fresh), CUDA_ERROR_INVALID_HANDLE);
    CHECK_EQUAL(CU(cuEventQuery)(fresh), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventSynchronize)(fresh), CUDA_SUCCESS);
}

static void at_most_1024_launches_are_pending(void) {
    install_node("t4x1");
    begin_spinning();
    for (int i = 0; i < 1024 + 60; i++)
        spin_for(MS, NULL);
    CHECK(use_of(getpid()).busy >= 60 * MS);
}

/* Submits so many ms, tells when they are done, and stays. */
static void work(int link, long ms) {
    begin_spinning();
    tell(link, 'r');
    CHECK(hear(link) == 'g');
    spin_for((uint64_t)ms * MS, NULL);
    tell(link, 's');
    CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
    tell(link, 'd');
    hear(link);
}

static void processes_with_pending_work_share_the_card_alike(void) {
    struct child children[3];
    uint64_t before[3], card, given, gained;

    install_node("t4x1");
    for (int i = 0; i < 3; i++)
        children[i] = start_child(work, 600000);
    for (int i = 0; i < 3; i++)
        CHECK(hear(children[i].link) == 'r');
    for (int i = 0; i < 3; i++)
        tell(children[i].link, 'g');
    for (int i = 0; i < 3; i++)
        CHECK(hear(children[i].link) == 's');
    /* From here on all three have work. The figures of the three are not of one moment: hence the tolerance. */
    card = card_busy();
    for (int i = 0; i < 3; i++)
        before[i] = use_of(children[i].pid).busy;
    while (card_busy() < card + 300 * MS)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    for (int i = 0; i < 3; i++) {
        given = card_busy() - card;
        gained = use_of(children[i].pid).busy - before[i];
        CHECK(gained * 3 > given - given / 5 && gained * 3 < given + given / 5);
    }
    for (int i = 0; i < 3; i++)
        kill_child(&children[i]);
}

static void a_shared_card_gives_everybodys_time_once(void) {
    struct child first, second;

    install_node("t4x1");
    first = start_child(work, 100);
    second = start_child(work, 200);
    CHECK(hear(first.link) == 'r' && hear(second.link) == 'r');
    tell(first.link, 'g');
    tell(second.link, 'g');
    CHECK(hear(first.link) == 's' && hear(first.link) == 'd');
    CHECK(hear(second.link) == 's' && hear(second.link) == 'd');
    CHECK_EQUAL(use_of(first.pid).busy, 100 * MS);
    CHECK_EQUAL(use_of(second.pid).busy, 200 * MS);
    CHECK_EQUAL(card_busy(), 300 * MS);
    tell(first.link, 'e');
    tell(second.link, 'e');
    join_child(&first);
    join_child(&second);
}

static void the_work_of_a_killed_process_is_gone(void) {
    struct child child;

    install_node("t4x1");
    child = start_child(work, 3600000);
    CHECK(hear(child.link) == 'r');
    tell(child.link, 'g');
    CHECK(hear(child.link) == 's');
    begin_spinning();
    spin_for(20 * MS, NULL);
    kill_child(&child);
    spin_for(20 * MS, NULL);
    CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
    CHECK_EQUAL(use_of(getpid()).busy, 40 * MS);
}

/* Short kernels, so many that the history of the card's speed overflows. */
static void hurry(int link, long parent) {
    begin_spinning();
    tell(link, 'r');
    CHECK(hear(link) == 'g');
    while (use_of((pid_t)parent).pending > 0)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    for (int i = 0; i < SIM_HISTORY; i++) {
        spin_for(1000, NULL);
        CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
    }
    tell(link, 'd');
    hear(link);
}

static void event_times_are_known_though_others_took_the_clock_on(void) {
    CUevent start, end;
    struct child child;

    install_node("t4x1");
    child = start_child(hurry, getpid());
    CHECK(hear(child.link) == 'r');
    begin_spinning();
    spin_for(50 * MS, NULL);
    start = event_in(NULL);
    spin_for(30 * MS, NULL);
    end = event_in(NULL);
    tell(child.link, 'g');
    CHECK(hear(child.link) == 'd');
    CHECK(elapsed(start, end) >= 29 && elapsed(start, end) <= 31);
    kill_child(&child);
}

static void spin_until_killed(int link, long unused) {
    (void)unused;
    begin_spinning();
    tell(link, 'r');
    for (;;)
        spin_for(1000, NULL);
}

/* 5 ms of work whenever it is told to. */
static void work_when_told(int link, long unused) {
    (void)unused;
    begin_spinning();
    tell(link, 'r');
    while (hear(link) == 'g') {
        spin_for(5 * MS, NULL);
        tell(link, 's');
        CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
        tell(link, 'd');
    }
}

static void the_clock_survives_a_kill_at_any_point(void) {
    struct child children[3], steady;

    install_node("t4x1");
    steady = start_child(work_when_told, 0);
    CHECK(hear(steady.link) == 'r');
    for (unsigned round = 1; round <= 20; round++) {
        for (int i = 0; i < 3; i++)
            children[i] = start_child(spin_until_killed, 0);
        for (int i = 0; i < 3; i++)
            CHECK(hear(children[i].link) == 'r');
        tell(steady.link, 'g');
        CHECK(hear(steady.link) == 's');
        for (int i = 0; i < 3; i++)
            kill_child(&children[i]);
        CHECK(hear(steady.link) == 'd');
        CHECK_EQUAL(use_of(steady.pid).busy, round * 5 * MS);
    }
    kill_child(&steady);
}

static void other_kernels_take_what_the_node_says(void) {
    CUmodule module;
    CUfunction function;

    install_node("t4x1");
    configure("kernel-time", "3000000");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuModuleLoadData)(&module, "image"), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuModuleGetFunction)(&function, module, "other"), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
    CHECK_EQUAL(use_of(getpid()).busy, 3 * MS);
}

RUN(TEST(a_kernel_takes_its_time_and_the_launch_returns_at_once), TEST(waiting_ends_when_the_work_is_done),
    TEST(events_have_the_cards_time), TEST(events_without_times_have_none), TEST(at_most_1024_launches_are_pending),
    TEST(processes_with_pending_work_share_the_card_alike), TEST(a_shared_card_gives_everybodys_time_once),
    TEST(the_work_of_a_killed_process_is_gone), TEST(event_times_are_known_though_others_took_the_clock_on),
    TEST(the_clock_survives_a_kill_at_any_point), TEST(other_kernels_take_what_the_node_says))
