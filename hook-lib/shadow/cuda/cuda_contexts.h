/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts by small numbers, so that an allocation can name the one that it ends with. */
#ifndef PARTITA_CUDA_CONTEXTS_H
#define PARTITA_CUDA_CONTEXTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_api.h"

/*
 * The number of a context's home, below 2^23: of its handle, and of how many contexts with that handle ended before. 0
 * where there are too many handles, or for no context.
 */
uint32_t cuda_context_number(CUcontext context);

/*
 * The context that memory, events and arrays belong to: of a green context its device's primary one, else the context
 * itself.
 */
CUcontext cuda_context_home(CUcontext context);

enum { CONTEXT_HANDLE_BITS = 11, CONTEXT_LIFE_BITS = 12 };

/*
 * Whether what has the number ended with the context that ended: that one's, or one's before it that was expected to
 * end and did not.
 */
static inline bool cuda_context_ended_with(uint32_t number, uint32_t ended) {
    const uint32_t handles = (1u << CONTEXT_HANDLE_BITS) - 1, lives = (1u << CONTEXT_LIFE_BITS) - 1;
    uint32_t later = (ended >> CONTEXT_HANDLE_BITS) - (number >> CONTEXT_HANDLE_BITS);
    return ended != 0 && (number & handles) == (ended & handles) && (later & lives) <= lives / 2;
}

/* In a child of fork: no call is under way. */
void cuda_contexts_forget(void);

#endif
