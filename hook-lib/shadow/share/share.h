/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One share in this process: its quota, its region, the process' seat in it, and what the process holds by its own
 * count. The process' own count is what it goes by where the region, which the container can write, says otherwise.
 */
#ifndef PARTITA_SHARE_H
#define PARTITA_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/atomics.h"
#include "share/core_rules.h"
#include "share/owner.h"
#include "share/quota.h"
#include "share/region_file.h"
#include "share/seats.h"

enum { RESIDENT_SHIFT = 32 };

/*
 * What the process uses by its own count, and who is within a step of it: one word of 16 bytes, so that one swap counts
 * and enters.
 */
struct own_count {
    uint64_t units; /* bits 0-31 used, from RESIDENT_SHIFT of them resident; what is under way is not yet */
    uint32_t gate;  /* gate.h */
    uint32_t unused;
} __attribute__((aligned(16)));

struct share {
    char quota_path[320], usage_path[320];
    char gpu[96];             /* see share_gpu */
    uint64_t quota, overhead; /* units, as the file says; quota 0: no usable one */
    uint64_t limit;           /* units that allocations may take: the quota without the overhead */
    uint64_t grantable;       /* the limit or, where by the last look nothing can be charged, 0 */
    uint64_t physical;        /* units of them that may lie on the card for good; LEDGER_UNBOUNDED: all */
    uint64_t paged;           /* of them managed memory, likewise */
    uint32_t cores;           /* the last usable quota's core_rules, packed; 0: never seen one */
    struct region_file file;
    struct owner self;
    struct seat seat;
    struct own_count own;
    uint32_t seated;  /* 1: `seat` is taken and the share can be charged */
    uint32_t suspect; /* 1: the region may have been wiped: nothing is granted until everybody is accounted */
    uint64_t next_look, next_reap; /* ms, monotonic */
    uint64_t next_thorough;        /* ns, monotonic */
    /* bits 0-31: units that other slots used, 32-63: when that was added up, the low bits of ticks; 0: never */
    uint64_t others;
    uint64_t others_steps;   /* the ledger's steps by then */
    uint64_t context;        /* units that a context takes by the quota; SHARE_CONTEXT_UNKNOWN */
    uint64_t contexts;       /* units that this process' contexts are charged; `own` has them, too, and longer */
    uint64_t left_behind;    /* of `contexts`: see share_leave_behind */
    uint64_t left_until;     /* ms, monotonic */
    uint32_t context_count;  /* contexts that are charged, or just being made */
    uint32_t contexts_begun; /* those that are just being made */
};

/*
 * The region once it is mapped, NULL before: for who neither is in the gate nor has seen that the share is seated, as
 * another thread may just be mapping it.
 */
static inline struct partita_region *share_region(const struct share *share) {
    return load_acquire(&share->file.region);
}

/*
 * The UUID of its card; "": never seen a usable quota. It is written once, and never seen half written, as it would be
 * another card's.
 */
static inline const char *share_gpu(const struct share *share) {
    return load_acquire(&share->gpu[0]) ? share->gpu : "";
}

/* Units that this process uses, by its own count. */
uint64_t share_held(const struct share *share);

/* What lies on the card of a process' own count, contexts and what was left behind included. */
static inline uint64_t share_held_on_card(uint64_t own) {
    uint64_t held = own & UINT32_MAX, resident = own >> RESIDENT_SHIFT;
    return held < resident ? held : resident;
}

/* Reads the quota; no other effect. */
void share_open(struct share *share);

enum share_memory {
    SHARE_RESIDENT, /* lies on the card */
    SHARE_PAGED,    /* managed: may lie elsewhere */
    SHARE_CONTEXT   /* lies on the card, and contexts take it: the program has not asked for it */
};

#define SHARE_CONTEXT_UNKNOWN UINT64_MAX

/* Charges all the units or, with `part`, as many as there is room for; how many were charged. */
uint64_t share_charge(struct share *share, enum share_memory memory, uint64_t units, bool part);

/*
 * Gives back units that this process holds; at most as many as it holds of such memory. How many were given back. What
 * contexts are charged, and what was left behind, goes as SHARE_CONTEXT only.
 */
uint64_t share_release(struct share *share, enum share_memory memory, uint64_t units);

/* Before a context is charged and made. */
void share_context_begins(struct share *share);

/* The context was made, or could not be: what it was charged has been given back then. */
void share_context_begun(struct share *share, bool made);

/* A context is gone: its part of what all are charged is given back. */
void share_context_gone(struct share *share);

/*
 * Units of exported memory that this process holds no more, and others may: they stay charged with its contexts, until
 * the plugin has measured what this process takes, and so what the others do; without a plugin for ten seconds. How
 * many of them.
 */
uint64_t share_leave_behind(struct share *share, uint64_t units);

/* Has the slot say what contexts are charged; for share_tend. */
void share_show_contexts(struct share *share);

/* Calls in what processes hold ahead: the next charge is refused only for what is used. */
void share_call_in(struct share *share);

/* Whether the share may exceed its part of the card. */
bool share_oversubscribes(const struct share *share);

/* Units of the card that the share may hold, the overhead included. */
uint64_t share_physical(const struct share *share);

enum share_care { SHARE_IF_DUE, SHARE_NOW };

/*
 * Looks after the share: re-reads the quota, gives back what dead processes hold, mends the region. SHARE_IF_DUE: at
 * most every 100 ms (dead processes: every second). With `join`, takes a seat if the process has none. Keeps errno.
 */
void share_tend(struct share *share, enum share_care care, bool join);

/*
 * Units used by everybody. What other processes have taken out of their credit, or put back into it, may be missing for
 * OTHERS_US; to be called right after share_tend.
 */
uint64_t share_used(struct share *share);

/* Units that this process could still have; to be called right after share_used, with what that gave. */
static inline uint64_t share_left(const struct share *share, uint64_t used) {
    uint64_t grantable = load_relaxed(&share->grantable);
    return grantable > used ? grantable - used : 0;
}

/* What the last usable quota said of GPU time; no limit before there was one. */
struct core_rules share_core_rules(const struct share *share);

/* Called in a child of fork before anything else: the child holds nothing. */
void share_forked(struct share *share);

#endif
