/* What is known of streams. A track is changed under the timing's lock; what is read or written without it is accessed atomically. */
#ifndef PARTITA_TIMING_TRACKS_H
#define PARTITA_TIMING_TRACKS_H

#include "common/atomics.h"
#include "common/this_thread.h"
#include "cuda/timing_calls.h"
#include "cuda/timing_clocks.h"

enum { TRACKS = 512, TRACK_PROBES = 16, TRACK_PENDING = 24 };

struct window {
    CUevent start, end;
    uint64_t recorded; /* ns: when the start was */
    uint64_t bound;    /* ns that it is charged at most, since the card may have waited for the program in it; 0: no bound */
    uint64_t closed;   /* ns: when the end was recorded; behind that the card did not wait for the program */
    uint64_t guess;    /* ns that it is taken for meanwhile */
    uint32_t launches;
    bool open_ended; /* of one launch, whose time says nothing of others */
};

extern struct track {
    uint64_t key, owner; /* key 0: free */
    struct clock *clock;
    CUstream stream;
    CUcontext context; /* the stream's; the clock's, or a green one that is part of it */
    uint32_t open, launches, allowance, sparse;
    uint64_t last, opened; /* ticks */
    uint32_t listed;
    struct window now;
    uint64_t each, most; /* ns a launch, on average and in the longest window of late; 0: unknown */
    uint64_t loop;       /* ns of the longest open-ended launch of late; 0: unknown */
    uint32_t first, count;
    struct window pending[TRACK_PENDING];
} tracks[TRACKS];

extern uint16_t tracks_listed[TRACKS]; /* tracks that are open or have windows pending */
extern uint32_t tracks_listed_count;

/* A default stream is its context's, and the thread's. */
static inline uint64_t track_owner(CUstream stream) {
    if (!stream_is_default(stream))
        return 1;
    uint64_t owner = (uint64_t)(uintptr_t)context_current();
    return stream == CU_STREAM_PER_THREAD ? owner ^ this_thread() << 1 ^ 1 : owner;
}

static inline uint32_t track_place(uint64_t key, uint64_t owner) {
    return (uint32_t)((key ^ owner << 7) * UINT64_C(0x9e3779b97f4a7c15) >> 40);
}

static inline struct track *track_find(uint64_t key, uint64_t owner) {
    uint32_t place = track_place(key, owner);
    for (uint32_t i = 0; i < TRACK_PROBES; i++) {
        struct track *track = &tracks[(place + i) % TRACKS];
        if (load_acquire(&track->key) == key && load_relaxed(&track->owner) == owner)
            return track;
    }
    return NULL;
}

/*
 * Under the lock: a track for the stream, whose context is the current one; NULL: there are too many. `home`: the context whose events are
 * recorded in it, with which they end.
 */
struct track *track_make(uint64_t key, uint64_t owner, CUstream stream, CUcontext context, CUcontext home, int card);

/* Under the lock. Who is taken from the list leaves its place to the last one. */
void track_list(struct track *track);
void track_unlist_at(unsigned int at);

/* In a child of fork: no stream is known. */
void tracks_forget(void);

#endif
