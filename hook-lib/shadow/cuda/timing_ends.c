/* Streams and contexts that end, and the child of a fork. */
#include <string.h>

#include "common/atomics.h"
#include "cuda/cuda_timing.h"
#include "cuda/timing_windows.h"

static const uint64_t GONE = UINT64_MAX; /* a track's key: its stream is no more */

/* Under the lock. Another stream may come to have the same handle, in another context: it is not to be found any more. */
static void track_ends(struct track *track) {
    if (load_relaxed(&track->open))
        window_close(track, false);
    if (load_relaxed(&track->open))
        window_join_last(track);
    store_relaxed(&track->key, GONE);
}

void timing_stream_ends(CUstream stream) {
    if (!stream || stream_is_default(stream) || !DRIVER(cuCtxGetCurrent))
        return;
    struct track *track = track_find((uint64_t)(uintptr_t)stream, track_owner(stream));
    if (!track)
        return;
    int mode = timing_calls_begin();
    timing_lock_wait();
    if (load_relaxed(&track->key) == (uint64_t)(uintptr_t)stream && track->stream == stream)
        track_ends(track);
    timing_lock_leave();
    timing_calls_end(mode);
}

void timing_green_ends(CUcontext context) {
    if (!context || !DRIVER(cuCtxGetCurrent))
        return;
    int mode = timing_calls_begin();
    timing_lock_wait();
    for (int i = 0; i < TRACKS; i++)
        if (load_relaxed(&tracks[i].key) && load_relaxed(&tracks[i].key) != GONE && tracks[i].context == context)
            track_ends(&tracks[i]);
    timing_lock_leave();
    timing_calls_end(mode);
}

void timing_context_ends(CUcontext context) {
    timing_lock_wait();
    for (int i = 0; i < CLOCKS_MAX; i++)
        if (context && clocks[i].context == context)
            clocks[i].ending++;
    timing_lock_leave();
}

void timing_context_stays(CUcontext context) {
    timing_lock_wait();
    for (int i = 0; i < CLOCKS_MAX; i++)
        if (context && clocks[i].context == context && clocks[i].ending > 0)
            clocks[i].ending--;
    timing_lock_leave();
}

/* Its events are gone with it. What they would have told took no longer than until now. */
void timing_context_gone(CUcontext context) {
    if (!context)
        return;
    timing_lock_wait();
    for (unsigned int i = tracks_listed_count; i-- > 0;) {
        struct track *track = &tracks[tracks_listed[i]];
        struct clock *clock = track->clock;
        if (clock->context != context)
            continue;
        if (load_relaxed(&track->open))
            cores_used(clock->card, track->now.recorded, cores_now());
        store_relaxed(&track->open, 0);
        while (track->count > 0) {
            struct window window = track->pending[track->first];
            cores_used(clock->card, window.recorded, cores_now());
            window.start = window.end = NULL;
            window_forget(track, &window);
        }
        track_unlist_at(i);
    }
    for (int i = 0; i < CLOCKS_MAX; i++)
        if (clocks[i].context == context)
            memset(&clocks[i], 0, sizeof clocks[i]);
    for (int i = 0; i < TRACKS; i++)
        if (tracks[i].clock && !tracks[i].clock->context)
            store_relaxed(&tracks[i].key, 0);
    timing_lock_leave();
}

void timing_forget(void) {
    timing_lock_forget();
    tracks_forget();
    for (int i = 0; i < CLOCKS_MAX; i++)
        if (clocks[i].context)
            memset(&clocks[i], 0, sizeof clocks[i]);
    windows_forget();
    memset(timing_counters, 0, sizeof timing_counters);
    cores_forget();
}
