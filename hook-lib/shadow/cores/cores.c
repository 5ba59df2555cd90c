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
#include "share/cards.h"

enum { LOOK_EVERY_NS = 50000000, PAUSE_NS = 10000000 };

static struct card {
    struct partita_account own; /* of this process: what it goes by where the region says less */
    struct core_policy policy;
    struct core_spans spans;
    uint32_t percent; /* now; 0: no limit */
    uint32_t priced;  /* the last limit that there was: `own` is reckoned by it */
    uint32_t limited; /* by the quota */
    uint32_t paused;
    uint32_t reported; /* the report counts */
    uint32_t compute;  /* PARTITA_COMPUTE_..., as it goes to the slot */
} cards[CARDS_MAX];

uint32_t cores_in_force;
static uint64_t next_look;
static bool several; /* of the thread that looks: see not_across_cards */

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

static void say(int index, uint32_t compute);

/*
 * Programs that work together on several cards wait for each other on the cards: a kernel runs until its peer on
 * another card has begun. What a limit has that one wait for, this one is charged as its own use, and pays for with a
 * wait 100/percent - 1 times as long, for which its peer is charged in turn. Below 50 % each wait is longer than the
 * last, without end. By events a kernel that waits cannot be told from one that works, nor by NVML, and a bound on what
 * is paid for one kernel would let long kernels of a single card go free. So in a container with limits on several
 * cards they do not hold, which the slot says. Whether the process uses more than one of them does not matter: its
 * peers may be other processes.
 */
static void not_across_cards(int index, struct core_rules *rules) {
    if (rules->percent == 0 || !several)
        return;
    rules->percent = 0;
    rules->soft = false;
    say(index, PARTITA_COMPUTE_UNENFORCED | PARTITA_COMPUTE_SEVERAL_CARDS << 8);
}

static void look_at_card(int index, void *force) {
    struct card *card = &cards[index];
    uint64_t now = cores_now();
    cards_tend(index);
    struct core_rules rules = cards_core_rules(index);
    not_across_cards(index, &rules);
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
    *(uint32_t *)force |= rules.percent || load_relaxed(&card->paused);
}

void cores_look(void) {
    uint64_t now = cores_now(), due = load_acquire(&next_look);
    /* Far in the future stands what a thread is about right now. */
    if (now < due ||
        !__atomic_compare_exchange_n(&next_look, &due, UINT64_MAX, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    uint32_t force = 0;
    struct interruptions interruptions;
    interruptions_off(&interruptions);
    several = cards_several_core_limits();
    cards_each(look_at_card, &force);
    store_relaxed(&cores_in_force, force);
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

void cores_used(int index, uint64_t from, uint64_t to) {
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

uint64_t cores_due(int index, uint64_t now) {
    struct card *card = &cards[index];
    if (load_relaxed(&card->paused))
        return PAUSE_NS;
    if (load_relaxed(&card->percent) == 0)
        return 0;
    struct partita_compute *shared = cards_compute(index);
    uint64_t own = core_account_due(&card->own, now, CORE_OWN_DEBT_NS);
    uint64_t all = shared ? core_account_due(&shared->account, now, CORE_SHARED_DEBT_NS) : 0;
    return own > all ? own : all;
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
    cores_in_force = 0;
}
