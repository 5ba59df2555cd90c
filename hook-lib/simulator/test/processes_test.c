/* SPDX-License-Identifier: Apache-2.0 */
/* One card, many processes, and processes that die. */
#include "simulated.h"

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../state/state.h"

#define CONTEXT (300 * MIB)
#define T4_CAPACITY (14920 * MIB)

static void hold(int link, long bytes) {
    CUdeviceptr pointer;

    begin_cuda(0);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, (size_t)bytes), CUDA_SUCCESS);
    tell(link, 'h');
    hear(link);
}

static void figures_are_of_all_processes(void) {
    struct child first, second;
    size_t free, total;

    install_node("t4x1");
    first = start_child(hold, GIB);
    second = start_child(hold, 2 * GIB);
    CHECK(hear(first.link) == 'h' && hear(second.link) == 'h');
    begin_cuda(0);
    CHECK_EQUAL(nvml_used(0), 3 * CONTEXT + 3 * GIB);
    CHECK_EQUAL(CU(cuMemGetInfo_v2)(&free, &total), CUDA_SUCCESS);
    CHECK_EQUAL(total - free, 3 * CONTEXT + 3 * GIB);
    tell(first.link, 'e');
    join_child(&first);
    CHECK_EQUAL(nvml_used(0), 2 * CONTEXT + 2 * GIB);
    kill_child(&second);
    CHECK_EQUAL(nvml_used(0), CONTEXT);
}

/* Takes granules of 64 MiB until the card is full, and says one word for each. */
static void fill(int link, long unused) {
    CUdeviceptr pointer;

    (void)unused;
    begin_cuda(0);
    tell(link, 'r');
    CHECK(hear(link) == 'g');
    while (CU(cuMemAlloc_v2)(&pointer, 64 * MIB) == CUDA_SUCCESS)
        tell(link, 'b');
    tell(link, 'f');
    hear(link);
}

static void sixty_four_processes_never_exceed_the_card(void) {
    enum { PROCESSES = 64 };
    struct child children[PROCESSES];
    long blocks = 0;

    install_node("t4x1");
    configure("context-overhead", "2097152");
    for (int i = 0; i < PROCESSES; i++)
        children[i] = start_child(fill, 0);
    for (int i = 0; i < PROCESSES; i++)
        CHECK(hear(children[i].link) == 'r');
    for (int i = 0; i < PROCESSES; i++)
        tell(children[i].link, 'g');
    for (int i = 0; i < PROCESSES; i++)
        for (char word; (word = hear(children[i].link)) != 'f'; blocks++)
            CHECK(word == 'b');
    CHECK_EQUAL(blocks, (T4_CAPACITY - PROCESSES * 2 * MIB) / (64 * MIB));
    CHECK_EQUAL(nvml_used(0), (uint64_t)blocks * 64 * MIB + PROCESSES * 2 * MIB);
    for (int i = 0; i < PROCESSES; i++)
        kill_child(&children[i]);
    CHECK_EQUAL(nvml_used(0), 0);
}

static void churn(int link, long unused) {
    (void)unused;
    begin_cuda(0);
    tell(link, 'r');
    for (unsigned round = 0;; round++) {
        CUdeviceptr pointers[4];

        for (unsigned i = 0; i < 4; i++)
            CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointers[i], (1 + (round + i) % 50) * MIB), CUDA_SUCCESS);
        for (unsigned i = 0; i < 4; i++)
            CHECK_EQUAL(CU(cuMemFree_v2)(pointers[i]), CUDA_SUCCESS);
    }
}

static void a_process_killed_at_any_point_gives_everything_back(void) {
    struct child children[4];

    install_node("t4x1");
    for (unsigned round = 0; round < 25; round++) {
        for (int i = 0; i < 4; i++)
            children[i] = start_child(churn, 0);
        for (int i = 0; i < 4; i++)
            CHECK(hear(children[i].link) == 'r');
        nanosleep(&(struct timespec){0, (long)(round * 37 % 50) * 20000}, NULL);
        for (int i = 0; i < 4; i++)
            kill_child(&children[i]);
        CHECK_EQUAL(nvml_used(0), 0);
    }
    begin_cuda(0);
    CHECK_EQUAL(nvml_used(0), CONTEXT);
}

static void open_state(struct sim_state *state, struct sim_node *node) {
    CHECK(sim_node_read(node_root, node, NULL, 0));
    CHECK(sim_state_open(state, node, true));
    CHECK(sim_state_join(state));
}

