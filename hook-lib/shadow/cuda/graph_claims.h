/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a device's graph memory may grow by when a graph is launched. A launch claims what it needs before the driver is
 * asked, under a lock, so that no other one counts on the same memory.
 *
 * What the driver has reserved (CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) grows only where graphs need more at once. Each
 * of three bounds of what they need holds, and the lowest counts:
 *
 * 1. `most`: what was reserved when the account was opened, and the sum of what every graph needs that was launched
 *    since, each counted once. As long as so much is reserved, launching one of them again costs nothing.
 * 2. What the driver says is used (CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT), and what it may not say yet (`unshown`).
 * 3. What is reserved, and what the launches under way need.
 *
 * Where less is reserved than before, the driver gave up what nobody used: what is left is all that can be in use, and
 * the account is opened anew. So a trim (cuDeviceGraphMemTrim) ends every claim of a graph that is done.
 *
 * CUDA's guide says that all is used that is mapped by at least one graph, whether or not it runs. Another reading is
 * that only graphs count which run: then one that waits for its turn may be missing, also one that has run and waits to
 * run again. By both, `unshown` is never less than what is missing:
 *
 * - A launch adds what it needs, unless nothing has left what is used since the graph was launched last.
 * - In that case the graph may leave with its former run, and still wait: what it needs is noted in `again`, and added
 *   when what is used has fallen.
 * - What is used rises by what was missing: at most so much is not missing any more. For that a run has to be counted
 *   before it is done, however late that is.
 */
#ifndef PARTITA_GRAPH_CLAIMS_H
#define PARTITA_GRAPH_CLAIMS_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_api.h"

/* What the driver says of a device, in units. The number is to be taken before it is asked. */
struct graph_reading {
    uint64_t number, reserved, used;
    bool uses_known; /* it was asked what is used */
};
uint64_t graph_reading_number(void);

struct graph_claim {
    uint64_t units;                /* 0: none */
    uint64_t most, unshown, again; /* what it added of them */
    uint64_t opened, fell;         /* the account, and when */
    uint64_t note;                 /* what is known of the graph when it has been launched */
    bool settled;                  /* its launch tells nothing new: the driver need not be asked afterwards */
};

/*
 * Claims so many units for a launch. `note`: what is known of its graph; 0: nothing. *more: units by which the device's
 * graph memory may grow. False, and no claim: it has to be known what is used.
 */
bool graph_claim(CUdevice device, const struct graph_reading *reading, uint64_t units, uint64_t note,
                 struct graph_claim *claim, uint64_t *more);

/* The launch did not begin. */
void graph_claim_undo(CUdevice device, const struct graph_claim *claim);

/* The launch has begun; NULL: the driver was not asked since. Gives what is known of the graph now. */
uint64_t graph_claim_launched(CUdevice device, const struct graph_claim *claim, const struct graph_reading *reading);

/* In a child of fork. */
void graph_claims_forget(void);

#endif
