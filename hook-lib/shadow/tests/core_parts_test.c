/* SPDX-License-Identifier: Apache-2.0 */
/* The pure parts of the core limit, on time of their own. */
#include <string.h>

#include "cases.h"
#include "check.h"
#include "cores/core_account.h"
#include "cores/core_policy.h"
#include "cores/core_spans.h"
#include "cores/core_waits.h"
#include "share/card_report.h"

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

static const uint64_t begin = 1000 * SECOND;

/*
 * A program that always wants the card, with kernels of this length and every wait so much too long; what it got in a
 * minute, or of 200 kernels.
 */
static double percent_got(unsigned int percent, uint64_t kernel, uint64_t oversleep, uint64_t most) {
    struct partita_account account = {0};
    uint64_t now = begin, used = 0;
    while (now < begin + 60 * SECOND || used < 200 * kernel) {
        uint64_t due;
        while ((due = core_account_due(&account, now, most)) > 0)
            now += due + oversleep;
        core_account_charge(&account, now, kernel, kernel, percent, most);
        now += kernel;
        used += kernel;
    }
    CHECK_EQUAL(account.busy_ns, used);
    return 100.0 * (double)used / (double)(now - begin);
}

static const unsigned int percents[] = {1, 5, 10, 25, 30, 50, 70, 90, 99};

static void a_program_that_always_wants_the_card_gets_its_percent(void) {
    for (unsigned int i = 0; i < sizeof percents / sizeof *percents; i++) {
        double expected = percents[i];
        for (uint64_t kernel = MS / 50; kernel <= 50 * MS; kernel *= 10) {
            double got = percent_got(percents[i], kernel, 0, CORE_SHARED_DEBT_NS);
            CHECK(got < expected + 0.3 && got > expected - 0.3);
        }
        /* what it oversleeps is made up for */
        double late = percent_got(percents[i], 5 * MS, 5 * MS, CORE_SHARED_DEBT_NS);
        CHECK(late < expected + 0.3 && late > (percents[i] <= 50 ? expected - 0.3 : expected * 0.8));
    }
}

static void kernels_of_any_length_are_paid_for_where_nobody_else_writes_the_account(void) {
    for (unsigned int i = 0; i < sizeof percents / sizeof *percents; i++)
        for (uint64_t kernel = SECOND; kernel <= 3600 * SECOND; kernel *= 2) {
            double expected = percents[i], got = percent_got(percents[i], kernel, 0, CORE_OWN_DEBT_NS);
            CHECK(got < expected + 0.3 && got > expected - 0.3);
        }
}

static void kernels_that_cost_five_minutes_are_paid_for_where_others_write_the_account(void) {
    for (unsigned int i = 0; i < sizeof percents / sizeof *percents; i++) {
        double expected = percents[i],
               got = percent_got(percents[i], percents[i] * 299 * SECOND / 100, 0, CORE_SHARED_DEBT_NS);
        CHECK(got < expected + 0.3 && got > expected - 0.3);
    }
}

/* Kernels that run beside each other are each charged when they end. */
static void what_was_launched_at_once_is_paid_for_as_well(void) {
    struct partita_account account = {0};
    for (int i = 0; i < 100; i++)
        core_account_charge(&account, begin, 20 * SECOND, 20 * SECOND, 1, CORE_OWN_DEBT_NS);
    CHECK_EQUAL(core_account_due(&account, begin, CORE_OWN_DEBT_NS), 100 * 2000 * SECOND - 2000 * MS);
    core_account_charge(&account, begin, UINT64_MAX / 2, UINT64_MAX / 2, 1, CORE_OWN_DEBT_NS);
    CHECK(core_account_due(&account, begin, CORE_OWN_DEBT_NS) >= CORE_OWN_DEBT_NS);
}

static void idle_time_is_saved_up_for_20_ms_at_most(void) {
    struct partita_account account = {0};
    core_account_charge(&account, begin, 10 * MS, 10 * MS, 10, CORE_OWN_DEBT_NS);
    CHECK_EQUAL(core_account_due(&account, begin + 10 * MS, CORE_OWN_DEBT_NS), 0);
    uint64_t later = begin + 1000 * SECOND;
    for (int i = 0; i < 3; i++) /* 30 ms at once, 20 of them saved up */
        core_account_charge(&account, later, 10 * MS, 10 * MS, 10, CORE_OWN_DEBT_NS);
    CHECK_EQUAL(core_account_due(&account, later, CORE_OWN_DEBT_NS), 100 * MS);
}

