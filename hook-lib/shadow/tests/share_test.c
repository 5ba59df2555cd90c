/* SPDX-License-Identifier: Apache-2.0 */
/* One share in one process: its own count under threads. */
#include "share/share.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "check.h"
#include "partita/quota_file.h"
#include "scratch.h"
#include "share/gate.h"

static struct share share;

/* `physical`: units that may lie on the card. */
static void open_share(uint64_t units, uint64_t physical) {
    const char *prefix = scratch_folder();
    write_quota_with(prefix, "share", "GPU-x", units * PARTITA_UNIT, 1,
                     text("physical %llu\n", (unsigned long long)(physical * PARTITA_UNIT)));
    make_region(prefix, "share");
    strcpy(share.quota_path, text("%s" PARTITA_SHARES_FOLDER "/share/" PARTITA_QUOTA_NAME, prefix));
    strcpy(share.usage_path, region_path(prefix, "share"));
    share_open(&share);
}

static void *churn_paged(void *done) {
    while (!__atomic_load_n((uint32_t *)done, __ATOMIC_RELAXED)) {
        CHECK_EQUAL(share_charge(&share, SHARE_PAGED, 5000, false), 5000);
        CHECK_EQUAL(share_release(&share, SHARE_PAGED, 5000), 5000);
    }
    return NULL;
}

static void a_release_is_whole_while_another_thread_takes_managed_memory(void) {
    pthread_t thread;
    uint32_t done = 0;
    open_share(1000000, 100000);
    CHECK_EQUAL(pthread_create(&thread, NULL, churn_paged, &done), 0);
    for (int i = 0; i < 200000; i++) {
        uint64_t taken = share_charge(&share, SHARE_RESIDENT, 100, false);
        CHECK(taken == 0 || taken == 100);
        CHECK_EQUAL(share_release(&share, SHARE_RESIDENT, taken), taken);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELAXED);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(share_held(&share), 0);
    CHECK_EQUAL(share_used(&share), 0);
}

static void *look_until_something_is_used(void *data) {
    (void)data;
    while (share_used(&share) == 0)
        sched_yield();
    return NULL;
}

/* ThreadSanitizer sees whether the region that one thread maps is read by the other as it is being published. */
static void a_thread_may_look_at_the_share_while_another_makes_the_first_charge(void) {
    pthread_t thread;
    open_share(1000, 1000);
    CHECK_EQUAL(pthread_create(&thread, NULL, look_until_something_is_used, NULL), 0);
    CHECK_EQUAL(share_charge(&share, SHARE_RESIDENT, 100, false), 100);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
}

enum { OTHERS = 6 };

static void step(int from, int to) {
    char byte = 0;
    CHECK(write(to, &byte, 1) == 1);
    CHECK(read(from, &byte, 1) == 1);
}

/* Takes little, gives some of it back out of its credit, takes much; and waits after each. */
static void use_the_share(int from, int to) {
    share_forked(&share);
    CHECK_EQUAL(share_charge(&share, SHARE_RESIDENT, 100, false), 100);
    step(from, to);
    CHECK_EQUAL(share_release(&share, SHARE_RESIDENT, 30), 30);
    step(from, to);
    CHECK_EQUAL(share_charge(&share, SHARE_RESIDENT, 20000, false), 20000);
    step(from, to);
    _exit(0);
}

static uint64_t used(void) {
    share_tend(&share, SHARE_IF_DUE, true);
    return share_used(&share);
}

static void everybody_else_does_a_step(int from, const int to[OTHERS], bool first) {
    char byte = 0;
    for (int i = 0; i < OTHERS && !first; i++)
        CHECK(write(to[i], &byte, 1) == 1);
    for (int i = 0; i < OTHERS; i++)
        CHECK(read(from, &byte, 1) == 1);
}

