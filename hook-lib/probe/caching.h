/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device memory as PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp) asks for it: what a program frees is
 * kept for it, and given back to the driver when that is out of memory, before the driver is asked once more.
 */
#ifndef PARTITA_PROBE_CACHING_H
#define PARTITA_PROBE_CACHING_H

#include <stddef.h>

#include "driver.h"

struct caching {
    const struct driver *driver;
    struct caching_block {
        CUdeviceptr pointer;
        size_t bytes;
    } kept[16];
    size_t kept_blocks;
};

/* A block of at least this many bytes; an error only after all that was kept has been given back. */
CUresult caching_take(struct caching *caching, size_t bytes, struct caching_block *block);

/* Keeps a block for whoever takes one of its size next. */
CUresult caching_put(struct caching *caching, struct caching_block block);

#endif
