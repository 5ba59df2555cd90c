/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a context itself takes of its card: charged before it is made, by what NVML has shown of others, or by a guess.
 */
#ifndef PARTITA_CONTEXT_MEMORY_H
#define PARTITA_CONTEXT_MEMORY_H

#include <stdint.h>

#include "cuda_api.h"

struct context_memory {
    int card; /* negative: nothing is charged */
    uint64_t units;
};

/*
 * Before a context of the device is made. CUDA_SUCCESS: call the driver, then context_memory_end. Anything else is what
 * the caller gets: CUDA_ERROR_OUT_OF_MEMORY beyond the quota.
 */
CUresult context_memory_begin(struct context_memory *memory, CUdevice device);

/* Gives the charge back where the driver failed. Else context_memory_gone is due when the context ends. */
void context_memory_end(const struct context_memory *memory, CUresult result);

/* Gives back what a context on the card is charged; negative: nothing. */
void context_memory_gone(int card);

/* Bytes that a context takes on a card of this compute capability and so many multiprocessors, by guess. */
uint64_t context_memory_guess(int major, int minor, int multiprocessors);

#endif
