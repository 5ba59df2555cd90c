/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credit on a region of its own: what is ahead is nobody's loss. Built with fault injection: the process dies at the
 * wanted point.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "cases.h"
#include "check.h"
#include "scratch.h"
#include "share/credit.h"
#include "share/fault.h"
#include "share/seats.h"

static long fatal_point; /* 0: none */
static long points;

void fault_point(const char *where) {
    (void)where;
    if (fatal_point && __atomic_add_fetch(&points, 1, __ATOMIC_RELAXED) == fatal_point)
        kill(getpid(), SIGKILL);
}

enum { LIMIT = 1 << 20, SMALL = 8 };

static struct region_file file;
static struct owner self;
static struct seat mine;

static struct seat sit(void) {
    struct seat seat;
    CHECK(seats_take(&file, &self, &seat));
    return seat;
}

static void start(void) {
    make_region(scratch_folder(), "share");
    CHECK(region_file_open(&file, region_path(scratch_folder(), "share")));
    self = owner_self();
    mine = sit();
}

static enum ledger_answer charge(struct seat seat, uint64_t units, uint64_t limit) {
    if (credit_draw(file.region, seat, units, limit))
        return LEDGER_DONE;
    return credit_charge(file.region, seat, &(struct ledger_bounds){limit, LEDGER_UNBOUNDED, 0, false}, &units);
}

static void release(struct seat seat, uint64_t units) {
    if (!credit_deposit(file.region, seat, units, LIMIT))
        CHECK_EQUAL(credit_release(file.region, seat, units), LEDGER_DONE);
}

static uint64_t total(void) {
    return ledger_total(file.region, LEDGER_TOTAL);
}

static void what_is_taken_ahead_is_not_shown_as_used(void) {
    start();
    struct seat other = sit();
    CHECK_EQUAL(charge(mine, SMALL, LIMIT), LEDGER_DONE);
    CHECK_EQUAL(charge(other, SMALL, LIMIT), LEDGER_DONE);
    CHECK(total() > 1000);
    CHECK_EQUAL(credit_used(file.region), 2 * SMALL);
    CHECK_EQUAL(credit_used_by(file.region, mine.slot), SMALL);
    uint64_t before = file.region->total.high;
    for (int i = 0; i < 100; i++) {
        CHECK_EQUAL(charge(mine, SMALL, LIMIT), LEDGER_DONE);
        release(mine, SMALL);
    }
    CHECK_EQUAL(file.region->total.high, before); /* nobody else was disturbed */
    release(mine, SMALL);
    CHECK_EQUAL(credit_used(file.region), SMALL);
    CHECK(credit_agrees(file.region, mine, 0));
}

static void every_unit_can_be_used_after_the_others_credit_was_called_in(void) {
    start();
    struct seat other = sit();
    CHECK_EQUAL(charge(other, SMALL, LIMIT), LEDGER_DONE);
    CHECK_EQUAL(charge(mine, LIMIT - SMALL, LIMIT), LEDGER_FULL);
    credit_recall(file.region, mine, 1000);
    CHECK_EQUAL(charge(mine, LIMIT - SMALL, LIMIT), LEDGER_DONE);
    CHECK_EQUAL(charge(mine, 1, LIMIT), LEDGER_FULL);
    CHECK_EQUAL(charge(other, 1, LIMIT), LEDGER_FULL);
    CHECK_EQUAL(total(), LIMIT);
    release(other, SMALL);
    CHECK_EQUAL(charge(mine, SMALL, LIMIT), LEDGER_DONE);
}

static void after_a_refusal_nobody_keeps_credit_for_a_while(void) {
    start();
    struct seat other = sit();
    credit_recall(file.region, mine, 1000);
    CHECK_EQUAL(charge(other, 2 * SMALL, LIMIT), LEDGER_DONE);
    release(other, SMALL);
    CHECK_EQUAL(total(), SMALL);
    credit_relax(file.region, 1500);
    CHECK_EQUAL(charge(other, SMALL, LIMIT), LEDGER_DONE);
    CHECK_EQUAL(total(), 2 * SMALL);
    credit_relax(file.region, 5000);
    CHECK_EQUAL(charge(other, SMALL, LIMIT), LEDGER_DONE);
    CHECK(total() > 3 * SMALL);
    file.region->scarce = UINT64_MAX; /* somebody's rubbish */
    credit_relax(file.region, 5000);
    CHECK_EQUAL(file.region->scarce, 0);
}