static void die_with_the_lock(int link, long unused) {
    static struct sim_node node;
    struct sim_state state;

    (void)unused;
    open_state(&state, &node);
    CHECK(sim_state_reserve(&state, 0, SIM_MEMORY, GIB, 2 * GIB));
    sim_state_lock(&state);
    state.region->used[0] += 12345; /* half of a change */
    tell(link, 'l');
    hear(link);
}

static void a_lock_whose_owner_died_is_taken_over(void) {
    static struct sim_node node;
    struct sim_state state;
    struct child child;

    install_node("t4x1");
    open_state(&state, &node);
    child = start_child(die_with_the_lock, 0);
    CHECK(hear(child.link) == 'l');
    kill_child(&child);
    CHECK(sim_state_reserve(&state, 0, SIM_MEMORY, 2 * GIB, 2 * GIB));
    CHECK_EQUAL(sim_state_used(&state, 0), 2 * GIB);
    CHECK_EQUAL(state.region->used[0], 2 * GIB);
    sim_state_close(&state);
}

static void linger(int link, long unused) {
    (void)unused;
    tell(link, 'l');
    hear(link);
}

static void hold_and_fork(int link, long unused) {
    struct child child;
    CUdeviceptr pointer;

    (void)unused;
    begin_cuda(0);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, GIB), CUDA_SUCCESS);
    child = start_child(linger, 0);
    CHECK(hear(child.link) == 'l');
    CHECK(write(link, &child.pid, sizeof child.pid) == sizeof child.pid);
    hear(link);
}

static void a_forked_child_does_not_keep_its_dead_parents_memory(void) {
    struct child parent;
    pid_t grandchild;

    install_node("t4x1");
    parent = start_child(hold_and_fork, 0);
    CHECK(read(parent.link, &grandchild, sizeof grandchild) == sizeof grandchild);
    CHECK_EQUAL(nvml_used(0), CONTEXT + GIB);
    kill_child(&parent);
    CHECK_EQUAL(nvml_used(0), 0);
    kill(grandchild, SIGKILL);
}

static unsigned running(nvmlProcessInfo_t *processes, unsigned room) {
    nvmlDevice_t device;

    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetHandleByIndex_v2)(0, &device), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetComputeRunningProcesses_v3)(device, &room, processes), NVML_SUCCESS);
    return room;
}

static void hold_as_first_of_a_namespace(int link, long unused) {
    nvmlProcessInfo_t processes[8];

    (void)unused;
    CHECK_EQUAL(getpid(), 1);
    begin_cuda(0);
    CHECK_EQUAL(running(processes, 8), 1); /* not the process outside */
    CHECK_EQUAL(processes[0].pid, 1);
    tell(link, 'h');
    hear(link);
}

/* In a child of the test, whose later children all begin in the new namespace; tells 'd' when done, 's' to skip. */
static void watch_a_new_namespace(int link, long outside_pid) {
    nvmlProcessInfo_t processes[8];
    struct child inside;

    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
        tell(link, 's');
        return;
    }
    inside = start_child(hold_as_first_of_a_namespace, 0);
    CHECK(hear(inside.link) == 'h');
    CHECK_EQUAL(nvml_used(0), 2 * CONTEXT + GIB);
    CHECK_EQUAL(running(processes, 8), 2);
    CHECK_EQUAL(processes[0].pid + processes[1].pid, outside_pid + inside.pid);
    kill_child(&inside);
    CHECK_EQUAL(nvml_used(0), CONTEXT + GIB);
    tell(link, 'd');
}

static void other_pid_namespaces_see_each_others_memory_and_deaths(void) {
    struct child outside, watcher;
    char end;

    install_node("t4x1");
    outside = start_child(hold, GIB);
    CHECK(hear(outside.link) == 'h');
    watcher = start_child(watch_a_new_namespace, outside.pid);
    end = hear(watcher.link);
    join_child(&watcher);
    kill_child(&outside);
    if (end == 's')
        skip("no right to make a pid namespace");
    CHECK(end == 'd');
}

RUN(TEST(figures_are_of_all_processes), TEST(sixty_four_processes_never_exceed_the_card),
    TEST(a_process_killed_at_any_point_gives_everything_back), TEST(a_lock_whose_owner_died_is_taken_over),
    TEST(a_forked_child_does_not_keep_its_dead_parents_memory),
    TEST(other_pid_namespaces_see_each_others_memory_and_deaths))
