/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger: the steps that change who holds how much of a share. Lock-free, on a mapped region; see ledger.c for why
 * no process that dies or stalls can lose, leak or block anything. Touches no errno, makes no system call.
 */
#ifndef PARTITA_LEDGER_H
#define PARTITA_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/atomics.h"
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

enum ledger_book {
    LEDGER_TOTAL, /* what is held */
    LEDGER_PAGED  /* how much of it is managed memory, which need not be on the card */
};

#define LEDGER_UNBOUNDED UINT64_MAX

/* What a charge may not exceed, and how it is made. Units. */
struct ledger_bounds {
    uint64_t limit;    /* of what is held */
    uint64_t physical; /* of what is held and not paged; LEDGER_UNBOUNDED: only the limit counts */
    uint64_t ahead;    /* as much more is welcome, if there is plenty of room */
    bool part;         /* charge as much as there is room for */
};

struct ledger_taken {
    uint64_t units, ahead;
};

/* Adds units to what the seat holds, within the bounds, and says how many; LEDGER_FULL: none. */
enum ledger_answer ledger_charge(struct partita_region *region, struct seat seat, uint64_t units,
                                 const struct ledger_bounds *bounds, struct ledger_taken *taken);

/* Adds units whatever the limit. */
enum ledger_answer ledger_add(struct partita_region *region, enum ledger_book book, struct seat seat, uint64_t units);

/* Takes units off the seat (at most what it holds). */
enum ledger_answer ledger_release(struct partita_region *region, enum ledger_book book, struct seat seat,
                                  uint64_t units);

/* Makes the seat hold exactly this many units, whatever the limit: what it holds is a fact by then. */
enum ledger_answer ledger_settle(struct partita_region *region, enum ledger_book book, struct seat seat,
                                 uint64_t units);

/* A step that changes nothing: a charge that read the total before it has to read it again. */
enum ledger_answer ledger_touch(struct partita_region *region, struct seat seat);

/*
 * Takes from a slot, of whatever owner, what it holds above `*units` of `wanted`, which is asked within an unchanged
 * total. False: `wanted` was, or the region cannot be used.
 */
bool ledger_lower(struct partita_region *region, uint32_t slot,
                  bool (*wanted)(struct partita_region *region, uint32_t slot, uint64_t *units));

/* Units held by all slots, by one slot; with their credit (credit.h). */
uint64_t ledger_total(const struct partita_region *region, enum ledger_book book);
uint64_t ledger_held(const struct partita_region *region, enum ledger_book book, uint32_t slot);

/* Differs after every step on what is held, of whatever slot. */
uint64_t ledger_steps(const struct partita_region *region);

/* Slots below this many may be in use. */
static inline uint32_t ledger_slots(const struct partita_region *region) {
    uint32_t slots = load_acquire(&region->high_water);
    return slots < PARTITA_SLOTS ? slots : PARTITA_SLOTS;
}

/* Compares the totals with the slots' sums and derives them anew where they differ; whether it had to. */
bool ledger_audit(struct partita_region *region);

#endif
