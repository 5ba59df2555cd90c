/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process uses of the limit, and its credit: units that it holds in the ledger ahead of its needs, so that small
 * allocations change a word of its own slot and not the total that all processes share. Credit is called in before
 * anybody is refused; credit.c says why that is exact. No errno; system calls only in credit_recall.
 */
#ifndef PARTITA_CREDIT_H
#define PARTITA_CREDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "share/ledger.h"

/* Uses units out of the credit, without asking the total; false: not enough of it, or more is held than the limit. */
bool credit_draw(struct partita_region *region, struct seat seat, uint64_t units, uint64_t limit);

/* Turns used units into credit; false: that is not wanted now, or there is enough of it. */
bool credit_deposit(struct partita_region *region, struct seat seat, uint64_t units, uint64_t limit);

/*
 * ledger_charge, and uses what was charged: *units. What is charged ahead becomes credit; `bounds->ahead` is set here.
 */
enum ledger_answer credit_charge(struct partita_region *region, struct seat seat, struct ledger_bounds *bounds,
                                 uint64_t *units);

/* Uses so many units less, and gives them back to all. */
enum ledger_answer credit_release(struct partita_region *region, struct seat seat, uint64_t units);

/* Makes the seat use and hold exactly this. The caller sees to it that its process takes no other step meanwhile. */
enum ledger_answer credit_settle(struct partita_region *region, struct seat seat, uint64_t units);

/*
 * Whether the slot's word says this, and the ledger holds no less than it allows. No step of the process may be under
 * way.
 */
bool credit_agrees(struct partita_region *region, struct seat seat, uint64_t units);

/* Takes back what the seat holds and neither uses nor has as credit. */
void credit_tidy(struct partita_region *region, struct seat seat);

/*
 * Calls in everybody's credit, and keeps anybody from taking new for a second: a charge that is refused afterwards was
 * refused by what is used. `seat`: the caller's. `now`: ms, CLOCK_MONOTONIC.
 */
void credit_recall(struct partita_region *region, struct seat seat, uint64_t now);

/* Ends the time without credit where it is over. */
void credit_relax(struct partita_region *region, uint64_t now);

/* Units used by everybody, by everybody but one slot, by one slot. */
uint64_t credit_used(const struct partita_region *region);
uint64_t credit_used_but_by(const struct partita_region *region, uint32_t slot);
uint64_t credit_used_by(const struct partita_region *region, uint32_t slot);

#endif
