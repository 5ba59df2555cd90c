/* SPDX-License-Identifier: Apache-2.0 */
#include "share/core_rules.h"

struct core_rules core_rules_of(unsigned int cores, enum core_limit limit, unsigned int priority) {
    bool limited = cores > 0 && cores < 100 && limit != CORE_LIMIT_NONE;
    return (struct core_rules){limited ? cores : 0, limited && limit == CORE_LIMIT_SOFT, priority > 0};
}

struct core_rules core_rules_sum(struct core_rules a, struct core_rules b) {
    unsigned int percent = a.percent && b.percent ? a.percent + b.percent : 0;
    percent = percent < 100 ? percent : 0;
    return (struct core_rules){percent, percent && a.soft && b.soft, a.yields && b.yields};
}
