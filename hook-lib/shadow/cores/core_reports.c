/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The controller of the core limit: what a launch is charged where other shares use the card at the same moment.
 *
 * Problem.  Two events tell how long a window of launches took, w. The card serves several shares in turn, so a share
 *   that runs beside others had less of the card than w. NVML tells what the share really had, but up to a second late,
 *   about seven times a second, and wrong by a few percent. So events are the measure, and reports correct it.
 *
 * For each report, with
 *
 *     T   what was timed by events since the last report, up to the moment to which the report's figures go;
 *     R   what the report says that the share used since the last one;
 *     O   what the others used at most: their percent of the passed time (that of the last report, if it was more), a
 *         quarter more, and 1/32 of the time;
 *     A   how far reports are ahead of what they were compared with, so far,
 *
 * the share had the card for
 *
 *     f = R + A - A/16, but no less than T - O and no more than T;                                                 (1)
 *     A becomes R + A - A/16 - f, within 250 ms.
 *
 *   A share that is alone (O = 0) had all that was timed, but for the time in which the card waited for the program:
 *   for a copy or the host, between two launches of a window. Then R counts a 64th more, and one percent of the passed
 *   time, which is what samples are wrong by, and f is no less than T/16. Where it is not known up to when reports go,
 *   f = T.
 *
 * Ratio.  Each report counts 1/16 less with every later one, so the last 2.4 seconds or so decide:
 *
 *     B becomes B - B/16 + T;   F becomes F - F/16 + f;   r = F / B, from 1/16 to 1; 1 where B < 20 ms.            (2)
 *
 * Debt.  What was charged too much (> 0) or too little (< 0) by now, against all f so far and what is not yet compared:
 *
 *     D = charged - (f + f + ...) - r * (timed and not yet compared),                                              (3)
 *
 *   no more than a second of the limit and than 250 ms, and what is above that is forgotten; no less than -250 ms at
 *   a time. The first 20 ms either way are left alone, as samples are wrong by that. D = 0 where the limit may lend,
 *   where it is not known up to when the figures of reports go, and where the share used nothing of late (B < 2 ms).
 *
 * Charge.  A window of w is charged r * w, and pays off what it can of D without being charged less than half or more
 * than twice that:
 *
 *     c = r * w - s,   s = D within -r * w and r * w / 2,   D becomes D - s.                                       (4)
 *
 *   core_account.c then lets launches wait until c * 100 / percent has passed.
 *
 * Example.  A share of 25 % beside one that always wants the card. The card gives each half of the time. Reports come
 *   every 150 ms.
 *   - Others used 50 %: O = 150 * 50 / 80 + 150 / 32 = 93.75 + 4.7 = 98.4 ms. Events timed T = 75 ms, the report says
 *     R = 40 ms, and A = 0. T - O is below 0, so f = 40 ms, and A stays 0.
 *   - With B = 1200 ms and F = 600 ms from before: B = 1200 - 75 + 75 = 1200 ms, F = 600 - 37.5 + 40 = 602.5 ms,
 *     r = 0.502.
 *   - A window of w = 8 ms is charged 4 ms, if nothing is owed. At 25 % that is paid after 16 ms. So in 16 ms the share
 *     has a window of 8 ms, in which it has the card for 4 ms: 25 %.
 *   - Say the share had just begun, and had been charged 150 ms for 150 ms timed before the first reports showed that
 *     it had only 75 ms. D = 150 - 75 = 75 ms, of which 20 ms are left alone: 55 ms. The next window of 8 ms is charged
 *     4 - 2 = 2 ms, and D becomes 53 ms. Windows are charged half until D is 0: 55 / 2, some 28 windows of 8 ms, each
 *     of which waits for 8 ms in place of 16.
 *
 * Late reports.  Those that say up to when their figures go are compared with what was timed by then (core_history.c).
 *   Of others it is learned by how many reports they are late (learn_late); until that is known f = T.
 */
