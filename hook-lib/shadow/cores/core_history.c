/* SPDX-License-Identifier: Apache-2.0 */
#include "cores/core_history.h"

#include <stdbool.h>

#include "common/atomics.h"

enum { UNIT_NS = 64, ROUND_BITS = 20 };
static const uint64_t MARK = UINT64_C(1) << PARTITA_MARK_BITS;

static uint32_t round_of(uint64_t mark) {
    return (uint32_t)(mark / PARTITA_MARKS) << ROUND_BITS;
}

static uint64_t used_in(const struct partita_account *account, uint64_t mark) {
    uint32_t seen = load_relaxed(&account->marks[mark % PARTITA_MARKS]);
    return (seen ^ round_of(mark)) >> ROUND_BITS ? 0 : (uint64_t)(seen & ((1u << ROUND_BITS) - 1)) * UNIT_NS;
}

static void use_in(struct partita_account *account, uint64_t mark, uint64_t ns) {
    uint32_t *at = &account->marks[mark % PARTITA_MARKS], seen = load_relaxed(at), next;
    do {
        uint64_t units = used_in(account, mark) / UNIT_NS + ns / UNIT_NS;
        next = round_of(mark) | (uint32_t)(units < 1u << ROUND_BITS ? units : (1u << ROUND_BITS) - 1);
    } while (!__atomic_compare_exchange_n(at, &seen, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

void core_history_add(struct partita_account *account, uint64_t from, uint64_t to, uint64_t ns) {
    if (to <= from)
        return;
    double part = (double)ns / (double)(to - from);
    from = to - from > CORE_HISTORY_NS ? to - CORE_HISTORY_NS : from;
    while (from < to) {
        uint64_t mark = from >> PARTITA_MARK_BITS, end = (mark + 1) << PARTITA_MARK_BITS;
        end = end < to && end > from ? end : to;
        use_in(account, mark, (uint64_t)((double)(end - from) * part));
        from = end;
    }
}

/* A mark is taken for evenly used. */
uint64_t core_history_since(const struct partita_account *account, uint64_t at, uint64_t now) {
    uint64_t first = at >> PARTITA_MARK_BITS, last = now >> PARTITA_MARK_BITS, sum = 0;
    if (last > first + PARTITA_MARKS - 1)
        first = last - PARTITA_MARKS + 1;
    else
        sum = (uint64_t)((double)used_in(account, first) * (double)(MARK - (at & (MARK - 1))) / (double)MARK);
    for (uint64_t mark = first + 1; mark <= last; mark++)
        sum += used_in(account, mark);
    return sum;
}
