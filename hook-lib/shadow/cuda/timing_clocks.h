/* The clocks of contexts, and events to record in their streams. All under the timing's lock, with the context the current one. */
#ifndef PARTITA_TIMING_CLOCKS_H
#define PARTITA_TIMING_CLOCKS_H

#include <stdint.h>

#include "cuda_api.h"
#include "cuda_events.h"

enum { CLOCKS_MAX = 32, CLOCK_EVENTS = 256 };

/* A context's clock: what the card calls the time of `base` is `base_at` of CLOCK_MONOTONIC. */
extern struct clock {
    CUcontext context; /* NULL: free */
    int card;          /* negative: not limited */
    CUevent base;
    uint64_t base_at;
    uint32_t ending; /* calls that may end the context are under way: nothing of it is touched */
    CUevent spare[CLOCK_EVENTS];
    unsigned int spares;
} clocks[CLOCKS_MAX];

/* The context's clock, a new one if need be; NULL: there are too many. */
struct clock *clock_of(CUcontext context, int card);

/* An event that is recorded in the stream; NULL: it failed. */
CUevent clock_record(struct clock *clock, CUstream stream);

/* It may be recorded again. NULL: nothing. */
void clock_drop_event(struct clock *clock, CUevent event);

/* ns from the clock's base to the event; CUDA_ERROR_NOT_READY before both came. */
CUresult clock_since_base(const struct clock *clock, CUevent event, int64_t *ns);

#endif
