/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A card's clock: how the processes with pending work share the time of its SMs.
 *
 * Time is the machine's CLOCK_MONOTONIC in ns. Of n processes with pending work each gets 1/n of the card (what time
 * slices of a real card come to). So the card has a second time, its *work time*: it goes 1/n as fast while n processes
 * have pending work, and stands while none has. Work of `cost` ns that a process submits is done `cost` later in work
 * time than the process' work before it, whatever the others do; nobody has to touch anybody else's queue.
 *
 * A card with time slices (slices.c) gives itself to one of these processes at a time, for a slice each, in the order
 * of their slots; who has no work left gives the rest of its slice away. There each process has a work time of its own:
 * the ns that it had of the card.
 *
 * Nothing runs by itself: whoever looks takes the clock on to the present. Writers do it under the state's lock,
 * readers in a copy. History keeps where the speed changed, so that the time at which work was done is known however
 * late one looks; the older half is thinned out when it is full. The work of a process that died is gone from the
 * moment at which somebody last looked.
 */
#ifndef PARTITA_SIM_CLOCK_H
#define PARTITA_SIM_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define SIM_HISTORY 4096
#define SIM_STINTS 4096                  /* so many are kept */
#define SIM_SAMPLES 32                   /* so many are kept */
#define SIM_MAX_COST (UINT64_C(1) << 50) /* of one submission: 13 days */

struct sim_state;

struct sim_moment {
    uint64_t time, work;
    uint64_t busy; /* ns with pending work, since the node was made */
};

/* ns; slice 0: the card has no time slices. */
struct sim_slicing {
    uint64_t slice, change;
};

/* A process had the card from `begin` on for `ns`, when it had had `served` before. */
struct sim_stint {
    _Atomic uint64_t begin, served, ns;
    _Atomic uint32_t slot;
};

/* Of a card with time slices. */
struct sim_slices {
    _Atomic uint32_t changing;     /* odd while what slices change is written */
    _Atomic uint32_t holder;       /* the slot that has the present slice, or had the last, and 1; 0: none */
    _Atomic uint64_t begins, ends; /* that slice: when it began, the change being over, and ends at the latest */
    _Atomic uint64_t count;        /* stints that there ever were */
    struct sim_stint stints[SIM_STINTS];
};

struct sim_clock {
    _Atomic uint32_t current; /* the moment that counts is now[current % 2]: written elsewhere, then published */
    _Atomic uint32_t points;
    struct {
        _Atomic uint64_t time, work, busy;
    } now[2];
    struct {
        _Atomic uint64_t time, work;
    } history[SIM_HISTORY];
    _Atomic uint64_t sampled; /* number of the last sample that is kept */
    _Atomic uint64_t samples[SIM_SAMPLES];
    struct sim_slices slices;
};

/* CLOCK_MONOTONIC in ns. */
uint64_t sim_clock_time(void);

/* The present of a card, without changing anything. Needs no slot. */
struct sim_moment sim_clock_read(const struct sim_state *state, unsigned card);

/*
 * Adds work of this process behind what it has pending. Gives the work time at which it is done, and in *work the
 * present one. Work times are the process' own where the card has time slices.
 */
uint64_t sim_clock_submit(struct sim_state *state, unsigned card, uint64_t cost, uint64_t *work);

/*
 * When a mark comes that this process makes now in a stream of which all is done, as a work time: where the card has
 * time slices and serves others, only in the process' next one. 0: at once.
 */
uint64_t sim_clock_mark(struct sim_state *state, unsigned card, uint64_t *work);

/*
 * Whether the card's work time has come to `work`. If so *time is when that was; else when it will be if nothing
 * is submitted until then. *reached: the present work time.
 */
bool sim_clock_reached(struct sim_state *state, unsigned card, uint64_t work, uint64_t *time, uint64_t *reached);

/* The figures at the end of one sample (samples.c). */
struct sim_sampling {
    const struct sim_state *state;
    unsigned card;
    uint64_t number;
    bool kept;
    struct sim_moment at; /* where it is not kept */
};

/*
 * Sample `number` of a card, which ends at `number` times its sample period and may not be in the future; false: too
 * long ago.
 */
bool sim_sampling_at(const struct sim_state *state, unsigned card, uint64_t number, struct sim_sampling *sampling);

/* ns of the SMs' time that the card had given, or the process of a slot had had, by then. */
uint64_t sim_sampled_card(const struct sim_sampling *sampling);
uint64_t sim_sampled_process(const struct sim_sampling *sampling, unsigned slot);

/* After the death of one who held the lock: drops what he may have left half done. Under the lock. */
void sim_clock_repair(struct sim_state *state);

#endif
