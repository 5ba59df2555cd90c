/* SPDX-License-Identifier: Apache-2.0 */
/* What tests and benchmarks tell the driver of cards_driver.c, and what it tells them: its variable cards_machine. */
#ifndef PARTITA_CARDS_DRIVER_H
#define PARTITA_CARDS_DRIVER_H

#include <stdint.h>

#include "card_contexts.h"

enum { CARDS_DRIVER_CARDS = CONTEXT_CARDS };

struct cards_machine {
    uint32_t call_us;                      /* so long a call for an event takes, in which nothing is computed */
    uint32_t blocked;                      /* 1: a call for an event in context 1 does not come back */
    uint32_t waiting;                      /* such calls */
    uint64_t recorded[CARDS_DRIVER_CARDS]; /* events */
};

#endif
