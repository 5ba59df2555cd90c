/*
 * The ledger: the steps that change who holds how much of a share. Lock-free, on a mapped region; see ledger.c for why
 * no process that dies or stalls can lose, leak or block anything. Touches no errno, makes no system call.
 */
#ifndef PARTITA_LEDGER_H
#define PARTITA_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "partita/usage_region.h"

enum ledger_answer {
    LEDGER_DONE,
    LEDGER_FULL,    /* the limit does not allow it; nothing was changed */
    LEDGER_EVICTED, /* the slot is no longer in the given state; nothing was changed */
    LEDGER_BROKEN   /* the region cannot be used: grant nothing */
};

/* A slot and the state in which it must be for a step to count. */
struct seat {
    uint32_t slot;
    uint64_t state;
};

/* Adds units to the seat if the share's total stays within limit. */
enum ledger_answer ledger_charge(struct partita_region *region, struct seat seat, uint64_t units, uint64_t limit);

/* Adds as many of the units as the limit allows, and says how many; 0 is LEDGER_FULL. */
enum ledger_answer ledger_charge_part(struct partita_region *region, struct seat seat, uint64_t units, uint64_t limit,
                                      uint64_t *taken);

/* Takes units off the seat (at most what it holds). */
enum ledger_answer ledger_release(struct partita_region *region, struct seat seat, uint64_t units);

/* Makes the seat hold exactly this many units, whatever the limit: what it holds is a fact by then. */
enum ledger_answer ledger_settle(struct partita_region *region, struct seat seat, uint64_t units);

/* Units held by all slots, by one slot. */
uint64_t ledger_total(const struct partita_region *region);
uint64_t ledger_held(const struct partita_region *region, uint32_t slot);

/* Compares the total with the slots' sum and derives it anew where they differ; whether it had to. */
bool ledger_audit(struct partita_region *region);

#endif
