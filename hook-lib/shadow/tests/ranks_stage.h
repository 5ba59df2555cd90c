/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that work together on several cards, under core limits, before the driver of ranks_driver.c. */
#ifndef PARTITA_RANKS_STAGE_H
#define PARTITA_RANKS_STAGE_H

#include <stdbool.h>
#include <stdint.h>

struct ranks {
    unsigned int count; /* of ranks, each with a card */
    unsigned int cores; /* percent of each card; 0: no limit */
    bool processes;     /* one for each rank; else one with a thread for each */
    bool waits;         /* each waits for its card after each step; else it launches on as far as it may */
    uint64_t work_ns;   /* a step: the rank is late by up to jitter_ns, computes so long, ... */
    uint64_t meet_ns;   /* ... and exchanges what came out so long, once all have come so far */
    uint64_t jitter_ns;
    bool apart;  /* nobody meets anybody: programs that have nothing to do with each other */
    bool paused; /* a share with a higher priority wants the first card */
};

struct ranks_outcome {
    double most, least, mean; /* percent of its card that a rank had, waiting for peers included */
    double paid;              /* the most of it that a limit has paid for: less what is still owed for it */
    double steps;             /* a second, of the slowest rank */
    double longest_ms;        /* that a launch was held back */
};

/* Starts them; watches them for so long; ends them. Once in a process. */
void ranks_begin(const struct ranks *ranks);
struct ranks_outcome ranks_watch(unsigned int ms);
void ranks_end(void);

/* Runs them for `settle_ms`, and then for `ms` in which they are watched. Once in a process. */
struct ranks_outcome ranks_run(const struct ranks *ranks, unsigned int settle_ms, unsigned int ms);

/*
 * Two cards launch behind each other until the last turn is under way on the second one, for long. ms that the next
 * launch on the first one waited, whose launches took 95 ms before. May be called again.
 */
double ranks_held_behind_the_last_turn(void);

/* The container's folder. */
extern const char *ranks_box;

#endif
