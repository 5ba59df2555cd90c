/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger's steps on a region of their own, in one process. */
#include <pthread.h>
#include <string.h>

#include "cases.h"
#include "check.h"
#include "share/ledger.h"

static struct partita_region region __attribute__((aligned(4096)));

static enum ledger_answer charge(struct seat seat, uint64_t units, uint64_t limit) {
    struct ledger_taken taken;
    return ledger_charge(&region, seat, units, &(struct ledger_bounds){limit, LEDGER_UNBOUNDED, 0, false}, &taken);
}

static enum ledger_answer charge_part(struct seat seat, uint64_t units, uint64_t limit, uint64_t *part) {
    struct ledger_taken taken;
    enum ledger_answer answer =
        ledger_charge(&region, seat, units, &(struct ledger_bounds){limit, LEDGER_UNBOUNDED, 0, true}, &taken);
    *part = taken.units;
    return answer;
}

static struct seat seat(uint32_t slot) {
    region.slots[slot].state = 1 << 2 | PARTITA_SLOT_LIVE;
    if (region.high_water <= slot)
        region.high_water = slot + 1;
    return (struct seat){slot, region.slots[slot].state};
}

static void the_last_unit_is_granted_and_not_one_more(void) {
    struct seat a = seat(0), b = seat(5);
    CHECK_EQUAL(charge(a, 60, 100), LEDGER_DONE);
    CHECK_EQUAL(charge(b, 41, 100), LEDGER_FULL);
    CHECK_EQUAL(charge(b, 40, 100), LEDGER_DONE);
    CHECK_EQUAL(charge(a, 1, 100), LEDGER_FULL);
    CHECK_EQUAL(charge(a, UINT64_MAX, 100), LEDGER_FULL);
    CHECK_EQUAL(ledger_total(&region, LEDGER_TOTAL), 100);
    CHECK_EQUAL(ledger_held(&region, LEDGER_TOTAL, 0), 60);
    CHECK_EQUAL(ledger_held(&region, LEDGER_TOTAL, 5), 40);
    CHECK_EQUAL(ledger_release(&region, LEDGER_TOTAL, a, 60), LEDGER_DONE);
    CHECK_EQUAL(ledger_total(&region, LEDGER_TOTAL), 40);
    CHECK(!ledger_audit(&region));
}

static void a_part_is_charged_up_to_the_limit(void) {
    uint64_t taken;
    struct seat a = seat(0);
    CHECK_EQUAL(charge_part(a, 70, 100, &taken), LEDGER_DONE);
    CHECK_EQUAL(taken, 70);
    CHECK_EQUAL(charge_part(a, 70, 100, &taken), LEDGER_DONE);
    CHECK_EQUAL(taken, 30);
    CHECK_EQUAL(charge_part(a, 70, 100, &taken), LEDGER_FULL);
    CHECK_EQUAL(ledger_total(&region, LEDGER_TOTAL), 100);
}

static void a_limit_below_what_is_held_grants_nothing_until_enough_is_given_back(void) {
    struct seat a = seat(0);
    CHECK_EQUAL(charge(a, 80, 100), LEDGER_DONE);
    CHECK_EQUAL(charge(a, 1, 50), LEDGER_FULL);
    CHECK_EQUAL(ledger_release(&region, LEDGER_TOTAL, a, 30), LEDGER_DONE);
    CHECK_EQUAL(charge(a, 1, 50), LEDGER_FULL);
    CHECK_EQUAL(ledger_release(&region, LEDGER_TOTAL, a, 1), LEDGER_DONE);
    CHECK_EQUAL(charge(a, 1, 50), LEDGER_DONE);
}

static void a_seat_that_is_gone_changes_nothing(void) {
    struct seat a = seat(0);
    CHECK_EQUAL(charge(a, 10, 100), LEDGER_DONE);
    region.slots[0].state += 4;
    CHECK_EQUAL(charge(a, 10, 100), LEDGER_EVICTED);
    CHECK_EQUAL(ledger_release(&region, LEDGER_TOTAL, a, 10), LEDGER_EVICTED);
    CHECK_EQUAL(ledger_settle(&region, LEDGER_TOTAL, a, 0), LEDGER_EVICTED);
    CHECK_EQUAL(ledger_total(&region, LEDGER_TOTAL), 10);
    CHECK_EQUAL(charge((struct seat){PARTITA_SLOTS, 5}, 1, 100), LEDGER_EVICTED);
}