#include "cores/core_reports.h"

#include <stdbool.h>

#include "common/atomics.h"
#include "cores/core_account.h"
#include "cores/core_history.h"

enum { LEAST_SCALE = 16, MEMORY = 16 /* reports */ };
enum { ALONE_PART = 64, ALONE_PASSED_PART = 100 };
enum { KEPT = PARTITA_LATE_REPORTS + 1, LATE_KNOWN = 1 << 8, STAMPED = 1 << 9 };
static const uint64_t ENOUGH_TO_SCALE_NS = 20000000, ENOUGH_TO_SHOW_NS = 30000000, NOTHING_NS = 2000000;
static const uint64_t PLAUSIBLE_NS = 60000000000; /* between two reports */
static const int64_t AHEAD_NS = 250000000;
/*
 * No more is made up for, and no more than a second of the limit; what is less than samples are wrong by anyway is left
 * alone.
 */
static const int64_t OWED_NS = 250000000, OWED_PERCENT_NS = 10000000, OWED_LEAST_NS = 20000000;

static int64_t clamped(int64_t value, int64_t most) {
    return value > most ? most : value < -most ? -most : value;
}

static int64_t load_within(const uint64_t *at, int64_t most) {
    return clamped((int64_t)load_relaxed(at), most);
}

/* r * busy of (2). */
uint64_t core_reports_scaled(const struct partita_account *account, uint64_t busy) {
    uint64_t timed = load_relaxed(&account->recent_busy_ns), fair = load_relaxed(&account->recent_fair_ns);
    if (timed < ENOUGH_TO_SCALE_NS || fair >= timed)
        return busy;
    if (fair < timed / LEAST_SCALE)
        return busy / LEAST_SCALE;
    return (uint64_t)((double)busy * ((double)fair / (double)timed));
}

