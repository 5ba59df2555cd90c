/* What share.c, which charges, and share_care.c, which looks after the share, have in common. */
#ifndef PARTITA_SHARE_INSIDE_H
#define PARTITA_SHARE_INSIDE_H

#include <time.h>

#include "common/atomics.h"
#include "share/share.h"

static inline uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static inline uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

#endif
