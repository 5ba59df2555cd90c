/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides a card's time among its shares by their usage regions, as the plugin does (its DividedTime): NVML names one
 * process a sample period on some drivers, and so says what all had, but not who.
 */
#ifndef PARTITA_DIVIDED_TIME_H
#define PARTITA_DIVIDED_TIME_H

#include <stdint.h>

#include "partita/usage_region.h"

enum { DIVIDED_SHARES = 8, DIVIDED_LATE_NS = 70000000 };

/* A share whose launches are timed. Begins with zeros but for the region. */
struct divided_share {
    const struct partita_region *region;
    uint64_t had, had_now;  /* ns of the card, ever and in the last call */
    uint64_t first, summed; /* of what the region says was timed: before the first call, and seen in stretches */
    uint64_t late;          /* what came too late to be seen there, and counted in full */
    uint64_t busy, slots;   /* by the region and by its processes, at the last call */
    double weight;          /* processes that had work at once */
    uint64_t begun, waited; /* by the region, at the last call */
    double room;            /* ns by which it has had less than if it had always had work */
};

struct divided_time {
    uint64_t stretch;       /* the next one */
    double untimed;         /* how likely those whose launches are not timed have work */
    uint32_t holder, last;  /* of a card with time slices: the share that has the present one, or had it just before */
    double left, worth;     /* ns that are left of it, and what part of them counts */
    double free, all;       /* ns of late: in which nobody had work, and in all */
    double begun, waited;   /* of all shares of late: how often they began to have work, and waited for a slice */
    double card_ns, sum_ns; /* of the last two seconds: what the card worked, and what all parts come to */
    uint64_t passed, passed_now; /* ns gone through, ever and in the last call */
};

/*
 * Goes on to `now` (CLOCK_MONOTONIC, ns), less DIVIDED_LATE_NS.
 *
 * card_percent: what the card worked of late, by NVML
 * untimed: processes with work of late whose launches are not timed
 */
void divided_time_take(struct divided_time *time, struct divided_share shares[], uint32_t count,
                       unsigned int card_percent, unsigned int untimed, uint64_t now);

#endif
