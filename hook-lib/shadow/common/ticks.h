/* SPDX-License-Identifier: Apache-2.0 */
/* A clock that costs a few nanoseconds, of a rate that is only roughly known: for what is compared, not measured. */
#ifndef PARTITA_TICKS_H
#define PARTITA_TICKS_H

#include <stdint.h>

static inline uint64_t ticks_now(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
#error "no cheap clock known for this machine"
#endif
}

/* The rate where it was not measured yet. */
static inline uint64_t ticks_in_a_microsecond(void) {
#if defined(__x86_64__)
    return 2000;
#else
    uint64_t hertz;
    __asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hertz));
    return hertz / 1000000 ? hertz / 1000000 : 1;
#endif
}

#endif
