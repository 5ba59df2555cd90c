/*
 * The simulated hardware: one file, run/partita-simulator/state, mapped by every process. It plays the kernel driver: it
 * knows how much of each card each process holds, and takes everything back from a process that is gone.
 *
 * A process owns a slot of the region exactly as long as the kernel holds its lock on one byte of the file `processes`
 * (an open-file-description lock: it ends with the process however that dies, and can be tested from any pid namespace).
 * A second, process-associated lock lets a reader learn the owner's pid as its own pid namespace names it (fcntl(2),
 * F_OFD_GETLK gives l_pid in the caller's namespace).
 *
 * Changes are made under one lock word in the region whose value names the owner's slot; whoever waits for a dead owner
 * takes the lock over and rebuilds the totals from the slots of the living. Lock order: the process' own mutex, then the
 * lock word. Readers take no lock.
 */
#ifndef PARTITA_SIM_STATE_H
#define PARTITA_SIM_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "../node/node.h"

#define SIM_MAX_PROCESSES 4096
#define SIM_STATE_VERSION 1

/* What one process holds of one card. */
struct sim_card_use {
    _Atomic uint64_t memory;   /* bytes of allocations, as the card's allocator rounds them */
    _Atomic uint64_t overhead; /* bytes of contexts */
    _Atomic uint64_t contexts;
    _Atomic uint64_t launches;
    uint64_t later[4];
};

struct sim_process {
    _Atomic uint32_t in_use;
    _Atomic uint32_t pid;           /* in the owner's own pid namespace */
    _Atomic uint64_t pid_namespace; /* its inode, 0 if unknown */
    uint64_t later[6];
    struct sim_card_use cards[SIM_MAX_CARDS];
};

struct sim_region {
    char magic[8];
    uint32_t version;
    _Atomic uint32_t lock;
    _Atomic uint32_t process_bound; /* all slots in use are below */
    uint32_t pad;
    _Atomic uint64_t used[SIM_MAX_CARDS]; /* sum of memory and overhead over the slots */
    uint64_t later[8];
    struct sim_process processes[SIM_MAX_PROCESSES];
};

enum sim_use { SIM_MEMORY, SIM_OVERHEAD };

/* One process' view of the region. */
struct sim_state {
    struct sim_region *region;
    int locks; /* descriptor of the file `processes` */
    int slot;  /* -1: only reads */
    pthread_mutex_t threads;
};

/* Maps the region of the node, making its files if they are not there. False: errno says why. */
bool sim_state_open(struct sim_state *state, const struct sim_node *node, bool writable);
void sim_state_close(struct sim_state *state);

/* Takes a slot for this process, so that it may reserve. False if every slot belongs to a living process. */
bool sim_state_join(struct sim_state *state);

/* Gives up what a child inherited by fork: neither keeps the parent's slot alive nor touches it. */
void sim_state_forget_after_fork(struct sim_state *state);

/* Charges bytes of a card whose CUDA-visible capacity is `capacity`; false if they do not fit, after the dead gave back. */
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
    unsigned pid; /* in the reader's pid namespace, 0 if it cannot be seen from there */
    uint64_t memory, overhead, contexts, launches;
};

/* Fills `uses` with at most `room` living processes that have a context on or memory of the card; gives how many there are. */
unsigned sim_state_processes(const struct sim_state *state, unsigned card, struct sim_process_use *uses, unsigned room);

/* Inside of state/ only. */
bool sim_slot_alive(const struct sim_state *state, unsigned slot);
unsigned sim_slot_pid(const struct sim_state *state, unsigned slot);
bool sim_slot_claim(struct sim_state *state, unsigned slot);
void sim_state_lock(struct sim_state *state);
void sim_state_unlock(struct sim_state *state);
void sim_state_rebuild(struct sim_state *state);
uint64_t sim_own_pid_namespace(void);

#endif
