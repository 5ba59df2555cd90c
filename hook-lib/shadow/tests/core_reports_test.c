/* SPDX-License-Identifier: Apache-2.0 */
/* What card reports tell of what was timed, on time of their own. */
#include <string.h>

#include "cases.h"
#include "check.h"
#include "cores/core_account.h"
#include "cores/core_history.h"
#include "cores/core_reports.h"

#define MS UINT64_C(1000000)
#define SECOND UINT64_C(1000000000)

static const uint64_t begin = 1000 * SECOND;

/* One that does not say up to when its figures go. */
static void take_report(struct partita_account *account, unsigned int others, uint64_t number, uint64_t busy) {
    struct card_report report = {number, begin + number * 200 * MS, busy, others, false, 0};
    core_reports_take(account, &report, report.at, 25);
}

static void reports_scale_what_events_measured(void) {
    struct partita_account account = {0};
    unsigned int others = 20;
    uint64_t reported = 0;
    for (uint64_t number = 1; number < 99; number++) {
        core_account_charge(&account, begin + number * 200 * MS, 100 * MS, 100 * MS, 50, CORE_SHARED_DEBT_NS);
        reported += 60 * MS; /* others had the card for 40 of them */
        take_report(&account, others, number, reported);
        take_report(&account, others, number, reported); /* read again: changes nothing */
    }
    CHECK(core_reports_scaled(&account, 1000) >= 598 && core_reports_scaled(&account, 1000) <= 602);
    take_report(&account, others, 200, 0); /* a plugin that begins anew */
    CHECK_EQUAL(core_reports_scaled(&account, 1000), 1000);
}

static void reports_that_come_late_do_not_make_a_beginning_cheap(void) {
    unsigned int others = 75;
    struct partita_account account = {0};
    take_report(&account, others, 1, 0);
    for (uint64_t number = 2; number < 6; number++) {
        core_account_charge(&account, begin + number * 200 * MS, 100 * MS, 100 * MS, 50, CORE_SHARED_DEBT_NS);
        take_report(&account, others, number, 0);
        CHECK_EQUAL(core_reports_scaled(&account, 1000), 1000);
    }
    for (uint64_t number = 6; number < 99; number++) {
        core_account_charge(&account, begin + number * 200 * MS, 100 * MS, 100 * MS, 50, CORE_SHARED_DEBT_NS);
        take_report(&account, others, number, (number - 5) * 25 * MS);
    }
    CHECK(core_reports_scaled(&account, 1000) >= 245 && core_reports_scaled(&account, 1000) <= 255);
}

static void a_use_that_begins_again_and_again_is_charged_in_full_however_late_reports_are(void) {
    unsigned int others = 0;
    for (uint64_t late = 0; late <= PARTITA_LATE_REPORTS; late++) {
        struct partita_account account = {0};
        uint64_t timed[600] = {0}, number = 1;
        take_report(&account, others, number, 0);
        for (int round = 0; round < 3; round++) {
            for (uint64_t end = number + 40; ++number < end;) {
                uint64_t now = round == 1 ? (number % 5 == 0) * 200 * MS : 50 * MS + (number % 3) * 10 * MS;
                timed[number] = timed[number - 1] + now;
                core_account_charge(&account, begin + number * 200 * MS, now, now, 25, CORE_SHARED_DEBT_NS);
                take_report(&account, others, number, number > late ? timed[number - late] : 0);
                CHECK_EQUAL(core_reports_scaled(&account, 1000), 1000);
            }
            for (uint64_t end = number + 130; number < end; number++) { /* idle */
                timed[number] = timed[number + 1] = timed[number - 1];
                take_report(&account, others, number, timed[number - late]);
            }
        }
    }
}

static void a_use_beside_others_is_soon_charged_what_it_had_however_late_reports_are(void) {
    unsigned int others = 100;
    for (uint64_t late = 0; late <= PARTITA_LATE_REPORTS; late++) {
        struct partita_account account = {0};
        take_report(&account, others, 1, 0);
        for (uint64_t number = 2; number < 40; number++) {
            core_account_charge(&account, begin + number * 200 * MS, 100 * MS, 100 * MS, 50, CORE_SHARED_DEBT_NS);
            take_report(&account, others, number, number > late ? (number - late - 1) * 50 * MS : 0);
            CHECK(core_reports_scaled(&account, 1000) >= 500);
            CHECK(number < 10 + late || core_reports_scaled(&account, 1000) <= (number < 39 ? 600 : 520));
        }
    }
}

