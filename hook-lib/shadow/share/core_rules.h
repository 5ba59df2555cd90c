/* SPDX-License-Identifier: Apache-2.0 */
/* The rules that quotas make for a share's time of its card. Pure. */
#ifndef PARTITA_CORE_RULES_H
#define PARTITA_CORE_RULES_H

#include <stdbool.h>

#include "share/quota.h"

struct core_rules {
    unsigned int percent; /* of the card's time; 0: no limit */
    bool soft;            /* idle time of the card is lent */
    bool yields;          /* pauses when a share with a higher priority wants the card */
};

/* The rules of one share's quota, and those of two shares of one card together. */
struct core_rules core_rules_of(unsigned int cores, enum core_limit limit, unsigned int priority);
struct core_rules core_rules_sum(struct core_rules a, struct core_rules b);

#endif
