/* SPDX-License-Identifier: Apache-2.0 */
#include "divided_time.h"

#include <math.h>
#include <stdbool.h>

static const uint64_t STRETCH = UINT64_C(1) << PARTITA_STRETCH_BITS;
enum { MOST_BEGUN = 1000000 };
static const double MEMORY_NS = 2e9, LEAST_SCALE = 1.0 / 16, ENOUGH_NS = 20e6, SATURATED = 0.95;
static const double SLICE_NS = 2e6, CHANGE_NS = 150e3, MOST_ROOM_NS = 8e6, FORGET_WAITS = 15.0 / 16,
                    WAITED_PART = 1.0 / 8, FREE_PART = 1.0 / 25, FULL_PART = 15.0 / 16;

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

/* Of what the region says to have begun and waited since the last call. */
static void see_waits(struct divided_time *time, struct divided_share shares[], uint32_t count) {
    double begun = 0, waited = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t now_begun = load(&shares[i].region->begins.times), now_waited = load(&shares[i].region->begins.waited);
        uint64_t more = now_begun - shares[i].begun, of_it = now_waited - shares[i].waited;
        if (shares[i].weight > 0 && more < MOST_BEGUN && of_it <= more) {
            begun += (double)more;
            waited += (double)of_it;
        }
        shares[i].begun = now_begun;
        shares[i].waited = now_waited;
    }
    time->begun = time->begun * FORGET_WAITS + begun;
    time->waited = time->waited * FORGET_WAITS + waited;
    time->free *= FORGET_WAITS;
    time->all *= FORGET_WAITS;
}

/* When in the stretch the share had work, ns from its beginning. */
struct when {
    double from, to;
    double density; /* of from..to, it had work for this part: what is missing from 1 lies between two windows */
    bool begins;    /* it had none before */
};

static struct when work_in(const struct divided_share *share, uint64_t stretch) {
    double part = pending(share, stretch), density = part >= FULL_PART ? part : 1;
    double ns = part >= FULL_PART ? (double)STRETCH : part * (double)STRETCH;
    if (ns > 0 && pending(share, stretch - 1) == 0)
        return (struct when){(double)STRETCH - ns, (double)STRETCH, density, true};
    return (struct when){0, ns, density, false};
}

static bool works(const struct when *when, double at) {
    return at >= when->from && at < when->to;
}

/*
 * What part of the changes from one process to the next counts: all where the card has no time left, so that limits of
 * all of the card are missed alike; none where it has.
 */
static double change_counts(const struct divided_time *time) {
    double free = time->all > 0 ? time->free / time->all : 0;
    return free < FREE_PART ? 1 - free / FREE_PART : 0;
}

/* The share whose slice it is at that moment of the stretch, a new one if need be; `count`: nobody has work. */
static uint32_t holder_at(struct divided_time *time, const struct divided_share shares[], const struct when when[],
                          uint32_t count, double at, double had[]) {
    for (uint32_t i = 0; i < count; i++) /* who begins has a slice just then; not those who had too many */
        if (when[i].begins && at == when[i].from && works(&when[i], at) && shares[i].room > 0) {
            if (time->last < count && time->last != i) { /* the change to this one was taken for that one's time */
                had[time->last] -= CHANGE_NS * time->worth;
                had[i] += CHANGE_NS * change_counts(time);
            }
            time->holder = i;
            time->left = SLICE_NS * shares[i].weight;
            time->worth = 1;
            return i;
        }
    if (time->holder < count && works(&when[time->holder], at) && time->left >= 1)
        return time->holder;
    for (uint32_t i = 1; i <= count; i++) {
        uint32_t next = (time->holder + i) % count;
        if (works(&when[next], at)) {
            double change = next == time->holder ? 0 : CHANGE_NS;
            time->holder = next;
            time->left = (SLICE_NS + change) * shares[next].weight;
            time->worth = (SLICE_NS + change * change_counts(time)) / (SLICE_NS + change);
            return next;
        }
    }
    return count;
}

/* Of a card with time slices: whose they were in the stretch. */
static void follow_slices(struct divided_time *time, struct divided_share shares[], uint32_t count, uint64_t stretch,
                          double parts[]) {
    struct when when[DIVIDED_SHARES];
    double had[DIVIDED_SHARES] = {0}, timed = 0;
    for (uint32_t i = 0; i < count; i++) {
        when[i] = work_in(&shares[i], stretch);
        timed += shares[i].weight * (when[i].to - when[i].from) / (double)STRETCH;
    }
    for (double at = 0, until; at < (double)STRETCH; at = until) {
        uint32_t holder = holder_at(time, shares, when, count, at, had);
        until = (double)STRETCH;
        if (holder < count) {
            until = fmin(until, fmin(when[holder].to, at + time->left));
        }
        for (uint32_t i = 0; i < count; i++)
            if (when[i].from > at && when[i].from < until)
                until = when[i].from;
        time->last = holder;
        if (holder < count) {
            had[holder] += (until - at) * when[holder].density * time->worth;
            time->left -= until - at;
        } else {
            time->free += until - at;
        }
    }
    time->all += (double)STRETCH;
    for (uint32_t i = 0; i < count; i++) {
        double weight = shares[i].weight, x = (when[i].to - when[i].from) / (double)STRETCH;
        double fair = weight / (weight * (1 - x) + timed) * (double)STRETCH;
        shares[i].room = fmin(MOST_ROOM_NS, shares[i].room + fair - had[i]);
        parts[i] += had[i];
    }
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
    see_waits(time, shares, count);
    bool slices = untimed == 0 && time->waited > 0 && time->waited >= WAITED_PART * time->begun;
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
        if (slices)
            follow_slices(time, shares, count, stretch, parts);
        for (uint32_t i = 0; i < count && !slices; i++)
            parts[i] += x[i] * shares[i].weight / (shares[i].weight * (1 - x[i]) + timed + others) * (double)STRETCH;
        if (others > 0)
            all += time->untimed * untimed / (untimed + timed) * (double)STRETCH;
    }
    for (uint32_t i = 0; i < count; i++)
        all += parts[i] = fmax(0, parts[i]);
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
