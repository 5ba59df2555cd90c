/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times what is launched, by events around windows of launches in one stream, and lets a launch wait until its card's
 * limit allows it.
 *
 * A window opens before a launch and closes after one: as soon as it holds as many launches as take about 2 ms, at most
 * 32; 200 microseconds after it opened; right away where launches are sparse; before the program waits for the stream;
 * and before anything goes into it that is no kernel. So the gaps in which the card waits for the program, or the
 * stream for something else, are not counted. Nothing is recorded in a stream that is being captured.
 * What a launch with loops of its own takes is not told by that of others: it has a window for itself, and only few of
 * them wait for the card. No launch is further than 20 to 50 ms (by the size of the share), or two windows, ahead of
 * what the card has done; one long kernel in a stream.
 */
#ifndef PARTITA_CUDA_TIMING_H
#define PARTITA_CUDA_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/atomics.h"
#include "common/this_thread.h"
#include "cores/cores.h"
#include "cuda_api.h"

/* Why a launch is not timed: it need not be; its card, or which card is not known, and it should be. */
enum { TIMING_NEEDLESS = -1, TIMING_ANY_CARD = -2 };

/* One launch that is on its way. */
struct timed_launch {
    struct track *track; /* NULL: it is not timed, and what follows says why */
    uint64_t ticks;
    bool open_ended;   /* set before it begins: a loop on the card may make it take any time, whatever others took */
    unsigned int turn; /* see cores_turn_of_others; 0: its card's limit allowed it */
    int missed_on;     /* a card, or one of the above */
    uint64_t each;     /* ns that a kernel of it takes, by what was learned of its stream; 0: nothing was */
};

/* Whether launches are to be timed. Now and then it looks whether that has changed. */
bool timing_watch_slowly(void);

/*
 * Before a launch into the stream: waits as long as the card's limit says. `per_thread`: a stream of 0 is the thread's
 * own.
 */
void timing_begin(struct timed_launch *launch, CUstream stream, bool per_thread);

/*
 * After it; so many kernels were launched, or with an error none. One that should have been timed is charged by what is
 * known of its stream; where nothing is, the limit does not hold, which is said.
 */
void timing_end(const struct timed_launch *launch, uint32_t kernels, CUresult result);

/* Around a wait for one stream, or for all of the context. */
void timing_before_wait(void);
void timing_before_stream_wait(CUstream stream, bool per_thread);
void timing_after_wait(void);

/*
 * Before the program looks whether something is done. A thread that goes on looking may be one that launches nothing:
 * of what others launched only windows end that are old.
 */
void timing_before_poll(void);

/* Before something goes into the stream that is no kernel: the card's time for it is not charged. */
void timing_before_stream_work(CUstream stream, bool per_thread);

/* A blocking stream is about to be made, or used for the first time. */
void timing_blocking_stream(void);

/* A stream is about to be destroyed. */
void timing_stream_ends(CUstream stream);

/*
 * Before a call that may end the context: its events are not asked until it is known whether it stays or is gone. NULL:
 * nothing.
 */
void timing_context_ends(CUcontext context);
void timing_context_stays(CUcontext context);
void timing_context_gone(CUcontext context);

/*
 * Before a green context may end: its streams take no events after it. Those that are recorded stay the primary
 * context's.
 */
void timing_green_ends(CUcontext context);

/* In a child of fork. */
void timing_forget(void);

/* Launches of a thread that are let through before it is looked whether a limit came into force. */
enum { TIMING_UNWATCHED = 64, TIMING_COUNTERS = 16 };

extern struct timing_counter {
    uint32_t left, reserved;
    uint64_t looked;   /* ns */
    uint64_t apart[6]; /* one cache line each */
} timing_counters[TIMING_COUNTERS];

/* Threads share a counter now and then; a launch that is counted twice or not does no harm. */
static inline struct timing_counter *timing_counter(void) {
    uint64_t thread = this_thread();
    return &timing_counters[(thread >> 12 ^ thread >> 16) % TIMING_COUNTERS];
}

static inline bool timing_watch(void) {
    uint32_t *left = &timing_counter()->left, now = load_relaxed(left);
    if (__builtin_expect(now == 0, 0))
        return timing_watch_slowly();
    store_relaxed(left, now - 1);
    return cores_watch();
}

#endif
