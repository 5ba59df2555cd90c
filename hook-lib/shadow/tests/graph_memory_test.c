/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs that allocate and are launched again, and at once, under both readings of what the driver says that they use,
 * and where it says so late.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "cases.h"
#include "check.h"
#include "cuda_graphs.h"
#include "scratch.h"

#define MIB (UINT64_C(1) << 20)

static void *library;

#define CUDA(name) ((__typeof__(&name))function(#name))

static void *function(const char *name) {
    void *found = dlsym(library, name);
    CHECK(found);
    return found;
}

static void start(uint64_t memory, bool mapped_counts) {
    const char *box = scratch_folder();
    make_folders(text("%s/lib/partita", box));
    copy_file(shadow_cuda(), text("%s/lib/libcuda.so.1", box));
    copy_file(GRAPHS_DRIVER, text("%s/lib/partita/libcuda-real.so.1", box));
    write_quota(box, "share", "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", memory, 1);
    make_region(box, "share");
    CHECK((library = dlopen(text("%s/lib/libcuda.so.1", box), RTLD_NOW)) != NULL);
    ((void (*)(bool))function("graphs_driver_mapped_counts"))(mapped_counts);
}

static void start_late(uint64_t memory, bool mapped_counts) {
    start(memory, mapped_counts);
    ((void (*)(void))function("graphs_driver_tells_late"))();
}

static CUgraphExec graph_of(uintptr_t mib) {
    CUgraphExec exec;
    CHECK_EQUAL(CUDA(cuGraphInstantiateWithFlags)(&exec, (CUgraph)mib, 0), CUDA_SUCCESS);
    return exec;
}

static CUresult launch(CUgraphExec exec) {
    return CUDA(cuGraphLaunch)(exec, NULL);
}

static void done(CUgraphExec exec) {
    ((void (*)(CUgraphExec))function("graphs_driver_done"))(exec);
}

static void begins(CUgraphExec exec) {
    ((void (*)(CUgraphExec))function("graphs_driver_begins"))(exec);
}

static unsigned int trims(void) {
    return ((unsigned int (*)(void))function("graphs_driver_trims"))();
}

static uint64_t most(void) {
    return ((size_t (*)(void))function("graphs_driver_most"))();
}

static uint64_t free_memory(void) {
    size_t free, total;
    CHECK_EQUAL(CUDA(cuMemGetInfo_v2)(&free, &total), CUDA_SUCCESS);
    return free;
}

static void a_launch_behind_one_that_runs(bool mapped_counts) {
    start(100 * MIB, mapped_counts);
    CUgraphExec graph = graph_of(80), other = graph_of(10);
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(launch(graph), CUDA_SUCCESS);
        CHECK_EQUAL(launch(other), CUDA_SUCCESS);
        CHECK_EQUAL(free_memory(), 10 * MIB);
    }
    CHECK_EQUAL(launch(graph_of(40)), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(launch(graph), CUDA_SUCCESS);
    CHECK_EQUAL(launch(other), CUDA_SUCCESS);
    CHECK_EQUAL(most(), 90 * MIB);
}

static void a_launch_behind_one_that_runs_is_charged_once_where_what_is_mapped_counts(void) {
    a_launch_behind_one_that_runs(true);
}

static void a_launch_behind_one_that_runs_is_charged_once_where_what_runs_counts(void) {
    a_launch_behind_one_that_runs(false);
}

static void a_launch_after_one_that_is_done(bool mapped_counts) {
    start(100 * MIB, mapped_counts);
    CUgraphExec graph = graph_of(80);
    for (int i = 0; i < 5; i++) {
        CHECK_EQUAL(launch(graph), CUDA_SUCCESS);
        done(graph);
    }
    CHECK_EQUAL(free_memory(), 20 * MIB);
    /* A trim takes what is mapped from the card, and the next launch maps it anew: milliseconds each time. */
    CHECK_EQUAL(trims(), 0);
}

static void a_launch_after_one_that_is_done_trims_nothing_where_what_is_mapped_counts(void) {
    a_launch_after_one_that_is_done(true);
}

static void a_launch_after_one_that_is_done_trims_nothing_where_what_runs_counts(void) {
    a_launch_after_one_that_is_done(false);
}