static void no_limit_is_counted_and_never_due(void) {
    struct partita_account account = {0};
    core_account_charge(&account, begin, 10 * SECOND, 10 * SECOND, 0, CORE_OWN_DEBT_NS);
    CHECK_EQUAL(account.busy_ns, 10 * SECOND);
    CHECK_EQUAL(core_account_due(&account, begin, CORE_OWN_DEBT_NS), 0);
}

/* Launches that wait charge nothing: what a forged account shows has to end by itself. */
static void a_forged_account_blocks_for_ten_minutes_at_most(void) {
    const uint64_t most = CORE_SHARED_DEBT_NS;
    struct partita_account account;
    memset(&account, 0xff, sizeof account);
    CHECK_EQUAL(core_account_due(&account, begin, most), 0);
    account.paid_until = begin + 2 * most;
    CHECK_EQUAL(core_account_due(&account, begin, most), most);
    CHECK_EQUAL(core_account_due(&account, begin + 2 * most, most), 0);
    CHECK_EQUAL(2 * most, 600 * SECOND);
    account.paid_until = UINT64_MAX;
    core_account_charge(&account, begin, MS, MS, 100, most);
    CHECK(account.paid_until <= begin + most + MS);
    for (int i = 0; i < 10; i++)
        core_account_charge(&account, begin, 1000 * SECOND, 1000 * SECOND, 1, most);
    CHECK(account.paid_until <= begin + 2 * most);
}

static void a_debt_is_paid_at_the_limit_that_there_is_now(void) {
    const uint64_t most = CORE_SHARED_DEBT_NS;
    struct partita_account account = {0};
    core_account_charge(&account, begin, 20 * SECOND, 20 * SECOND, 10, most); /* 200 s, less what may be used at once */
    core_account_reprice(&account, begin + 99800 * MS, 10, 50, most);
    CHECK_EQUAL(core_account_due(&account, begin + 99800 * MS, most), 20 * SECOND);
    core_account_reprice(&account, begin + 99800 * MS, 50, 10, most);
    CHECK_EQUAL(core_account_due(&account, begin + 99800 * MS, most), 100 * SECOND);
    core_account_reprice(&account, begin + 99800 * MS, 0, 10, most);
    core_account_reprice(&account, begin + 99800 * MS, 10, 0, most);
    core_account_reprice(&account, begin + 200 * SECOND, 10, 50, most);
    CHECK_EQUAL(core_account_due(&account, begin + 99800 * MS, most), 100 * SECOND);
    core_account_reprice(&account, begin, 100, 1, most);
    CHECK_EQUAL(account.paid_until, begin + 2 * most);
    struct partita_account own = {.paid_until = begin + CORE_OWN_DEBT_NS};
    core_account_reprice(&own, begin, 100, 1, CORE_OWN_DEBT_NS);
    CHECK_EQUAL(own.paid_until, begin + 2 * CORE_OWN_DEBT_NS);
    memset(&account, 0xff, sizeof account);
    core_account_reprice(&account, begin, 1, 100, most);
    CHECK_EQUAL(account.paid_until, UINT64_MAX);
}

static void time_that_two_processes_used_at_once_counts_once(void) {
    static struct partita_compute compute;
    memset(&compute, 0, sizeof compute);
    uint64_t stretch = UINT64_C(1) << PARTITA_STRETCH_BITS, from = (begin / stretch + 1) * stretch;
    uint64_t first = core_account_cover(&compute, from, from + 50 * stretch);
    CHECK(first <= 50 * stretch && first >= 50 * (stretch - 1));
    CHECK_EQUAL(core_account_cover(&compute, from, from + 50 * stretch), 0);
    uint64_t more = core_account_cover(&compute, from + 40 * stretch, from + 60 * stretch);
    CHECK(more <= 10 * stretch && more >= 10 * (stretch - 1));
    CHECK_EQUAL(core_account_cover(&compute, from + 100 * stretch, from + 100 * stretch + 1000), 1000);
    CHECK_EQUAL(core_account_cover(&compute, from + 5, from + 5), 0);
    /* Longer ago than the ring knows: counts as new. */
    uint64_t long_one = core_account_cover(&compute, from, from + 3 * PARTITA_STRETCHES * stretch);
    CHECK(long_one > 2 * PARTITA_STRETCHES * (stretch - 1));
    memset(&compute, 0xff, sizeof compute);
    CHECK(core_account_cover(&compute, from, from + 1000 * stretch) <= 1000 * stretch);
}

