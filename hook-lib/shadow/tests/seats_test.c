/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that share a region and die in it. Built with fault injection: fault_point ends the process at the wanted
 * point.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "cases.h"
#include "check.h"
#include "scratch.h"
#include "share/fault.h"
#include "share/seats.h"

static long fatal_point; /* 0: none */
static long points;

static void (*meanwhile)(void); /* what happens, once, while a slot is being taken */

void fault_point(const char *where) {
    if (meanwhile && strcmp(where, "before the state") == 0) {
        void (*happens)(void) = meanwhile;
        meanwhile = NULL;
        happens();
    }
    if (fatal_point && ++points == fatal_point)
        kill(getpid(), SIGKILL);
}

static struct region_file file;
static struct owner self;
static struct seat mine;

static enum ledger_answer charge(struct seat seat, uint64_t units, uint64_t limit) {
    struct ledger_taken taken;
    return ledger_charge(file.region, seat, units, &(struct ledger_bounds){limit, LEDGER_UNBOUNDED, 0, false}, &taken);
}

static void open_region(const char *key) {
    CHECK(region_file_open(&file, region_path(scratch_folder(), key)));
    self = owner_self();
}

static void start(void) {
    make_region(scratch_folder(), "share");
    open_region("share");
    CHECK(seats_take(&file, &self, &mine));
}

enum { LIMIT = 1000 };

/* A life: sit down in two seats, so that each carries the other's last step, and charge and release a few times. */
static void live(void) {
    struct seat seat, other;
    struct owner me = owner_self();
    CHECK(seats_take(&file, &me, &seat));
    CHECK(seats_take(&file, &me, &other));
    for (int i = 0; i < 3; i++) {
        CHECK_EQUAL(charge(seat, 100, LIMIT), LEDGER_DONE);
        CHECK_EQUAL(charge(other, 20, LIMIT), LEDGER_DONE);
        CHECK_EQUAL(ledger_release(file.region, LEDGER_TOTAL, seat, 50), LEDGER_DONE);
        seats_reap(&file, &me, &seat, REAP_THOROUGHLY);
    }
}

static pid_t child(void (*run)(void), long kill_at) {
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        fatal_point = kill_at;
        points = 0;
        run();
        _exit(0);
    }
    return pid;
}

/*
 * The last charge of this process makes its slot the one that the total names, and the next process has to carry it
 * over.
 */
static void step_aside(void) {
    CHECK_EQUAL(charge(mine, 7, LIMIT), LEDGER_DONE);
    CHECK_EQUAL(ledger_release(file.region, LEDGER_TOTAL, mine, 7), LEDGER_DONE);
}

static void killed_at_any_step_a_process_neither_leaks_nor_loses_nor_blocks(void) {
    start();
    CHECK_EQUAL(charge(mine, 10, LIMIT), LEDGER_DONE);
    bool finished = false;
    int kills = 0;
    for (long at = 1; !finished; at++) {
        step_aside();
        int status;
        pid_t pid = child(live, at);
        CHECK(waitpid(pid, &status, 0) == pid);
        finished = WIFEXITED(status);
        kills += !finished;
        CHECK(finished ? WEXITSTATUS(status) == 0 : WTERMSIG(status) == SIGKILL);
        CHECK_EQUAL(charge(mine, 5, LIMIT), LEDGER_DONE); /* not blocked */
        CHECK_EQUAL(ledger_release(file.region, LEDGER_TOTAL, mine, 5), LEDGER_DONE);
        CHECK(!ledger_audit(file.region));
        seats_reap(&file, &self, &mine, REAP_THOROUGHLY);
        CHECK_EQUAL(ledger_total(file.region, LEDGER_TOTAL), 10);
        CHECK(!ledger_audit(file.region));
        for (uint32_t i = 0; i < file.region->high_water; i++)
            CHECK(i == mine.slot || (file.region->slots[i].state & PARTITA_SLOT_PHASE) == PARTITA_SLOT_FREE);
    }
    CHECK(kills > 30);
    CHECK_EQUAL(file.region->high_water, 3); /* slots are used again */
}

