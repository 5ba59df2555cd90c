/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of launches in a stream: opened, closed, and charged when the card has done them. A context has a clock, by
 * which the card's time is told in CLOCK_MONOTONIC; a stream has a track, which knows its windows. All that belongs to
 * a context is changed under its clock's lock (timing_calls.h), which all functions here need but where they say
 * otherwise. What of a track is read or written without it is accessed atomically.
 */
#ifndef PARTITA_TIMING_WINDOWS_H
#define PARTITA_TIMING_WINDOWS_H

#include <stdint.h>

#include "common/atomics.h"
#include "common/this_thread.h"
#include "cuda/timing_calls.h"
#include "cuda_api.h"
#include "cuda_events.h"
#include "share/cards.h"

/* Clocks of contexts, and events to record in their streams. The context is the current one. */

enum { CLOCK_EVENTS = 256 };

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

/* The clock's lock. */
static inline int clock_lock(const struct clock *clock) {
    return (int)(clock - clocks);
}

/* The context's clock, by now; NULL: it has none. Needs no lock. */
struct clock *clock_find(CUcontext context, int card);

/* The same, a new one if need be; NULL: there are too many. Needs no lock. */
struct clock *clock_make(CUcontext context, int card);

/* An event that is recorded in the stream; NULL: it failed. */
CUevent clock_record(struct clock *clock, CUstream stream);

/* It may be recorded again. NULL: nothing. */
void clock_drop_event(struct clock *clock, CUevent event);

/* ns from the clock's base to the event; CUDA_ERROR_NOT_READY before both came. */
CUresult clock_since_base(const struct clock *clock, CUevent event, int64_t *ns);

/* Tracks: what is known of streams. */

enum { TRACKS = 512, TRACK_PROBES = 16, TRACK_PENDING = 24 };

struct window {
    CUevent start, end;
    uint64_t recorded; /* ns: when the start was, at the earliest */
    uint64_t launched; /* ns: and at the latest: from then on the card may begin */
    /* ns that it is charged at most, since the card may have waited for the program in it; 0: no bound */
    uint64_t bound;
    uint64_t closed; /* ns: when the end was recorded; behind that the card did not wait for the program */
    uint64_t guess;  /* ns that it is taken for meanwhile */
    uint32_t launches;
    bool open_ended;   /* of one launch, whose time says nothing of others */
    unsigned int turn; /* see cores_turn_of_others; 0: its card's limit allowed it */
};

extern struct track {
    uint64_t key, owner; /* key 0: free */
    struct clock *clock;
    CUstream stream;
    CUcontext context; /* the stream's; the clock's, or a green one that is part of it */
    uint32_t open, launches, allowance, sparse;
    uint64_t last, opened; /* ticks */
    uint64_t begun;        /* ticks: when the last launch that is timed began; `last` once it is with the driver */
    uint32_t ending;       /* the window ends with the launch that is on its way */
    uint64_t opener;       /* the thread */
    uint32_t listed;       /* see windows_clocks */
    struct window now;
    uint64_t each, most;       /* ns a launch, on average and in the longest window of late; 0: unknown */
    uint64_t loop;             /* ns of the longest open-ended launch of late; 0: unknown */
    uint32_t exact;            /* bursts in which each launch still has a window for itself, this one included */
    uint32_t unsure, patience; /* windows that may have taken much more than was charged, since bursts were last timed
                                  exactly; at how many of them the next ones are */
    uint32_t first, count;
    struct window pending[TRACK_PENDING];
} tracks[TRACKS];

/* Bit n: tracks of clock n are listed, for they are open or have windows pending. */
extern uint32_t windows_clocks;
_Static_assert(CLOCKS_MAX <= 32, "a bit a clock");

#define EACH_CLOCK(clock, bits)                                                                                        \
    uint32_t left = (bits);                                                                                            \
    left && (((clock) = &clocks[__builtin_ctz(left)]), true);                                                          \
    left &= left - 1

/* The listed track of the clock that comes next, at this place or behind; NULL: none. Needs no lock. */
struct track *track_listed(const struct clock *clock, unsigned int place);

#define EACH_LISTED(track, clock)                                                                                      \
    struct track *track = track_listed(clock, 0);                                                                      \
    track;                                                                                                             \
    track = track_listed(clock, (unsigned int)(track - tracks) + 1)

/* A default stream is its context's, and the thread's. */
static inline uint64_t track_owner_in(CUcontext context, CUstream stream) {
    uint64_t owner = (uint64_t)(uintptr_t)context;
    return stream == CU_STREAM_PER_THREAD ? owner ^ this_thread() << 1 ^ 1 : owner;
}