/* The card and a share on it that always wants it, of which others have half of what is timed while they are there. */
struct scene {
    struct partita_account account;
    uint64_t now, timed, real;
    uint64_t late;                  /* ns: samples are known so much later */
    uint64_t claimed;               /* ns: and say that they are of so much later than they are */
    uint64_t number, real_at[4000]; /* a millisecond each */
    unsigned int percent, others, others_at[4000];
    unsigned int waits; /* percent of a window in which the card waits for the program */
    bool coarse;        /* samples are whole percents, rounded down */
    uint64_t told, seen;
};

static uint64_t as_sampled(struct scene *scene, uint64_t real) {
    const uint64_t percent = 150 * MS / 100;
    scene->told += (real - scene->seen) / percent * percent;
    scene->seen = real;
    return scene->coarse ? scene->told : real;
}

static void report_in(struct scene *scene) {
    uint64_t passed = (scene->now - begin) / MS, at = passed > scene->late / MS ? passed - scene->late / MS : 0;
    struct card_report report = {++scene->number,
                                 scene->now,
                                 as_sampled(scene, scene->real_at[at % 4000]),
                                 scene->others_at[at % 4000],
                                 false,
                                 scene->now - scene->late + scene->claimed};
    core_reports_take(&scene->account, &report, scene->now, scene->percent);
}

/* Percent of the card that it got in so many ms. */
static double play(struct scene *scene, unsigned int ms) {
    uint64_t before = scene->real, window = 0;
    for (unsigned int i = 0; i < ms; i++) {
        bool launches = core_account_due(&scene->account, scene->now, CORE_SHARED_DEBT_NS) == 0;
        scene->now += MS;
        if (launches) {
            uint64_t part = (scene->others ? MS / 2 : MS) * (100 - scene->waits) / 100;
            scene->real += part;
            window += MS;
        }
        if (window >= 2 * MS || (window > 0 && !launches)) {
            core_history_add(&scene->account, scene->now - window, scene->now, window);
            core_account_charge(&scene->account, scene->now - window, window,
                                core_reports_cost(&scene->account, window), scene->percent, CORE_SHARED_DEBT_NS);
            window = 0;
        }
        scene->real_at[(scene->now - begin) / MS % 4000] = scene->real;
        scene->others_at[(scene->now - begin) / MS % 4000] = scene->others;
        if ((scene->now - begin) / MS % 150 == 0)
            report_in(scene);
    }
    return 100.0 * (double)(scene->real - before) / ((double)ms * 1e6);
}

static bool between(double is, double least, double most) {
    if (is < least || is > most)
        fprintf(stderr, "%.2f, not %.2f to %.2f\n", is, least, most);
    return is >= least && is <= most;
}

static void a_share_that_begins_beside_another_gets_what_is_its_own_in_two_seconds(void) {
    for (uint64_t late = 0; late <= SECOND; late += 100 * MS) {
        static struct scene scene;
        scene = (struct scene){.now = begin, .late = late, .percent = 25, .others = 75};
        double first = play(&scene, 2000);
        CHECK(between(first, late < 500 * MS ? 23.5 : 20, 26.5));
        CHECK(between(play(&scene, 3000), 24, late < 500 * MS ? 26.5 : 28.5));
        CHECK(between(play(&scene, 5000), 24.5, 25.5));
    }
}

static void a_share_whose_neighbour_leaves_pays_for_what_it_had_too_much(void) {
    for (uint64_t late = 0; late <= SECOND; late += 100 * MS) {
        static struct scene scene;
        scene = (struct scene){.now = begin, .late = late, .percent = 25, .others = 75};
        play(&scene, 10000);
        scene.others = 0;
        CHECK(between(play(&scene, 5000), 24, 27));
        CHECK(between(play(&scene, 5000), 24, 26));
    }
}

/* Copies and the host are between its launches, which events cannot tell. */
static void a_share_alone_is_charged_what_the_card_worked_for_it(void) {
    for (uint64_t late = 0; late <= SECOND; late += 100 * MS)
        for (unsigned int percent = 10; percent <= 35; percent += 5) {
            static struct scene scene;
            scene = (struct scene){.now = begin, .late = late, .percent = percent, .waits = 60, .coarse = true};
            play(&scene, 5000);
            CHECK(between(play(&scene, 5000), percent - 2, percent + 0.5));
        }
}

static void what_samples_are_wrong_by_gives_a_share_alone_no_more(void) {
    for (uint64_t late = 0; late <= SECOND; late += 100 * MS)
        for (unsigned int percent = 3; percent <= 73; percent += 10) {
            static struct scene scene;
            scene = (struct scene){.now = begin, .late = late, .percent = percent, .coarse = true};
            play(&scene, 5000);
            CHECK(between(play(&scene, 5000), percent - 0.5, percent + 0.5));
        }
}

