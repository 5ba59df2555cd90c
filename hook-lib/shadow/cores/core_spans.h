/* SPDX-License-Identifier: Apache-2.0 */
/* The union of stretches of time, as long as they are recent: what several streams used at once counts once. */
#ifndef PARTITA_CORE_SPANS_H
#define PARTITA_CORE_SPANS_H

#include <stdint.h>

enum { CORE_SPANS = 64 };

struct core_span {
    uint64_t from, to;
};

struct core_spans {
    unsigned int count;
    /* sorted, apart from each other; older ones are forgotten, and would count again */
    struct core_span at[CORE_SPANS];
};

/* Adds from..to; the parts of it that were not there go to `fresh`, in order. How many. */
unsigned int core_spans_add(struct core_spans *spans, uint64_t from, uint64_t to,
                            struct core_span fresh[CORE_SPANS + 1]);

#endif
