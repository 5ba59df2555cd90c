/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of state/: taking a card's clock on, in a copy. */
#ifndef PARTITA_SIM_CLOCK_RUN_H
#define PARTITA_SIM_CLOCK_RUN_H

#include "state.h"

/* The processes with pending work, by the work time at which each is done. */
struct sim_run {
    struct sim_moment at;
    struct sim_slicing slicing;
    uint32_t holder; /* as in struct sim_slices */
    uint64_t begins, ends;
    struct {
        uint32_t slot;
        uint64_t begin, served, ns; /* 0: nobody was served in the last step */
    } stint;
    unsigned count;
    struct sim_pending {
        uint32_t slot;
        uint64_t end, served; /* served: where the card has time slices */
    } pending[SIM_MAX_PROCESSES];
};

static inline struct sim_slicing sim_slicing_of(const struct sim_state *state, unsigned card) {
    return state->slicing[card < SIM_MAX_CARDS ? card : (card - SIM_MAX_CARDS) / SIM_MIG_MAX];
}

/* Work of the slot's process that the card has not done at the run's moment, ns. */
uint64_t sim_run_pending(const struct sim_run *run, unsigned slot);

void sim_run_begin(const struct sim_state *state, unsigned card, bool only_living, struct sim_run *run);

/*
 * Goes on to when the first of the processes is done, or to `until` if that comes first or nothing is pending; false
 * then.
 */
bool sim_run_step(struct sim_run *run, uint64_t until);

/* The same, and what belongs to it, of a card with time slices (slices.c). */
bool sim_slices_step(struct sim_run *run, uint64_t until);
/* The card's slices as they are, of which a writer may be about to change some: then false. */
bool sim_slices_copy(const struct sim_state *state, unsigned card, bool only_living, struct sim_run *run);
void sim_slices_keep(struct sim_state *state, unsigned card, const struct sim_run *run);
/* When the process of the slot had had `work`. Under the lock. */
uint64_t sim_slices_when(const struct sim_clock *clock, unsigned slot, uint64_t work);
/* When it will have had that if nothing is submitted until then; or, for what is far away, some time before. */
uint64_t sim_slices_foresee(struct sim_run *run, unsigned slot, uint64_t work);

/* As sim_clock_read. */
void sim_clock_look(const struct sim_state *state, unsigned card, struct sim_run *run);

/* When the next sample ends; keeping one, under the lock. */
uint64_t sim_samples_next(const struct sim_state *state, unsigned card, uint64_t now);
void sim_samples_keep(struct sim_state *state, unsigned card, const struct sim_run *run);
void sim_samples_forget(struct sim_state *state, unsigned slot);

#endif
