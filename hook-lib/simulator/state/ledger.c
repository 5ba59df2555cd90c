/* SPDX-License-Identifier: Apache-2.0 */
/* Charging a card, and reading what is charged. */
#include "clock_run.h"

static _Atomic uint64_t *charged(struct sim_state *state, unsigned card, enum sim_use use) {
    struct sim_card_use *own = &state->region->processes[state->slot].cards[card];

    return use == SIM_MEMORY ? &own->memory : &own->overhead;
}

static uint64_t room_now(const struct sim_state *state, unsigned card, uint64_t capacity) {
    uint64_t used = sim_mig_charged(state, card);

    return sim_limits_room(state, card, used < capacity ? capacity - used : 0);
}

static uint64_t room(struct sim_state *state, unsigned card, uint64_t wanted, uint64_t capacity) {
    uint64_t now = room_now(state, card, capacity);

    if (wanted <= now)
        return now;
    sim_state_rebuild(state);
    return room_now(state, card, capacity);
}

static void charge(struct sim_state *state, unsigned card, enum sim_use use, uint64_t bytes) {
    *charged(state, card, use) += bytes;
    state->region->used[card] += bytes;
}

bool sim_state_reserve(struct sim_state *state, unsigned card, enum sim_use use, uint64_t bytes, uint64_t capacity) {
    bool fits;

    sim_state_lock(state);
    fits = bytes <= room(state, card, bytes, capacity);
    if (fits)
        charge(state, card, use, bytes);
    sim_state_unlock(state);
    return fits;
}

uint64_t sim_state_reserve_up_to(struct sim_state *state, unsigned card, uint64_t bytes, uint64_t capacity,
                                 uint64_t grain) {
    uint64_t free;

    sim_state_lock(state);
    free = room(state, card, bytes, capacity);
    if (bytes > free)
        bytes = free / grain * grain;
    charge(state, card, SIM_MEMORY, bytes);
    sim_state_unlock(state);
    return bytes;
}

void sim_state_release(struct sim_state *state, unsigned card, enum sim_use use, uint64_t bytes) {
    sim_state_lock(state);
    *charged(state, card, use) -= bytes;
    state->region->used[card] -= bytes;
    sim_state_unlock(state);
}

void sim_state_count_context(struct sim_state *state, unsigned card, int change) {
    state->region->processes[state->slot].cards[card].contexts += (uint64_t)(int64_t)change;
}

uint64_t sim_state_used(const struct sim_state *state, unsigned card) {
    const struct sim_region *region = state->region;
    uint32_t bound = region->process_bound;
    uint64_t used = 0;

    for (uint32_t slot = 0; slot < bound && slot < SIM_MAX_PROCESSES; slot++) {
        const struct sim_process *process = &region->processes[slot];
        uint64_t held = process->cards[card].memory + process->cards[card].overhead;

        if (process->in_use && held && sim_slot_alive(state, slot))
            used += held;
    }
    return used + sim_shared_bytes(state, card, -1);
}

unsigned sim_state_processes(const struct sim_state *state, unsigned card, struct sim_process_use *uses,
                             unsigned room) {
    const struct sim_region *region = state->region;
    uint32_t bound = region->process_bound;
    struct sim_run run;
    unsigned found = 0;

    sim_clock_look(state, card, &run);
    for (uint32_t slot = 0; slot < bound && slot < SIM_MAX_PROCESSES; slot++) {
        const struct sim_process *process = &region->processes[slot];
        const struct sim_card_use *use = &process->cards[card];
        uint64_t shared = process->in_use && region->shared_bound ? sim_shared_bytes(state, card, (int)slot) : 0;

        if (!process->in_use || (!shared && !use->contexts && !use->memory && !use->overhead) ||
            !sim_slot_alive(state, slot))
            continue;
        if (found < room) {
            uint64_t pending = sim_run_pending(&run, slot), submitted = use->submitted;

            uses[found] = (struct sim_process_use){
                .slot = slot,
                .pid = sim_slot_pid(state, slot),
                .memory = use->memory + shared,
                .overhead = use->overhead,
                .contexts = use->contexts,
                .launches = use->launches,
                .busy = submitted > pending ? submitted - pending : 0,
                .pending = pending,
            };
        }
        found++;
    }
    return found;
}
