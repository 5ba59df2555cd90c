/* SPDX-License-Identifier: Apache-2.0 */
#include <sched.h>
#include <time.h>

#include "clock_run.h"

#define LOOK_NS 1000000 /* how often a process asks whether the others with pending work live */
#define COPIES 1000     /* that a reader makes until nobody writes meanwhile */
#define RESTART_NS UINT64_C(1000000000)

uint64_t sim_clock_time(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static struct sim_moment published(const struct sim_clock *clock) {
    struct sim_moment moment;
    uint32_t current;

    do {
        current = clock->current;
        moment = (struct sim_moment){clock->now[current % 2].time, clock->now[current % 2].work,
                                     clock->now[current % 2].busy};
        atomic_thread_fence(memory_order_acquire);
    } while (clock->current != current);
    return moment;
}

static void publish(struct sim_clock *clock, const struct sim_moment *moment) {
    uint32_t next = clock->current + 1;

    clock->now[next % 2].time = moment->time;
    clock->now[next % 2].work = moment->work;
    clock->now[next % 2].busy = moment->busy;
    clock->current = next;
}

void sim_run_begin(const struct sim_state *state, unsigned card, bool only_living, struct sim_run *run) {
    const struct sim_region *region = state->region;
    uint32_t bound = region->process_bound;

    run->slicing = sim_slicing_of(state, card);
    if (run->slicing.slice > 0) {
        for (int i = 0; i < COPIES && !sim_slices_copy(state, card, only_living, run); i++)
            sched_yield();
        return;
    }
    run->at = published(&region->clocks[card]);
    run->count = 0;
    for (uint32_t slot = 0; slot < bound && slot < SIM_MAX_PROCESSES; slot++) {
        uint64_t end = region->processes[slot].cards[card].end;

        if (region->processes[slot].in_use && end > run->at.work && (!only_living || sim_slot_alive(state, slot)))
            run->pending[run->count++] = (struct sim_pending){slot, end, 0};
    }
}

uint64_t sim_run_pending(const struct sim_run *run, unsigned slot) {
    for (unsigned i = 0; i < run->count; i++)
        if (run->pending[i].slot == slot)
            return run->pending[i].end - (run->slicing.slice ? run->pending[i].served : run->at.work);
    return 0;
}

bool sim_run_step(struct sim_run *run, uint64_t until) {
    uint64_t left = until > run->at.time ? until - run->at.time : 0, first = UINT64_MAX, needed;
    unsigned kept = 0;

    if (run->slicing.slice > 0)
        return sim_slices_step(run, until);
    if (run->count == 0) {
        if (until != UINT64_MAX)
            run->at.time += left;
        return false;
    }
    for (unsigned i = 0; i < run->count; i++)
        if (run->pending[i].end < first)
            first = run->pending[i].end;
    if (__builtin_mul_overflow(first - run->at.work, (uint64_t)run->count, &needed))
        needed = UINT64_MAX;
    if (needed > left) {
        left -= left % run->count; /* the rest is for the next who looks */
        run->at.work += left / run->count;
        run->at.time += left;
        run->at.busy += left;
        return false;
    }
    run->at.work = first;
    run->at.time += needed;
    run->at.busy += needed;
    for (unsigned i = 0; i < run->count; i++)
        if (run->pending[i].end > first)
            run->pending[kept++] = run->pending[i];
    run->count = kept;
    return true;
}

void sim_clock_look(const struct sim_state *state, unsigned card, struct sim_run *run) {
    sim_run_begin(state, card, true, run);
    while (sim_run_step(run, sim_clock_time()))
        ;
}

struct sim_moment sim_clock_read(const struct sim_state *state, unsigned card) {
    struct sim_run run;

    sim_clock_look(state, card, &run);
    return run.at;
}

/* By how much the time at which work was done would be wrong without the middle one of three points. */
static uint64_t bend(const struct sim_clock *clock, uint32_t a, uint32_t b, uint32_t c) {
    uint64_t work = clock->history[c].work - clock->history[a].work,
             time = clock->history[c].time - clock->history[a].time;
    uint64_t straight = clock->history[a].time, real = clock->history[b].time;

    if (work == 0)
        return 0;
    straight += (uint64_t)((unsigned __int128)(clock->history[b].work - clock->history[a].work) * time / work);
    return straight > real ? straight - real : real - straight;
}

/* Drops points of the older half that the others tell almost as well, never two that stand side by side. */
static uint32_t thin_out(struct sim_clock *clock, uint32_t points) {
    for (uint64_t wrong = 1000; points > SIM_HISTORY - SIM_HISTORY / 8; wrong *= 4) {
        uint32_t kept = 1;

        for (uint32_t i = 1; i < points; i++) {
            if (i < SIM_HISTORY / 2 && bend(clock, kept - 1, i, i + 1) <= wrong)
                i++;
            clock->history[kept].time = (uint64_t)clock->history[i].time;
            clock->history[kept].work = (uint64_t)clock->history[i].work;
            kept++;
        }
        points = kept;
    }
    return points;
}

/* Keeps where the speed changes. */
static void remember(struct sim_clock *clock, const struct sim_moment *moment) {
    uint32_t points = clock->points;

    if (points == SIM_HISTORY)
        points = thin_out(clock, points);
    clock->history[points].time = moment->time;
    clock->history[points].work = moment->work;
    clock->points = points + 1;
}

/* Who is dead has no pending work. Under the lock. */
static void bury(struct sim_state *state, unsigned card) {
    struct sim_region *region = state->region;
    bool sliced = sim_slicing_of(state, card).slice > 0;
    uint64_t work = published(&region->clocks[card]).work;
    uint32_t bound = region->process_bound;

    for (uint32_t slot = 0; slot < bound && slot < SIM_MAX_PROCESSES; slot++) {
        struct sim_card_use *use = &region->processes[slot].cards[card];

        if (region->processes[slot].in_use && use->end > (sliced ? (uint64_t)use->served : work) &&
            !sim_slot_alive(state, slot))
            use->end = sliced ? (uint64_t)use->served : 0;
    }
}

/* Takes the clock on, and keeps what there is to keep. Under the lock. */
static void go_on(struct sim_state *state, unsigned card, struct sim_run *run, uint64_t until) {
    struct sim_clock *clock = &state->region->clocks[card];

    if (run->slicing.slice > 0) {
        for (bool more = true; more;) {
            more = sim_run_step(run, until);
            sim_slices_keep(state, card, run);
        }
        return;
    }
    while (sim_run_step(run, until))
        remember(clock, &run->at);
    publish(clock, &run->at);
}

/* Takes the clock on to the present. Under the lock. */
static void advance(struct sim_state *state, unsigned card, struct sim_run *run) {
    struct sim_clock *clock = &state->region->clocks[card];
    uint64_t now = sim_clock_time();

    if (now - state->looked[card] >= LOOK_NS) {
        bury(state, card);
        state->looked[card] = now;
    }
    sim_run_begin(state, card, false, run);
    if (run->at.time > now + RESTART_NS) { /* the machine has started anew since */
        run->at.time = now;
        run->begins = run->ends = 0;
        clock->points = 0;
        clock->sampled = 0;
    }
    for (uint64_t next; (next = sim_samples_next(state, card, now)) <= now;) {
        go_on(state, card, run, next);
        sim_samples_keep(state, card, run);
    }
    go_on(state, card, run, now);
}

uint64_t sim_clock_submit(struct sim_state *state, unsigned card, uint64_t cost, uint64_t *work) {
    struct sim_card_use *own = &state->region->processes[state->slot].cards[card];
    struct sim_run run;
    uint64_t end;

    if (cost > SIM_MAX_COST)
        cost = SIM_MAX_COST;
    sim_state_lock(state);
    advance(state, card, &run);
    end = own->end;
    if (run.slicing.slice > 0) {
        run.at.work = own->served;
    } else if (end <= run.at.work) {
        end = run.at.work;
        remember(&state->region->clocks[card], &run.at);
    }
    end += cost;
    own->submitted += cost;
    own->end = end;
    *work = run.at.work;
    sim_state_unlock(state);
    return end;
}

uint64_t sim_clock_mark(struct sim_state *state, unsigned card, uint64_t *work) {
    struct sim_card_use *own = &state->region->processes[state->slot].cards[card];
    struct sim_run run;
    uint64_t mark = 0;

    if (sim_slicing_of(state, card).slice == 0)
        return 0;
    sim_state_lock(state);
    advance(state, card, &run);
    if (own->end == own->served &&
        run.count > 0) { /* a mark takes a nanosecond, so that its slice shows when it came */
        own->submitted++;
        own->end++;
    }
    if (own->end > own->served)
        mark = own->served + 1;
    *work = own->served;
    sim_state_unlock(state);
    return mark;
}

/* When the work time came to `work`, which is past. Under the lock. */
static uint64_t when(const struct sim_clock *clock, const struct sim_moment *now, uint64_t work) {
    uint32_t low = 0, high = clock->points;
    struct sim_moment before, after = *now;
    uint64_t part;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (clock->history[middle].work < work)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < clock->points)
        after = (struct sim_moment){clock->history[low].time, clock->history[low].work, 0};
    if (low == 0)
        return after.time;
    before = (struct sim_moment){clock->history[low - 1].time, clock->history[low - 1].work, 0};
    if (after.work <= before.work || after.time <= before.time || work <= before.work)
        return after.time;
    part =
        (uint64_t)((unsigned __int128)(work - before.work) * (after.time - before.time) / (after.work - before.work));
    return before.time + part;
}