/* The first graph's memory lies idle when it is done, and the second one gets it. */
static void memory_that_another_graph_has_taken_is_charged_again(void) {
    start(100 * MIB, false);
    CUgraphExec first = graph_of(60), second = graph_of(60);
    CHECK_EQUAL(launch(first), CUDA_SUCCESS);
    done(first);
    CHECK_EQUAL(launch(second), CUDA_SUCCESS);
    CHECK_EQUAL(launch(first), CUDA_ERROR_OUT_OF_MEMORY);
    done(second);
    CHECK_EQUAL(launch(first), CUDA_SUCCESS);
    CHECK_EQUAL(most(), 60 * MIB);
}

static void memory_that_was_trimmed_is_charged_again(void) {
    start(100 * MIB, true);
    CUgraphExec first = graph_of(60), second = graph_of(60);
    CHECK_EQUAL(launch(first), CUDA_SUCCESS);
    done(first);
    CHECK_EQUAL(launch(second), CUDA_SUCCESS); /* the first one's was trimmed for it */
    CHECK_EQUAL(launch(second), CUDA_SUCCESS);
    CHECK_EQUAL(launch(first), CUDA_ERROR_OUT_OF_MEMORY);
    done(second);
    CHECK_EQUAL(launch(first), CUDA_SUCCESS);
    CHECK_EQUAL(most(), 60 * MIB);
}

/* The third one fits beside one of the others only. */
static void graphs_that_wait_for_their_begin(bool mapped_counts) {
    start_late(100 * MIB, mapped_counts);
    CUgraphExec first = graph_of(50), second = graph_of(40), third = graph_of(40);
    CHECK_EQUAL(launch(first), CUDA_SUCCESS);
    CHECK_EQUAL(launch(second), CUDA_SUCCESS);
    done(first);
    done(second);
    CHECK_EQUAL(launch(second), CUDA_SUCCESS);
    CHECK_EQUAL(launch(third), CUDA_SUCCESS);
    CHECK_EQUAL(launch(first), CUDA_ERROR_OUT_OF_MEMORY);
    begins(second);
    CHECK_EQUAL(launch(first), CUDA_ERROR_OUT_OF_MEMORY);
    begins(third);
    CHECK_EQUAL(launch(first), CUDA_ERROR_OUT_OF_MEMORY);
    done(third);
    CHECK_EQUAL(launch(first), CUDA_SUCCESS);
    CHECK_EQUAL(most(), 90 * MIB);
}

static void graphs_that_wait_for_their_begin_keep_their_memory_where_what_is_mapped_counts(void) {
    graphs_that_wait_for_their_begin(true);
}

static void graphs_that_wait_for_their_begin_keep_their_memory_where_what_runs_counts(void) {
    graphs_that_wait_for_their_begin(false);
}

/* The driver does not count it any more then, as the run before is done. */
static void a_graph_that_waits_to_run_again_keeps_its_memory(void) {
    start_late(100 * MIB, false);
    CUgraphExec first = graph_of(60), second = graph_of(60);
    CHECK_EQUAL(launch(first), CUDA_SUCCESS);
    begins(first);
    CHECK_EQUAL(launch(first), CUDA_SUCCESS);
    done(first);
    CHECK_EQUAL(launch(second), CUDA_ERROR_OUT_OF_MEMORY);
    done(first);
    CHECK_EQUAL(launch(second), CUDA_SUCCESS);
    CHECK_EQUAL(most(), 60 * MIB);
}

static void graphs_that_take_turns_trim_nothing_where_what_runs_counts(void) {
    start(100 * MIB, false);
    for (int i = 0; i < 10; i++) {
        CUgraphExec first = graph_of(60), second = graph_of(60);
        CHECK_EQUAL(launch(first), CUDA_SUCCESS);
        done(first);
        CHECK_EQUAL(launch(second), CUDA_SUCCESS);
        done(second);
        CHECK_EQUAL(CUDA(cuGraphExecDestroy)(first), CUDA_SUCCESS);
        CHECK_EQUAL(CUDA(cuGraphExecDestroy)(second), CUDA_SUCCESS);
    }
    CHECK_EQUAL(trims(), 0);
    CHECK_EQUAL(most(), 60 * MIB);
}

