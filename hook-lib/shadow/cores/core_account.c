/* SPDX-License-Identifier: Apache-2.0 */
#include "cores/core_account.h"

#include "common/atomics.h"

#define STRETCH (UINT64_C(1) << PARTITA_STRETCH_BITS)

/* How much of `want` ns the stretch had left. */
static uint64_t cover(struct partita_compute *compute, uint64_t stretch, uint64_t want) {
    uint32_t *at = &compute->stretches[stretch % PARTITA_STRETCHES];
    uint32_t round = (uint32_t)(stretch / PARTITA_STRETCHES) << PARTITA_STRETCH_BITS;
    uint32_t seen = load_relaxed(at), next;
    uint64_t take;
    do {
        uint64_t used = (seen ^ round) >> PARTITA_STRETCH_BITS ? 0 : seen & (STRETCH - 1);
        take = want < STRETCH - 1 - used ? want : STRETCH - 1 - used;
        next = round | (uint32_t)(used + take);
    } while (!__atomic_compare_exchange_n(at, &seen, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return take;
}

uint64_t core_account_cover(struct partita_compute *compute, uint64_t from, uint64_t to) {
    if (to <= from)
        return 0;
    uint64_t last = (to - 1) >> PARTITA_STRETCH_BITS, first = from >> PARTITA_STRETCH_BITS, sum = 0;
    if (last - first >= PARTITA_STRETCHES) {
        first = last - PARTITA_STRETCHES + 1;
        sum = (first << PARTITA_STRETCH_BITS) - from;
        from = first << PARTITA_STRETCH_BITS;
    }
    for (uint64_t stretch = first; stretch <= last; stretch++) {
        uint64_t end = (stretch + 1) << PARTITA_STRETCH_BITS;
        sum += cover(compute, stretch, (end < to ? end : to) - from);
        from = end;
    }
    return sum;
}

void core_account_charge(struct partita_account *account, uint64_t from, uint64_t busy, uint64_t charged,
                         unsigned int percent, uint64_t most) {
    __atomic_fetch_add(&account->busy_ns, busy, __ATOMIC_RELAXED);
    __atomic_fetch_add(&account->charged_ns, charged, __ATOMIC_RELAXED);
    if (percent == 0 || charged == 0)
        return;
    uint64_t burst = CORE_BURST_NS * 100 / percent,
             cost = charged < most / 100 * percent ? charged * 100 / percent : most;
    uint64_t least = from > burst ? from - burst : 0, latest = from + most;
    uint64_t seen = load_relaxed(&account->paid_until), base;
    do {
        base = seen < least ? least : seen > latest ? latest : seen;
    } while (!__atomic_compare_exchange_n(&account->paid_until, &seen, base + cost, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
}

/*
 * A moment that is too far away was not written by any of us: to wait for it would have no end, since nobody charges
 * meanwhile.
 */
uint64_t core_account_due(const struct partita_account *account, uint64_t now, uint64_t most) {
    uint64_t until = load_relaxed(&account->paid_until);
    if (until <= now || until - now > 2 * most)
        return 0;
    return until - now < most ? until - now : most;
}

void core_account_reprice(struct partita_account *account, uint64_t now, unsigned int before, unsigned int now_percent,
                          uint64_t most) {
    uint64_t seen = load_relaxed(&account->paid_until), due;
    do {
        if (before == now_percent || before == 0 || now_percent == 0 || seen <= now || seen - now > 2 * most)
            return;
        due = (seen - now) / now_percent;
        due = due < 2 * most / before ? due * before : 2 * most;
    } while (
        !__atomic_compare_exchange_n(&account->paid_until, &seen, now + due, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}