static inline uint64_t track_owner(CUstream stream) {
    return stream_is_default(stream) ? track_owner_in(context_current(), stream) : 1;
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
 * A track for the stream, whose context is the current one; NULL: there are too many. The clock's context is the one
 * whose events are recorded in it, with which they end.
 */
struct track *track_make(uint64_t key, uint64_t owner, CUstream stream, CUcontext context, struct clock *clock);

void track_list(struct track *track);
void track_unlist(struct track *track);

/* The context has ended: its clock is free for another one, and so are its tracks, of which none is listed. */
void clock_free(struct clock *clock);

/* ns that so many launches take, or one with loops of its own, by what was learned; 0: nothing was. */
static inline uint64_t track_takes(const struct track *track, uint32_t launches, bool open_ended) {
    return open_ended ? load_relaxed(&track->loop) : load_relaxed(&track->each) * launches;
}

/* Windows. */

/* Of a card: windows that the card has not done yet. */
extern struct backlog {
    uint64_t ns;
    uint32_t windows;
    uint64_t progress; /* changes when one comes to an end, or a launch goes on though none did */
    /* ns that launches which were not timed took by what was learned of their streams: not charged yet */
    uint64_t missed;
} backlogs[CARDS_MAX];

/* The track's context is the current one. Its window may stay closed: nothing can be recorded. */
void window_open(struct track *track, uint64_t ticks, bool open_ended, unsigned int turn);

/*
 * The window may stay open: nothing can be recorded, or there are too many. `gap`: the card may have waited for the
 * program in it, so what the launches take is estimated, if there is anything to do it by.
 */
void window_close(struct track *track, bool gap);

/*
 * Closes the window, if one is open, before the program waits or puts something else into the stream. Where another
 * thread's launch is on its way to the driver, the window is left to that launch, which closes it right behind itself:
 * closed now, the launch might come behind its end and not be timed. What was left so and is open the next time is
 * closed as one in which the card may have waited: the launch's thread may have been cancelled, or have ended without
 * having seen that it was to close it. A launch counts as on its way for some hundredths of a second.
 */
void window_end_before(struct track *track);

/*
 * Launches came behind the last window's end, one of loops or so many others: that window, which is pending, ends here
 * instead. `gap`: as for window_close. False: none is, or nothing can be recorded in the stream.
 */
bool window_extend_last(struct track *track, uint32_t launches, bool open_ended, bool gap);

/*
 * There is no room for one more window, and none will be: the last one that is pending ends here. Where nothing can be
 * recorded in the stream, what the window's launches take is estimated.
 */
void window_join_last(struct track *track);

/* Whether the calling thread can record in the track's stream: the per-thread ones of others it cannot name. */
static inline bool track_is_ours(const struct track *track) {
    return track->stream != CU_STREAM_PER_THREAD ||
           load_relaxed(&track->owner) == track_owner_in(track->context, CU_STREAM_PER_THREAD);
}

/* The stream was left alone for a while: has the card waited for the program meanwhile? */
void window_after_gap(struct track *track);

/*
 * The first launch of a burst comes: of launches in one stream, each no more than 30 us after the one before it.
 */
void track_burst_begins(struct track *track);

/*
 * Whether each launch has a window for itself now. Nothing tells what the last kernel of a burst takes where the window
 * ends only after a gap. So of the bursts that may have taken much more than their bound one is timed exactly: the
 * first, then ever fewer, one in sixteen at least. Where that finds a long kernel, all are until sixteen have had none.
 */
bool track_is_exact(const struct track *track);

/*
 * Of the clock those of the context, but for the default streams of other threads, and of these only what the thread
 * opened, or was opened by then (ticks). NULL: of any context.
 */
struct windows_wanted {
    CUcontext context;
    uint64_t opener, opened;
};
bool windows_any(const struct clock *clock, const struct windows_wanted *wanted); /* needs no lock */
void windows_close(const struct clock *clock, const struct windows_wanted *wanted);

/*
 * In the legacy stream an event waits for all that went before into the context's blocking streams, and what goes into
 * them later waits for it. Right behind a kernel in the legacy stream it changes nothing, for so does the kernel. Left
 * for later it would have streams wait for each other that do not, for ever where a kernel waits for another one. So
 * from the first blocking stream on no window is left open there.
 */
bool windows_legacy_shared(void); /* needs no lock */
void windows_share_legacy(void);  /* needs no lock; then for each clock: */
void windows_close_legacy(const struct clock *clock);

/* Whether the track's windows end with the launch that opened them. Needs no lock. */
bool track_ends_at_once(const struct track *track);

/*
 * Takes account of what the card has done. Takes tracks from the list. What another thread left open in its own stream
 * is estimated after a tenth of a second.
 */
void windows_poll(const struct clock *clock);

/* Whether the card has not done all windows of this process, or one is open. Needs no lock. */
bool windows_under_way(int card);

/* The track's open window is given up: nobody will tell when the card has done it. */
void window_give_up(struct track *track);

/* The first pending window of the track came to an end, or is given up. */
void window_forget(struct track *track, const struct window *window);

/* The wall time from..to was used on the card, as cores_used has it. Needs no lock. */
void windows_used(int card, uint64_t launched, uint64_t from, uint64_t to);

/* A launch was not timed that takes so many ns, by what was learned of its stream. Needs no lock. */
void windows_miss(int card, uint64_t ns);

/* In a child of fork: no context and no stream is known, and nothing is under way. */
void windows_forget(void);

#endif
