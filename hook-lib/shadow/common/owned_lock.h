/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock for a few instructions that knows which thread holds it. A signal's handler that interrupts its holder would
 * wait for it for ever: what a handler may call asks owned_lock_mine first, and does without.
 */
#ifndef PARTITA_OWNED_LOCK_H
#define PARTITA_OWNED_LOCK_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/atomics.h"
#include "common/this_thread.h"

/* The thread that holds it; 0: nobody, also in a child of fork. */
struct owned_lock {
    uint64_t holder;
};

static inline void owned_lock_enter(struct owned_lock *lock) {
    uint64_t me = this_thread(), nobody = 0;
    while (!__atomic_compare_exchange_n(&lock->holder, &nobody, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        nobody = 0;
        sched_yield();
    }
}

static inline void owned_lock_leave(struct owned_lock *lock) {
    store_release(&lock->holder, 0);
}

/* The thread that asks holds it: it is a handler that interrupted itself. */
static inline bool owned_lock_mine(const struct owned_lock *lock) {
    return load_relaxed(&lock->holder) == this_thread();
}

#endif
