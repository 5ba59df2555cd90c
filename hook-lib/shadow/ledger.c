/*
 * One share's account, kept by many processes, none of which is trusted to live.
 *
 * State.  `total` is one 16-byte word T = (sum, slot, held, step): the units of all slots, and the slot whose account the
 * last step changed, with what that slot holds since, and the number of the step. slots[i].held is H(i) = (units, step).
 * What slot i holds is
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
 *   The swap in d is the only write that has an effect on sum or, by (1), on any held(i): it changes sum and held(slot) by the
 *   same n in one indivisible write, and by the carry in c the slot that T named before keeps its figure in H when T stops
 *   naming it. The carry itself changes no held(i): it writes the figure that (1) already gives, to a place that (1) does not
 *   look at while T names the slot. So a process killed before d has changed nothing, and one killed after d is done.
 *   There is nothing to finish, to discard or to wait for: no lock, no half-done step, no recovery.
 *
 * Stale carries.  A process may stall between reading T and writing H(T.slot), and wake when T has moved on. It compares the
 *   whole of H with what it read (16 bytes with the step number), and re-reads T.high between that read and the write. So
 *   the H that it expects was there while T was still its own T, and any later carry has changed H for good, since step
 *   numbers do not recur (48 bits: 300 days at ten million steps a second, and the sleeper must wake on exactly that step). A
 *   stale write therefore either fails or writes what the current carry would overwrite: carry() repeats until H has T's
 *   step or T has moved.
 *
 * Reading 16 bytes.  T is read as high, low, high: equal highs mean that low belongs to them, since every swap changes the
 *   step. H likewise by its step.
 *
 * Reaping.  A dead owner's slot goes LIVE(g) -> REAPING(g) -> FREE(g) by compare-and-swap of its state; its account is
 *   emptied in REAPING by an ordinary step (settle to 0) on that slot. A reaper that stalls cannot empty the account of the
 *   slot's next owner: the state is checked between reading T and swapping it. If the next owner charged before T was
 *   read, the state is no longer REAPING(g); if after, T has changed and the swap fails. A reaper that is killed leaves
 *   REAPING(g), which anybody continues: emptying twice takes nothing twice.
 *
 * Never above the limit.  d compares sum + n with the limit and swaps the very T it compared: two charges that together
 *   exceed the limit cannot both succeed.
 *
 * Broken regions.  A container can write anything. Indexes are checked before use, loops are bounded, and a figure that cannot
 * be (held(slot) above sum, sum unlike the slots' sum) makes the total be derived anew from the slots.
 */
#include "ledger.h"

#include "atomic16.h"
#include "fault.h"

enum { ATTEMPTS = 1 << 20 }; /* honest contention ends far below; somebody who scribbles on the region must not hang us */

struct total {
    uint64_t low, high;
};

static inline uint64_t load(const uint64_t *at) {
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

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

static bool read_total(const struct partita_region *region, struct total *t) {
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t high = load(&region->total.high);
        uint64_t low = load(&region->total.low);
        if (load(&region->total.high) == high) {
            *t = (struct total){low, high};
            return true;
        }
    }
    return false;
}

static bool read_held(const struct partita_slot *slot, struct pair *h) {
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t step = load(&slot->held.step);
        uint64_t units = load(&slot->held.units);
        if (load(&slot->held.step) == step) {
            *h = (struct pair){units, step};
            return true;
        }
    }
    return false;
}

static bool swap_total(struct partita_region *region, struct total from, struct total to) {
    FAULT_POINT("before the swap");
    bool swapped = pair_swap(&region->total, (struct pair){from.low, from.high}, (struct pair){to.low, to.high});
    FAULT_POINT("after the swap");
    return swapped;
}

/* Makes H(t.slot) say what t says; false if the total moved on or the slot cannot be read. */
static bool carry(struct partita_region *region, struct total t) {
    struct partita_slot *slot = &region->slots[slot_of(t)];
    for (int i = 0; i < ATTEMPTS; i++) {
        struct pair h;
        if (!read_held(slot, &h))
            return false;
        if (h.high == step_of(t))
            return true;
        if (load(&region->total.high) != t.high)
            return false;
        FAULT_POINT("before the carry");
        pair_swap(&slot->held, h, (struct pair){held_of(t), step_of(t)});
        FAULT_POINT("after the carry");
    }
    return false;
}

/* The slots' sum under t; false if the total moved meanwhile. */
static bool sum_slots(const struct partita_region *region, struct total t, uint32_t slots, uint64_t *sum) {
    *sum = 0;
    for (uint32_t i = 0; i < slots; i++) {
        uint64_t units = load(&region->slots[i].held.units);
        *sum += i == slot_of(t) ? held_of(t) : units & UINT32_MAX;
    }
    return load(&region->total.high) == t.high;
}