bool sim_clock_reached(struct sim_state *state, unsigned card, uint64_t work, uint64_t *time, uint64_t *reached) {
    struct sim_run run;
    bool done;

    sim_state_lock(state);
    advance(state, card, &run);
    if (run.slicing.slice > 0)
        run.at.work = state->region->processes[state->slot].cards[card].served;
    *reached = run.at.work;
    done = run.at.work >= work;
    if (done)
        *time = run.slicing.slice > 0 ? sim_slices_when(&state->region->clocks[card], (unsigned)state->slot, work)
                                      : when(&state->region->clocks[card], &run.at, work);
    sim_state_unlock(state);
    if (done)
        return true;
    if (run.slicing.slice > 0) {
        *time = sim_slices_foresee(&run, (unsigned)state->slot, work);
        return false;
    }
    for (unsigned i = 0; i < run.count; i++) /* who goes on longer shares the card up to there */
        if (run.pending[i].end > work)
            run.pending[i].end = work;
    while (sim_run_step(&run, UINT64_MAX))
        ;
    *time = run.at.time;
    return false;
}

void sim_clock_repair(struct sim_state *state) {
    for (unsigned card = 0; card < SIM_MAX_UNITS; card++) {
        struct sim_clock *clock = &state->region->clocks[card];

        if (sim_slicing_of(state, card).slice > 0) {
            clock->slices.changing += clock->slices.changing % 2;
            continue;
        }
        uint64_t time = published(clock).time;
        uint32_t points = clock->points <= SIM_HISTORY ? (uint32_t)clock->points : 0;

        while (points > 0 && clock->history[points - 1].time > time)
            points--; /* of a step that was not published: it will be made again */
        clock->points = points;
        for (uint32_t i = points; i-- > 1;)
            if (clock->history[i - 1].time > clock->history[i].time ||
                clock->history[i - 1].work > clock->history[i].work) {
                clock->points = 0; /* thinned out by half: when older work was done is not known any more */
                break;
            }
    }
}
