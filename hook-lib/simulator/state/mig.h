/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MIG as it is now: which cards have it enabled, and their GPU and compute instances. Each compute instance is a *unit*
 * of its own: it has its own use by each process, its own total and its own clock, as a whole card has. A GPU
 * instance's memory is what the units of its compute instances use together.
 *
 * Changes are made under the state's lock. An instance is there exactly while its serial number is not 0: it is written
 * last and taken away first, so that a process that dies in between leaves nothing half made.
 */
#ifndef PARTITA_SIM_STATE_MIG_H
#define PARTITA_SIM_STATE_MIG_H

#include <stdatomic.h>

#include "../node/node.h"

/* Units: the cards, then those of each card's instances. */
#define SIM_MAX_UNITS (SIM_MAX_CARDS * (1 + SIM_MIG_MAX))
#define SIM_MIG_UNIT(card, slot) (SIM_MAX_CARDS + (card) * SIM_MIG_MAX + (slot))

struct sim_gpu_instance {
    _Atomic uint64_t serial;
    _Atomic uint32_t profile, start;
};

struct sim_compute_instance {
    _Atomic uint64_t serial;
    _Atomic uint32_t gpu; /* slot of its GPU instance */
    _Atomic uint32_t id, kind, start;
};

struct sim_mig {
    _Atomic uint32_t enabled, pending;
    _Atomic uint64_t declared; /* the layout of node.conf that was applied last */
    struct sim_gpu_instance gpu[SIM_MIG_MAX];
    struct sim_compute_instance compute[SIM_MIG_MAX];
};

struct sim_state;

enum sim_mig_result {
    SIM_MIG_DONE,
    SIM_MIG_OFF,     /* MIG is not enabled */
    SIM_MIG_NO_ROOM, /* occupied */
    SIM_MIG_IN_USE,  /* by a process, or by compute instances */
    SIM_MIG_GONE     /* no such instance any more */
};

/* A compute instance and the GPU instance that it is part of, as they were at one moment. */
struct sim_mig_instance {
    uint64_t serial, gpu_serial;
    unsigned slot, gpu; /* of both in the state */
    unsigned profile, start;
    unsigned id, gpu_id; /* the driver's numbers */
    unsigned kind, compute_start;
};

bool sim_mig_enabled(const struct sim_state *state, unsigned card);

/* False if there is none in the slot. */
bool sim_mig_gpu(const struct sim_state *state, const struct sim_card *card, unsigned slot,
                 struct sim_mig_instance *instance);
bool sim_mig_compute(const struct sim_state *state, const struct sim_card *card, unsigned slot,
                     struct sim_mig_instance *instance);

/* A card's instances, in the order of their numbers. */
unsigned sim_mig_gpus(const struct sim_state *state, const struct sim_card *card,
                      struct sim_mig_instance list[SIM_MIG_MAX]);
unsigned sim_mig_computes(const struct sim_state *state, const struct sim_card *card,
                          struct sim_mig_instance list[SIM_MIG_MAX]);

/* Of the compute instances those that this process can open the nodes of. */
unsigned sim_mig_visible_computes(const struct sim_state *state, const struct sim_node *node,
                                  const struct sim_card *card, struct sim_mig_instance list[SIM_MIG_MAX]);

/* The card that a compute instance is to those who use it: unit, name, UUID, memory and SMs are the instance's. */
void sim_mig_card(const struct sim_card *card, const struct sim_mig_instance *instance, struct sim_card *part);

/* Bytes that living processes hold of a GPU instance, or of a card and all of its instances. */
uint64_t sim_mig_gpu_used(const struct sim_state *state, unsigned card, unsigned gpu);
uint64_t sim_card_used(const struct sim_state *state, unsigned card);

/* Sum of `used` over the units that share a unit's memory. Under the lock. */
uint64_t sim_mig_charged(const struct sim_state *state, unsigned unit);

/*
 * Changes. `slot` tells where the new instance is; `start` < 0 leaves the placement to the driver. Switching MIG needs
 * a card that nobody uses; if somebody does, the mode is pending. Its instances go with the mode.
 */
enum sim_mig_result sim_mig_switch(struct sim_state *state, unsigned card, bool enabled);
enum sim_mig_result sim_mig_make_gpu(struct sim_state *state, const struct sim_card *card, unsigned profile, int start,
                                     unsigned *slot);
enum sim_mig_result sim_mig_make_compute(struct sim_state *state, const struct sim_card *card, unsigned gpu,
                                         uint64_t serial, unsigned kind, int start, unsigned *slot);
enum sim_mig_result sim_mig_end_compute(struct sim_state *state, unsigned card, unsigned slot, uint64_t serial);
/* `all`: with its compute instances, if nobody uses them. */
enum sim_mig_result sim_mig_end_gpu(struct sim_state *state, unsigned card, unsigned slot, uint64_t serial, bool all);

/* How many more of a profile there is room for. */
unsigned sim_mig_gpu_room(const struct sim_state *state, const struct sim_card *card, unsigned profile);
unsigned sim_mig_compute_room(const struct sim_state *state, const struct sim_card *card,
                              const struct sim_mig_instance *gpu, unsigned kind);

/*
 * Gives each card the layout of node.conf that it has not had yet, unless somebody uses it. Takes a slot if there is
 * anything to do.
 */
void sim_mig_apply(struct sim_state *state, const struct sim_node *node);

#endif