static void near_the_limit_and_under_a_physical_one_no_credit_is_taken(void) {
    uint64_t units = SMALL;
    start();
    CHECK_EQUAL(charge(mine, SMALL, 2 * SMALL), LEDGER_DONE);
    CHECK(total() <= 2 * SMALL);
    credit_recall(file.region, mine, 1000);
    credit_relax(file.region, 9000);
    CHECK_EQUAL(credit_charge(file.region, mine, &(struct ledger_bounds){LIMIT, 100, 0, false}, &units), LEDGER_DONE);
    CHECK_EQUAL(total(), 2 * SMALL);
    units = 100 - SMALL;
    CHECK_EQUAL(credit_charge(file.region, mine, &(struct ledger_bounds){LIMIT, 100, 0, false}, &units), LEDGER_FULL);
}

static void managed_memory_does_not_count_against_the_physical_limit(void) {
    struct ledger_bounds bounds = {LIMIT, 100, 0, false};
    uint64_t units = 80;
    start();
    CHECK_EQUAL(credit_charge(file.region, mine, &bounds, &units), LEDGER_DONE);
    units = 500;
    CHECK_EQUAL(credit_charge(file.region, mine, &(struct ledger_bounds){LIMIT, LEDGER_UNBOUNDED, 0, false}, &units),
                LEDGER_DONE);
    units = 1;
    CHECK_EQUAL(credit_charge(file.region, mine, &bounds, &units), LEDGER_FULL); /* not known to be managed yet */
    CHECK_EQUAL(ledger_add(file.region, LEDGER_PAGED, mine, 500), LEDGER_DONE);
    credit_recall(file.region, mine, 1000);
    units = 21;
    CHECK_EQUAL(credit_charge(file.region, mine, &bounds, &units), LEDGER_FULL);
    units = 20;
    CHECK_EQUAL(credit_charge(file.region, mine, &bounds, &units), LEDGER_DONE);
    CHECK(!ledger_audit(file.region));
}

static void a_share_whose_limit_shrank_grants_nothing_out_of_credit(void) {
    start();
    CHECK_EQUAL(charge(mine, SMALL, LIMIT), LEDGER_DONE);
    CHECK_EQUAL(charge(mine, 1, SMALL), LEDGER_FULL);
    credit_recall(file.region, mine, 1000);
    CHECK_EQUAL(charge(mine, 1, SMALL), LEDGER_FULL);
    CHECK_EQUAL(charge(mine, 1, SMALL + 1), LEDGER_DONE);
}

/* A life of charges and frees in and out of credit, and of calling it in. */
static void live(void) {
    self = owner_self();
    struct seat seat = sit();
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(charge(seat, SMALL, LIMIT), LEDGER_DONE);
        CHECK_EQUAL(charge(seat, SMALL, LIMIT), LEDGER_DONE);
        release(seat, SMALL);
        CHECK_EQUAL(charge(seat, 30000, LIMIT), LEDGER_DONE);
        CHECK_EQUAL(ledger_add(file.region, LEDGER_PAGED, seat, 30000), LEDGER_DONE);
        CHECK_EQUAL(ledger_release(file.region, LEDGER_PAGED, seat, 20000), LEDGER_DONE);
        release(seat, 20000);
        credit_recall(file.region, seat, 1000);
        credit_relax(file.region, 9000);
    }
}

static void killed_at_any_step_a_process_keeps_no_unit_from_the_others(void) {
    start();
    int status = 0, kills = 0;
    for (long at = 1; at == 1 || WIFSIGNALED(status); at++) {
        credit_relax(file.region, 9000);
        CHECK_EQUAL(charge(mine, SMALL, LIMIT), LEDGER_DONE);
        release(mine, SMALL); /* has credit that the child calls in */
        pid_t pid = fork();
        if (pid == 0) {
            points = 0;
            fatal_point = at;
            live();
            _exit(0);
        }
        CHECK(waitpid(pid, &status, 0) == pid);
        kills += WIFSIGNALED(status);
        CHECK(WIFSIGNALED(status) ? WTERMSIG(status) == SIGKILL : WEXITSTATUS(status) == 0);
        CHECK(total() <= LIMIT);
        CHECK(credit_used(file.region) <= total());
        CHECK(!ledger_audit(file.region));
        seats_reap(&file, &self, &mine, REAP_THOROUGHLY);
        CHECK_EQUAL(credit_used(file.region), 0);
        CHECK_EQUAL(ledger_total(file.region, LEDGER_PAGED), 0);
        credit_recall(file.region, mine, 1000);
        CHECK_EQUAL(total(), 0);
        CHECK_EQUAL(charge(mine, LIMIT, LIMIT), LEDGER_DONE);
        CHECK_EQUAL(credit_release(file.region, mine, LIMIT), LEDGER_DONE);
    }
    CHECK(kills > 60);
}