static void graphs_that_are_made_and_destroyed(bool mapped_counts) {
    start(100 * MIB, mapped_counts);
    for (int i = 0; i < 10; i++) {
        CUgraphExec graph = graph_of(60);
        CHECK_EQUAL(launch(graph), CUDA_SUCCESS);
        done(graph);
        CHECK_EQUAL(CUDA(cuGraphExecDestroy)(graph), CUDA_SUCCESS);
    }
    CHECK_EQUAL(trims(), 0);
    CHECK_EQUAL(most(), 60 * MIB);
}

static void graphs_that_are_made_and_destroyed_trim_nothing_where_what_is_mapped_counts(void) {
    graphs_that_are_made_and_destroyed(true);
}

static void graphs_that_are_made_and_destroyed_trim_nothing_where_what_runs_counts(void) {
    graphs_that_are_made_and_destroyed(false);
}

/* Whatever is launched, begun, done, destroyed and trimmed in whatever order. */
static void any_order(uint64_t seed) {
    enum { GRAPHS = 5, STEPS = 20000 };
    static const uintptr_t sizes[] = {10, 20, 20, 40, 64};
    CUgraphExec graphs[GRAPHS];
    unsigned int launched = 0, refused = 0;
    for (int i = 0; i < GRAPHS; i++)
        graphs[i] = graph_of(sizes[i]);
    for (int i = 0; i < STEPS; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        unsigned int which = seed >> 40 & 0xff, what = seed >> 50 & 0xff;
        CUgraphExec *graph = &graphs[which % GRAPHS];
        if (what < 100) {
            CUresult result = launch(*graph);
            launched += result == CUDA_SUCCESS;
            refused += result == CUDA_ERROR_OUT_OF_MEMORY;
        } else if (what < 140) {
            begins(*graph);
        } else if (what < 240) {
            done(*graph);
        } else if (what < 250) {
            CHECK_EQUAL(CUDA(cuGraphExecDestroy)(*graph), CUDA_SUCCESS);
            done(*graph);
            done(*graph);
            *graph = graph_of(sizes[which % GRAPHS]);
        } else {
            CHECK_EQUAL(CUDA(cuDeviceGraphMemTrim)(0), CUDA_SUCCESS);
        }
        CHECK(most() <= 100 * MIB);
    }
    CHECK(launched > STEPS / 10 && refused > 0);
}

static void no_order_of_launches_exceeds_the_quota_where_what_is_mapped_counts(void) {
    start(100 * MIB, true);
    any_order(1);
}

static void no_order_of_launches_exceeds_the_quota_where_what_runs_counts(void) {
    start(100 * MIB, false);
    any_order(2);
}

static void no_order_of_launches_exceeds_the_quota_where_what_is_mapped_is_told_late(void) {
    start_late(100 * MIB, true);
    any_order(3);
}

static void no_order_of_launches_exceeds_the_quota_where_what_runs_is_told_late(void) {
    start_late(100 * MIB, false);
    any_order(4);
}

/* Two of the threads' graphs fit at once. Each launch gets through as soon as others are done. */
enum { THREADS = 4, LAUNCHES = 500 };

static void *launch_often(void *number) {
    uint64_t seed = (uint64_t)(uintptr_t)number;
    CUgraphExec graph = graph_of(30 + 4 * (uintptr_t)number);
    for (int launches = 0; launches < LAUNCHES;) {
        CUresult result = launch(graph);
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        if (result == CUDA_SUCCESS) {
            launches++;
            if (seed >> 60 & 1)
                begins(graph);
            if (seed >> 61 & 1)
                launches += launch(graph) == CUDA_SUCCESS;
            if (seed >> 62 & 1)
                sched_yield();
            done(graph);
            done(graph);
        } else {
            CHECK_EQUAL(result, CUDA_ERROR_OUT_OF_MEMORY);
            sched_yield();
        }
    }
    return NULL;
}

static void threads_that_launch_at_once(void) {
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, launch_often, (void *)(i + 1)) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(most() <= 100 * MIB);
    CHECK_EQUAL(CUDA(cuDeviceGraphMemTrim)(0), CUDA_SUCCESS);
    CHECK_EQUAL(free_memory(), 100 * MIB);
}

