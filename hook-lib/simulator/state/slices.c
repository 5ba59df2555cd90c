/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A card with time slices: one process with pending work has it at a time, in the order of their slots. A slice begins
 * when the change to its process is over. Who has no more work gives the card on at once; who gets some waits until the
 * slice of another one is over. A process that is alone goes on.
 */
#include "clock_run.h"

#define FORESEEN_NS 4000000 /* longer than anybody who waits sleeps at a time */

static struct sim_pending *pending_of(struct sim_run *run, uint32_t slot) {
    for (unsigned i = 0; i < run->count; i++)
        if (run->pending[i].slot == slot)
            return &run->pending[i];
    return NULL;
}

/* Who comes after the one that has, or had, the card: that one last. */
static uint32_t next_slot(const struct sim_run *run) {
    uint32_t after = UINT32_MAX, first = UINT32_MAX;

    for (unsigned i = 0; i < run->count; i++) {
        uint32_t slot = run->pending[i].slot;

        if (slot >= run->holder && slot < after) /* `holder` is its slot and 1 */
            after = slot;
        first = slot < first ? slot : first;
    }
    return after != UINT32_MAX ? after : first;
}

static void begin_slice(struct sim_run *run) {
    uint32_t slot = next_slot(run);

    run->begins = run->at.time + (slot + 1 == run->holder ? 0 : run->slicing.change);
    run->ends = run->begins + run->slicing.slice;
    run->holder = slot + 1;
}

static void pass(struct sim_run *run, uint64_t to) {
    run->at.busy += to - run->at.time;
    run->at.time = to;
}

static void serve(struct sim_run *run, struct sim_pending *pending, uint64_t until) {
    uint64_t left = pending->end - pending->served, stop = run->at.time + left;

    if (run->count > 1 && stop > run->ends)
        stop = run->ends;
    stop = stop < until ? stop : until;
    if (stop > run->ends) /* alone, it has one slice after the other */
        run->ends += ((stop - run->ends) / run->slicing.slice + 1) * run->slicing.slice;
    run->stint.slot = pending->slot;
    run->stint.begin = run->at.time;
    run->stint.served = pending->served;
    run->stint.ns = stop - run->at.time;
    pending->served += run->stint.ns;
    pass(run, stop);
    if (pending->served == pending->end) {
        *pending = run->pending[--run->count];
        run->ends = stop;
    }
}

bool sim_slices_step(struct sim_run *run, uint64_t until) {
    struct sim_pending *pending;

    run->stint.ns = 0;
    if (run->at.time >= until)
        return false;
    if (run->count == 0) {
        if (until != UINT64_MAX)
            run->at.time = until;
        return false;
    }
    if (run->at.time >= run->ends || !pending_of(run, run->holder - 1))
        begin_slice(run);
    if (run->at.time < run->begins) {
        pass(run, run->begins < until ? run->begins : until);
        return run->at.time < until;
    }
    pending = pending_of(run, run->holder - 1);
    serve(run, pending, until);
    return run->at.time < until;
}

bool sim_slices_copy(const struct sim_state *state, unsigned card, bool only_living, struct sim_run *run) {
    const struct sim_region *region = state->region;
    const struct sim_clock *clock = &region->clocks[card];
    uint32_t bound = region->process_bound, changing = clock->slices.changing;

    run->at = (struct sim_moment){clock->now[0].time, 0, clock->now[0].busy};
    run->holder = clock->slices.holder;
    run->begins = clock->slices.begins;
    run->ends = clock->slices.ends;
    run->stint.ns = 0;
    run->count = 0;
    for (uint32_t slot = 0; slot < bound && slot < SIM_MAX_PROCESSES; slot++) {
        const struct sim_card_use *use = &region->processes[slot].cards[card];
        uint64_t served = use->served, end = use->end;

        if (region->processes[slot].in_use && end > served && (!only_living || sim_slot_alive(state, slot)))
            run->pending[run->count++] = (struct sim_pending){slot, end, served};
    }
    atomic_thread_fence(memory_order_acquire);
    return changing % 2 == 0 && clock->slices.changing == changing;
}

/* Of a step, and what it leaves. Under the lock. */
void sim_slices_keep(struct sim_state *state, unsigned card, const struct sim_run *run) {
    struct sim_clock *clock = &state->region->clocks[card];
    struct sim_slices *slices = &clock->slices;
    struct sim_stint *stint = &slices->stints[(slices->count + SIM_STINTS - 1) % SIM_STINTS];

    slices->changing |= 1;
    if (run->stint.ns > 0) {
        if (slices->count == 0 || stint->slot != run->stint.slot || stint->begin + stint->ns != run->stint.begin ||
            stint->served + stint->ns != run->stint.served) {
            stint = &slices->stints[slices->count % SIM_STINTS];
            stint->slot = run->stint.slot;
            stint->begin = run->stint.begin;
            stint->served = run->stint.served;
            stint->ns = 0;
            slices->count++;
        }
        stint->ns += run->stint.ns;
        state->region->processes[run->stint.slot].cards[card].served = run->stint.served + run->stint.ns;
    }
    clock->now[0].time = run->at.time;
    clock->now[0].busy = run->at.busy;
    slices->holder = run->holder;
    slices->begins = run->begins;
    slices->ends = run->ends;
    slices->changing++;
}

uint64_t sim_slices_when(const struct sim_clock *clock, unsigned slot, uint64_t work) {
    const struct sim_slices *slices = &clock->slices;
    uint64_t count = slices->count, time = clock->now[0].time;

    for (uint64_t i = 0; i < count && i < SIM_STINTS; i++) {
        const struct sim_stint *stint = &slices->stints[(count - 1 - i) % SIM_STINTS];

        if (stint->slot != slot)
            continue;
        if (stint->served < work) {
            uint64_t ns = work - stint->served, most = stint->ns;

            return stint->begin + (ns < most ? ns : most);
        }
        time = stint->begin;
    }
    return time; /* longer ago than is known */
}

uint64_t sim_slices_foresee(struct sim_run *run, unsigned slot, uint64_t work) {
    uint64_t horizon = run->at.time + FORESEEN_NS;
    bool goes_on;

    do {
        goes_on = sim_slices_step(run, horizon);
        if (run->stint.ns > 0 && run->stint.slot == slot && run->stint.served + run->stint.ns >= work)
            return run->stint.begin + (work > run->stint.served ? work - run->stint.served : 0);
    } while (goes_on);
    return horizon;
}
