/*
 * What a card's limit lets this process do right now: the quota's rules, and what the card reports say of the others. Pure.
 */
#ifndef PARTITA_CORE_POLICY_H
#define PARTITA_CORE_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "share/card_report.h"
#include "share/quota.h"

struct core_rules {
    unsigned int percent; /* of the card's time; 0: no limit */
    bool soft;            /* idle time of the card is lent */
    bool yields;          /* pauses when a share with a higher priority wants the card */
};

/* The rules of one share's quota, and those of two shares of one card together. */
struct core_rules core_rules_of(unsigned int cores, enum core_limit limit, unsigned int priority);
struct core_rules core_rules_sum(struct core_rules a, struct core_rules b);

struct core_policy {
    uint64_t number;       /* of the last report; 0: none yet */
    uint64_t seen_at;      /* ns, monotonic: when it was new here */
    uint64_t at, busy;     /* of that report */
    unsigned int lent;     /* percent of the card that a soft limit comes to; 0: all of it */
    bool wanted;
};

/* A report was read at `now`, new or not. */
void core_policy_read(struct core_policy *policy, const struct core_rules *rules, const struct card_report *report, uint64_t now);

/* Whether the last report still counts. */
bool core_policy_fresh(const struct core_policy *policy, uint64_t now);

/* Percent of the card at which GPU time is paid for; 0: no limit now. */
unsigned int core_policy_percent(const struct core_policy *policy, const struct core_rules *rules, uint64_t now);

bool core_policy_paused(const struct core_policy *policy, const struct core_rules *rules, uint64_t now);

#endif