/* (4). Threads and processes do it at once: who swaps D has settled it. */
uint64_t core_reports_cost(struct partita_account *account, uint64_t busy) {
    uint64_t scaled = core_reports_scaled(account, busy), seen = load_relaxed(&account->owed_ns);
    int64_t most = (int64_t)(scaled < PLAUSIBLE_NS ? scaled : PLAUSIBLE_NS), settled;
    do {
        int64_t owed = clamped((int64_t)seen, OWED_NS);
        settled = owed > most / 2 ? most / 2 : owed < -most ? -most : owed;
        if (settled == 0)
            break;
    } while (!__atomic_compare_exchange_n(&account->owed_ns, &seen,
                                          (uint64_t)(clamped((int64_t)seen, OWED_NS) - settled), true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    return scaled - (uint64_t)settled;
}

/*
 * Reports say up to when their figures go, and are compared with what was timed by then: compared with what was timed
 * by now, it would look as if others had the rest, be charged less, and so grow on. Where they do not say it, or what
 * was timed by then does not show, it is learned how late they are whenever a use begins.
 */
static uint64_t learn_late(struct partita_account *account, uint64_t timed, uint64_t reported, bool stamped) {
    uint64_t seen = load_relaxed(&account->late), late = seen & (LATE_KNOWN - 1);
    bool silent = reported < NOTHING_NS, known = (seen & LATE_KNOWN) != 0;
    if (known && silent && load_relaxed(&account->recent_busy_ns) < NOTHING_NS) {
        known = false; /* nothing was used for long */
        late = 0;
    }
    if (!known && silent && (late > 0 || timed >= (stamped ? ENOUGH_TO_SHOW_NS : NOTHING_NS)))
        late++;
    late = late < PARTITA_LATE_REPORTS ? late : PARTITA_LATE_REPORTS;
    store_relaxed(&account->late, late | (known || !silent ? LATE_KNOWN : 0) | (stamped ? STAMPED : 0));
    if (stamped && late == 0)
        return 0;
    /* One more: the first sample that shows the use need not show all of the time that its report stands for. */
    return late < PARTITA_LATE_REPORTS ? late + 1 : late;
}

/*
 * Keeps what was timed by the report `number`. Of reports that nobody looked at, what was timed meanwhile counts for
 * the last.
 */
static void remember(struct partita_account *account, uint64_t seen, uint64_t number, uint64_t busy) {
    uint64_t last = seen ? load_relaxed(&account->busy_at_report_ns) : busy;
    bool follows = seen != 0 && number > seen && number - seen < KEPT;
    for (uint64_t i = 1; i < (follows ? number - seen : KEPT); i++)
        store_relaxed(&account->busy_at[(number + KEPT - i) % KEPT], last);
    store_relaxed(&account->busy_at[number % KEPT], busy);
    store_relaxed(&account->busy_at_report_ns, busy);
}

/* What was timed up to the report, less so many reports as they are late. */
static uint64_t timed_by(const struct partita_account *account, uint64_t number, uint64_t late) {
    return load_relaxed(&account->busy_at[(number + KEPT - late) % KEPT]);
}

static void begin_anew(struct partita_account *account, uint64_t busy, uint64_t by, bool stamped) {
    store_relaxed(&account->recent_busy_ns, 0);
    store_relaxed(&account->recent_fair_ns, 0);
    store_relaxed(&account->late, stamped ? STAMPED : 0);
    store_relaxed(&account->ahead_ns, 0);
    store_relaxed(&account->owed_ns, 0);
    store_relaxed(&account->compared_ns, by);
    store_relaxed(&account->fair_ns, load_relaxed(&account->charged_ns) - (busy - by));
}

/* What a report is compared with, ns. */
struct comparison {
    uint64_t timed, reported, others, passed;
    bool exact; /* it is known up to when the report goes */
};

/*
 * (1): what of `timed` ns the card really worked for the share. That is what is reported, but no more than was timed,
 * and no less than `least_of_it`. What a report is ahead or behind by goes to the next one.
 */
static uint64_t fair(struct partita_account *account, uint64_t timed, uint64_t reported, uint64_t least_of_it) {
    if (least_of_it >= timed) {
        store_relaxed(&account->ahead_ns, 0);
        return timed;
    }
    int64_t ahead = load_within(&account->ahead_ns, AHEAD_NS), is = (int64_t)reported + ahead - ahead / MEMORY;
    int64_t least = (int64_t)least_of_it, most = (int64_t)timed;
    int64_t fair = is < least ? least : is > most ? most : is;
    store_relaxed(&account->ahead_ns, (uint64_t)clamped(is - fair, AHEAD_NS));
    return (uint64_t)fair;
}

/*
 * (3). A share that begins beside others is charged all that is timed until the first report shows that the card served
 * them as well: for a third of a second to more than one. Without (3) it would get half of its limit in that time, and
 * less than its limit as long as the ratio still holds some of it. When others leave, it had too much: that is made up
 * for just as well.
 *
 * Where it is not known up to when reports go, the difference would swing with what they are late by, so none is made
 * up for. Nor is any where time may be lent, since what was charged in such a time was not paid for.
 */
static void settle_owed(struct partita_account *account, uint64_t busy, uint64_t compared, unsigned int percent) {
    uint64_t charged = load_relaxed(&account->charged_ns),
             since = busy > compared ? core_reports_scaled(account, busy - compared) : 0;
    int64_t most = percent * OWED_PERCENT_NS < OWED_NS ? percent * OWED_PERCENT_NS : OWED_NS;
    int64_t owed = clamped((int64_t)(charged - load_relaxed(&account->fair_ns) - since), PLAUSIBLE_NS);
    /* what was held back long ago is not saved up */
    if (percent == 0 || load_relaxed(&account->recent_busy_ns) < NOTHING_NS)
        most = owed = 0;
    if (owed >= most) {
        owed = most;
        store_relaxed(&account->fair_ns, charged - since - (uint64_t)owed);
    }
    owed = clamped(owed, OWED_NS);
    owed -= clamped(owed, OWED_LEAST_NS);
    store_relaxed(&account->owed_ns, (uint64_t)owed);
}

/* (1), by others or, where there are none, by L. */
static uint64_t fair_of(struct partita_account *account, const struct comparison *c) {
    if ((load_relaxed(&account->late) & LATE_KNOWN) == 0)
        return c->timed;
    if (c->others > 0)
        return fair(account, c->timed, c->reported, c->timed > c->others ? c->timed - c->others : 0);
    uint64_t allowed = c->reported + c->reported / ALONE_PART + c->passed / ALONE_PASSED_PART;
    return fair(account, c->timed, allowed, c->exact ? c->timed / LEAST_SCALE : c->timed);
}

/* (2), and the sums of (3). */
static void compare_with_report(struct partita_account *account, const struct comparison *comparison) {
    uint64_t timed = comparison->timed, is = fair_of(account, comparison);
    uint64_t recent_busy = load_relaxed(&account->recent_busy_ns), recent_fair = load_relaxed(&account->recent_fair_ns);
    store_relaxed(&account->compared_ns, load_relaxed(&account->compared_ns) + timed);
    store_relaxed(&account->fair_ns, load_relaxed(&account->fair_ns) + is);
    store_relaxed(&account->recent_busy_ns, recent_busy - recent_busy / MEMORY + timed);
    store_relaxed(&account->recent_fair_ns, recent_fair - recent_fair / MEMORY + is);
}

/*
 * ns that others used at most in the time of a report: by its figures or, since the share began in the midst of a
 * sample, those of the one before.
 */
static uint64_t others_in(struct partita_account *account, const struct card_report *report, uint64_t passed) {
    uint64_t former = load_relaxed(&account->others) % 101, most = report->others > former ? report->others : former;
    store_relaxed(&account->others, report->others);
    /* a quarter and three percent more, for what samples are wrong by */
    return most ? most * passed / 80 + passed / 32 : 0;
}

/* Whoever changes the number does the rest; a death in between loses one report. */
void core_reports_take(struct partita_account *account, const struct card_report *report, uint64_t now,
                       unsigned int percent) {
    uint64_t seen = load_relaxed(&account->report), number = report->number;
    if (seen == number ||
        !__atomic_compare_exchange_n(&account->report, &seen, number, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    uint64_t busy = load_relaxed(&account->busy_ns), former = load_relaxed(&account->reported_busy_ns),
             reported = report->busy - former;
    uint64_t passed = report->at - load_relaxed(&account->reported_at);
    bool follows = seen != 0 && report->busy >= former && reported <= PLAUSIBLE_NS && passed <= PLAUSIBLE_NS;
    bool stamped = report->sampled > 0 && report->sampled <= now;
    follows = follows && stamped == ((load_relaxed(&account->late) & STAMPED) != 0);
    bool news = passed > 0 || !follows;
    uint64_t by = stamped ? busy - core_history_since(account, report->sampled, now) : busy;
    uint64_t late =
        follows && news ? learn_late(account, by - load_relaxed(&account->busy_at_report_ns), reported, stamped) : 0;
    remember(account, seen, number, by);
    if (!news)
        return;
    uint64_t others = others_in(account, report, passed);
    uint64_t until = timed_by(account, number, late), compared = load_relaxed(&account->compared_ns);
    store_relaxed(&account->reported_busy_ns, report->busy);
    store_relaxed(&account->reported_at, report->at);
    if (!follows || until + PLAUSIBLE_NS < compared || until > compared + PLAUSIBLE_NS) {
        begin_anew(account, busy, by, stamped); /* the first, or one that cannot follow on the former */
        return;
    }
    bool exact = stamped && late == 0;
    const struct comparison comparison = {until > compared ? until - compared : 0, reported, others, passed, exact};
    compare_with_report(account, &comparison);
    settle_owed(account, busy, compared + comparison.timed, exact ? percent : 0);
}
