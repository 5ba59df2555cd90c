/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs that allocate and are launched again, under both readings of what the driver says that they use. */
#include <dlfcn.h>
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
    CHECK_EQUAL(((unsigned int (*)(void))function("graphs_driver_trims"))(), 0);
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

/* Whatever is launched, done, destroyed and trimmed in whatever order. */
static void any_order(bool mapped_counts, uint64_t seed) {
    enum { GRAPHS = 5, STEPS = 20000 };
    static const uintptr_t sizes[] = {10, 20, 20, 40, 64};
    CUgraphExec graphs[GRAPHS];
    unsigned int launched = 0, refused = 0;
    start(100 * MIB, mapped_counts);
    for (int i = 0; i < GRAPHS; i++)
        graphs[i] = graph_of(sizes[i]);
    for (int i = 0; i < STEPS; i++) {
        seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        unsigned int which = seed >> 40 & 0xff, what = seed >> 50 & 0xff;
        CUgraphExec *graph = &graphs[which % GRAPHS];
        if (what < 120) {
            CUresult result = launch(*graph);
            launched += result == CUDA_SUCCESS;
            refused += result == CUDA_ERROR_OUT_OF_MEMORY;
        } else if (what < 240) {
            done(*graph);
        } else if (what < 250) {
            CHECK_EQUAL(CUDA(cuGraphExecDestroy)(*graph), CUDA_SUCCESS);
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
    any_order(true, 1);
}

static void no_order_of_launches_exceeds_the_quota_where_what_runs_counts(void) {
    any_order(false, 2);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(a_launch_behind_one_that_runs_is_charged_once_where_what_is_mapped_counts),
        CASE(a_launch_behind_one_that_runs_is_charged_once_where_what_runs_counts),
        CASE(a_launch_after_one_that_is_done_trims_nothing_where_what_is_mapped_counts),
        CASE(a_launch_after_one_that_is_done_trims_nothing_where_what_runs_counts),
        CASE(memory_that_another_graph_has_taken_is_charged_again),
        CASE(memory_that_was_trimmed_is_charged_again),
        CASE(no_order_of_launches_exceeds_the_quota_where_what_is_mapped_counts),
        CASE(no_order_of_launches_exceeds_the_quota_where_what_runs_counts),
    };
    return RUN_CASES(cases, argc, argv);
}