/* The reaper of a dead process is killed at every step of its own; the next one goes on. */
static struct seat reaper_seat;
static void reap_life(void) {
    struct owner me = owner_self();
    seats_reap(&file, &me, NULL, REAP_THOROUGHLY);
}
static void hold_life(void) {
    struct owner me = owner_self();
    CHECK(seats_take(&file, &me, &reaper_seat));
    CHECK_EQUAL(charge(reaper_seat, 300, LIMIT), LEDGER_DONE);
    kill(getpid(), SIGKILL);
}

static void a_reaper_killed_at_any_step_is_followed_by_the_next(void) {
    start();
    CHECK_EQUAL(charge(mine, 10, LIMIT), LEDGER_DONE);
    bool finished = false;
    for (long at = 1; !finished; at++) {
        int status;
        for (int i = 0; i < 2; i++) {
            pid_t holder = child(hold_life, 0);
            CHECK(waitpid(holder, &status, 0) == holder);
        }
        CHECK_EQUAL(ledger_total(file.region, LEDGER_TOTAL), 610);
        pid_t reaper = child(reap_life, at);
        CHECK(waitpid(reaper, &status, 0) == reaper);
        finished = WIFEXITED(status);
        seats_reap(&file, &self, &mine, REAP_THOROUGHLY);
        CHECK_EQUAL(ledger_total(file.region, LEDGER_TOTAL), 10);
        CHECK(!ledger_audit(file.region));
    }
}

static void churn_until_killed(void) {
    struct seat seat;
    struct owner me = owner_self();
    unsigned int random = (unsigned int)getpid();
    CHECK(seats_take(&file, &me, &seat));
    for (uint64_t held = 0;;) {
        random = random * 1103515245 + 12345;
        uint64_t units = (random >> 16) % 400 + 1;
        if (charge(seat, units, LIMIT) == LEDGER_DONE)
            held += units;
        else
            seats_reap(&file, &me, &seat, REAP_THOROUGHLY);
        CHECK(ledger_total(file.region, LEDGER_TOTAL) <= LIMIT);
        if (held) {
            CHECK_EQUAL(ledger_release(file.region, LEDGER_TOTAL, seat, held), LEDGER_DONE);
            held = 0;
        }
    }
}

static void a_storm_of_kills_leaves_an_exact_account(void) {
    enum { LIVES = 4, ROUNDS = 60 };
    start();
    pid_t lives[LIVES];
    for (int i = 0; i < LIVES; i++)
        lives[i] = child(churn_until_killed, 0);
    unsigned int random = 5;
    for (int round = 0; round < ROUNDS; round++) {
        random = random * 1103515245 + 12345;
        int victim = (int)((random >> 16) % LIVES), status;
        for (unsigned int spin = 0; spin < (random >> 8) % 2000; spin++)
            CHECK(ledger_total(file.region, LEDGER_TOTAL) <= LIMIT);
        kill(lives[victim], SIGKILL);
        CHECK(waitpid(lives[victim], &status, 0) == lives[victim] && WIFSIGNALED(status));
        CHECK_EQUAL(WTERMSIG(status), SIGKILL);
        lives[victim] = child(churn_until_killed, 0);
    }
    for (int i = 0; i < LIVES; i++) {
        kill(lives[i], SIGKILL);
        waitpid(lives[i], NULL, 0);
    }
    seats_reap(&file, &self, &mine, REAP_THOROUGHLY);
    CHECK_EQUAL(ledger_total(file.region, LEDGER_TOTAL), 0);
    CHECK(!ledger_audit(file.region));
    CHECK_EQUAL(file.region->repairs, 0);
    CHECK(file.region->high_water <= PARTITA_SLOTS);
}

static int ready[2];
static void hold_and_wait(void) {
    struct owner me = owner_self();
    struct seat seat;
    CHECK(seats_take(&file, &me, &seat));
    CHECK_EQUAL(charge(seat, 100, LIMIT), LEDGER_DONE);
    CHECK(write(ready[1], "x", 1) == 1);
    pause();
}

static pid_t holder(void) {
    char byte;
    CHECK(pipe(ready) == 0);
    pid_t pid = child(hold_and_wait, 0);
    CHECK(read(ready[0], &byte, 1) == 1);
    return pid;
}

