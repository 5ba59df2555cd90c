/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Credit.  A slot's account is one word W = (used, credit, busy). The owner's process alone raises used and credit;
 * anybody may lower the credit to 0. What the slot may come to use without asking is allowed = used + credit, and the
 * claim is
 *
 *     allowed <= held(slot) at every moment,                                                                       (1)
 *
 * so that what all use stays within the ledger's total, which stays within the limit. Steps:
 *   draw, deposit  move units between used and credit in one swap of W: allowed stays.
 *   charge         busy + 1 in W; the ledger's step on held; then used, credit and busy - 1 in one swap of W.
 *   release        used - n in one swap of W; then `lower`. With other steps of the process under way: used - n and
 *                  busy + 1 in one swap of W; the ledger's step on held; busy - 1.
 *   call in        by anybody: credit to 0 in one swap of W; then `lower`: held down to allowed.
 *   lower          by anybody: read T, read W; if no step is under way (busy = 0) swap T for one with held = allowed.
 * A charge raises held before allowed, a release lowers allowed before held, and calling in lowers allowed first: (1)
 * holds between any two of them. In `lower` W is read while T does not change: had the owner raised allowed since, its
 * step on held would have changed T before; had it raised held before T was read and not yet allowed, busy would show
 * it. So lower never takes what is allowed. It takes nothing twice, whoever repeats it: a process killed within calling
 * in leaves something to lower, which the next who is refused lowers. A dead owner's word dies with its account:
 * reaping settles held to 0, and the next owner clears W before it is LIVE. A caller-in that stalls and then finds an
 * equal word of the slot's next owner lowers that one's credit, which harms nobody.
 *
 * Refusal.  Who is refused writes `scarce`, then makes a step that changes nothing, then calls in every credit and
 * charges again. A charge that would take credit reads `scarce` between its reading of T and its swap: if it read it
 * before it was written, that step makes its swap fail. So no credit is made after it, and what the caller-in found is
 * all there was; while it is scarce a free goes to the total. What it cannot take at once is the credit of a step under
 * way, for which it waits, but not for ever: a process that was stopped within these few instructions keeps that much
 * from the others until it goes on or dies. A release whose `lower` met another thread's step leaves what is held above
 * what is allowed: that, too, is called in then, or taken back when the seat is tidied.
 */
#define _GNU_SOURCE
#include "share/credit.h"

#include <sched.h>

#include "common/atomics.h"
#include "share/fault.h"

enum { AHEAD = 8192, CREDIT_MOST = 16384 }; /* units: 4 and 8 MiB */
enum { BUSY_MOST = 1000, SCARCE_MS = 1000, PATIENCE = 2000, ATTEMPTS = 1 << 20 };

#define CREDIT_SHIFT 32
#define BUSY_SHIFT 54
#define ONE_BUSY (UINT64_C(1) << BUSY_SHIFT)

static uint64_t used_of(uint64_t account) {
    return account & UINT32_MAX;
}
static uint64_t credit_of(uint64_t account) {
    return account >> CREDIT_SHIFT & ((UINT64_C(1) << (BUSY_SHIFT - CREDIT_SHIFT)) - 1);
}
static uint64_t busy_of(uint64_t account) {
    return account >> BUSY_SHIFT;
}
static uint64_t pack_account(uint64_t used, uint64_t credit, uint64_t busy) {
    return busy << BUSY_SHIFT | credit << CREDIT_SHIFT | used;
}

static bool swap(uint64_t *account, uint64_t *from, uint64_t to) {
    FAULT_POINT("before the account");
    bool swapped = __atomic_compare_exchange_n(account, from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE);
    FAULT_POINT("after the account");
    return swapped;
}

static bool sits(const struct partita_region *region, struct seat seat) {
    return seat.slot < PARTITA_SLOTS && load_acquire(&region->slots[seat.slot].state) == seat.state;
}

bool credit_draw(struct partita_region *region, struct seat seat, uint64_t units, uint64_t limit) {
    if (units > CREDIT_MOST || !sits(region, seat) || ledger_total(region, LEDGER_TOTAL) > limit)
        return false;
    uint64_t *account = &region->slots[seat.slot].account, now = load_acquire(account);
    do {
        if (credit_of(now) < units || used_of(now) + units > UINT32_MAX)
            return false;
    } while (!swap(account, &now, now + units - (units << CREDIT_SHIFT)));
    return true;
}

bool credit_deposit(struct partita_region *region, struct seat seat, uint64_t units, uint64_t limit) {
    if (units > CREDIT_MOST || !sits(region, seat) || ledger_total(region, LEDGER_TOTAL) > limit)
        return false;
    uint64_t *account = &region->slots[seat.slot].account, now = load_acquire(account);
    do {
        if (credit_of(now) + units > CREDIT_MOST || used_of(now) < units || load_acquire(&region->scarce) != 0)
            return false;
    } while (!swap(account, &now, now - units + (units << CREDIT_SHIFT)));
    return true;
}

/* One step more under way, and so many units less used. False: somebody scribbled on the word. */
static bool begin_step(uint64_t *account, uint64_t less) {
    uint64_t now = load_acquire(account);
    for (int i = 0, full = 0; i < ATTEMPTS && full < PATIENCE; i++) {
        if (busy_of(now) >= BUSY_MOST) {
            full++;
            sched_yield();
            now = load_acquire(account);
            continue;
        }
        uint64_t used = used_of(now);
        if (swap(account, &now, now - (less < used ? less : used) + ONE_BUSY))
            return true;
    }
    return false;
}

