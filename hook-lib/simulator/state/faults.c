/* SPDX-License-Identifier: Apache-2.0 */
/* Faults that somebody ordered: they lie in the region, so that running processes meet them at once. */
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "state.h"

static bool applies(const struct sim_fault *fault, const char *function) {
    return fault->active && (fault->pid == 0 || fault->pid == (uint32_t)getpid()) &&
           strncmp(fault->function, function, sizeof fault->function) == 0;
}

static bool hits(struct sim_fault *fault) {
    uint64_t call = ++fault->calls;

    if (call < fault->from || (call - fault->from) % fault->every != 0)
        return false;
    return fault->times == 0 || (call - fault->from) / fault->every < fault->times;
}

int sim_fault_met(struct sim_region *region, const char *function) {
    int error = 0;

    for (unsigned i = 0; i < SIM_MAX_FAULTS; i++) {
        struct sim_fault *fault = &region->faults[i];

        if (!applies(fault, function) || !hits(fault))
            continue;
        fault->met++;
        if (fault->delay_us) {
            struct timespec rest = {(time_t)(fault->delay_us / 1000000), (long)(fault->delay_us % 1000000 * 1000)};

            while (nanosleep(&rest, &rest) != 0)
                ;
        }
        if (!error)
            error = fault->error;
    }
    return error;
}

bool sim_fault_order(struct sim_state *state, const struct sim_fault *wanted) {
    bool placed = false;

    sim_state_lock(state);
    for (unsigned i = 0; !placed && i < SIM_MAX_FAULTS; i++) {
        struct sim_fault *fault = &state->region->faults[i];

        if (fault->active)
            continue;
        memcpy(fault->function, wanted->function, sizeof fault->function);
        fault->error = wanted->error;
        fault->delay_us = wanted->delay_us;
        fault->from = wanted->from;
        fault->every = wanted->every;
        fault->times = wanted->times;
        fault->pid = wanted->pid;
        fault->calls = fault->met = 0;
        fault->active = 1;
        state->region->fault_count++;
        placed = true;
    }
    sim_state_unlock(state);
    return placed;
}

void sim_faults_clear(struct sim_state *state) {
    sim_state_lock(state);
    state->region->fault_count = 0;
    for (unsigned i = 0; i < SIM_MAX_FAULTS; i++)
        state->region->faults[i].active = 0;
    sim_state_unlock(state);
}

void sim_event_raise(struct sim_state *state, unsigned card, uint64_t xid) {
    struct sim_region *region = state->region;

    sim_state_lock(state);
    region->events[region->event_count % SIM_MAX_EVENTS].card = card;
    region->events[region->event_count % SIM_MAX_EVENTS].xid = xid;
    region->event_count++;
    sim_state_unlock(state);
}