static void the_living_keep_what_they_hold(void) {
    start();
    pid_t pid = holder();
    seats_reap(&file, &self, &mine, REAP_THOROUGHLY);
    CHECK_EQUAL(ledger_total(file.region, LEDGER_TOTAL), 100);
    CHECK(seats_all_accounted(&file));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    seats_reap(&file, &self, &mine, REAP_THOROUGHLY);
    CHECK_EQUAL(ledger_total(file.region, LEDGER_TOTAL), 0);
}

static void a_dead_process_that_nobody_waited_for_is_dead(void) {
    start();
    pid_t pid = holder();
    kill(pid, SIGKILL);
    siginfo_t info;
    CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
    seats_reap(&file, &self, &mine, REAP_THOROUGHLY);
    CHECK_EQUAL(ledger_total(file.region, LEDGER_TOTAL), 0);
    waitpid(pid, NULL, 0);
}

/* Another pid namespace: the numbers mean nothing here, the lock alone tells. */
static void an_owner_in_another_pid_namespace_is_judged_by_its_lock(void) {
    start();
    pid_t pid = holder();
    uint32_t slot = 1 - mine.slot;
    file.region->slots[slot].pid_namespace = 1;
    file.region->slots[slot].pid = 999999;
    seats_reap(&file, &self, &mine, REAP_THOROUGHLY);
    CHECK_EQUAL(ledger_total(file.region, LEDGER_TOTAL), 100);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    seats_reap(&file, &self, &mine, REAP_THOROUGHLY);
    CHECK_EQUAL(ledger_total(file.region, LEDGER_TOTAL), 0);
}

static void a_pid_that_another_process_has_now_is_told_by_its_start(void) {
    start();
    pid_t pid = holder();
    uint32_t slot = 1 - mine.slot;
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    file.region->slots[slot].pid = (uint32_t)getppid(); /* lives, but started at another time */
    seats_reap(&file, &self, &mine, REAP_THOROUGHLY);
    CHECK_EQUAL(ledger_total(file.region, LEDGER_TOTAL), 0);
}

static void a_program_before_exec_in_the_same_process_is_dead(void) {
    start();
    CHECK_EQUAL(charge(mine, 100, LIMIT), LEDGER_DONE);
    struct owner later = self;
    later.image ^= 1;
    struct seat seat;
    CHECK(seats_take(&file, &later, &seat));
    seats_reap(&file, &later, &seat, REAP_THOROUGHLY);
    CHECK_EQUAL(ledger_total(file.region, LEDGER_TOTAL), 0);
    CHECK(!seats_mine(file.region, mine));
}

static void a_wiped_region_does_not_account_for_its_living_owners(void) {
    start();
    pid_t pid = holder();
    CHECK(seats_all_accounted(&file));
    memset((void *)file.region, 0, sizeof *file.region);
    CHECK(!seats_all_accounted(&file));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    CHECK(seats_all_accounted(&file));
}

static void a_file_of_the_wrong_size_or_kind_is_not_taken(void) {
    struct region_file other = {NULL, 0, 0, 0};
    make_region(scratch_folder(), "short");
    CHECK(truncate(region_path(scratch_folder(), "short"), 4096) == 0);
    CHECK(!region_file_open(&other, region_path(scratch_folder(), "short")));
    CHECK(!region_file_open(&other, region_path(scratch_folder(), "none")));
    CHECK(!region_file_open(&other, scratch_folder()));
    make_region(scratch_folder(), "real");
    CHECK(symlink(region_path(scratch_folder(), "real"), text("%s/link", scratch_folder())) == 0);
    CHECK(!region_file_open(&other, text("%s/link", scratch_folder())));
}

static void a_descriptor_that_the_program_closed_is_renewed(void) {
    start();
    int before = file.descriptor;
    CHECK(region_file_keep(&file, region_path(scratch_folder(), "share")));
    CHECK_EQUAL(file.descriptor, before);
    close(file.descriptor);
    int taken = open("/dev/null", O_RDONLY); /* most likely the same number */
    CHECK(region_file_keep(&file, region_path(scratch_folder(), "share")) && file.descriptor != before);
    CHECK(region_file_lock(&file, mine.slot));
    CHECK(fcntl(taken, F_GETFD) >= 0); /* the program's own file was left alone */
}