static void threads_that_launch_at_once_stay_within_the_quota_where_what_is_mapped_counts(void) {
    start(100 * MIB, true);
    threads_that_launch_at_once();
}

static void threads_that_launch_at_once_stay_within_the_quota_where_what_runs_counts(void) {
    start(100 * MIB, false);
    threads_that_launch_at_once();
}

static void threads_that_launch_at_once_stay_within_the_quota_where_what_is_mapped_is_told_late(void) {
    start_late(100 * MIB, true);
    threads_that_launch_at_once();
}

static void threads_that_launch_at_once_stay_within_the_quota_where_what_runs_is_told_late(void) {
    start_late(100 * MIB, false);
    threads_that_launch_at_once();
}

static void *launch_one(void *exec) {
    CHECK_EQUAL(launch(exec), CUDA_SUCCESS);
    return NULL;
}

/* The memory that lies idle is enough for one of them. */
static void a_launch_that_the_driver_holds_up_keeps_what_it_counts_on(void) {
    pthread_t thread;
    start(100 * MIB, false);
    CUgraphExec idle = graph_of(60), first = graph_of(60), second = graph_of(60);
    CHECK_EQUAL(launch(idle), CUDA_SUCCESS);
    done(idle);
    ((void (*)(CUgraphExec))function("graphs_driver_hold_up"))(first);
    CHECK(pthread_create(&thread, NULL, launch_one, first) == 0);
    while (!((bool (*)(void))function("graphs_driver_holds_up"))())
        sched_yield();
    CHECK_EQUAL(launch(second), CUDA_ERROR_OUT_OF_MEMORY);
    ((void (*)(CUgraphExec))function("graphs_driver_hold_up"))(NULL);
    pthread_join(thread, NULL);
    CHECK_EQUAL(launch(second), CUDA_ERROR_OUT_OF_MEMORY);
    done(first);
    CHECK_EQUAL(launch(second), CUDA_SUCCESS);
    CHECK_EQUAL(most(), 60 * MIB);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(a_launch_behind_one_that_runs_is_charged_once_where_what_is_mapped_counts),
        CASE(a_launch_behind_one_that_runs_is_charged_once_where_what_runs_counts),
        CASE(a_launch_after_one_that_is_done_trims_nothing_where_what_is_mapped_counts),
        CASE(a_launch_after_one_that_is_done_trims_nothing_where_what_runs_counts),
        CASE(memory_that_another_graph_has_taken_is_charged_again),
        CASE(memory_that_was_trimmed_is_charged_again),
        CASE(graphs_that_wait_for_their_begin_keep_their_memory_where_what_is_mapped_counts),
        CASE(graphs_that_wait_for_their_begin_keep_their_memory_where_what_runs_counts),
        CASE(a_graph_that_waits_to_run_again_keeps_its_memory),
        CASE(graphs_that_take_turns_trim_nothing_where_what_runs_counts),
        CASE(graphs_that_are_made_and_destroyed_trim_nothing_where_what_is_mapped_counts),
        CASE(graphs_that_are_made_and_destroyed_trim_nothing_where_what_runs_counts),
        CASE(no_order_of_launches_exceeds_the_quota_where_what_is_mapped_counts),
        CASE(no_order_of_launches_exceeds_the_quota_where_what_runs_counts),
        CASE(no_order_of_launches_exceeds_the_quota_where_what_is_mapped_is_told_late),
        CASE(no_order_of_launches_exceeds_the_quota_where_what_runs_is_told_late),
        CASE(threads_that_launch_at_once_stay_within_the_quota_where_what_is_mapped_counts),
        CASE(threads_that_launch_at_once_stay_within_the_quota_where_what_runs_counts),
        CASE(threads_that_launch_at_once_stay_within_the_quota_where_what_is_mapped_is_told_late),
        CASE(threads_that_launch_at_once_stay_within_the_quota_where_what_runs_is_told_late),
        CASE(a_launch_that_the_driver_holds_up_keeps_what_it_counts_on),
    };
    return RUN_CASES(cases, argc, argv);
}
