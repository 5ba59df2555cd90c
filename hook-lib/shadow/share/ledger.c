/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One share's account, kept by many processes, none of which is trusted to live.
 *
 * State.  `total` is one 16-byte word T = (sum, slot, held, step): the units of all slots, and the slot whose account
 * the last step changed, with what that slot holds since, and the number of the step. slots[i].held is H(i) = (units,
 * step). What slot i holds is
 *
 *     held(i) = T.held if i = T.slot, else H(i).units.                                                             (1)
 *
 * Step.  Every change of any account - charge, release, reaping a dead owner - is one compare-and-swap of T:
 *   a. read T;
 *   b. check that the slot to be changed is still in the state the caller knows (its owner lives, or is being reaped);
 *   c. carry: if T.slot is another slot, make H(T.slot) = (T.held, T.step), unless it is already;
 *   d. swap T for (sum +- n, slot, held(slot) +- n, step + 1).
 *
 * Claim.  sum = held(0) + ... + held(N-1) at every moment, whoever is killed wherever.
 *   The swap in d is the only write that has an effect on sum or, by (1), on any held(i): it changes sum and held(slot)
 *   by the same n in one indivisible write, and by the carry in c the slot that T named before keeps its figure in H
 *   when T stops naming it. The carry itself changes no held(i): it writes the figure that (1) already gives, to a
 *   place that (1) does not look at while T names the slot. So a process killed before d has changed nothing, and one
 *   killed after d is done. There is nothing to finish, to discard or to wait for: no lock, no half-done step, no
 *   recovery.
 *
 * Stale carries.  A process may stall between reading T and writing H(T.slot), and wake when T has moved on. It
 *   compares the whole of H with what it read (16 bytes with the step number), and re-reads T.high between that read
 *   and the write. So the H that it expects was there while T was still its own T, and any later carry has changed H
 *   for good, since step numbers do not recur (48 bits: 300 days at ten million steps a second, and the sleeper must
 *   wake on exactly that step). A stale write therefore either fails or writes what the current carry would overwrite:
 *   carry() repeats until H has T's step or T has moved.
 *
 * Reading 16 bytes.  T is read as high, low, high: equal highs mean that low belongs to them, since every swap changes
 *   the step. H likewise by its step.
 *
 * Reaping.  A dead owner's slot goes LIVE(g) -> REAPING(g) -> FREE(g) by compare-and-swap of its state; its account is
 *   emptied in REAPING by an ordinary step (settle to 0) on that slot. A reaper that stalls cannot empty the account of
 *   the slot's next owner: the state is checked between reading T and swapping it. If the next owner charged before T
 *   was read, the state is no longer REAPING(g); if after, T has changed and the swap fails. A reaper that is killed
 *   leaves REAPING(g), which anybody continues: emptying twice takes nothing twice.
 *
 * Never above the limit.  d compares sum + n with the limit and swaps the very T it compared: two charges that together
 *   exceed the limit cannot both succeed.
 *
 * Two books.  The share keeps two accounts in this way: what is held (the limit's), and `paged`, how much of that is
 *   managed memory. Managed memory is put into the first before it is put into the second, and taken out of the second
 *   first. So at every moment held - paged, read in any order of the two within one unchanged T, is no less than what
 *   lies on the card for good: a charge that compares it with the physical limit and then swaps that T never exceeds
 *   it.
 *
 * Broken regions.  A container can write anything. Indexes are checked before use, loops are bounded, and a figure that
 * cannot be (held(slot) above sum, sum unlike the slots' sum) makes the total be derived anew from the slots.
 */
#include "share/ledger.h"

#include "common/atomic16.h"
#include "common/atomics.h"
#include "share/fault.h"

/*
 * The words: what stands in a total and in a slot's H, how they are read as a whole and swapped. Each of them is in
 * every step's way: inline.
 */

/* honest contention ends far below; somebody who scribbles on the region must not hang us */
enum { ATTEMPTS = 1 << 20 };

struct total {
    uint64_t low, high;
};

static inline uint64_t sum_of(struct total t) {
    return t.low & UINT32_MAX;
}
static inline uint64_t held_of(struct total t) {
    return t.low >> 32;
}
static inline uint32_t slot_of(struct total t) {
    return (uint32_t)(t.high & 0xffff);
}
static inline uint64_t step_of(struct total t) {
    return t.high >> 16;
}
static inline struct total total_of(uint64_t sum, uint32_t slot, uint64_t held, uint64_t step) {
    return (struct total){held << 32 | sum, step << 16 | slot};
}

static inline struct partita_total *total_at(const struct partita_region *region, enum ledger_book book) {
    return (struct partita_total *)(book == LEDGER_PAGED ? &region->paged : &region->total);
}
static inline struct partita_held *held_at(const struct partita_region *region, enum ledger_book book, uint32_t slot) {
    const struct partita_slot *at = &region->slots[slot];
    return (struct partita_held *)(book == LEDGER_PAGED ? &at->paged : &at->held);
}

static inline bool unmoved(const struct partita_region *region, enum ledger_book book, struct total t) {
    return load_acquire(&total_at(region, book)->high) == t.high;
}

static inline bool read_total(const struct partita_region *region, enum ledger_book book, struct total *t) {
    const struct partita_total *total = total_at(region, book);
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t high = load_acquire(&total->high);
        uint64_t low = load_acquire(&total->low);
        if (load_acquire(&total->high) == high) {
            *t = (struct total){low, high};
            return true;
        }
    }
    return false;
}

static inline bool read_held(const struct partita_held *held, struct pair *h) {
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t step = load_acquire(&held->step);
        uint64_t units = load_acquire(&held->units);
        if (load_acquire(&held->step) == step) {
            *h = (struct pair){units, step};
            return true;
        }
    }
    return false;
}