/* The second library of the process: another descriptor of the same file. */
static struct region_file second;
static struct seat seconds;
static pthread_t second_thread;
static unsigned int waits_ms;
static uint32_t second_sits;

static void *sit_as_second(void *unused) {
    struct owner me = owner_self();
    CHECK(seats_take(&second, &me, &seconds));
    __atomic_store_n(&second_sits, 1, __ATOMIC_RELEASE);
    return unused;
}

static void the_second_joins(void) {
    CHECK(pthread_create(&second_thread, NULL, sit_as_second, NULL) == 0);
    for (unsigned int ms = 0; ms < waits_ms && !__atomic_load_n(&second_sits, __ATOMIC_ACQUIRE); ms++)
        usleep(1000);
}

static bool locked_by_us(uint32_t slot) {
    int status;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        _exit(region_file_locked_by_another(&file, slot));
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void two_libraries_join(unsigned int ms) {
    make_region(scratch_folder(), "share");
    open_region("share");
    CHECK(region_file_open(&second, region_path(scratch_folder(), "share")));
    waits_ms = ms;
    meanwhile = the_second_joins;
    CHECK(seats_take(&file, &self, &mine));
    CHECK(pthread_join(second_thread, NULL) == 0);
    CHECK(mine.slot != seconds.slot);
    CHECK(seats_mine(file.region, mine) && seats_mine(file.region, seconds));
    CHECK(locked_by_us(mine.slot) && locked_by_us(seconds.slot));
}

/* Record locks are the process': they do not keep its libraries from each other. */
static void two_libraries_of_a_process_that_join_at_once_get_a_slot_and_a_lock_each(void) {
    two_libraries_join(20);
}

static void a_library_that_loses_a_slot_to_another_of_its_process_leaves_it_the_lock(void) {
    two_libraries_join(2000);
}

static void a_region_that_cannot_be_mapped_for_a_while_costs_no_lock_and_one_descriptor(void) {
    struct rlimit before, none;
    struct region_file unmapped = {NULL, 0, 0, 0};
    start();
    CHECK(getrlimit(RLIMIT_AS, &before) == 0);
    none = before;
    none.rlim_cur = 1 << 20;
    CHECK(setrlimit(RLIMIT_AS, &none) == 0);
    bool opened = region_file_open(&unmapped, region_path(scratch_folder(), "share"));
    int descriptor = unmapped.descriptor;
    opened |= region_file_open(&unmapped, region_path(scratch_folder(), "share"));
    CHECK(setrlimit(RLIMIT_AS, &before) == 0);
    CHECK(!opened);
    CHECK_EQUAL(unmapped.descriptor, descriptor);
    CHECK(locked_by_us(mine.slot));
    CHECK(region_file_open(&unmapped, region_path(scratch_folder(), "share")));
    CHECK_EQUAL(unmapped.descriptor, descriptor);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(killed_at_any_step_a_process_neither_leaks_nor_loses_nor_blocks),
        CASE(a_reaper_killed_at_any_step_is_followed_by_the_next),
        CASE(a_storm_of_kills_leaves_an_exact_account),
        CASE(the_living_keep_what_they_hold),
        CASE(a_dead_process_that_nobody_waited_for_is_dead),
        CASE(an_owner_in_another_pid_namespace_is_judged_by_its_lock),
        CASE(a_pid_that_another_process_has_now_is_told_by_its_start),
        CASE(a_program_before_exec_in_the_same_process_is_dead),
        CASE(a_wiped_region_does_not_account_for_its_living_owners),
        CASE(a_file_of_the_wrong_size_or_kind_is_not_taken),
        CASE(a_descriptor_that_the_program_closed_is_renewed),
        CASE(two_libraries_of_a_process_that_join_at_once_get_a_slot_and_a_lock_each),
        CASE(a_library_that_loses_a_slot_to_another_of_its_process_leaves_it_the_lock),
        CASE(a_region_that_cannot_be_mapped_for_a_while_costs_no_lock_and_one_descriptor),
    };
    return RUN_CASES(cases, argc, argv);
}
