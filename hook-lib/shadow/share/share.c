/* SPDX-License-Identifier: Apache-2.0 */
#include "share/share.h"

#include <string.h>

#include "common/atomic16.h"
#include "common/atomics.h"
#include "common/now.h"
#include "common/numbers.h"
#include "common/ticks.h"
#include "share/credit.h"
#include "share/gate.h"

enum { FEW_SLOTS = 4, OTHERS_US = 10, LEFT_BEHIND_MS = 10000 };

static uint64_t own_held(uint64_t own) {
    return own & UINT32_MAX;
}

uint64_t share_held(const struct share *share) {
    return own_held(load_relaxed(&share->own.units));
}

static bool swap_own(struct own_count *own, uint64_t units, uint32_t gate, uint64_t units_then, uint32_t gate_then) {
    return pair_swap(own, (struct pair){units, gate}, (struct pair){units_then, gate_then});
}

/* What there is room for by the process' own count, of units that it takes in addition. */
static uint64_t fitting(const struct share *share, uint64_t own, enum share_memory memory, uint64_t units, bool part) {
    uint64_t limit = load_relaxed(&share->limit), physical = load_relaxed(&share->physical), held = own_held(own);
    uint64_t paged = load_relaxed(&share->paged), resident = held > paged ? held - paged : 0;
    uint64_t room = limit > held ? limit - held : 0;
    if (memory != SHARE_PAGED)
        room = smaller(room, physical > resident ? physical - resident : 0);
    return units <= room ? units : part ? room : 0;
}

/*
 * Enters the gate, and in the same step takes units into the process' own count; how many. Managed memory is in `own`
 * before it is in `paged`, and longer.
 */
static uint64_t enter_and_count_in(struct share *share, enum share_memory memory, uint64_t units, bool part) {
    for (;;) {
        uint32_t gate = gate_open_to(&share->own.gate);
        uint64_t own = load_relaxed(&share->own.units), take = fitting(share, own, memory, units, part);
        if (swap_own(&share->own, own, gate, own + take, gate + 1))
            return take;
    }
}

/* What of memory on the card is no context's and was not left behind, by the process' own count. */
static uint64_t own_on_card(const struct share *share, uint64_t own) {
    uint64_t held = share_held_on_card(own);
    return held - smaller(load_relaxed(&share->contexts), held);
}

/*
 * Enters the gate, and in the same step takes at most as many units of such memory on the card out of the process' own
 * count; how many. What contexts gave back is out of `contexts` by then.
 */
static uint64_t enter_and_count_out(struct share *share, enum share_memory memory, uint64_t units) {
    for (;;) {
        uint32_t gate = gate_open_to(&share->own.gate);
        uint64_t own = load_relaxed(&share->own.units);
        uint64_t holds = memory == SHARE_CONTEXT ? share_held_on_card(own) : own_on_card(share, own);
        uint64_t take = smaller(units, holds);
        if (swap_own(&share->own, own, gate, own - take - (take << RESIDENT_SHIFT), gate + 1))
            return take;
    }
}

/*
 * Leaves the gate, and in the same step adds to the count: units that are resident now, less those that were not
 * charged.
 */
static void leave_and_count(struct share *share, uint64_t resident, uint64_t not_charged) {
    uint64_t own;
    uint32_t gate;
    do {
        gate = load_relaxed(&share->own.gate);
        own = load_relaxed(&share->own.units);
    } while (!swap_own(&share->own, own, gate, own + (resident << RESIDENT_SHIFT) - not_charged, gate - 1));
}