/* With more processes than a few, what the others use is not added up at every question. */
static void what_many_processes_use_is_shown_at_once_or_moments_later(void) {
    int ready[2], go[OTHERS][2], to[OTHERS];
    open_share(1000000, 1000000);
    CHECK(pipe(ready) == 0);
    for (int i = 0; i < OTHERS; i++) {
        CHECK(pipe(go[i]) == 0);
        to[i] = go[i][1];
        if (fork() == 0)
            use_the_share(go[i][0], ready[1]);
    }
    everybody_else_does_a_step(ready[0], to, true);
    CHECK_EQUAL(share_charge(&share, SHARE_RESIDENT, 7, false), 7);
    for (int i = 0; i < 1000; i++) {
        CHECK_EQUAL(used(), OTHERS * 100 + 7);
        CHECK_EQUAL(share_charge(&share, SHARE_RESIDENT, 1, false), 1);
        CHECK_EQUAL(used(), OTHERS * 100 + 8); /* one's own is never missing */
        CHECK_EQUAL(share_release(&share, SHARE_RESIDENT, 1), 1);
    }
    everybody_else_does_a_step(ready[0], to, false);
    for (int i = 0; used() != OTHERS * 70 + 7; i++)
        CHECK(i < 10000000);
    used();
    everybody_else_does_a_step(ready[0], to, false);
    CHECK_EQUAL(used(), OTHERS * 20070 + 7);
    for (int i = 0; i < OTHERS; i++)
        CHECK(write(to[i], "", 1) == 1);
    while (wait(NULL) > 0) {
    }
}

/* That it ends is put off again: AddressSanitizer cannot follow. */
static void *charge_when_cancelled(void *data) {
    int state;
    CHECK_EQUAL(pthread_cancel(pthread_self()), 0);
    *(uint64_t *)data = share_charge(&share, SHARE_RESIDENT, 100, false);
    CHECK_EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state), 0);
    CHECK_EQUAL(state, PTHREAD_CANCEL_ENABLE);
    return NULL;
}

static void a_thread_is_not_cancelled_within_a_step(void) {
    pthread_t thread;
    uint64_t charged = 0;
    open_share(1000, 1000);
    CHECK_EQUAL(pthread_create(&thread, NULL, charge_when_cancelled, &charged), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_EQUAL(charged, 100);
    share_call_in(&share);
    CHECK_EQUAL(share_charge(&share, SHARE_RESIDENT, 900, false), 900);
}

/* Closing any descriptor of the file drops all of the process' record locks in it. */
static void a_lock_that_was_lost_behind_our_back_is_taken_again(void) {
    int status;
    open_share(1000, 1000);
    CHECK_EQUAL(share_charge(&share, SHARE_RESIDENT, 100, false), 100);
    int descriptor = open(share.usage_path, O_RDWR | O_CLOEXEC);
    CHECK(descriptor >= 0 && close(descriptor) == 0);
    share_tend(&share, SHARE_NOW, false);
    pid_t pid = fork();
    if (pid == 0)
        _exit(region_file_locked_by_another(&share.file, share.seat.slot));
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    CHECK_EQUAL(WEXITSTATUS(status), 1);
}

/*
 * As a signal's handler that interrupts a step: it charges and looks after the share, and must not wait for the step's
 * end.
 */
static void what_interrupts_a_step_does_not_wait_for_it(void) {
    open_share(1000, 1000);
    CHECK_EQUAL(share_charge(&share, SHARE_RESIDENT, 100, false), 100);
    gate_enter(&share.own.gate);
    share_tend(&share, SHARE_NOW, true);
    share_tend(&share, SHARE_IF_DUE, true);
    CHECK_EQUAL(share_charge(&share, SHARE_RESIDENT, 200, false), 200);
    CHECK_EQUAL(share_charge(&share, SHARE_RESIDENT, 701, false), 0);
    CHECK_EQUAL(share_release(&share, SHARE_RESIDENT, 100), 100);
    gate_leave(&share.own.gate);
    CHECK_EQUAL(share.own.gate, 0);
    share_tend(&share, SHARE_NOW, true);
    CHECK_EQUAL(share_used(&share), 200);
    share_call_in(&share);
    CHECK_EQUAL(share_charge(&share, SHARE_RESIDENT, 800, false), 800);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(a_release_is_whole_while_another_thread_takes_managed_memory),
        CASE(a_thread_may_look_at_the_share_while_another_makes_the_first_charge),
        CASE(what_many_processes_use_is_shown_at_once_or_moments_later),
        CASE(a_thread_is_not_cancelled_within_a_step),
        CASE(what_interrupts_a_step_does_not_wait_for_it),
        CASE(a_lock_that_was_lost_behind_our_back_is_taken_again),
    };
    return RUN_CASES(cases, argc, argv);
}
