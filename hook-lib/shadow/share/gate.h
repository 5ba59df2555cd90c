/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets the steps of a process' threads run side by side, and now and then one thread alone. A step holds it for well
 * under a microsecond and never across a call of the driver; it waits only while another thread joins, re-reads or
 * repairs. Who wants to be alone gives up after a while: a signal's handler may have interrupted a step of its own
 * thread, or one that waits for it in turn. Nobody is interrupted while alone (interruptions.h).
 */
#ifndef PARTITA_GATE_H
#define PARTITA_GATE_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/now.h"

#include "common/atomics.h"

#define GATE_ALONE UINT32_C(0x80000000)

/* What stands in the gate, once nobody is alone: for who enters by a swap of a word that it is part of. */
static inline uint32_t gate_open_to(const uint32_t *gate) {
    uint32_t now;
    while ((now = load_acquire(gate)) & GATE_ALONE)
        sched_yield();
    return now;
}

static inline void gate_enter(uint32_t *gate) {
    while (__atomic_fetch_add(gate, 1, __ATOMIC_ACQUIRE) & GATE_ALONE) {
        __atomic_fetch_sub(gate, 1, __ATOMIC_RELEASE);
        sched_yield();
    }
}

static inline void gate_leave(uint32_t *gate) {
    __atomic_fetch_sub(gate, 1, __ATOMIC_RELEASE);
}

/* False: somebody stayed within a step for longer than that many ns. */
static inline bool gate_enter_alone(uint32_t *gate, uint64_t patience) {
    while (__atomic_fetch_or(gate, GATE_ALONE, __ATOMIC_ACQUIRE) & GATE_ALONE)
        sched_yield();
    uint64_t begin = 0;
    while (load_acquire(gate) != GATE_ALONE) {
        uint64_t now = now_ns();
        begin = begin ? begin : now;
        if (now - begin > patience) {
            __atomic_fetch_and(gate, ~GATE_ALONE, __ATOMIC_RELEASE);
            return false;
        }
        sched_yield();
    }
    return true;
}

static inline void gate_leave_alone(uint32_t *gate) {
    __atomic_fetch_and(gate, ~GATE_ALONE, __ATOMIC_RELEASE);
}

#endif