enum { THREADS = 6, SEATS = 3, STEPS = 15000, TIGHT = 60000 };
static struct seat seats[SEATS];
static uint64_t in_use;

static void *churn(void *data) {
    struct seat seat = seats[(uintptr_t)data % SEATS];
    unsigned int random = (unsigned int)(uintptr_t)data + 1;
    uint64_t held[4] = {0};
    for (int i = 0; i < STEPS; i++) {
        random = random * 1103515245 + 12345;
        uint64_t *one = &held[random >> 8 & 3], units = (random >> 16) % ((random & 1 << 12) ? 30000 : 200) + 1;
        if (*one) {
            __atomic_fetch_sub(&in_use, *one, __ATOMIC_SEQ_CST);
            if (!credit_deposit(file.region, seat, *one, TIGHT))
                CHECK_EQUAL(credit_release(file.region, seat, *one), LEDGER_DONE);
            *one = 0;
        }
        enum ledger_answer answer = charge(seat, units, TIGHT);
        if (answer == LEDGER_FULL) {
            credit_recall(file.region, seat, 1000);
            answer = charge(seat, units, TIGHT);
            credit_relax(file.region, random & 1 << 13 ? 9000 : 1000);
        }
        CHECK(answer == LEDGER_DONE || answer == LEDGER_FULL);
        if (answer == LEDGER_DONE) {
            *one = units;
            CHECK(__atomic_add_fetch(&in_use, units, __ATOMIC_SEQ_CST) <= TIGHT);
        }
        CHECK(total() <= TIGHT);
    }
    for (int i = 0; i < 4; i++) {
        __atomic_fetch_sub(&in_use, held[i], __ATOMIC_SEQ_CST);
        CHECK_EQUAL(credit_release(file.region, seat, held[i]), LEDGER_DONE);
    }
    return NULL;
}

static void threads_of_several_processes_never_use_more_than_the_limit(void) {
    pthread_t threads[THREADS];
    start();
    for (int i = 0; i < SEATS; i++)
        seats[i] = sit();
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, churn, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQUAL(credit_used(file.region), 0);
    credit_recall(file.region, mine, 1000);
    CHECK_EQUAL(total(), 0);
    CHECK(!ledger_audit(file.region));
    CHECK_EQUAL(file.region->repairs, 0);
}

static void accounts_of_garbage_neither_crash_nor_hang(void) {
    unsigned int random = 7;
    start();
    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < 8; i++) {
            random = random * 1103515245 + 12345;
            file.region->slots[i].account = (uint64_t)random << 32 | random * 7919;
        }
        file.region->high_water = random;
        if (charge(mine, 10, 1000) == LEDGER_DONE)
            CHECK(total() <= 1000 + 10);
        if (!credit_deposit(file.region, mine, 5, LIMIT))
            credit_release(file.region, mine, 5); /* a word full of steps under way may refuse */
        credit_recall(file.region, mine, 1000);
        credit_used(file.region);
        CHECK_EQUAL(credit_settle(file.region, mine, 0), LEDGER_DONE);
        CHECK(credit_agrees(file.region, mine, 0));
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(what_is_taken_ahead_is_not_shown_as_used),
        CASE(every_unit_can_be_used_after_the_others_credit_was_called_in),
        CASE(after_a_refusal_nobody_keeps_credit_for_a_while),
        CASE(near_the_limit_and_under_a_physical_one_no_credit_is_taken),
        CASE(managed_memory_does_not_count_against_the_physical_limit),
        CASE(a_share_whose_limit_shrank_grants_nothing_out_of_credit),
        CASE(killed_at_any_step_a_process_keeps_no_unit_from_the_others),
        CASE(threads_of_several_processes_never_use_more_than_the_limit),
        CASE(accounts_of_garbage_neither_crash_nor_hang),
    };
    return RUN_CASES(cases, argc, argv);
}
