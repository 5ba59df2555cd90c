/*
 * Lets the steps of a process' threads run side by side, and now and then one thread alone. A step holds it for well under a
 * microsecond and never across a call of the driver; it waits only while another thread joins, re-reads or repairs.
 * Never taken twice by one thread.
 */
#ifndef PARTITA_GATE_H
#define PARTITA_GATE_H

#include <sched.h>
#include <stdint.h>

#define GATE_ALONE UINT32_C(0x80000000)

static inline void gate_enter(uint32_t *gate) {
    while (__atomic_fetch_add(gate, 1, __ATOMIC_ACQUIRE) & GATE_ALONE) {
        __atomic_fetch_sub(gate, 1, __ATOMIC_RELEASE);
        sched_yield();
    }
}

static inline void gate_leave(uint32_t *gate) {
    __atomic_fetch_sub(gate, 1, __ATOMIC_RELEASE);
}

static inline void gate_enter_alone(uint32_t *gate) {
    while (__atomic_fetch_or(gate, GATE_ALONE, __ATOMIC_ACQUIRE) & GATE_ALONE)
        sched_yield();
    while (__atomic_load_n(gate, __ATOMIC_ACQUIRE) != GATE_ALONE)
        sched_yield();
}

static inline void gate_leave_alone(uint32_t *gate) {
    __atomic_fetch_and(gate, ~GATE_ALONE, __ATOMIC_RELEASE);
}

#endif
