/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much GPU time was used when, over the last two seconds: what a report is compared with goes up to a moment that
 * is past.
 */
#ifndef PARTITA_CORE_HISTORY_H
#define PARTITA_CORE_HISTORY_H

#include <stdint.h>

#include "partita/usage_region.h"

/* What is asked for may lie so far back. */
#define CORE_HISTORY_NS ((uint64_t)(PARTITA_MARKS - 1) << PARTITA_MARK_BITS)

/* `ns` were used in from..to (CLOCK_MONOTONIC, ns). */
void core_history_add(struct partita_account *account, uint64_t from, uint64_t to, uint64_t ns);

/* How many ns were used from `at` on, as far as is known by `now`. */
uint64_t core_history_since(const struct partita_account *account, uint64_t at, uint64_t now);

#endif