static void stamps_that_do_not_hold_give_nobody_more(void) {
    for (uint64_t late = 0; late <= SECOND; late += 100 * MS) {
        static struct scene scene;
        scene = (struct scene){.now = begin, .late = late, .claimed = late, .percent = 25, .others = 75};
        play(&scene, 10);
        CHECK(between(play(&scene, 5000), 12, 27.5));
        CHECK(between(play(&scene, 5000), 23, 27));
    }
}

static void time_that_was_not_used_is_not_owed(void) {
    static struct scene scene;
    scene = (struct scene){.now = begin, .late = SECOND, .percent = 25, .others = 75};
    play(&scene, 1100);
    for (int i = 0; i < 100; i++) { /* idle */
        scene.now += 150 * MS;
        for (int j = 0; j < 4000; j++)
            scene.real_at[j] = scene.real;
        report_in(&scene);
    }
    CHECK_EQUAL(scene.account.owed_ns, 0);
    CHECK_EQUAL(core_reports_cost(&scene.account, 1000), core_reports_scaled(&scene.account, 1000));
}

static void a_report_without_news_changes_nothing(void) {
    struct partita_account account = {0};
    struct card_report report = {1, begin, 0, 75, false, begin};
    core_reports_take(&account, &report, begin, 25);
    core_history_add(&account, begin, begin + 100 * MS, 100 * MS);
    core_account_charge(&account, begin, 100 * MS, 100 * MS, 50, CORE_SHARED_DEBT_NS);
    report.number = 2;
    core_reports_take(&account, &report, begin + 100 * MS, 25);
    CHECK_EQUAL(account.recent_busy_ns, 0);
    report = (struct card_report){3, begin + 100 * MS, 50 * MS, 75, false, begin + 100 * MS};
    core_reports_take(&account, &report, begin + 150 * MS, 25);
    CHECK(between((double)core_reports_scaled(&account, 1000), 450, 650)); /* the history knows moments only roughly */
}

static void a_forged_account_is_charged_no_less_than_a_part(void) {
    struct partita_account account;
    for (int byte = 0; byte < 256; byte += 15) {
        memset(&account, byte, sizeof account);
        for (uint64_t number = 1; number < 9; number++) {
            struct card_report report = {
                number, begin + number * SECOND, number == 2 ? UINT64_MAX : number * 5, 100, false, begin};
            CHECK(core_reports_scaled(&account, 160) >= 10 && core_reports_scaled(&account, 160) <= 160);
            uint64_t cost = core_reports_cost(&account, 160);
            CHECK(cost >= 5 && cost <= 320);
            core_reports_take(&account, &report, begin + number * SECOND, 25);
        }
    }
}

static void the_history_tells_what_was_used_since(void) {
    struct partita_account account = {0};
    core_history_add(&account, begin, begin + SECOND, SECOND / 2);
    core_history_add(&account, begin + SECOND, begin + SECOND, 7);
    uint64_t now = begin + SECOND;
    for (uint64_t ago = 0; ago <= 1000; ago += 50) {
        uint64_t is = core_history_since(&account, now - ago * MS, now), should = ago * MS / 2;
        CHECK(is + 20 * MS >= should && is <= should + 20 * MS);
    }
    CHECK(core_history_since(&account, begin - 100 * SECOND, now) + MS >= SECOND / 2);
    CHECK_EQUAL(core_history_since(&account, now + 100 * SECOND, now + 200 * SECOND), 0);
    core_history_add(&account, now, now + 100 * SECOND, 100 * SECOND);
    CHECK(core_history_since(&account, now, now + 100 * SECOND) <= CORE_HISTORY_NS + 67 * MS);
    memset(&account, 0xff, sizeof account);
    CHECK(core_history_since(&account, begin, now) <= (uint64_t)PARTITA_MARKS << PARTITA_MARK_BITS);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(reports_scale_what_events_measured),
        CASE(reports_that_come_late_do_not_make_a_beginning_cheap),
        CASE(a_use_that_begins_again_and_again_is_charged_in_full_however_late_reports_are),
        CASE(a_use_beside_others_is_soon_charged_what_it_had_however_late_reports_are),
        CASE(a_share_that_begins_beside_another_gets_what_is_its_own_in_two_seconds),
        CASE(a_share_whose_neighbour_leaves_pays_for_what_it_had_too_much),
        CASE(a_share_alone_is_charged_what_the_card_worked_for_it),
        CASE(what_samples_are_wrong_by_gives_a_share_alone_no_more),
        CASE(stamps_that_do_not_hold_give_nobody_more),
        CASE(time_that_was_not_used_is_not_owed),
        CASE(a_report_without_news_changes_nothing),
        CASE(a_forged_account_is_charged_no_less_than_a_part),
        CASE(the_history_tells_what_was_used_since),
    };
    return RUN_CASES(cases, argc, argv);
}
