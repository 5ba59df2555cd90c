#include "core_account.h"

#define STRETCH (UINT64_C(1) << PARTITA_STRETCH_BITS)

enum { LEAST_SCALE = 16, MEMORY = 16 /* reports: three seconds */ };
enum { KEPT = PARTITA_LATE_REPORTS + 1, LATE_KNOWN = 1 << 8 };
static const uint64_t ENOUGH_TO_SCALE_NS = 20000000;
/* NVML's samples come up to a second late. As long as they have shown nothing of what was timed, they say nothing of it. */
static const uint64_t ENOUGH_REPORTED_NS = 5000000;
static const uint64_t NOTHING_NS = 2000000;

static uint64_t load(const uint64_t *at) {
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

static void store(uint64_t *at, uint64_t value) {
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
}

/* How much of `want` ns the stretch had left. */
static uint64_t cover(struct partita_compute *compute, uint64_t stretch, uint64_t want) {
    uint32_t *at = &compute->stretches[stretch % PARTITA_STRETCHES];
    uint32_t round = (uint32_t)(stretch / PARTITA_STRETCHES) << PARTITA_STRETCH_BITS;
    uint32_t seen = __atomic_load_n(at, __ATOMIC_RELAXED), next;
    uint64_t take;
    do {
        uint64_t used = (seen ^ round) >> PARTITA_STRETCH_BITS ? 0 : seen & (STRETCH - 1);
        take = want < STRETCH - 1 - used ? want : STRETCH - 1 - used;
        next = round | (uint32_t)(used + take);
    } while (!__atomic_compare_exchange_n(at, &seen, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return take;
}

uint64_t core_account_cover(struct partita_compute *compute, uint64_t from, uint64_t to) {
    if (to <= from)
        return 0;
    uint64_t last = (to - 1) >> PARTITA_STRETCH_BITS, first = from >> PARTITA_STRETCH_BITS, sum = 0;
    if (last - first >= PARTITA_STRETCHES) {
        first = last - PARTITA_STRETCHES + 1;
        sum = (first << PARTITA_STRETCH_BITS) - from;
        from = first << PARTITA_STRETCH_BITS;
    }
    for (uint64_t stretch = first; stretch <= last; stretch++) {
        uint64_t end = (stretch + 1) << PARTITA_STRETCH_BITS;
        sum += cover(compute, stretch, (end < to ? end : to) - from);
        from = end;
    }
    return sum;
}

uint64_t core_account_scaled(const struct partita_account *account, uint64_t busy) {
    uint64_t timed = load(&account->recent_busy_ns), reported = load(&account->recent_reported_ns);
    if (timed < ENOUGH_TO_SCALE_NS || reported < ENOUGH_REPORTED_NS || reported >= timed)
        return busy;
    if (reported < timed / LEAST_SCALE)
        return busy / LEAST_SCALE;
    return (uint64_t)((double)busy * ((double)reported / (double)timed));
}

void core_account_charge(struct partita_account *account, uint64_t from, uint64_t busy, uint64_t charged,
                         unsigned int percent) {
    __atomic_fetch_add(&account->busy_ns, busy, __ATOMIC_RELAXED);
    __atomic_fetch_add(&account->charged_ns, charged, __ATOMIC_RELAXED);
    if (percent == 0 || charged == 0)
        return;
    uint64_t burst = CORE_BURST_NS * 100 / percent, cost = charged < CORE_DEBT_NS ? charged * 100 / percent : CORE_DEBT_NS;
    uint64_t least = from > burst ? from - burst : 0, most = from + CORE_DEBT_NS;
    uint64_t seen = load(&account->paid_until), base;
    do {
        base = seen < least ? least : seen > most ? most : seen;
    } while (!__atomic_compare_exchange_n(&account->paid_until, &seen, base + cost, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
}

/* A moment that is too far away was not written by any of us: to wait for it would have no end, since nobody charges meanwhile. */
uint64_t core_account_due(const struct partita_account *account, uint64_t now) {
    uint64_t until = load(&account->paid_until);
    if (until <= now || until - now > 2 * CORE_DEBT_NS)
        return 0;
    return until - now < CORE_DEBT_NS ? until - now : CORE_DEBT_NS;
}

/*
 * How late reports are is seen whenever a use begins. Compared with what was timed up to the reports themselves, it would look as if others
 * had the rest of the time, be charged less, and so grow on.
 */
static uint64_t learn_late(struct partita_account *account, uint64_t timed, uint64_t reported) {
    uint64_t seen = load(&account->late), late = seen & (LATE_KNOWN - 1);
    bool silent = reported < NOTHING_NS, known = (seen & LATE_KNOWN) != 0;
    if (known && silent && load(&account->recent_busy_ns) < NOTHING_NS && load(&account->recent_reported_ns) < NOTHING_NS) {
        known = false; /* nothing was used for long */
        late = 0;
    }
    if (!known && silent && (late > 0 || timed >= NOTHING_NS))
        late++;
    late = late < PARTITA_LATE_REPORTS ? late : PARTITA_LATE_REPORTS;
    store(&account->late, late | (known || !silent ? LATE_KNOWN : 0));
    /* One more: the first sample that shows the use need not show all of the time that its report stands for. */
    return late < PARTITA_LATE_REPORTS ? late + 1 : late;
}

/* Keeps what was timed by the report `number`. Of reports that nobody looked at, what was timed meanwhile counts for the last. */
static void remember(struct partita_account *account, uint64_t seen, uint64_t number, uint64_t busy) {
    uint64_t last = seen ? load(&account->busy_at_report_ns) : busy;
    bool follows = seen != 0 && number > seen && number - seen < KEPT;
    for (uint64_t i = 1; i < (follows ? number - seen : KEPT); i++)
        store(&account->busy_at[(number + KEPT - i) % KEPT], last);
    store(&account->busy_at[number % KEPT], busy);
    store(&account->busy_at_report_ns, busy);
}

/* What was timed up to the report, less so many reports as they are late. */
static uint64_t timed_by(const struct partita_account *account, uint64_t number, uint64_t late) {
    return load(&account->busy_at[(number + KEPT - late) % KEPT]);
}

/* Whoever changes the number does the rest; a death in between loses one report. */
void core_account_report(struct partita_account *account, uint64_t number, uint64_t reported_busy) {
    uint64_t seen = load(&account->report);
    if (seen == number ||
        !__atomic_compare_exchange_n(&account->report, &seen, number, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    uint64_t former = load(&account->reported_busy_ns), reported = reported_busy - former, busy = load(&account->busy_ns);
    bool follows = seen != 0 && reported_busy >= former && reported <= CORE_DEBT_NS;
    uint64_t late = follows ? learn_late(account, busy - load(&account->busy_at_report_ns), reported) : 0;
    uint64_t before = timed_by(account, seen, late);
    remember(account, seen, number, busy);
    uint64_t more = timed_by(account, number, late) - before;
    store(&account->reported_busy_ns, reported_busy);
    if (!follows || more > CORE_DEBT_NS) {
        store(&account->recent_busy_ns, 0); /* the first, or one that cannot follow on the former */
        store(&account->recent_reported_ns, 0);
        store(&account->late, 0);
        return;
    }
    uint64_t old_busy = load(&account->recent_busy_ns), old_reported = load(&account->recent_reported_ns);
    store(&account->recent_busy_ns, old_busy - old_busy / MEMORY + more);
    store(&account->recent_reported_ns, old_reported - old_reported / MEMORY + reported);
}
