/* SPDX-License-Identifier: Apache-2.0 */
/* Readings of CLOCK_MONOTONIC. */
#ifndef PARTITA_NOW_H
#define PARTITA_NOW_H

#include <stdint.h>
#include <time.h>

static inline uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Up to 4 ms late, and cheaper. */
static inline uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

#endif