/* Takes at most what is counted there; how many. */
static uint64_t count_out(uint64_t *count, uint64_t units) {
    uint64_t now = load_relaxed(count), take;
    do {
        take = smaller(units, own_held(now));
    } while (take > 0 &&
             !__atomic_compare_exchange_n(count, &now, now - take, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return take;
}

/* Charges what the process has counted in, or as much of it as there is room for: *units. */
static enum ledger_answer charge_region(struct share *share, enum share_memory memory, uint64_t *units, bool part) {
    struct partita_region *region = share->file.region;
    struct ledger_bounds bounds = {load_relaxed(&share->limit), LEDGER_UNBOUNDED, 0, part};
    if (memory != SHARE_PAGED)
        bounds.physical = load_relaxed(&share->physical);
    enum ledger_answer answer = LEDGER_DONE;
    if (bounds.physical != LEDGER_UNBOUNDED || !credit_draw(region, share->seat, *units, bounds.limit))
        answer = credit_charge(region, share->seat, &bounds, units);
    if (answer == LEDGER_DONE && memory == SHARE_PAGED) {
        __atomic_fetch_add(&share->paged, *units, __ATOMIC_RELAXED);
        if (ledger_add(region, LEDGER_PAGED, share->seat, *units) != LEDGER_DONE)
            store_relaxed(&share->next_look, 0); /* settled to the process' count soon */
    }
    return answer;
}

uint64_t share_charge(struct share *share, enum share_memory memory, uint64_t units, bool part) {
    share_tend(share, SHARE_IF_DUE, true);
    for (int attempt = 0; attempt < 3; attempt++) {
        uint64_t counted = enter_and_count_in(share, memory, units, part), taken = 0;
        enum ledger_answer answer = LEDGER_EVICTED;
        if (load_acquire(&share->seated) && !share->suspect) {
            uint64_t charged = counted;
            answer = counted > 0 ? charge_region(share, memory, &charged, part) : LEDGER_FULL;
            taken = answer == LEDGER_DONE ? charged : 0;
        }
        leave_and_count(share, memory != SHARE_PAGED ? taken : 0, counted - taken);
        if (memory == SHARE_CONTEXT)
            __atomic_fetch_add(&share->contexts, taken, __ATOMIC_RELAXED);
        if (answer == LEDGER_DONE || answer == LEDGER_FULL)
            return taken;
        share_tend(share, SHARE_NOW, true);
    }
    return 0;
}

/* Managed memory is out of `paged` before it is out of `own`. */
static uint64_t count_out_paged(struct share *share, uint64_t units, enum ledger_answer *answer) {
    gate_enter(&share->own.gate);
    units = count_out(&share->paged, units);
    if (units > 0 && load_acquire(&share->seated))
        *answer = ledger_release(share->file.region, LEDGER_PAGED, share->seat, units);
    return count_out(&share->own.units, units);
}

uint64_t share_release(struct share *share, enum share_memory memory, uint64_t units) {
    enum ledger_answer answer = LEDGER_DONE;
    if (memory == SHARE_CONTEXT)
        units = count_out(&share->contexts, units);
    uint64_t taken =
        memory == SHARE_PAGED ? count_out_paged(share, units, &answer) : enter_and_count_out(share, memory, units);
    if (taken > 0 && !load_acquire(&share->seated))
        answer = LEDGER_EVICTED;
    else if (taken > 0 && !credit_deposit(share->file.region, share->seat, taken, load_relaxed(&share->limit)) &&
             credit_release(share->file.region, share->seat, taken) != LEDGER_DONE)
        answer = LEDGER_EVICTED;
    gate_leave(&share->own.gate);
    if (answer != LEDGER_DONE)
        share_tend(share, SHARE_NOW, true); /* settles to the process' own count */
    return taken;
}

static uint32_t contexts_word(const struct share *share) {
    uint32_t units = (uint32_t)smaller(load_relaxed(&share->contexts), PARTITA_CONTEXT_BEGUN - 1);
    return units | (load_acquire(&share->contexts_begun) > 0 ? PARTITA_CONTEXT_BEGUN : 0);
}

/* Several threads may make and end contexts: what the last one writes is current. */
void share_show_contexts(struct share *share) {
    if (!load_acquire(&share->seated))
        return;
    struct partita_slot *slot = &share->file.region->slots[share->seat.slot];
    uint32_t word;
    do {
        word = contexts_word(share);
        store_release(&slot->contexts, word);
        if (word & PARTITA_CONTEXT_BEGUN)
            store_relaxed(&slot->overhead, 0); /* it was measured without the context that is just being made */
    } while (word != contexts_word(share));
}

void share_context_begins(struct share *share) {
    __atomic_fetch_add(&share->context_count, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&share->contexts_begun, 1, __ATOMIC_ACQ_REL);
    share_show_contexts(share);
}

void share_context_begun(struct share *share, bool made) {
    share_show_contexts(share);
    if (!made)
        __atomic_fetch_sub(&share->context_count, 1, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&share->contexts_begun, 1, __ATOMIC_ACQ_REL);
    share_show_contexts(share);
}

void share_context_gone(struct share *share) {
    uint32_t count = __atomic_fetch_sub(&share->context_count, 1, __ATOMIC_RELAXED);
    uint64_t contexts = load_relaxed(&share->contexts), left = load_relaxed(&share->left_behind);
    contexts -= smaller(left, contexts);
    share_release(share, SHARE_CONTEXT, count > 1 ? contexts / count : contexts);
    share_show_contexts(share);
}

uint64_t share_leave_behind(struct share *share, uint64_t units) {
    units = smaller(units, own_on_card(share, load_relaxed(&share->own.units)));
    if (units == 0)
        return 0;
    __atomic_fetch_add(&share->contexts_begun, 1, __ATOMIC_ACQ_REL);
    store_relaxed(&share->left_until, now_ms() + LEFT_BEHIND_MS);
    __atomic_fetch_add(&share->contexts, units, __ATOMIC_RELAXED);
    __atomic_fetch_add(&share->left_behind, units, __ATOMIC_RELAXED);
    share_show_contexts(share);
    __atomic_fetch_sub(&share->contexts_begun, 1, __ATOMIC_ACQ_REL);
    share_show_contexts(share);
    return units;
}

void share_call_in(struct share *share) {
    gate_enter(&share->own.gate);
    if (load_acquire(&share->seated))
        credit_recall(share->file.region, share->seat, now_ms());
    gate_leave(&share->own.gate);
}

bool share_oversubscribes(const struct share *share) {
    return load_relaxed(&share->physical) != LEDGER_UNBOUNDED;
}

uint64_t share_physical(const struct share *share) {
    uint64_t quota = load_relaxed(&share->quota), physical = load_relaxed(&share->physical);
    return physical == LEDGER_UNBOUNDED ? quota : smaller(physical + load_relaxed(&share->overhead), quota);
}

static uint64_t used_by_others(struct share *share, uint32_t slot) {
    const struct partita_region *region = share->file.region;
    uint64_t now = ticks_now() & UINT32_MAX, steps = ledger_steps(region), known = load_relaxed(&share->others);
    uint64_t age = (now - (known >> 32)) & UINT32_MAX;
    if (known && steps == load_relaxed(&share->others_steps) && age < OTHERS_US * ticks_in_a_microsecond())
        return known & UINT32_MAX;
    uint64_t used = credit_used_but_by(region, slot);
    store_relaxed(&share->others_steps, steps);
    store_relaxed(&share->others, now << 32 | used);
    return used;
}

uint64_t share_used(struct share *share) {
    const struct partita_region *region = share_region(share);
    if (!region)
        return 0;
    bool seated = load_acquire(&share->seated);
    if (!seated || load_relaxed(&region->high_water) <= FEW_SLOTS)
        return credit_used(region);
    return smaller(credit_used_by(region, share->seat.slot) + used_by_others(share, share->seat.slot),
                   PARTITA_UNITS_MAX);
}

void share_forked(struct share *share) {
    share->own = (struct own_count){0};
    share->paged = share->contexts = share->left_behind = 0;
    share->context_count = share->contexts_begun = 0;
    share->seated = 0;
    share->suspect = 0;
    share->grantable = share->limit;
    share->seat = (struct seat){0, 0};
    share->next_look = share->next_reap = share->next_thorough = share->others = 0;
    memset(&share->self, 0, sizeof share->self);
}
