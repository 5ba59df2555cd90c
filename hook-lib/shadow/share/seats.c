/* SPDX-License-Identifier: Apache-2.0 */
#include "share/seats.h"

#include <stddef.h>

#include "common/atomics.h"
#include "share/fault.h"
#include "share/mapped.h"

static bool move(struct partita_slot *slot, uint64_t from, uint64_t to) {
    FAULT_POINT("before the state");
    bool moved = __atomic_compare_exchange_n(&slot->state, &from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    FAULT_POINT("after the state");
    return moved;
}

static uint64_t phase(uint64_t state) {
    return state & PARTITA_SLOT_PHASE;
}

static void raise_high_water(struct partita_region *region, uint32_t slots) {
    uint32_t seen = load_relaxed(&region->high_water);
    while (seen < slots &&
           !__atomic_compare_exchange_n(&region->high_water, &seen, slots, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    }
}

static bool same_process(const struct owner *a, const struct owner *b) {
    return a->pid == b->pid && a->start == b->start && a->pid_namespace == b->pid_namespace;
}

/* The lock is the process': where its other library sits in the slot, it stays. */
void seats_unlock(const struct region_file *file, const struct owner *self, uint32_t slot) {
    struct seat seat;
    struct owner owner;
    if (!seats_owner(file->region, slot, &seat, &owner) || !same_process(&owner, self))
        region_file_unlock(file, slot);
}

/*
 * The lock comes first, so that nobody sees a living owner without one; then the owner's particulars, which only the
 * lock's holder writes and nobody reads before the state says LIVE.
 */
static bool take_free_slot(const struct region_file *file, const struct owner *self, struct seat *seat) {
    struct partita_region *region = file->region;
    for (uint32_t i = 0; i < PARTITA_SLOTS; i++) {
        struct partita_slot *slot = &region->slots[i];
        uint64_t state = load_acquire(&slot->state);
        if (phase(state) != PARTITA_SLOT_FREE || !region_file_lock(file, i))
            continue;
        FAULT_POINT("slot locked");
        state = load_acquire(&slot->state);
        if (phase(state) != PARTITA_SLOT_FREE) {
            seats_unlock(file, self, i);
            continue;
        }
        store_relaxed(&slot->pid, self->pid);
        store_relaxed(&slot->start, self->start);
        store_relaxed(&slot->pid_namespace, self->pid_namespace);
        store_relaxed(&slot->image, self->image);
        store_relaxed(&slot->overhead, 0);
        store_relaxed(&slot->contexts, 0);
        store_relaxed(&slot->compute, PARTITA_COMPUTE_UNUSED);
        store_relaxed(&slot->busy_ns, 0);
        store_relaxed(&slot->windows, 0);
        store_relaxed(&slot->account, 0);
        store_relaxed(&slot->sampled, 0);
        store_relaxed(&slot->utilization, 0);
        raise_high_water(region, i + 1);
        uint64_t live = ((state >> 2) + 1) << 2 | PARTITA_SLOT_LIVE;
        if (!move(slot, state, live)) {
            seats_unlock(file, self, i);
            continue;
        }
        *seat = (struct seat){i, live};
        return true;
    }
    return false;
}

bool seats_take(const struct region_file *file, const struct owner *self, struct seat *seat) {
    region_file_enter(file);
    bool taken = take_free_slot(file, self, seat);
    region_file_leave(file);
    return taken;
}

bool seats_mine(const struct partita_region *region, struct seat seat) {
    return seat.slot < PARTITA_SLOTS && load_acquire(&region->slots[seat.slot].state) == seat.state;
}

bool seats_owner(const struct partita_region *region, uint32_t index, struct seat *seat, struct owner *owner) {
    if (index >= PARTITA_SLOTS)
        return false;
    const struct partita_slot *slot = &region->slots[index];
    uint64_t state = load_acquire(&slot->state);
    if (phase(state) != PARTITA_SLOT_LIVE)
        return false;
    owner->pid = load_acquire(&slot->pid);
    owner->start = load_acquire(&slot->start);
    owner->pid_namespace = load_acquire(&slot->pid_namespace);
    owner->image = load_acquire(&slot->image);
    *seat = (struct seat){index, state};
    return load_acquire(&slot->state) == state;
}

/*
 * A lock that is held proves life; a lock that is not proves death only where /proc does not contradict. A process that
 * lives, but maps the region no more, has become another program by exec.
 */
static bool is_dead(const struct region_file *file, uint32_t slot, const struct owner *owner, const struct owner *self,
                    enum reaping how) {
    if (how == REAP_QUICKLY)
        return owner_is_gone(owner, self->pid_namespace) && !region_file_locked_by_another(file, slot);
    if (same_process(owner, self))
        return owner->image != self->image;
    if (region_file_locked_by_another(file, slot))
        return false;
    return owner_life(owner, self->pid_namespace) != ALIVE || mapped_not_by(owner->pid, file->region);
}

static void empty(struct partita_region *region, struct seat reaping) {
    enum ledger_answer answer = ledger_settle(region, LEDGER_PAGED, reaping, 0);
    if (answer == LEDGER_DONE)
        answer = ledger_settle(region, LEDGER_TOTAL, reaping, 0);
    if (answer == LEDGER_DONE)
        move(&region->slots[reaping.slot], reaping.state, (reaping.state & ~(uint64_t)PARTITA_SLOT_PHASE));
}

void seats_reap(const struct region_file *file, const struct owner *self, const struct seat *mine, enum reaping how) {
    struct partita_region *region = file->region;
    uint32_t slots = ledger_slots(region);
    for (uint32_t i = 0; i < slots; i++) {
        struct partita_slot *slot = &region->slots[i];
        uint64_t state = load_acquire(&slot->state);
        struct seat seat;
        struct owner owner;
        switch (phase(state)) {
        case PARTITA_SLOT_FREE:
            for (int book = LEDGER_TOTAL; book <= LEDGER_PAGED; book++)
                if (ledger_held(region, (enum ledger_book)book, i) != 0)
                    ledger_settle(region, (enum ledger_book)book, (struct seat){i, state}, 0);
            break;
        case PARTITA_SLOT_LIVE:
            if ((mine && mine->slot == i && mine->state == state) || !seats_owner(region, i, &seat, &owner) ||
                !is_dead(file, i, &owner, self, how))
                break;
            state = seat.state ^ PARTITA_SLOT_LIVE ^ PARTITA_SLOT_REAPING;
            if (move(slot, seat.state, state))
                empty(region, (struct seat){i, state});
            break;
        case PARTITA_SLOT_REAPING:
            empty(region, (struct seat){i, state});
            break;
        default: /* no such phase: somebody scribbled here */
            move(slot, state, state & ~(uint64_t)PARTITA_SLOT_PHASE);
            break;
        }
    }
}

bool seats_all_accounted(const struct region_file *file) {
    uint32_t slot = region_file_next_locked(file, 0);
    while (slot < PARTITA_SLOTS) {
        if (phase(load_acquire(&file->region->slots[slot].state)) != PARTITA_SLOT_LIVE)
            return false;
        slot = region_file_next_locked(file, slot + 1);
    }
    return true;
}