static void a_wrong_total_is_derived_anew_from_the_slots(void) {
    struct seat a = seat(0), b = seat(1), c = seat(2);
    CHECK_EQUAL(charge(a, 10, 100), LEDGER_DONE);
    CHECK_EQUAL(charge(b, 20, 100), LEDGER_DONE);
    CHECK_EQUAL(charge(c, 30, 100), LEDGER_DONE);
    region.total.low &= ~UINT64_C(0xffffffff); /* total 0 */
    CHECK(ledger_audit(&region));
    CHECK_EQUAL(ledger_total(&region, LEDGER_TOTAL), 60);
    region.total.low |= UINT64_C(0xffffffff);
    CHECK(ledger_audit(&region));
    CHECK_EQUAL(ledger_total(&region, LEDGER_TOTAL), 60);
    region.total.high |= 0xffff; /* no such slot */
    CHECK_EQUAL(charge(a, 1, 1000), LEDGER_DONE);
    CHECK(ledger_total(&region, LEDGER_TOTAL) >= 31); /* what slot 2 held is unknown now: its owner settles it */
    CHECK_EQUAL(ledger_settle(&region, LEDGER_TOTAL, c, 30), LEDGER_DONE);
    ledger_audit(&region);
    CHECK_EQUAL(ledger_total(&region, LEDGER_TOTAL), 61);
}

enum { THREADS = 8, STEPS = 20000, LIMIT = 1000 };

static void *churn(void *data) {
    struct seat mine = {(uint32_t)(uintptr_t)data / 2, 1 << 2 | PARTITA_SLOT_LIVE}; /* two threads to a slot */
    unsigned int random = (unsigned int)(uintptr_t)data + 1;
    uint64_t held = 0;
    for (int i = 0; i < STEPS; i++) {
        random = random * 1103515245 + 12345;
        uint64_t units = (random >> 16) % 300 + 1;
        if (charge(mine, units, LIMIT) == LEDGER_DONE)
            held += units;
        CHECK(ledger_total(&region, LEDGER_TOTAL) <= LIMIT);
        if (held > 400 || (random & 1 << 12)) {
            uint64_t back = held / 2 + 1 < held ? held / 2 + 1 : held;
            CHECK_EQUAL(ledger_release(&region, LEDGER_TOTAL, mine, back), LEDGER_DONE);
            held -= back;
        }
    }
    return (void *)(uintptr_t)held;
}

static void threads_never_exceed_the_limit_and_lose_nothing(void) {
    pthread_t threads[THREADS];
    uint64_t held[THREADS], total = 0;
    for (uint32_t i = 0; i < THREADS / 2; i++)
        seat(i);
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, churn, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        held[i] = (uint64_t)(uintptr_t)result;
        total += held[i];
    }
    CHECK_EQUAL(ledger_total(&region, LEDGER_TOTAL), total);
    for (uint32_t i = 0; i < THREADS / 2; i++)
        CHECK_EQUAL(ledger_held(&region, LEDGER_TOTAL, i), held[2 * i] + held[2 * i + 1]);
    CHECK(!ledger_audit(&region));
}

/* Whatever the bytes are: no crash, no hang, and a grant never above the limit. */
static void a_region_of_garbage_neither_crashes_nor_grants_beyond_the_limit(void) {
    unsigned char *bytes = (unsigned char *)&region;
    unsigned int random = 99;
    for (int round = 0; round < 300; round++) {
        size_t count = round % 3 == 0 ? sizeof region : 64;
        for (size_t i = 0; i < count; i++) {
            random = random * 1103515245 + 12345;
            size_t at = count == sizeof region ? i : round % 3 == 1 ? 64 + i % 16 : (random >> 8) % sizeof region;
            bytes[at] = (unsigned char)(random >> 16);
        }
        uint64_t taken;
        struct seat mine = seat((random >> 16) % PARTITA_SLOTS);
        if (charge(mine, 10, 100) == LEDGER_DONE)
            CHECK(ledger_total(&region, LEDGER_TOTAL) <= 100);
        charge_part(mine, 10, 100, &taken);
        ledger_audit(&region);
        ledger_settle(&region, LEDGER_TOTAL, mine, 5);
        ledger_release(&region, LEDGER_TOTAL, mine, 1000);
        ledger_held(&region, LEDGER_TOTAL, mine.slot);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(the_last_unit_is_granted_and_not_one_more),
        CASE(a_part_is_charged_up_to_the_limit),
        CASE(a_limit_below_what_is_held_grants_nothing_until_enough_is_given_back),
        CASE(a_seat_that_is_gone_changes_nothing),
        CASE(a_wrong_total_is_derived_anew_from_the_slots),
        CASE(threads_never_exceed_the_limit_and_lose_nothing),
        CASE(a_region_of_garbage_neither_crashes_nor_grants_beyond_the_limit),
    };
    memset(&region, 0, sizeof region);
    return RUN_CASES(cases, argc, argv);
}
