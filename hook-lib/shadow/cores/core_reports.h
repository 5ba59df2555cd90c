/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What card reports say of what was timed. Events tell at once how long launches took, and too much where others had
 * the card meanwhile; reports tell what the share really had of it, but late and roughly. Pure but for the account, as
 * in core_account.h.
 */
#ifndef PARTITA_CORE_REPORTS_H
#define PARTITA_CORE_REPORTS_H

#include <stdint.h>

#include "partita/usage_region.h"
#include "share/card_report.h"

/*
 * Takes a report that was read at `now` into account, once. `percent`: of the card that the limit always comes to; 0:
 * there is none, or time may be lent.
 */
void core_reports_take(struct partita_account *account, const struct card_report *report, uint64_t now,
                       unsigned int percent);

/* What `busy` timed ns come to where reports say that the card served others in that time. At least 1/16. */
uint64_t core_reports_scaled(const struct partita_account *account, uint64_t busy);

/*
 * The same, less what was charged too much before, or more for what was charged too little: half as much, or twice.
 * Settles that.
 */
uint64_t core_reports_cost(struct partita_account *account, uint64_t busy);

#endif