static inline bool swap_total(struct partita_region *region, enum ledger_book book, struct total from,
                              struct total to) {
    FAULT_POINT("before the swap");
    bool swapped =
        pair_swap(total_at(region, book), (struct pair){from.low, from.high}, (struct pair){to.low, to.high});
    FAULT_POINT("after the swap");
    return swapped;
}

/* Makes H(t.slot) say what t says; false if the total moved on or the slot cannot be read. */
static bool carry(struct partita_region *region, enum ledger_book book, struct total t) {
    struct partita_held *held = held_at(region, book, slot_of(t));
    for (int i = 0; i < ATTEMPTS; i++) {
        struct pair h;
        if (!read_held(held, &h))
            return false;
        if (h.high == step_of(t))
            return true;
        if (!unmoved(region, book, t))
            return false;
        FAULT_POINT("before the carry");
        pair_swap(held, h, (struct pair){held_of(t), step_of(t)});
        FAULT_POINT("after the carry");
    }
    return false;
}

/* What stands in H(slot), or T's figure where that is the slot's. */
static uint64_t held_under(const struct partita_region *region, enum ledger_book book, struct total t, uint32_t slot) {
    return slot == slot_of(t) ? held_of(t) : load_acquire(&held_at(region, book, slot)->units) & UINT32_MAX;
}

/* The slots' sum under t; false if the total moved meanwhile. */
static bool sum_slots(const struct partita_region *region, enum ledger_book book, struct total t, uint32_t slots,
                      uint64_t *sum) {
    *sum = 0;
    for (uint32_t i = 0; i < slots; i++)
        *sum += held_under(region, book, t, i);
    return unmoved(region, book, t);
}

/* Derives a total that cannot be right from the slots. */
static void derive(struct partita_region *region, enum ledger_book book, struct total t) {
    uint32_t slot = slot_of(t) < PARTITA_SLOTS ? slot_of(t) : 0;
    uint64_t held = held_under(region, book, t, slot), sum;
    if (!sum_slots(region, book, t, PARTITA_SLOTS, &sum))
        return;
    if (sum > PARTITA_UNITS_MAX)
        sum = PARTITA_UNITS_MAX; /* grants nothing any more */
    if (swap_total(region, book, t, total_of(sum, slot, held, step_of(t) + 1)))
        __atomic_fetch_add(&region->repairs, 1, __ATOMIC_RELAXED);
}

/* The total and what the slot holds of it, with the carry done; false: read again. */
static bool read_both(struct partita_region *region, enum ledger_book book, uint32_t slot, struct total t,
                      uint64_t *held) {
    if (slot_of(t) >= PARTITA_SLOTS) {
        derive(region, book, t);
        return false;
    }
    if (slot_of(t) != slot && !carry(region, book, t))
        return false;
    *held = held_under(region, book, t, slot);
    if (*held > sum_of(t)) {
        if (unmoved(region, book, t))
            derive(region, book, t);
        return false;
    }
    return true;
}

/* What may be added to the sum: the limit's room, and for memory that stays on the card the physical room. */
static uint64_t room_in(const struct partita_region *region, uint64_t sum, const struct ledger_bounds *bounds) {
    uint64_t limit = bounds->limit < PARTITA_UNITS_MAX ? bounds->limit : PARTITA_UNITS_MAX;
    uint64_t room = sum < limit ? limit - sum : 0;
    if (bounds->physical == LEDGER_UNBOUNDED)
        return room;
    uint64_t paged = ledger_total(region, LEDGER_PAGED);
    uint64_t resident = sum > paged ? sum - paged : 0;
    uint64_t physical = resident < bounds->physical ? bounds->physical - resident : 0;
    return physical < room ? physical : room;
}

enum ledger_answer ledger_charge(struct partita_region *region, struct seat seat, uint64_t units,
                                 const struct ledger_bounds *bounds, struct ledger_taken *taken) {
    *taken = (struct ledger_taken){0, 0};
    if (seat.slot >= PARTITA_SLOTS)
        return LEDGER_EVICTED;
    for (int i = 0; i < ATTEMPTS; i++) {
        struct total t;
        uint64_t held;
        if (!read_total(region, LEDGER_TOTAL, &t))
            return LEDGER_BROKEN;
        if (load_acquire(&region->slots[seat.slot].state) != seat.state)
            return LEDGER_EVICTED;
        if (!read_both(region, LEDGER_TOTAL, seat.slot, t, &held))
            continue;
        uint64_t room = room_in(region, sum_of(t), bounds), take = units < room ? units : room, ahead = 0;
        if (take == 0 || (take < units && !bounds->part))
            return LEDGER_FULL;
        if (bounds->ahead > 0 && load_acquire(&region->scarce) == 0) {
            ahead = (room - take) / 8; /* the nearer the limit, the less */
            ahead = ahead < bounds->ahead ? ahead : bounds->ahead;
        }
        uint64_t more = take + ahead;
        if (swap_total(region, LEDGER_TOTAL, t, total_of(sum_of(t) + more, seat.slot, held + more, step_of(t) + 1))) {
            *taken = (struct ledger_taken){take, ahead};
            return LEDGER_DONE;
        }
    }
    return LEDGER_BROKEN;
}