static void spans_that_overlap_count_once(void) {
    static struct core_spans spans;
    struct core_span fresh[CORE_SPANS + 1];
    memset(&spans, 0, sizeof spans);
    CHECK_EQUAL(core_spans_add(&spans, 100, 200, fresh), 1);
    CHECK_EQUAL(core_spans_add(&spans, 100, 200, fresh), 0);
    CHECK_EQUAL(core_spans_add(&spans, 300, 400, fresh), 1);
    CHECK_EQUAL(core_spans_add(&spans, 50, 500, fresh), 3);
    CHECK_EQUAL(fresh[0].from, 50);
    CHECK_EQUAL(fresh[0].to, 100);
    CHECK_EQUAL(fresh[1].from, 200);
    CHECK_EQUAL(fresh[2].to, 500);
    CHECK_EQUAL(spans.count, 1);
    CHECK_EQUAL(core_spans_add(&spans, 500, 500, fresh), 0);
    for (uint64_t i = 0; i < 1000; i++)
        CHECK_EQUAL(core_spans_add(&spans, 1000 + 10 * i, 1005 + 10 * i, fresh), 1);
    CHECK_EQUAL(spans.count, CORE_SPANS);
    CHECK_EQUAL(core_spans_add(&spans, 1000 + 9990, 1005 + 9990, fresh), 0);
    CHECK(core_spans_add(&spans, 0, 20000, fresh) <= CORE_SPANS + 1);
    CHECK_EQUAL(spans.count, 1);
}

/* Against a bit for each unit of time. */
static void spans_agree_with_a_plain_count(void) {
    static struct core_spans spans;
    static unsigned char used[4000];
    struct core_span fresh[CORE_SPANS + 1];
    uint64_t random = 88172645463325252;
    memset(&spans, 0, sizeof spans);
    for (int round = 0; round < 30; round++) { /* few enough that none is forgotten */
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        uint64_t from = random % 3900, to = from + random / 4096 % 100, expected = 0, sum = 0;
        for (uint64_t i = from; i < to; i++) {
            expected += !used[i];
            used[i] = 1;
        }
        unsigned int parts = core_spans_add(&spans, from, to, fresh);
        for (unsigned int i = 0; i < parts; i++)
            sum += fresh[i].to - fresh[i].from;
        CHECK_EQUAL(sum, expected);
    }
}

static void shares_of_one_card_are_limited_to_their_sum(void) {
    struct core_rules hard = core_rules_of(30, CORE_LIMIT_HARD, 1), soft = core_rules_of(20, CORE_LIMIT_SOFT, 0);
    struct core_rules none = core_rules_of(20, CORE_LIMIT_NONE, 1), free = core_rules_of(0, CORE_LIMIT_HARD, 1);
    CHECK_EQUAL(core_rules_sum(hard, soft).percent, 50);
    CHECK(!core_rules_sum(hard, soft).soft && !core_rules_sum(hard, soft).yields);
    CHECK_EQUAL(core_rules_sum(hard, none).percent, 0);
    CHECK_EQUAL(free.percent, 0);
    CHECK_EQUAL(core_rules_of(100, CORE_LIMIT_HARD, 1).percent, 0);
    CHECK_EQUAL(core_rules_sum(core_rules_sum(hard, hard), core_rules_sum(hard, hard)).percent, 0);
}

static struct card_report report_of(uint64_t number, unsigned int own, unsigned int others) {
    static uint64_t busy;
    busy += own * 2 * MS;
    return (struct card_report){number, begin + number * 200 * MS, busy, others, false, 0};
}

static void a_soft_limit_lends_idle_time_and_takes_it_back_with_the_next_report(void) {
    struct core_rules rules = core_rules_of(20, CORE_LIMIT_SOFT, 1);
    struct core_policy policy = {0};
    uint64_t now = begin;
    CHECK_EQUAL(core_policy_percent(&policy, &rules, now), 20); /* nobody reports */
    struct card_report report = report_of(1, 20, 0);
    core_policy_read(&policy, &rules, &report, now);
    report = report_of(2, 20, 0);
    core_policy_read(&policy, &rules, &report, now += 200 * MS);
    CHECK_EQUAL(core_policy_percent(&policy, &rules, now), 0); /* alone: no limit */
    report = report_of(3, 50, 50);
    core_policy_read(&policy, &rules, &report, now += 200 * MS);
    CHECK_EQUAL(core_policy_percent(&policy, &rules, now), 20);
    unsigned int own = 20; /* the other wants no more than 30: it comes near to the rest */
    for (uint64_t number = 4; number < 14; number++) {
        report = report_of(number, own, 30);
        core_policy_read(&policy, &rules, &report, now += 200 * MS);
        own = core_policy_percent(&policy, &rules, now);
        CHECK(own >= 20 && own <= 66);
    }
    CHECK(own >= 62);
    CHECK_EQUAL(core_policy_percent(&policy, &rules, now + 2 * SECOND), 20); /* the reports have ended */
}

