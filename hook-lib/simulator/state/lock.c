/* SPDX-License-Identifier: Apache-2.0 */
/* The lock word: 0, or the owner's slot + 1, with WAITERS where somebody sleeps. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "state.h"

#define WAITERS 0x80000000u
#define SPINS 200
#define PATIENCE_NS 5000000 /* how long a waiter sleeps before it looks whether the owner lives */

static void sleep_on(_Atomic uint32_t *word, uint32_t value) {
    struct timespec patience = {0, PATIENCE_NS};

    syscall(SYS_futex, word, FUTEX_WAIT, value, &patience, NULL, 0);
}

/* A word that names our own slot was left by the slot's last owner: our threads take turns by the mutex. */
static bool abandoned(const struct sim_state *state, uint32_t word) {
    int owner = (int)(word & ~WAITERS) - 1;

    return owner >= SIM_MAX_PROCESSES || owner == state->slot || !sim_slot_alive(state, (unsigned)owner);
}

void sim_state_lock(struct sim_state *state) {
    _Atomic uint32_t *lock = &state->region->lock;
    uint32_t own = (uint32_t)state->slot + 1, word;

    pthread_mutex_lock(&state->threads);
    for (int spin = 0; spin < SPINS; spin++) {
        word = 0;
        if (atomic_compare_exchange_weak(lock, &word, own))
            return;
    }
    for (;;) {
        word = 0;
        if (atomic_compare_exchange_strong(lock, &word, own | WAITERS))
            return;
        if (abandoned(state, word)) {
            if (atomic_compare_exchange_strong(lock, &word, own | WAITERS)) {
                sim_state_rebuild(state);
                sim_clock_repair(state);
                return;
            }
            continue;
        }
        if ((word & WAITERS) || atomic_compare_exchange_strong(lock, &word, word | WAITERS))
            sleep_on(lock, word | WAITERS);
    }
}

void sim_state_unlock(struct sim_state *state) {
    if (atomic_exchange(&state->region->lock, 0) & WAITERS)
        syscall(SYS_futex, &state->region->lock, FUTEX_WAKE, 1, NULL, NULL, 0);
    pthread_mutex_unlock(&state->threads);
}

/* Takes back what the dead held, and counts the totals anew. Under the lock. */
void sim_state_rebuild(struct sim_state *state) {
    struct sim_region *region = state->region;
    uint64_t used[SIM_MAX_UNITS] = {0};
    uint32_t bound = region->process_bound;

    for (uint32_t slot = 0; slot < bound && slot < SIM_MAX_PROCESSES; slot++) {
        struct sim_process *process = &region->processes[slot];

        if (!process->in_use)
            continue;
        if (!sim_slot_alive(state, slot)) {
            process->in_use = 0;
            continue;
        }
        for (int card = 0; card < SIM_MAX_UNITS; card++)
            used[card] += process->cards[card].memory + process->cards[card].overhead;
    }
    sim_shared_rebuild(state, used);
    for (int card = 0; card < SIM_MAX_UNITS; card++)
        region->used[card] = used[card];
}
