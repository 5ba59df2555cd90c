/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accounts of GPU time: what was used, and until when the limit pays for it. Pure but for the account itself, which
 * several processes change at once and a container can scribble in: nothing here is believed, every step is one
 * compare-and-swap.
 */
#ifndef PARTITA_CORE_ACCOUNT_H
#define PARTITA_CORE_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "partita/usage_region.h"

/* GPU time that may be used at once after idling, in ns. More is not saved up. */
#define CORE_BURST_NS UINT64_C(20000000)

/* GPU time that a card may owe while others of its container launch, and while a launch on it follows theirs, in ns. */
#define CORE_BEHIND_NS UINT64_C(50000000)
#define CORE_FOLLOWS_NS UINT64_C(150000000)

/*
 * What no launch owes more than, in ns. No debt grows beyond twice this: one that an account shows is waited for so
 * long at most, or not at all. An account that only its process writes is believed, so whatever is launched is paid
 * for; one that others can write blocks for minutes at most.
 */
#define CORE_OWN_DEBT_NS (UINT64_C(1) << 57)
#define CORE_SHARED_DEBT_NS UINT64_C(300000000000)

/*
 * Marks the wall time from..to (CLOCK_MONOTONIC, ns) as used, and gives how much of it nobody had marked. The ring
 * knows the last 218 ms: what is older counts as new.
 */
uint64_t core_account_cover(struct partita_compute *compute, uint64_t from, uint64_t to);

/*
 * Charges for `busy` ns that began at `from`: what they come to, `charged` ns, at a limit of `percent` of the card. 0:
 * no limit, only counted. `most`: CORE_OWN_DEBT_NS or CORE_SHARED_DEBT_NS, always the same for an account.
 */
void core_account_charge(struct partita_account *account, uint64_t from, uint64_t busy, uint64_t charged,
                         unsigned int percent, uint64_t most);

/* ns that launches have to wait from `now` on. */
uint64_t core_account_due(const struct partita_account *account, uint64_t now, uint64_t most);

/*
 * The limit is `now_percent` of the card since, and was `before` when the debt was reckoned: it is paid off sooner or
 * later by as much.
 */
void core_account_reprice(struct partita_account *account, uint64_t now, unsigned int before, unsigned int now_percent,
                          uint64_t most);

#endif
