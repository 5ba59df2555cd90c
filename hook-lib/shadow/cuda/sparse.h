/* SPDX-License-Identifier: Apache-2.0 */
/* What the other wrappers ask of sparse and deferred arrays, and of memory that a stream frees in its turn. */
#ifndef PARTITA_SPARSE_H
#define PARTITA_SPARSE_H

#include <stdbool.h>

#include "cuda_arrays.h"

/* Whether streams have something to unmap still, as far as we know. */
bool sparse_waiting(void);

/*
 * Gives back what they have unmapped by now; whether there was any. Asks the driver about events: not in a capture that
 * this would hurt. In a signal's handler that interrupted what it would wait for there is nothing to give back.
 */
bool sparse_settle(void);

/*
 * What a stream is to give back: a key of its own for the charge or the parts, and what gives it back when the stream
 * has come so far. False: the stream cannot be watched, or too much is already, and sparse_wait has to be called.
 */
uint64_t sparse_new_owner(void);
bool sparse_watch(uint64_t owner, CUstream stream, bool per_thread);

/* Waits until the stream has come so far; whether it has. */
bool sparse_wait(CUstream stream, bool per_thread);

/*
 * Before the driver destroys an array: as soon as it has, another one may have the handle. After: whether the array is
 * gone, and with it what was mapped into it. `owner`: what the first gave.
 */
uint64_t sparse_array_ends(const void *array);
void sparse_array_ended(uint64_t owner, const void *array, bool gone);

/*
 * Before a call that may end the context: its events are not asked until it is known whether it stays or is gone. NULL:
 * nothing.
 */
void sparse_context_ends(CUcontext context);
void sparse_context_stays(CUcontext context);

/* The context with that number is gone, and with it its arrays; what its streams were to unmap is unmapped. */
void sparse_context_gone(uint32_t number);

/* In a child of fork. */
void sparse_forget(void);

#endif
