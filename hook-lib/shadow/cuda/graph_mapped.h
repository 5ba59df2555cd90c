/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose memory is within what the driver says that graphs use on a device. A graph that is launched again needs no more
 * where its memory is within that: CUDA's guide says that it is all that is mapped by at least one graph, whether or
 * not it runs. Another reading is that only graphs count which run. Both are kept to.
 *
 * The account of a device: what is used, by the newest reading, is `others` and `known`, which is the sum of what the
 * graphs need that were launched since it was opened. As long as no reading is lower than what is expected, nobody has
 * given anything up, so each of these graphs is mapped, and by the other reading runs. With a lower one all of that is
 * forgotten, by a new number of the account. A graph is charged like a new one then, which is never too little.
 */
#ifndef PARTITA_GRAPH_MAPPED_H
#define PARTITA_GRAPH_MAPPED_H

#include <stdint.h>

#include "cuda_api.h"

enum { GRAPH_MAPPED_BITS = 24 }; /* of an account's number, which is never 0 */

/* Before a launch: the number of the account, with which graphs must have been noted to be within what is used. */
uint32_t graph_mapped_before(CUdevice device, uint64_t used);

/*
 * After a launch of a graph that needs so many units and was noted with that number (0: not yet). Gives the number to
 * note it with, or 0.
 */
uint32_t graph_mapped_after(CUdevice device, uint64_t used, uint64_t units, uint32_t noted);

/* A graph that was so noted is destroyed; it may still run. */
void graph_mapped_destroyed(CUdevice device, uint64_t units, uint32_t noted);

/* In a child of fork. */
void graph_mapped_forget(void);

#endif