static void end_step(uint64_t *account, uint64_t used, uint64_t credit) {
    uint64_t now = load_acquire(account), then;
    do {
        uint64_t all = used_of(now) + used, ahead = credit_of(now) + credit, busy = busy_of(now);
        /* What does not fit is held and not allowed: it is given back when the seat is tidied. */
        then = pack_account(all < UINT32_MAX ? all : UINT32_MAX, ahead < CREDIT_MOST ? ahead : CREDIT_MOST,
                            busy > 0 ? busy - 1 : 0);
    } while (!swap(account, &now, then));
}

enum ledger_answer credit_charge(struct partita_region *region, struct seat seat, struct ledger_bounds *bounds,
                                 uint64_t *units) {
    struct ledger_taken taken;
    if (seat.slot >= PARTITA_SLOTS)
        return LEDGER_EVICTED;
    uint64_t *account = &region->slots[seat.slot].account;
    if (!begin_step(account, 0))
        return LEDGER_BROKEN;
    bounds->ahead = bounds->physical == LEDGER_UNBOUNDED && *units <= AHEAD ? AHEAD : 0;
    enum ledger_answer answer = ledger_charge(region, seat, *units, bounds, &taken);
    end_step(account, taken.units, taken.ahead);
    *units = taken.units;
    return answer;
}

enum ledger_answer credit_settle(struct partita_region *region, struct seat seat, uint64_t units) {
    if (seat.slot >= PARTITA_SLOTS)
        return LEDGER_EVICTED;
    uint64_t *account = &region->slots[seat.slot].account;
    __atomic_store_n(account, pack_account(units & UINT32_MAX, 0, 1), __ATOMIC_SEQ_CST);
    enum ledger_answer answer = ledger_settle(region, LEDGER_TOTAL, seat, units);
    __atomic_store_n(account, pack_account(units & UINT32_MAX, 0, 0), __ATOMIC_SEQ_CST);
    return answer;
}

bool credit_agrees(struct partita_region *region, struct seat seat, uint64_t units) {
    uint64_t account = load_acquire(&region->slots[seat.slot].account);
    return busy_of(account) == 0 && used_of(account) == units && credit_of(account) <= CREDIT_MOST &&
           ledger_held(region, LEDGER_TOTAL, seat.slot) >= units + credit_of(account);
}

static bool allowed(struct partita_region *region, uint32_t slot, uint64_t *units) {
    uint64_t account = load_acquire(&region->slots[slot].account);
    *units = used_of(account) + credit_of(account);
    return busy_of(account) == 0;
}

enum ledger_answer credit_release(struct partita_region *region, struct seat seat, uint64_t units) {
    if (seat.slot >= PARTITA_SLOTS)
        return LEDGER_EVICTED;
    uint64_t *account = &region->slots[seat.slot].account, now = load_acquire(account);
    while (sits(region, seat) && busy_of(now) == 0 && used_of(now) >= units) {
        if (swap(account, &now, now - units)) {
            ledger_lower(region, seat.slot, allowed);
            return sits(region, seat) ? LEDGER_DONE : LEDGER_EVICTED;
        }
    }
    if (!begin_step(account, units))
        return LEDGER_BROKEN;
    enum ledger_answer answer = ledger_release(region, LEDGER_TOTAL, seat, units);
    end_step(account, 0, 0);
    return answer;
}

void credit_tidy(struct partita_region *region, struct seat seat) {
    if (sits(region, seat))
        ledger_lower(region, seat.slot, allowed);
}

/* The credit of one slot goes back to all. False: a step is under way. */
static bool call_in(struct partita_region *region, uint32_t slot) {
    uint64_t *account = &region->slots[slot].account, now = load_acquire(account);
    while (credit_of(now) > 0 && !swap(account, &now, pack_account(used_of(now), 0, busy_of(now)))) {
    }
    return ledger_lower(region, slot, allowed);
}

void credit_recall(struct partita_region *region, struct seat seat, uint64_t now) {
    __atomic_store_n(&region->scarce, now + SCARCE_MS, __ATOMIC_SEQ_CST);
    ledger_touch(region, seat);
    int patience = PATIENCE;
    for (uint32_t i = 0; i < ledger_slots(region); i++) {
        uint64_t phase = load_acquire(&region->slots[i].state) & PARTITA_SLOT_PHASE;
        while (phase == PARTITA_SLOT_LIVE && !call_in(region, i) && patience-- > 0)
            sched_yield();
    }
}

/* A moment that is too far away was not written by any of us. */
void credit_relax(struct partita_region *region, uint64_t now) {
    uint64_t until = load_acquire(&region->scarce);
    if (until != 0 && (until <= now || until > now + 2 * SCARCE_MS))
        __atomic_compare_exchange_n(&region->scarce, &until, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

uint64_t credit_used_by(const struct partita_region *region, uint32_t slot) {
    if (slot >= PARTITA_SLOTS || (load_acquire(&region->slots[slot].state) & PARTITA_SLOT_PHASE) == PARTITA_SLOT_FREE)
        return 0;
    return used_of(load_acquire(&region->slots[slot].account));
}

uint64_t credit_used_but_by(const struct partita_region *region, uint32_t slot) {
    uint32_t slots = ledger_slots(region);
    uint64_t used = 0;
    for (uint32_t i = 0; i < slots; i++)
        used += i == slot ? 0 : credit_used_by(region, i);
    return used < PARTITA_UNITS_MAX ? used : PARTITA_UNITS_MAX;
}

uint64_t credit_used(const struct partita_region *region) {
    return credit_used_but_by(region, PARTITA_SLOTS);
}