static void a_lower_priority_pauses_while_reports_say_so(void) {
    struct core_rules low = core_rules_of(0, CORE_LIMIT_HARD, 1), high = core_rules_of(0, CORE_LIMIT_HARD, 0);
    struct core_policy policy = {0};
    struct card_report report = report_of(1, 0, 50);
    report.wanted = true;
    core_policy_read(&policy, &low, &report, begin);
    CHECK(core_policy_paused(&policy, &low, begin));
    CHECK(!core_policy_paused(&policy, &high, begin));
    CHECK(!core_policy_paused(&policy, &low, begin + 2 * SECOND)); /* nobody pauses for a plugin that is gone */
    report = report_of(2, 0, 0);
    core_policy_read(&policy, &low, &report, begin + 200 * MS);
    CHECK(!core_policy_paused(&policy, &low, begin + 200 * MS));
}

static bool parses(const char *words, struct card_report *report) {
    return card_report_parse(words, strlen(words), report);
}

static void only_of_launches_that_follow_none_it_is_known_whether_they_waited_for_the_card(void) {
    uint64_t until = 0;
    CHECK_EQUAL(core_waits_add(&until, begin, begin + MS / 20, begin + MS), CORE_BEGINS);
    CHECK_EQUAL(core_waits_add(&until, begin + MS / 2, begin + 5 * MS, begin + 6 * MS), CORE_GOES_ON);
    CHECK_EQUAL(core_waits_add(&until, begin + 7 * MS, begin + 9 * MS, begin + 10 * MS), CORE_WAITED);
    CHECK_EQUAL(core_waits_add(&until, begin + 2 * MS, begin + 3 * MS, begin + 4 * MS), CORE_GOES_ON); /* told late */
    CHECK_EQUAL(until, begin + 10 * MS);
    CHECK_EQUAL(core_waits_add(&until, begin + 11 * MS, begin + 10 * MS, begin + 12 * MS), CORE_BEGINS);
}

static void a_report_is_read_whole_or_not_at_all(void) {
    struct card_report report;
    CHECK(parses("partita-card 1\nreport 007\nat 5\nbusy 9\nothers 35\nwanted 1\nlater x\nend 007\n", &report));
    CHECK_EQUAL(report.number, 7);
    CHECK_EQUAL(report.at, 5);
    CHECK_EQUAL(report.busy, 9);
    CHECK_EQUAL(report.others, 35);
    CHECK(report.wanted);
    CHECK(!parses("", &report));
    CHECK(!parses("partita-card 2\nreport 7\nend 7\n", &report));
    CHECK(!parses("partita-card 1\nreport 7\nend 8\n", &report)); /* met a write */
    CHECK(!parses("partita-card 1\nreport 7\n", &report));
    CHECK(!parses("partita-card 1\nreport 0\nend 0\n", &report));
    CHECK(!parses("partita-card 1\nreport 7\nothers 101\nend 7\n", &report));
    CHECK(!parses("partita-card 1\nreport 7\nwanted 2\nend 7\n", &report));
    CHECK(!parses("partita-card 1\nreport 7\nbusy -1\nend 7\n", &report));
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(a_program_that_always_wants_the_card_gets_its_percent),
        CASE(kernels_of_any_length_are_paid_for_where_nobody_else_writes_the_account),
        CASE(kernels_that_cost_five_minutes_are_paid_for_where_others_write_the_account),
        CASE(what_was_launched_at_once_is_paid_for_as_well),
        CASE(idle_time_is_saved_up_for_20_ms_at_most),
        CASE(no_limit_is_counted_and_never_due),
        CASE(a_forged_account_blocks_for_ten_minutes_at_most),
        CASE(a_debt_is_paid_at_the_limit_that_there_is_now),
        CASE(time_that_two_processes_used_at_once_counts_once),
        CASE(spans_that_overlap_count_once),
        CASE(spans_agree_with_a_plain_count),
        CASE(only_of_launches_that_follow_none_it_is_known_whether_they_waited_for_the_card),
        CASE(shares_of_one_card_are_limited_to_their_sum),
        CASE(a_soft_limit_lends_idle_time_and_takes_it_back_with_the_next_report),
        CASE(a_lower_priority_pauses_while_reports_say_so),
        CASE(a_report_is_read_whole_or_not_at_all),
    };
    return RUN_CASES(cases, argc, argv);
}