enum change { ADD, RELEASE, SETTLE, NOTHING };

static enum ledger_answer step(struct partita_region *region, enum ledger_book book, struct seat seat,
                               enum change change, uint64_t units) {
    if (seat.slot >= PARTITA_SLOTS)
        return LEDGER_EVICTED;
    for (int i = 0; i < ATTEMPTS; i++) {
        struct total t;
        uint64_t held;
        if (!read_total(region, book, &t))
            return LEDGER_BROKEN;
        if (load_acquire(&region->slots[seat.slot].state) != seat.state)
            return LEDGER_EVICTED;
        if (!read_both(region, book, seat.slot, t, &held))
            continue;
        uint64_t other = sum_of(t) - held;
        if (change == ADD)
            held += units;
        else if (change == RELEASE)
            held -= units < held ? units : held;
        else if (change == SETTLE)
            held = units;
        if (held + other > PARTITA_UNITS_MAX && change != NOTHING)
            return LEDGER_BROKEN;
        if (swap_total(region, book, t, total_of(other + held, seat.slot, held, step_of(t) + 1)))
            return LEDGER_DONE;
    }
    return LEDGER_BROKEN;
}

enum ledger_answer ledger_add(struct partita_region *region, enum ledger_book book, struct seat seat, uint64_t units) {
    return units > PARTITA_UNITS_MAX ? LEDGER_BROKEN : step(region, book, seat, ADD, units);
}

enum ledger_answer ledger_release(struct partita_region *region, enum ledger_book book, struct seat seat,
                                  uint64_t units) {
    return step(region, book, seat, RELEASE, units);
}

enum ledger_answer ledger_settle(struct partita_region *region, enum ledger_book book, struct seat seat,
                                 uint64_t units) {
    return units > PARTITA_UNITS_MAX ? LEDGER_BROKEN : step(region, book, seat, SETTLE, units);
}

enum ledger_answer ledger_touch(struct partita_region *region, struct seat seat) {
    return step(region, LEDGER_TOTAL, seat, NOTHING, 0);
}

bool ledger_lower(struct partita_region *region, uint32_t slot,
                  bool (*wanted)(struct partita_region *, uint32_t, uint64_t *)) {
    for (int i = 0; i < ATTEMPTS; i++) {
        struct total t;
        uint64_t held, want;
        if (!read_total(region, LEDGER_TOTAL, &t))
            return false;
        if (!wanted(region, slot, &want))
            return false;
        if (!read_both(region, LEDGER_TOTAL, slot, t, &held))
            continue;
        if (held <= want)
            return true;
        if (swap_total(region, LEDGER_TOTAL, t, total_of(sum_of(t) - held + want, slot, want, step_of(t) + 1)))
            return true;
    }
    return false;
}

uint64_t ledger_total(const struct partita_region *region, enum ledger_book book) {
    return load_acquire(&total_at(region, book)->low) & UINT32_MAX;
}

uint64_t ledger_steps(const struct partita_region *region) {
    return load_acquire(&region->total.high);
}

uint64_t ledger_held(const struct partita_region *region, enum ledger_book book, uint32_t slot) {
    if (slot >= PARTITA_SLOTS)
        return 0;
    for (int i = 0; i < ATTEMPTS; i++) {
        struct total t;
        struct pair h;
        if (!read_total(region, book, &t))
            return 0;
        if (slot_of(t) == slot)
            return held_of(t);
        if (!read_held(held_at(region, book, slot), &h))
            return 0;
        if (unmoved(region, book, t))
            return h.low & UINT32_MAX;
    }
    return 0;
}

static bool audit(struct partita_region *region, enum ledger_book book) {
    for (int i = 0; i < 64; i++) {
        struct total t;
        uint64_t sum;
        if (!read_total(region, book, &t))
            return false;
        uint32_t slots = load_acquire(&region->high_water);
        if (slots > PARTITA_SLOTS || slot_of(t) >= slots)
            slots = PARTITA_SLOTS;
        if (slot_of(t) < PARTITA_SLOTS) {
            if (!sum_slots(region, book, t, slots, &sum))
                continue;
            if (sum == sum_of(t))
                return false;
        }
        derive(region, book, t);
        return true;
    }
    return false;
}

bool ledger_audit(struct partita_region *region) {
    bool paged = audit(region, LEDGER_PAGED);
    return audit(region, LEDGER_TOTAL) || paged;
}
