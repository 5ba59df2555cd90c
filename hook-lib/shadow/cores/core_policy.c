/* SPDX-License-Identifier: Apache-2.0 */
#include "cores/core_policy.h"

enum {
    NOBODY = 2, /* percent of the card: less use is nobody's */
    FULL = 98,  /* a card with less idle time than this leaves wants more than it has */
    AIM = 95    /* lending leaves the rest, so that somebody who comes is seen */
};

/*
 * With nobody else on the card a soft limit is none. Otherwise it grows towards the card's idle time, and falls back to
 * the share itself as soon as the card is full: then somebody may want more than is left to him.
 */
static unsigned int lend(const struct core_rules *rules, unsigned int own, unsigned int others) {
    if (others <= NOBODY)
        return 0;
    if (own + others >= FULL)
        return rules->percent;
    unsigned int idle = own + others < AIM ? AIM - own - others : 0;
    unsigned int lent = own + (idle + 1) / 2;
    return lent > rules->percent ? lent : rules->percent;
}

void core_policy_read(struct core_policy *policy, const struct core_rules *rules, const struct card_report *report,
                      uint64_t now) {
    if (report->number == policy->number)
        return;
    uint64_t passed = report->at - policy->at, used = report->busy - policy->busy;
    bool follows = core_policy_fresh(policy, now) && report->busy >= policy->busy && report->at >= policy->at;
    unsigned int own = !follows || passed == 0 ? 0 : used >= passed ? 100 : (unsigned int)(used * 100 / passed);
    if (passed > 0 || !follows) /* else it says what the last one said */
        policy->lent = follows ? lend(rules, own, report->others) : rules->percent;
    policy->number = report->number;
    policy->at = report->at;
    policy->busy = report->busy;
    policy->wanted = report->wanted;
    policy->seen_at = now;
}

bool core_policy_fresh(const struct core_policy *policy, uint64_t now) {
    return policy->number > 0 && now - policy->seen_at < (uint64_t)PARTITA_REPORT_STALE_MS * 1000000;
}

unsigned int core_policy_percent(const struct core_policy *policy, const struct core_rules *rules, uint64_t now) {
    return rules->soft && core_policy_fresh(policy, now) ? policy->lent : rules->percent;
}

bool core_policy_paused(const struct core_policy *policy, const struct core_rules *rules, uint64_t now) {
    return rules->yields && policy->wanted && core_policy_fresh(policy, now);
}
