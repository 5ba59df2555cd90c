/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that run other programs by vfork and posix_spawn, and signals in all they do, on the simulated driver by
 * its own account.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/time.h>

#include "cases.h"
#include "check.h"
#include "cores_stage.h"

enum { SENTINEL = 4711 };

extern char **environ;

static const char *box;
static CUfunction function;
static CUdeviceptr held;

/* cores_container gives a share of 8 GiB: 5 of them are held, and kernels are under way. */
static void start(void) {
    cores_stage();
    box = cores_container("box", 50, "hard", 1);
    cuda_start(box, 0);
    function = spin_function();
    CHECK_EQUAL(cuda.alloc(&held, 5 * GIB), CUDA_SUCCESS);
    setenv("LD_LIBRARY_PATH", text("%s/lib", box), 1);
    for (int i = 0; i < 5; i++)
        spin(function, MS, NULL);
}

static pid_t run_by_vfork(const char *granted, const char *refused) {
    char *arguments[] = {LINKED_PROGRAM, (char *)(uintptr_t)granted, (char *)(uintptr_t)refused, NULL};
    pid_t pid = vfork();
    if (pid == 0) {
        execv(LINKED_PROGRAM, arguments);
        _exit(127);
    }
    CHECK(pid > 0);
    return pid;
}

/* The child closes every descriptor first, as programs do that start others: not the ones of its parent. */
static pid_t run_by_posix_spawn(const char *granted, const char *refused) {
    char *arguments[] = {LINKED_PROGRAM, (char *)(uintptr_t)granted, (char *)(uintptr_t)refused, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    CHECK_EQUAL(posix_spawn_file_actions_init(&actions), 0);
    for (int i = 3; i < 64; i++)
        CHECK_EQUAL(posix_spawn_file_actions_addclose(&actions, i), 0);
    CHECK_EQUAL(posix_spawn(&pid, LINKED_PROGRAM, &actions, NULL, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

/* The child gets what its parent leaves and no more, the parent keeps its account, its seat and its limit. */
static void runs_another(pid_t (*run)(const char *granted, const char *refused)) {
    CUdeviceptr pointer;
    start();
    for (int i = 0; i < 5; i++) {
        pid_t child = run("3221225472", "2097152"); /* all of the 3 GiB that are left, and a page more */
        spin(function, MS, NULL);
        reap_well(child);
        CHECK_EQUAL(cuda.alloc(&pointer, 3 * GIB), CUDA_SUCCESS); /* what the dead child held */
        CHECK_EQUAL(cuda_free(), 0);
        CHECK_EQUAL(cores_held(), 8 * GIB);
        CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
    }
    CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
    CHECK_EQUAL(cores_busy(getpid()), 10 * MS);
    CHECK(cores_region(box)->compute.account.busy_ns >= 10 * MS - 50 * US);
    uint64_t begin = cores_now();
    for (int i = 0; i < 100; i++)
        spin(function, 2 * MS, NULL);
    CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
    /* 400 ms at half of the card, less what may be used at once and is still under way */
    CHECK(cores_now() - begin >= 280 * MS);
}

static void a_program_run_by_vfork_has_the_same_quota_and_leaves_its_parents_account(void) {
    runs_another(run_by_vfork);
}

static void a_program_run_by_posix_spawn_has_the_same_quota_and_leaves_its_parents_account(void) {
    runs_another(run_by_posix_spawn);
}

static void *allocate_meanwhile(void *over) {
    CUdeviceptr pointer;
    CHECK_EQUAL(CUDA(cuCtxSetCurrent)(cuda.context), CUDA_SUCCESS);
    while (!__atomic_load_n((bool *)over, __ATOMIC_RELAXED)) {
        CHECK_EQUAL(cuda.alloc(&pointer, 512 * MIB), CUDA_SUCCESS);
        spin(function, 20 * US, NULL);
        CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
    }
    return NULL;
}

/* vfork stops the thread that called it, in the parent's own memory, while the others go on. */
static void programs_run_by_vfork_while_another_thread_allocates_and_launches(void) {
    pthread_t thread;
    bool over = false;
    start();
    CHECK_EQUAL(pthread_create(&thread, NULL, allocate_meanwhile, &over), 0);
    for (int i = 0; i < 10; i++)
        /* of 3 GiB that are left to both */
        reap_well((i % 2 ? run_by_vfork : run_by_posix_spawn)("2147483648", "2147483648"));
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.alloc(&(CUdeviceptr){0}, 3 * GIB), CUDA_SUCCESS);
    CHECK_EQUAL(cores_held(), 8 * GIB);
}

static volatile uint32_t signals;

static void note(int number) {
    (void)number;
    signals++;
}

static void storm(unsigned int us) {
    struct sigaction action = {.sa_handler = note}; /* without SA_RESTART */
    struct itimerval every = {{0, us}, {0, us}};
    CHECK_EQUAL(sigaction(SIGALRM, &action, NULL), 0);
    CHECK_EQUAL(setitimer(ITIMER_REAL, &every, NULL), 0);
}

/* What is slept, read and locked is interrupted all the time. */
static void a_storm_of_signals_changes_neither_charges_nor_limits_nor_errno(void) {
    CUdeviceptr pointers[3], pointer;
    start();
    CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
    uint64_t before = cores_busy(getpid()), begin = cores_now();
    storm(200);
    for (int i = 0; i < 100; i++) {
        for (int j = 0; j < 3; j++)
            CHECK_EQUAL(cuda.alloc(&pointers[j], GIB), CUDA_SUCCESS);
        CHECK_EQUAL(cores_held(), 8 * GIB);
        /* of what the driver was asked it may change errno itself; signals_test.c has one that does not */
        errno = SENTINEL;
        CHECK_EQUAL(cuda.alloc(&pointer, 2 * MIB), CUDA_ERROR_OUT_OF_MEMORY);
        CHECK_EQUAL(errno, SENTINEL);
        spin(function, 2 * MS, NULL);
        for (int j = 0; j < 3; j++)
            CHECK_EQUAL(cuda.free(pointers[j]), CUDA_SUCCESS);
    }
    CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
    CHECK(cores_now() - begin >= 280 * MS);
    CHECK_EQUAL(cores_busy(getpid()) - before, 200 * MS);
    CHECK(signals > 100);
    CHECK_EQUAL(cuda_free(), 3 * GIB);
    CHECK_EQUAL(cores_held(), 5 * GIB);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(a_program_run_by_vfork_has_the_same_quota_and_leaves_its_parents_account),
        CASE(a_program_run_by_posix_spawn_has_the_same_quota_and_leaves_its_parents_account),
        CASE(programs_run_by_vfork_while_another_thread_allocates_and_launches),
        CASE(a_storm_of_signals_changes_neither_charges_nor_limits_nor_errno),
    };
    return RUN_CASES(cases, argc, argv);
}
