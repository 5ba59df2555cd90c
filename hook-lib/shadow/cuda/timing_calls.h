/* SPDX-License-Identifier: Apache-2.0 */
/* The timing's locks, and its own calls of the driver. */
#ifndef PARTITA_TIMING_CALLS_H
#define PARTITA_TIMING_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/cuda_driver.h"
#include "cuda_events.h"
#include "share/cards.h"

/*
 * A lock a context, by the number of its clock, so that threads that use several do not wait for each other. Within it
 * may be taken, and is never held across a call of the driver: one for each card's account (TIMING_ACCOUNTS + card),
 * and one for the tables of clocks and tracks.
 *
 * False: it could not be had for long. A context's lock is held across calls of the driver, and one that blocks may
 * wait for the launch of him who asks. Its holder is not cancelled.
 */
enum { CLOCKS_MAX = 32 }; /* contexts whose launches are timed at a time */
enum { TIMING_ACCOUNTS = CLOCKS_MAX, TIMING_TABLES = TIMING_ACCOUNTS + CARDS_MAX, TIMING_LOCKS };
bool timing_lock_enter(int lock);

/* Only if it can be had at once. */
bool timing_lock_try(int lock);

/* For what has to be done. */
void timing_lock_wait(int lock);

void timing_lock_leave(int lock);

/* In a child of fork: nobody holds one. */
void timing_lock_forget(void);

/* Ends early by a signal: who waits asks again. Keeps errno. */
void timing_sleep(uint64_t ns);

/* Whether the driver has what timing needs. */
bool timing_can(void);

/*
 * Around own calls: they are made in the mode that no capture of another stream forbids or is ended by. `mode`: what
 * _begin gave.
 */
int timing_calls_begin(void);
void timing_calls_end(int mode);

enum capturing {
    CAPTURES_NOTHING,
    CAPTURES,
    CAPTURES_UNKNOWN /* the driver does not tell; the legacy stream while another one is being captured */
};

/* Asking ends no capture. */
enum capturing stream_capture(CUstream stream);

static inline bool stream_capturing(CUstream stream) {
    return stream_capture(stream) != CAPTURES_NOTHING;
}

/* The default streams' own handles, which mean the same in every function. */
static inline CUstream stream_name(CUstream stream, bool per_thread) {
    return stream ? stream : per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
}

static inline bool stream_is_default(CUstream stream) {
    return stream == CU_STREAM_LEGACY || stream == CU_STREAM_PER_THREAD;
}

static inline CUcontext context_current(void) {
    CUcontext context = NULL;
    return DRIVER(cuCtxGetCurrent)(&context) == CUDA_SUCCESS ? context : NULL;
}

/*
 * Whose a stream that is so named is: a context, and its home, to which events and memory belong. That is the primary
 * context where the other one is green, and the same one otherwise. False: it cannot be known. Needs cuCtxGetCurrent.
 */
struct stream_contexts {
    CUcontext own, home;
};
bool stream_contexts(CUstream stream, struct stream_contexts *contexts);

/*
 * Makes a context current in which something can be recorded in the stream; false if that cannot be. That is the home:
 * a green context may be current in one thread only (CUDA 12), and may be so in another one. But a default stream is
 * the current context's, so of a green one's nothing is made current. *pushed: undo it by context_leave.
 */
bool stream_enter(CUstream stream, const struct stream_contexts *contexts, bool *pushed);

/* Makes a context current; false if that cannot be. */
bool context_enter(CUcontext context, bool *pushed);
void context_leave(bool pushed);

#endif
