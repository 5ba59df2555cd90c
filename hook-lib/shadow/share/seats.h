/* SPDX-License-Identifier: Apache-2.0 */
/* Who sits in the slots of a region: taking one, and giving back those of the dead. */
#ifndef PARTITA_SEATS_H
#define PARTITA_SEATS_H

#include <stdbool.h>
#include <stdint.h>

#include "share/ledger.h"
#include "share/owner.h"
#include "share/region_file.h"

/* Takes a free slot for `self`; false if there is none. Leaves errno changed. */
bool seats_take(const struct region_file *file, const struct owner *self, struct seat *seat);

/* Gives up the lock of a slot that was left. */
void seats_unlock(const struct region_file *file, const struct owner *self, uint32_t slot);

/* Whether the slot still belongs to the seat. */
bool seats_mine(const struct partita_region *region, struct seat seat);

enum reaping {
    REAP_QUICKLY,   /* the dead that one system call each tells: no such process in this pid namespace */
    REAP_THOROUGHLY /* all; takes time in the square of the processes (the kernel searches a file's locks one by one) */
};

/*
 * Gives back what dead owners hold, and what stands in slots that nobody owns. Leaves errno changed.
 * `mine`: the caller's own seat, or NULL.
 */
void seats_reap(const struct region_file *file, const struct owner *self, const struct seat *mine, enum reaping how);

/*
 * Whether every living process that holds a slot's lock owns that slot in the region too. A region that was wiped fails
 * this until its owners have come back, or ended.
 */
bool seats_all_accounted(const struct region_file *file);

/* The owner of a slot; false if nobody owns it. */
bool seats_owner(const struct partita_region *region, uint32_t slot, struct seat *seat, struct owner *owner);

#endif
