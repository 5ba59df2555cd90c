/* SPDX-License-Identifier: Apache-2.0 */
#include "cores/core_spans.h"

#include <string.h>

unsigned int core_spans_add(struct core_spans *spans, uint64_t from, uint64_t to,
                            struct core_span fresh[CORE_SPANS + 1]) {
    unsigned int first = 0, end, parts = 0;
    struct core_span whole = {from, to};
    if (to <= from)
        return 0;
    while (first < spans->count && spans->at[first].to < from)
        first++;
    for (end = first; end < spans->count && spans->at[end].from <= to; end++) {
        const struct core_span *there = &spans->at[end];
        if (there->from > from)
            fresh[parts++] = (struct core_span){from, there->from};
        from = there->to > from ? there->to : from;
        whole.from = there->from < whole.from ? there->from : whole.from;
        whole.to = there->to > whole.to ? there->to : whole.to;
    }
    if (to > from)
        fresh[parts++] = (struct core_span){from, to};
    if (end == first && spans->count == CORE_SPANS) { /* no room for one more: forget the oldest */
        if (first == 0)
            return parts;
        memmove(spans->at, spans->at + 1, (spans->count - 1) * sizeof *spans->at);
        spans->count--;
        first--;
        end--;
    }
    memmove(spans->at + first + 1, spans->at + end, (spans->count - end) * sizeof *spans->at);
    spans->count = spans->count - (end - first) + 1;
    spans->at[first] = whole;
    return parts;
}
