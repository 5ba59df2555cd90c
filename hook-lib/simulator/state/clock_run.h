/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of state/: taking a card's clock on, in a copy. */
#ifndef PARTITA_SIM_CLOCK_RUN_H
#define PARTITA_SIM_CLOCK_RUN_H

#include "state.h"

/* The processes with pending work, by the work time at which each is done. */
struct sim_run {
    struct sim_moment at;
    unsigned count;
    uint64_t ends[SIM_MAX_PROCESSES];
};

void sim_run_begin(const struct sim_state *state, unsigned card, bool only_living, struct sim_run *run);

/*
 * Goes on to when the first of the processes is done, or to `until` if that comes first or nothing is pending; false
 * then.
 */
bool sim_run_step(struct sim_run *run, uint64_t until);

/* When the next sample ends; keeping one, under the lock. */
uint64_t sim_samples_next(const struct sim_state *state, unsigned card, uint64_t now);
void sim_samples_keep(struct sim_state *state, unsigned card, const struct sim_moment *moment);
void sim_samples_forget(struct sim_state *state, unsigned slot);

#endif
