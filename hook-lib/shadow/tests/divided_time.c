/* SPDX-License-Identifier: Apache-2.0 */
#include "divided_time.h"

#include <math.h>

static const uint64_t STRETCH = UINT64_C(1) << PARTITA_STRETCH_BITS;
static const double MEMORY_NS = 2e9, LEAST_SCALE = 1.0 / 16, ENOUGH_NS = 20e6, SATURATED = 0.95;

static uint64_t load(const uint64_t *at) {
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

/* The part of the stretch in which the share had work, 0 to 1. */
static double pending(const struct divided_share *share, uint64_t stretch) {
    uint32_t seen = __atomic_load_n(&share->region->compute.stretches[stretch % PARTITA_STRETCHES], __ATOMIC_RELAXED);
    uint32_t round = (uint32_t)(stretch / PARTITA_STRETCHES) << PARTITA_STRETCH_BITS;
    return (seen ^ round) >> PARTITA_STRETCH_BITS ? 0 : (double)(seen & (STRETCH - 1)) / (double)(STRETCH - 1);
}

static void weigh(struct divided_share *share) {
    const struct partita_region *region = share->region;
    uint64_t busy = load(&region->compute.account.busy_ns), slots = 0;
    unsigned int processes = 0;
    for (uint32_t i = 0; i < region->high_water && i < PARTITA_SLOTS; i++)
        if (load(&region->slots[i].busy_ns)) {
            slots += load(&region->slots[i].busy_ns);
            processes++;
        }
    if (!share->weight) {
        share->first = busy;
        share->weight = 1;
    } else if (busy > share->busy && slots >= share->slots) {
        double at_once = (double)(slots - share->slots) / (double)(busy - share->busy);
        share->weight = at_once < 1 ? 1 : at_once > processes ? processes : at_once;
    }
    share->busy = busy;
    share->slots = slots;
}

/* Of the stretches gone through, those in which any share had work, 0 to 1. */
static double any_pending(const struct divided_share shares[], uint32_t count, uint64_t from, uint64_t to) {
    double sum = 0;
    for (uint64_t stretch = from; stretch < to; stretch++) {
        double none = 1;
        for (uint32_t i = 0; i < count; i++)
            none *= 1 - pending(&shares[i], stretch);
        sum += 1 - none;
    }
    return sum / (double)(to - from);
}

/* What came later than the stretches were read was timed all the same, and is the share's own. */
static uint64_t newly_late(struct divided_share *share, uint64_t from, uint64_t now) {
    uint64_t timed = share->busy - share->first, seen = share->summed;
    for (uint64_t stretch = from; stretch <= now >> PARTITA_STRETCH_BITS; stretch++)
        seen += (uint64_t)(pending(share, stretch) * (double)STRETCH);
    if (timed <= seen + share->late)
        return 0;
    uint64_t more = timed - seen - share->late;
    share->late += more;
    return more;
}

void divided_time_take(struct divided_time *time, struct divided_share shares[], uint32_t count,
                       unsigned int card_percent, unsigned int untimed, uint64_t now) {
    uint64_t oldest = (now >> PARTITA_STRETCH_BITS) - PARTITA_STRETCHES + 2;
    uint64_t end = (now - DIVIDED_LATE_NS) >> PARTITA_STRETCH_BITS;
    double parts[DIVIDED_SHARES] = {0}, all = 0, card = card_percent / 100.0;
    if (!time->stretch)
        time->stretch = end - 1;
    uint64_t passed = (end - time->stretch) << PARTITA_STRETCH_BITS, from = time->stretch;
    time->passed_now = 0;
    for (uint32_t i = 0; i < count; i++) {
        weigh(&shares[i]);
        shares[i].had_now = 0;
    }
    if (end <= from)
        return;
    from = from < oldest ? oldest : from;
    double any = any_pending(shares, count, from, end);
    if (untimed == 0)
        time->untimed = 0;
    else if (any < SATURATED)
        time->untimed = card <= any ? 0 : (card - any) / (1 - any);
    for (uint64_t stretch = from; stretch < end; stretch++) {
        double x[DIVIDED_SHARES], timed = 0, others = untimed * time->untimed;
        for (uint32_t i = 0; i < count; i++) {
            x[i] = pending(&shares[i], stretch);
            timed += shares[i].weight * x[i];
            shares[i].summed += (uint64_t)(x[i] * (double)STRETCH);
        }
        for (uint32_t i = 0; i < count; i++)
            parts[i] += x[i] * shares[i].weight / (shares[i].weight * (1 - x[i]) + timed + others) * (double)STRETCH;
        if (others > 0)
            all += time->untimed * untimed / (untimed + timed) * (double)STRETCH;
    }
    for (uint32_t i = 0; i < count; i++)
        all += parts[i];
    double forget = exp(-(double)passed / MEMORY_NS);
    time->card_ns = time->card_ns * forget + card * (double)passed;
    time->sum_ns = time->sum_ns * forget + all;
    double scale = time->sum_ns < ENOUGH_NS ? 1 : time->card_ns / time->sum_ns;
    scale = scale > 1 ? 1 : scale < LEAST_SCALE ? LEAST_SCALE : scale;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t late = newly_late(&shares[i], end, now);
        shares[i].had_now = (uint64_t)(parts[i] * scale) + (late < passed ? late : passed);
        shares[i].had += shares[i].had_now;
    }
    time->stretch = end;
    time->passed_now = passed;
    time->passed += passed;
}
