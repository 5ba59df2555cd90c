/*
 * One share in this process: its quota, its region, the process' seat in it, and what the process holds by its own count. The
 * process' own count is what it goes by where the region, which the container can write, says otherwise.
 */
#ifndef PARTITA_SHARE_H
#define PARTITA_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "owner.h"
#include "quota.h"
#include "region_file.h"
#include "seats.h"

struct share {
    char quota_path[320], usage_path[320];
    char gpu[96];   /* UUID; empty: never seen a usable quota */
    uint64_t limit; /* units; 0: no usable quota */
    uint64_t held;  /* units, by this process' count */
    struct region_file file;
    struct owner self;
    struct seat seat;
    uint32_t gate;
    uint32_t seated;  /* 1: `seat` is taken and the share can be charged */
    uint32_t suspect; /* 1: the region may have been wiped: nothing is granted until everybody is accounted */
    uint64_t next_look, next_reap; /* ms, monotonic */
    uint64_t next_thorough;        /* ns, monotonic */
};

/* Reads the quota; no other effect. */
void share_open(struct share *share);

/* Charges all the units or, with `part`, as many as there is room for; how many were charged. */
uint64_t share_charge(struct share *share, uint64_t units, bool part);

/* Gives back units that this process holds; at most as many as it holds. How many were given back. */
uint64_t share_release(struct share *share, uint64_t units);

enum share_care { SHARE_IF_DUE, SHARE_NOW };

/*
 * Looks after the share: re-reads the quota, gives back what dead processes hold, mends the region. SHARE_IF_DUE: at most every
 * 100 ms (dead processes: every second). With `join`, takes a seat if the process has none. Keeps errno.
 */
void share_tend(struct share *share, enum share_care care, bool join);

/* Units held by everybody. */
uint64_t share_used(struct share *share);

/* Called in a child of fork before anything else: the child holds nothing. */
void share_forked(struct share *share);

#endif
