/* SPDX-License-Identifier: Apache-2.0 */
#include "cores/cores.h"

#include <string.h>

#include "common/atomics.h"
#include "common/interruptions.h"
#include "common/now.h"
#include "cores/core_account.h"
#include "cores/core_history.h"
#include "cores/core_policy.h"
#include "cores/core_reports.h"
#include "cores/core_spans.h"
#include "cores/core_waits.h"
#include "share/cards.h"

enum { LOOK_EVERY_NS = 50000000, PAUSE_NS = 10000000 };

static struct card {
    struct partita_account own; /* of this process: what it goes by where the region says less */
    struct core_policy policy;
    struct core_spans spans;
    uint64_t busy_until; /* see core_waits.h */
    uint32_t percent;    /* now; 0: no limit */
    uint32_t priced;     /* the last limit that there was: `own` is reckoned by it */
    uint32_t limited;    /* by the quota */
    uint32_t paused;
    uint32_t reported; /* the report counts */
    uint32_t compute;  /* PARTITA_COMPUTE_..., as it goes to the slot */
    uint64_t windows;  /* under way, as they go to the slot */
} cards[CARDS_MAX];

uint32_t cores_in_force;
static uint64_t next_look;
static uint32_t several; /* cards have limits */

uint64_t cores_now(void) {
    return now_ns();
}

