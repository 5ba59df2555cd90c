/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated hardware: one file, run/partita-simulator/state, mapped by every process. It plays the kernel driver:
 * it knows how much of each card each process holds, and takes everything back from a process that is gone.
 *
 * A process owns a slot of the region exactly as long as the kernel holds its lock on one byte of the file `processes`
 * (an open-file-description lock: it ends with the process however that dies, and can be tested from any pid
 * namespace). A second, process-associated lock lets a reader learn the owner's pid as its own pid namespace names it
 * (fcntl(2), F_OFD_GETLK gives l_pid in the caller's namespace).
 *
 * Changes are made under one lock word in the region whose value names the owner's slot; whoever waits for a dead owner
 * takes the lock over and rebuilds the totals from the slots of the living. Lock order: the process' own mutex, then
 * the lock word. Readers take no lock.
 */
#ifndef PARTITA_SIM_STATE_H
#define PARTITA_SIM_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../node/node.h"
#include "clock.h"
#include "mig.h"

#define SIM_MAX_PROCESSES 4096
#define SIM_CGROUP_PATH 512
#define SIM_CGROUP_PATHS 2048
#define SIM_STATE_VERSION 5

/*
 * What one process holds of one unit: a card, or a compute instance of one with MIG (mig.h). `card` below is a unit
 * wherever one is charged, or its time asked for.
 */
struct sim_card_use {
    _Atomic uint64_t memory;   /* bytes of allocations, as the card's allocator rounds them */
    _Atomic uint64_t overhead; /* bytes of contexts */
    _Atomic uint64_t contexts;
    _Atomic uint64_t launches;
    _Atomic uint64_t submitted; /* ns of the SMs' time that its work takes, of all that it ever submitted */
    _Atomic uint64_t end;       /* the work time at which the last of it is done (clock.h) */
    _Atomic uint64_t served;    /* where the card has time slices: the process' own work time */
    uint64_t later[1];
};

struct sim_process {
    _Atomic uint32_t in_use;
    _Atomic uint32_t pid;           /* in the owner's own pid namespace */
    _Atomic uint64_t pid_namespace; /* its inode, 0 if unknown */
    uint64_t later[6];
    char cgroups[SIM_CGROUP_PATHS]; /* where it was when it joined (limits.c) */
    struct sim_card_use cards[SIM_MAX_UNITS];
};

/* What the processes of a cgroup, and of those below it, may hold of a card (limits.c). */
#define SIM_MAX_LIMITS 1024
struct sim_limit {
    _Atomic uint32_t in_use;
    uint32_t card;
    uint64_t soft, hard;
    char cgroup[SIM_CGROUP_PATH]; /* the folder, as who set it saw it */
};

/* Memory that more than one process may hold (shared.c). */
#define SIM_MAX_SHARED 1024
struct sim_shared {
    _Atomic uint64_t id; /* 0: free */
    _Atomic uint64_t bytes;
    _Atomic uint32_t card;
    _Atomic uint64_t holders[SIM_MAX_PROCESSES / 64]; /* a bit a slot */
};

/* What a function is made to do (faults.c). */
#define SIM_MAX_FAULTS 64
struct sim_fault {
    _Atomic uint32_t active;
    uint32_t pid; /* 0: every process */
    char function[64];
    int32_t error; /* what it returns without doing anything; 0: it goes on */
    uint32_t pad;
    uint64_t delay_us;
    /* which calls: the from-th (1 is the first), each every-th after it; times 0: for ever */
    uint64_t from, every, times;
    _Atomic uint64_t calls, met;
};

/* XID errors, in a ring. */
#define SIM_MAX_EVENTS 256
struct sim_event {
    _Atomic uint32_t card;
    _Atomic uint64_t xid;
};

struct sim_region {
    char magic[8];
    uint32_t version;
    _Atomic uint32_t lock;
    _Atomic uint32_t process_bound; /* all slots in use are below */
    uint32_t pad;
    _Atomic uint64_t used[SIM_MAX_UNITS];     /* sum of memory and overhead over the slots */
    _Atomic uint32_t recovery[SIM_MAX_CARDS]; /* enum sim_recovery: what an XID error asks for */
    struct sim_process processes[SIM_MAX_PROCESSES];
    _Atomic uint32_t fault_count;
    struct sim_fault faults[SIM_MAX_FAULTS];
    _Atomic uint64_t event_count; /* ever raised */
    struct sim_event events[SIM_MAX_EVENTS];
    _Atomic uint64_t last_shared;
    _Atomic uint32_t shared_bound; /* all in use are below */
    struct sim_shared shared[SIM_MAX_SHARED];
    _Atomic uint32_t limit_bound; /* all in use are below */
    struct sim_limit limits[SIM_MAX_LIMITS];
    _Atomic uint64_t last_instance;
    struct sim_mig migs[SIM_MAX_CARDS];
    struct sim_clock clocks[SIM_MAX_UNITS];
    /* of whole cards: NVML has none of instances */
    _Atomic uint64_t samples[SIM_MAX_PROCESSES][SIM_MAX_CARDS][SIM_SAMPLES];
};

enum sim_use { SIM_MEMORY, SIM_OVERHEAD };

/* One process' view of the region. */
struct sim_state {
    struct sim_region *region;
    int locks; /* descriptor of the file `processes` */
    int slot;  /* -1: reserves nothing */
    bool writable;
    uint64_t period[SIM_MAX_CARDS]; /* of samples, ns */
    struct sim_slicing slicing[SIM_MAX_CARDS];
    uint64_t looked[SIM_MAX_UNITS]; /* when this process last asked whether those with pending work live */
    pthread_mutex_t threads;
};

/* Maps the region of the node, making its files if they are not there. False: errno says why. */
bool sim_state_open(struct sim_state *state, const struct sim_node *node, bool writable);
void sim_state_close(struct sim_state *state);

/*
 * Takes a slot for this process, so that it may reserve, if it has none. False if every slot belongs to a living
 * process.
 */
bool sim_state_join(struct sim_state *state);

/* Gives up what a child inherited by fork: neither keeps the parent's slot alive nor touches it. */
void sim_state_forget_after_fork(struct sim_state *state);

/*
 * Charges bytes of a card whose CUDA-visible capacity is `capacity`; false if they do not fit, after the dead gave
 * back.
 */
bool sim_state_reserve(struct sim_state *state, unsigned card, enum sim_use use, uint64_t bytes, uint64_t capacity);

/* As sim_state_reserve, but takes as much as fits in whole `grain`s; gives what it took. */
uint64_t sim_state_reserve_up_to(struct sim_state *state, unsigned card, uint64_t bytes, uint64_t capacity,
                                 uint64_t grain);
void sim_state_release(struct sim_state *state, unsigned card, enum sim_use use, uint64_t bytes);

/* Counts a context that came (+1) or went (-1). */
void sim_state_count_context(struct sim_state *state, unsigned card, int change);

/* Bytes of a card that living processes hold. Needs no slot. */
uint64_t sim_state_used(const struct sim_state *state, unsigned card);

/* One living process on a card, as a reader sees it. */
struct sim_process_use {
    unsigned slot;
    unsigned pid; /* in the reader's pid namespace, 0 if it cannot be seen from there */
    uint64_t memory, overhead, contexts, launches;
    uint64_t busy, pending; /* ns of the SMs' time that it had, and that it still waits for */
};

/*
 * Fills `uses` with at most `room` living processes that have a context on or memory of the card; gives how many there
 * are.
 */
unsigned sim_state_processes(const struct sim_state *state, unsigned card, struct sim_process_use *uses, unsigned room);

/*
 * Makes memory that this process has reserved one that others may hold too; gives its number, 0 if there are too many.
 */
uint64_t sim_shared_make(struct sim_state *state, unsigned card, uint64_t bytes);
/* False: nobody who lives holds it any more. */
bool sim_shared_hold(struct sim_state *state, uint64_t id);
void sim_shared_drop(struct sim_state *state, uint64_t id);

/*
 * Limits a cgroup's memory of a card, or where soft is 0 and hard UINT64_MAX no longer. False: there are too many, or
 * the folder's name is too long.
 */
bool sim_limit_set(struct sim_state *state, unsigned card, const char *cgroup, uint64_t soft, uint64_t hard);
/* False: the cgroup has none of that card. `used` is what its processes hold. */
bool sim_limit_get(const struct sim_state *state, unsigned card, const char *cgroup, struct sim_limit *limit,
                   uint64_t *used);
/* The limit on the caller's very cgroup, by which the driver's figures of free memory go; false: it has none. */
bool sim_limit_own(const struct sim_state *state, unsigned card, struct sim_limit *limit, uint64_t *used);

/* What the ordered faults make of a call: waits as they say, and gives the error to return, or 0. */
int sim_fault_met(struct sim_region *region, const char *function);
/* False: there are too many. */
bool sim_fault_order(struct sim_state *state, const struct sim_fault *fault);
void sim_faults_clear(struct sim_state *state);

void sim_event_raise(struct sim_state *state, unsigned card, uint64_t xid);

/* Whether a living process uses the card, or an instance of it. */
bool sim_card_in_use(const struct sim_state *state, unsigned card);

/* Inside of state/ only. */
int sim_shared_payer(const struct sim_state *state, const struct sim_shared *shared);
uint64_t sim_shared_bytes(const struct sim_state *state, unsigned card, int payer); /* payer < 0: of all */
void sim_shared_rebuild(struct sim_state *state, uint64_t used[SIM_MAX_UNITS]);
void sim_shared_forget(struct sim_state *state, unsigned slot);
uint64_t sim_limits_room(const struct sim_state *state, unsigned card, uint64_t room);
void sim_own_cgroups(char cgroups[SIM_CGROUP_PATHS]);
bool sim_slot_alive(const struct sim_state *state, unsigned slot);
unsigned sim_slot_pid(const struct sim_state *state, unsigned slot);
bool sim_slot_claim(struct sim_state *state, unsigned slot);
void sim_state_lock(struct sim_state *state);
void sim_state_unlock(struct sim_state *state);
void sim_state_rebuild(struct sim_state *state);
uint64_t sim_own_pid_namespace(void);

#endif
