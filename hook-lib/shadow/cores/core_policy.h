/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a card's limit lets this process do right now: the quota's rules, and what the card reports say of the others.
 * Pure.
 */
#ifndef PARTITA_CORE_POLICY_H
#define PARTITA_CORE_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "share/card_report.h"
#include "share/core_rules.h"

struct core_policy {
    uint64_t number;   /* of the last report; 0: none yet */
    uint64_t seen_at;  /* ns, monotonic: when it was new here */
    uint64_t at, busy; /* of that report */
    unsigned int lent; /* percent of the card that a soft limit comes to; 0: all of it */
    bool wanted;
};

/* A report was read at `now`, new or not. */
void core_policy_read(struct core_policy *policy, const struct core_rules *rules, const struct card_report *report,
                      uint64_t now);

/* Whether the last report still counts. */
bool core_policy_fresh(const struct core_policy *policy, uint64_t now);

/* Percent of the card at which GPU time is paid for; 0: no limit now. */
unsigned int core_policy_percent(const struct core_policy *policy, const struct core_rules *rules, uint64_t now);

bool core_policy_paused(const struct core_policy *policy, const struct core_rules *rules, uint64_t now);

#endif