/* What is owed from the time of another limit would keep launches waiting for as long as that one says. */
static void reprice(int index, uint32_t percent, uint64_t now) {
    struct card *card = &cards[index];
    struct partita_compute *shared = cards_compute(index);
    uint32_t *priced = cards_priced(index), before = priced ? load_relaxed(priced) : 0;
    if (percent == 0)
        return;
    core_account_reprice(&card->own, now, card->priced, percent, CORE_OWN_DEBT_NS);
    card->priced = percent;
    /* Of several processes that see it one does it. */
    if (shared && before != percent &&
        __atomic_compare_exchange_n(priced, &before, percent, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        core_account_reprice(&shared->account, now, before <= 100 ? before : 0, percent, CORE_SHARED_DEBT_NS);
}

struct looked {
    uint32_t force, limited; /* how many cards are */
};

static void look_at_card(int index, void *context) {
    struct looked *looked = context;
    struct card *card = &cards[index];
    uint64_t now = cores_now();
    cards_tend(index);
    struct core_rules rules = cards_core_rules(index);
    struct card_report report;
    unsigned int fixed = rules.soft ? 0 : rules.percent;
    if ((rules.percent || rules.yields) && cards_report(index, &report)) {
        core_policy_read(&card->policy, &rules, &report, now);
        core_reports_take(&card->own, &report, now, fixed);
        struct partita_compute *shared = cards_compute(index);
        if (shared)
            core_reports_take(&shared->account, &report, now, fixed);
    }
    store_relaxed(&card->limited, rules.percent);
    uint32_t percent = core_policy_percent(&card->policy, &rules, now);
    reprice(index, percent, now);
    store_relaxed(&card->percent, percent);
    store_relaxed(&card->paused, core_policy_paused(&card->policy, &rules, now));
    store_relaxed(&card->reported, core_policy_fresh(&card->policy, now));
    looked->force |= rules.percent || load_relaxed(&card->paused);
    looked->limited += rules.percent != 0;
}

void cores_look(void) {
    uint64_t now = cores_now(), due = load_acquire(&next_look);
    /* Far in the future stands what a thread is about right now. */
    if (now < due ||
        !__atomic_compare_exchange_n(&next_look, &due, UINT64_MAX, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    struct looked looked = {0, 0};
    struct interruptions interruptions;
    interruptions_off(&interruptions);
    cards_each(look_at_card, &looked);
    store_relaxed(&cores_in_force, looked.force);
    store_relaxed(&several, looked.limited > 1);
    store_release(&next_look, cores_now() + LOOK_EVERY_NS);
    interruptions_back(&interruptions);
}

bool cores_limited(int card) {
    return load_relaxed(&cards[card].limited) != 0;
}

unsigned int cores_percent(int card) {
    unsigned int percent = load_relaxed(&cards[card].percent);
    return percent ? percent : 100;
}

static void charge_account(struct partita_account *account, bool reported, uint64_t from, uint64_t busy,
                           unsigned int percent, uint64_t most) {
    core_account_charge(account, from, busy, reported ? core_reports_cost(account, busy) : busy, percent, most);
}

static void note_begin(int index, uint64_t launched, uint64_t from, uint64_t to) {
    enum core_begin begin = core_waits_add(&cards[index].busy_until, launched, from, to);
    struct partita_begins *begins = cards_begins(index);
    if (!begins || begin == CORE_GOES_ON)
        return;
    __atomic_fetch_add(&begins->times, 1, __ATOMIC_RELAXED);
    if (begin == CORE_WAITED)
        __atomic_fetch_add(&begins->waited, 1, __ATOMIC_RELAXED);
}

void cores_used(int index, uint64_t launched, uint64_t from, uint64_t to) {
    struct card *card = &cards[index];
    struct core_span fresh[CORE_SPANS + 1];
    struct partita_compute *shared = cards_compute(index);
    struct partita_slot *slot = cards_slot(index);
    uint64_t own = 0, all = 0;
    unsigned int parts = core_spans_add(&card->spans, from, to, fresh);
    for (unsigned int i = 0; i < parts; i++) {
        uint64_t length = fresh[i].to - fresh[i].from;
        own += length;
        core_history_add(&card->own, fresh[i].from, fresh[i].to, length);
        if (!shared)
            continue;
        length = core_account_cover(shared, fresh[i].from, fresh[i].to);
        all += length;
        core_history_add(&shared->account, fresh[i].from, fresh[i].to, length);
    }
    note_begin(index, launched, from, to);
    if (parts == 0)
        return;
    from = fresh[0].from;
    unsigned int percent = load_relaxed(&card->percent);
    bool reported = load_relaxed(&card->reported) != 0;
    charge_account(&card->own, reported, from, own, percent, CORE_OWN_DEBT_NS);
    if (shared)
        charge_account(&shared->account, reported, from, all, percent, CORE_SHARED_DEBT_NS);
    if (slot) {
        __atomic_fetch_add(&slot->busy_ns, own, __ATOMIC_RELAXED);
        store_relaxed(&slot->compute, load_relaxed(&card->compute));
    }
}

bool cores_several(void) {
    return load_relaxed(&several) != 0;
}

/*
 * Limits of several cards of a container.
 *
 * Problem.  Programs that work together on several cards wait for each other on the cards: a kernel runs until its
 *   peers on the other cards have begun. While a limit holds one rank back, the others run and wait, are charged for
 *   that, and pay with waits 100/percent - 1 times as long, for which that rank is charged in turn. Below 50 % each
 *   wait is longer than the last, without end. By events a kernel that waits cannot be told from one that works, nor by
 *   NVML.
 *
 * So nobody is left waiting on a card for a launch that only its limit holds back. A launch goes on
 *   - in turn 0, when its card's limit has paid for what was used, and no other card is behind: owes more than
 *     CORE_BEHIND_NS of GPU time at its limit, or pauses for a higher priority;
 *   - in turn n + 1, when something of turn n is under way on another card, nothing on its own, and its card owes no
 *     more than CORE_FOLLOWS_NS. There are PARTITA_TURNS, and who waits for longer than his own launches take, or for
 *     20 ms, while something of the last one is under way, may follow that, too (cuda_timing.c): it may be waiting for
 *     him.
 *   Without a last turn, programs that have nothing to do with each other would follow each other for ever.
 *
 * Why limits hold.  Everything is charged, and who is behind stops turn 0 of all, which everything follows. So a card
 *   owes CORE_BEHIND_NS and what one round of turns takes, at most: its use exceeds its limit by that once, not again.
 *
 * Example.  Two ranks at 25 %, of which each step takes 6 ms. The second is late by 2 ms, so the first is charged 8 ms
 *   and owes 32 - 8 = 24 ms of waiting, the second 24 - 6 = 18. The second launches again in turn 0 after 18 ms, and
 *   the first follows it, though it owes 6 ms. With each step it owes 6 more, until that is 200 ms, which is 50 ms of
 *   GPU time at 25 %. From then on the second launches when the first owes no more than that: a step takes 32 ms, in
 *   which the first has 8, and the second 6.
 */

/* ns until the limit has paid for what was used. */
static uint64_t owed(int index, uint64_t now) {
    struct partita_compute *shared = cards_compute(index);
    uint64_t own = core_account_due(&cards[index].own, now, CORE_OWN_DEBT_NS);
    uint64_t all = shared ? core_account_due(&shared->account, now, CORE_SHARED_DEBT_NS) : 0;
    return own > all ? own : all;
}

static bool owes_more(int index, uint64_t now, uint64_t gpu_time) {
    uint32_t percent = load_relaxed(&cards[index].percent);
    return percent > 0 && owed(index, now) > gpu_time * 100 / percent;
}

/* Of the other cards with limits. */
struct peers {
    int of;
    uint64_t now;
    bool behind;      /* one is */
    uint64_t windows; /* what is under way there */
};

static bool is_peer(int index, const struct peers *peers) {
    return index != peers->of && load_relaxed(&cards[index].limited) != 0;
}

static void look_whether_behind(int index, void *context) {
    struct peers *peers = context;
    if (is_peer(index, peers))
        peers->behind |= load_relaxed(&cards[index].paused) || owes_more(index, peers->now, CORE_BEHIND_NS);
}

static void look_at_windows(int index, void *context) {
    struct peers *peers = context;
    if (is_peer(index, peers))
        peers->windows |= cards_windows(index);
}

uint64_t cores_due(int index, uint64_t now) {
    if (load_relaxed(&cards[index].paused))
        return PAUSE_NS;
    if (load_relaxed(&cards[index].percent) == 0)
        return 0;
    uint64_t due = owed(index, now);
    struct peers peers = {.of = index, .now = now};
    if (due == 0 && cores_several())
        cards_each(look_whether_behind, &peers);
    return peers.behind ? PAUSE_NS : due;
}

unsigned int cores_turn_of_others(int index, uint64_t now) {
    if (!cores_several() || load_relaxed(&cards[index].percent) == 0 || owes_more(index, now, CORE_FOLLOWS_NS))
        return PARTITA_TURNS;
    struct peers peers = {.of = index};
    cards_each(look_at_windows, &peers);
    unsigned int turn = 0;
    while (turn < PARTITA_TURNS && (peers.windows >> 16 * turn & 0xffff) == 0)
        turn++;
    return turn;
}

static void change_windows(int index, uint64_t by) {
    uint64_t now = __atomic_add_fetch(&cards[index].windows, by, __ATOMIC_RELAXED);
    struct partita_slot *slot = cards_slot(index);
    for (bool shown = !slot; !shown; now = load_relaxed(&cards[index].windows)) { /* what comes last is shown */
        store_relaxed(&slot->windows, now);
        shown = load_relaxed(&cards[index].windows) == now;
    }
}

void cores_window_begins(int card, unsigned int turn) {
    change_windows(card, UINT64_C(1) << 16 * turn);
}

void cores_window_ends(int card, unsigned int turn) {
    change_windows(card, -(UINT64_C(1) << 16 * turn));
}

void cores_waited(int index, uint64_t ns) {
    struct partita_compute *shared = cards_compute(index);
    __atomic_fetch_add(&cards[index].own.throttled_ns, ns, __ATOMIC_RELAXED);
    if (shared)
        __atomic_fetch_add(&shared->account.throttled_ns, ns, __ATOMIC_RELAXED);
}

/* The first reason stays. */
static void say(int index, uint32_t compute) {
    struct card *card = &cards[index];
    uint32_t seen = load_relaxed(&card->compute);
    if ((seen & 0xff) != PARTITA_COMPUTE_UNENFORCED && seen != compute)
        store_relaxed(&card->compute, compute);
    struct partita_slot *slot = cards_slot(index);
    if (slot)
        store_relaxed(&slot->compute, load_relaxed(&card->compute));
}

void cores_enforced(int card) {
    say(card, PARTITA_COMPUTE_ENFORCED);
}

void cores_unenforced(int card, uint32_t reason) {
    say(card, PARTITA_COMPUTE_UNENFORCED | reason << 8);
}

void cores_forget(void) {
    memset(cards, 0, sizeof cards);
    next_look = 0;
    several = 0;
    cores_in_force = 0;
}
