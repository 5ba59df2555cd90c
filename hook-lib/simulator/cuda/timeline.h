/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this process has pending on each card. Its work runs in the order of submission, over all of its streams and
 * contexts on a card. At most TIMELINE_DEPTH launches are pending; the next one waits for room, as the driver's queue
 * of a channel makes it. Where nothing takes time, nothing here takes a lock.
 */
#ifndef PARTITA_SIM_TIMELINE_H
#define PARTITA_SIM_TIMELINE_H

#include "driver.h"

#define TIMELINE_DEPTH 1024

/*
 * Submits work of so many ns of the SMs' time; gives the card's work time at which it is done, 0 for what is done
 * already.
 */
uint64_t timeline_submit(int ordinal, uint64_t cost);

/*
 * When a mark comes that is made now in a stream of which all is done: where the card has time slices and serves
 * others, in the process' next one. 0: at once.
 */
uint64_t timeline_mark(int ordinal);

/* Where what is submitted by now ends, 0 if it is done. */
uint64_t timeline_end(int ordinal);

/* Whether the card has come to `work`; if so *time (may be NULL) is when that was. */
bool timeline_reached(int ordinal, uint64_t work, uint64_t *time);

/* Sleeps until the card has come to `work`; gives when that was. */
uint64_t timeline_wait(int ordinal, uint64_t work);

/* A point in a stream: work of the card, and host functions, by number. Zeros: what is before it is done. */
struct point {
    uint64_t work, host;
};

/* Something comes to the end of a stream: what must wait for it, and for what it must, is settled. */
void stream_order(struct CUctx_st *context, CUstream stream);

/* The present end of a stream. */
struct point stream_point(const struct CUctx_st *context, CUstream stream);

/* Whether all before the point is done; if so *time (may be NULL) is when that was. */
bool point_passed(int ordinal, struct point point, uint64_t *time);
void point_wait(int ordinal, struct point point);

/*
 * Host functions (host.c): the last one of the card, 0 if all have ended; whether one has ended, and when (0: long
 * ago).
 */
uint64_t host_last(int ordinal);
bool host_ended(int ordinal, uint64_t number, uint64_t *time);
void host_wait(int ordinal, uint64_t number);

/* As a host function that takes so long: copies that take time. */
CUresult host_take(struct CUctx_st *context, CUstream stream, uint64_t ns);

#endif
