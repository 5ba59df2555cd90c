/* SPDX-License-Identifier: Apache-2.0 */
/* What processes that use the driver of ranks_driver.c share, and its kernels: handles of functions. */
#ifndef PARTITA_RANKS_DRIVER_H
#define PARTITA_RANKS_DRIVER_H

#include <stdint.h>

#include "card_contexts.h"

enum { RANKS_CARDS = CONTEXT_CARDS, RANKS_MEETINGS = 1 << 16 };

enum ranks_kernel { RANKS_SPIN = 1, RANKS_MEET = 2 };

struct ranks_machine {
    uint32_t ranks; /* so many meet */
    uint32_t over;  /* nobody waits any longer */
    uint32_t arrived[RANKS_MEETINGS];
    struct {
        uint64_t busy_ns, busy_since; /* CLOCK_MONOTONIC; since: 0 while nothing runs */
    } cards[RANKS_CARDS];
};

#endif
