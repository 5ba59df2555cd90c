/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the simulated libcuda: a stream-ordered pool. All under driver_lock. */
#ifndef PARTITA_SIM_POOL_H
#define PARTITA_SIM_POOL_H

#include "driver.h"

#define STREAMS 8

struct CUmemPoolHandle_st {
    int ordinal;
    bool alive, is_default, on_host;
    uint64_t reserved, reserved_high, used, used_high, threshold, max_size;
    struct {
        CUstream stream;
        uint64_t bytes;
    } unseen[STREAMS]; /* freed and not yet seen by the host; the last stands for all streams that found no place */
    struct block *blocks;
    struct CUmemPoolHandle_st *next; /* never freed, so that a stale handle is told */
};

static inline uint64_t pool_rounded(uint64_t bytes, uint64_t step) {
    return (bytes + step - 1) / step * step;
}

/* NULL: no memory for it. */
struct CUmemPoolHandle_st *pool_make(int ordinal, bool is_default);
struct CUmemPoolHandle_st *pool_default_of(struct device *device);

/* False for a pool that is destroyed, or was none. */
bool pool_alive(const struct CUmemPoolHandle_st *handle);

/* Gives back to the card what is above so many bytes, as far as it is free. */
void pool_shrink_to(struct CUmemPoolHandle_st *pool, uint64_t bytes);

#endif
