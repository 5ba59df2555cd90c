/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that several processes hold: exported allocations. It is the card's as long as one process that lives holds
 * it; the first of these is the one that pays for it in the figures. Nothing is moved between processes, so that no
 * death can leave it half moved.
 */
#include "state.h"

static bool holds(const struct sim_shared *shared, unsigned slot) {
    return shared->holders[slot / 64] >> slot % 64 & 1;
}

int sim_shared_payer(const struct sim_state *state, const struct sim_shared *shared) {
    for (unsigned word = 0; word < SIM_MAX_PROCESSES / 64; word++)
        for (unsigned slot = word * 64; shared->holders[word] && slot < (word + 1) * 64; slot++)
            if (holds(shared, slot) && state->region->processes[slot].in_use && sim_slot_alive(state, slot))
                return (int)slot;
    return -1;
}

static struct sim_shared *by_id(struct sim_state *state, uint64_t id) {
    for (unsigned i = 0; i < state->region->shared_bound && i < SIM_MAX_SHARED; i++)
        if (state->region->shared[i].id == id)
            return &state->region->shared[i];
    return NULL;
}

uint64_t sim_shared_make(struct sim_state *state, unsigned card, uint64_t bytes) {
    struct sim_region *region = state->region;
    uint64_t id = 0;

    sim_state_lock(state);
    for (unsigned i = 0; !id && i < SIM_MAX_SHARED; i++) {
        struct sim_shared *shared = &region->shared[i];

        if (shared->id)
            continue;
        for (unsigned word = 0; word < SIM_MAX_PROCESSES / 64; word++)
            shared->holders[word] = 0;
        shared->holders[state->slot / 64] = UINT64_C(1) << state->slot % 64;
        shared->card = card;
        shared->bytes = bytes;
        if (i >= region->shared_bound)
            region->shared_bound = i + 1;
        shared->id = id = ++region->last_shared;
        region->processes[state->slot].cards[card].memory -= bytes;
    }
    sim_state_unlock(state);
    return id;
}

bool sim_shared_hold(struct sim_state *state, uint64_t id) {
    struct sim_shared *shared;

    sim_state_lock(state);
    sim_state_rebuild(state); /* those that nobody who lives holds are gone */
    shared = by_id(state, id);
    if (shared)
        shared->holders[state->slot / 64] |= UINT64_C(1) << state->slot % 64;
    sim_state_unlock(state);
    return shared != NULL;
}

void sim_shared_drop(struct sim_state *state, uint64_t id) {
    struct sim_shared *shared;

    sim_state_lock(state);
    shared = by_id(state, id);
    if (shared) {
        shared->holders[state->slot / 64] &= ~(UINT64_C(1) << state->slot % 64);
        sim_state_rebuild(state);
    }
    sim_state_unlock(state);
}

void sim_shared_forget(struct sim_state *state, unsigned slot) {
    for (unsigned i = 0; i < state->region->shared_bound && i < SIM_MAX_SHARED; i++)
        state->region->shared[i].holders[slot / 64] &= ~(UINT64_C(1) << slot % 64);
}

void sim_shared_rebuild(struct sim_state *state, uint64_t used[SIM_MAX_UNITS]) {
    for (unsigned i = 0; i < state->region->shared_bound && i < SIM_MAX_SHARED; i++) {
        struct sim_shared *shared = &state->region->shared[i];

        if (shared->id && sim_shared_payer(state, shared) < 0)
            shared->id = 0;
        if (shared->id && shared->card < SIM_MAX_UNITS)
            used[shared->card] += shared->bytes;
    }
}

uint64_t sim_shared_bytes(const struct sim_state *state, unsigned card, int payer) {
    uint64_t bytes = 0;

    for (unsigned i = 0; i < state->region->shared_bound && i < SIM_MAX_SHARED; i++) {
        const struct sim_shared *shared = &state->region->shared[i];
        int pays;

        if (!shared->id || shared->card != card)
            continue;
        pays = sim_shared_payer(state, shared);
        if (pays >= 0 && (payer < 0 || pays == payer))
            bytes += shared->bytes;
    }
    return bytes;
}
