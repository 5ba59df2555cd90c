/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples: what the card and its processes had had of the SMs' time at the end of each sample period. Sample n ends at
 * n times the period. Whoever takes the clock on keeps those it passes; since nothing changes while nobody looks, a
 * reader works out those after it.
 */
#include <string.h>

#include "clock_run.h"
#include "state.h"

static uint64_t busy_of(const struct sim_state *state, unsigned card, unsigned slot, const struct sim_run *run) {
    uint64_t submitted = state->region->processes[slot].cards[card].submitted, pending = sim_run_pending(run, slot);

    return submitted > pending ? submitted - pending : 0;
}

uint64_t sim_samples_next(const struct sim_state *state, unsigned card, uint64_t now) {
    struct sim_clock *clock = &state->region->clocks[card];
    uint64_t period = card < SIM_MAX_CARDS ? state->period[card] : 0;

    if (!period)
        return UINT64_MAX;
    if (clock->sampled + SIM_SAMPLES < now / period) /* long ago: only the last ones are kept */
        clock->sampled = now / period - SIM_SAMPLES;
    return (clock->sampled + 1) * period;
}

void sim_samples_keep(struct sim_state *state, unsigned card, const struct sim_run *run) {
    struct sim_region *region = state->region;
    struct sim_clock *clock = &region->clocks[card];
    uint32_t bound = region->process_bound;
    uint64_t number = clock->sampled + 1;

    for (uint32_t slot = 0; slot < bound && slot < SIM_MAX_PROCESSES; slot++)
        if (region->processes[slot].in_use && region->processes[slot].cards[card].submitted)
            region->samples[slot][card][number % SIM_SAMPLES] = busy_of(state, card, slot, run);
    clock->samples[number % SIM_SAMPLES] = run->at.busy;
    clock->sampled = number;
}

static void run_to(const struct sim_state *state, unsigned card, uint64_t number, struct sim_run *run) {
    sim_run_begin(state, card, true, run);
    while (sim_run_step(run, number * state->period[card]))
        ;
}

bool sim_sampling_at(const struct sim_state *state, unsigned card, uint64_t number, struct sim_sampling *sampling) {
    const struct sim_clock *clock = &state->region->clocks[card];
    struct sim_run run;

    *sampling = (struct sim_sampling){state, card, number, .kept = number <= clock->sampled};
    if (sampling->kept)
        return clock->sampled - number < SIM_SAMPLES - 1; /* the oldest may be written over meanwhile */
    run_to(state, card, number, &run);
    sampling->at = run.at;
    return true;
}

uint64_t sim_sampled_card(const struct sim_sampling *sampling) {
    return sampling->kept
               ? (uint64_t)sampling->state->region->clocks[sampling->card].samples[sampling->number % SIM_SAMPLES]
               : sampling->at.busy;
}

uint64_t sim_sampled_process(const struct sim_sampling *sampling, unsigned slot) {
    struct sim_run run;

    if (sampling->kept)
        return sampling->state->region->samples[slot][sampling->card][sampling->number % SIM_SAMPLES];
    run_to(sampling->state, sampling->card, sampling->number, &run);
    return busy_of(sampling->state, sampling->card, slot, &run);
}

void sim_samples_forget(struct sim_state *state, unsigned slot) {
    memset(state->region->samples[slot], 0, sizeof state->region->samples[slot]);
}
