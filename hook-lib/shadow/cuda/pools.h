/* SPDX-License-Identifier: Apache-2.0 */
/* What the other wrappers ask of the stream-ordered pools. All of it may call the driver. */
#ifndef PARTITA_POOLS_H
#define PARTITA_POOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_api.h"

/* Whether the driver can be asked how much a pool has reserved. */
bool pools_readable(void);

/* Asks the driver how much each pool has reserved, and charges that. */
void pools_read(void);

/*
 * Lets the card's pools give up what nobody uses. False: there was nothing to give up, or a signal's handler asks that
 * interrupted what it would wait for.
 */
bool pools_trim(int card);

/*
 * An address of a pool's memory, before the driver is asked to free it; 0: not of a pool. After: whether it did; the
 * pool is then read.
 */
uint64_t pools_take(uint64_t address);
void pools_return(uint64_t taken, uint64_t address, CUresult result);

/*
 * Before the driver resets a device; and after it has. In between other threads may have made pools, and allocated from
 * them. `before`: what the first gave.
 */
uint64_t pools_before_reset(void);
void pools_device_reset(CUdevice device, uint64_t before);

/* The key under which a device's graph memory has its account among the pools (pool_books.h). */
uint64_t pools_graph_memory_of(CUdevice device);

/* Reads one account, and ends what was begun; pool_told's answer. */
bool pools_read_one(uint32_t pool, uint64_t handle, uint64_t begun);

/* The same by the result of the call for which it was begun: where that failed, no charge is left behind. */
bool pools_end_call(uint32_t pool, uint64_t handle, uint64_t begun, CUresult result);

/* Whether the driver knows the pool. */
bool pools_known(CUmemoryPool pool);

/* In a child of fork. */
void pools_forget(void);
void graphs_forget(void);

#endif
