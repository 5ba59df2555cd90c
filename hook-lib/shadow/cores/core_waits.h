/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether launches wait for the card. One that gives processes time slices, one after the other, begins with launches
 * only in their process' next slice. One that serves all processes at once, or has nothing else to do, begins at once.
 */
#ifndef PARTITA_CORE_WAITS_H
#define PARTITA_CORE_WAITS_H

#include <stdbool.h>
#include <stdint.h>

enum core_begin {
    CORE_GOES_ON, /* the process had launches pending: whether these waited for the card is not known */
    CORE_BEGINS,
    CORE_WAITED
};

/*
 * How launches began that the program had submitted by `launched`, and that were on the card from `from` to `to`
 * (CLOCK_MONOTONIC, ns). *busy_until: up to where the process had launches pending; begins with 0.
 */
enum core_begin core_waits_add(uint64_t *busy_until, uint64_t launched, uint64_t from, uint64_t to);

#endif