/* Derives a total that cannot be right from the slots. */
static void derive(struct partita_region *region, struct total t) {
    uint32_t slot = slot_of(t);
    uint64_t sum, held;
    if (slot >= PARTITA_SLOTS) {
        slot = 0;
        struct pair h;
        if (!read_held(&region->slots[0], &h))
            return;
        held = h.low & UINT32_MAX;
        sum = 0;
        for (uint32_t i = 0; i < PARTITA_SLOTS; i++)
            sum += i == slot ? held : load(&region->slots[i].held.units) & UINT32_MAX;
        if (load(&region->total.high) != t.high)
            return;
    } else {
        held = held_of(t);
        if (!sum_slots(region, t, PARTITA_SLOTS, &sum))
            return;
    }
    if (sum > PARTITA_UNITS_MAX)
        sum = PARTITA_UNITS_MAX; /* grants nothing any more */
    if (swap_total(region, t, total_of(sum, slot, held, step_of(t) + 1)))
        __atomic_fetch_add(&region->repairs, 1, __ATOMIC_RELAXED);
}

enum change { CHARGE, CHARGE_PART, RELEASE, SETTLE };

static enum ledger_answer step(struct partita_region *region, struct seat seat, enum change change, uint64_t units,
                               uint64_t limit, uint64_t *done) {
    if (seat.slot >= PARTITA_SLOTS)
        return LEDGER_EVICTED;
    if (limit > PARTITA_UNITS_MAX)
        limit = PARTITA_UNITS_MAX;
    struct partita_slot *mine = &region->slots[seat.slot];
    for (int i = 0; i < ATTEMPTS; i++) {
        struct total t;
        if (!read_total(region, &t))
            return LEDGER_BROKEN;
        if (load(&mine->state) != seat.state)
            return LEDGER_EVICTED;
        if (slot_of(t) >= PARTITA_SLOTS) {
            derive(region, t);
            continue;
        }
        uint64_t held;
        if (slot_of(t) == seat.slot) {
            held = held_of(t);
        } else {
            if (!carry(region, t))
                continue;
            held = load(&mine->held.units) & UINT32_MAX;
        }
        uint64_t sum = sum_of(t);
        if (held > sum) {
            if (load(&region->total.high) == t.high)
                derive(region, t);
            continue;
        }
        uint64_t other = sum - held;
        switch (change) {
        case CHARGE:
        case CHARGE_PART:
            if (sum >= limit || units > limit - sum) {
                if (change == CHARGE || sum >= limit)
                    return LEDGER_FULL;
                *done = limit - sum;
            } else {
                *done = units;
            }
            held += *done;
            break;
        case RELEASE:
            *done = units < held ? units : held;
            held -= *done;
            break;
        case SETTLE:
            *done = units;
            held = units;
            break;
        }
        if (change == SETTLE && held + other > PARTITA_UNITS_MAX)
            return LEDGER_BROKEN;
        if (swap_total(region, t, total_of(other + held, seat.slot, held, step_of(t) + 1)))
            return LEDGER_DONE;
    }
    return LEDGER_BROKEN;
}

enum ledger_answer ledger_charge(struct partita_region *region, struct seat seat, uint64_t units, uint64_t limit) {
    uint64_t done;
    return step(region, seat, CHARGE, units, limit, &done);
}

enum ledger_answer ledger_charge_part(struct partita_region *region, struct seat seat, uint64_t units, uint64_t limit,
                                      uint64_t *taken) {
    *taken = 0;
    return step(region, seat, CHARGE_PART, units, limit, taken);
}

enum ledger_answer ledger_release(struct partita_region *region, struct seat seat, uint64_t units) {
    uint64_t done;
    return step(region, seat, RELEASE, units, 0, &done);
}

enum ledger_answer ledger_settle(struct partita_region *region, struct seat seat, uint64_t units) {
    uint64_t done;
    if (units > PARTITA_UNITS_MAX)
        return LEDGER_BROKEN;
    return step(region, seat, SETTLE, units, 0, &done);
}

uint64_t ledger_total(const struct partita_region *region) {
    return load(&region->total.low) & UINT32_MAX;
}

uint64_t ledger_held(const struct partita_region *region, uint32_t slot) {
    if (slot >= PARTITA_SLOTS)
        return 0;
    for (int i = 0; i < ATTEMPTS; i++) {
        struct total t;
        struct pair h;
        if (!read_total(region, &t))
            return 0;
        if (slot_of(t) == slot)
            return held_of(t);
        if (!read_held(&region->slots[slot], &h))
            return 0;
        if (load(&region->total.high) == t.high)
            return h.low & UINT32_MAX;
    }
    return 0;
}

bool ledger_audit(struct partita_region *region) {
    for (int i = 0; i < 64; i++) {
        struct total t;
        uint64_t sum;
        if (!read_total(region, &t))
            return false;
        uint32_t slots = __atomic_load_n(&region->high_water, __ATOMIC_ACQUIRE);
        if (slots > PARTITA_SLOTS || slot_of(t) >= slots)
            slots = PARTITA_SLOTS;
        if (slot_of(t) < PARTITA_SLOTS) {
            if (!sum_slots(region, t, slots, &sum))
                continue;
            if (sum == sum_of(t))
                return false;
        }
        derive(region, t);
        return true;
    }
    return false;
}
