#include "cuda/timing_tracks.h"

#include <string.h>

#include "common/atomics.h"

struct track tracks[TRACKS];
uint16_t tracks_listed[TRACKS];
uint32_t tracks_listed_count;

struct track *track_make(uint64_t key, uint64_t owner, CUstream stream, CUcontext context, CUcontext home, int card) {
    uint32_t place = track_place(key, owner);
    struct track *track = track_find(key, owner);
    for (uint32_t i = 0; i < TRACK_PROBES && !track; i++) {
        struct track *there = &tracks[(place + i) % TRACKS];
        if (load_relaxed(&there->key) == 0)
            track = there;
    }
    for (uint32_t i = 0; i < TRACK_PROBES && !track; i++) { /* one that is not in use may be of a stream that is gone */
        struct track *there = &tracks[(place + i) % TRACKS];
        if (!load_relaxed(&there->listed))
            track = there;
    }
    struct clock *clock = track ? clock_of(home, card) : NULL;
    if (!clock)
        return NULL;
    store_relaxed(&track->key, 0);
    track->clock = clock;
    track->stream = stream;
    track->context = context;
    store_relaxed(&track->each, 0);
    track->most = 0;
    store_relaxed(&track->loop, 0);
    track->first = 0;
    store_relaxed(&track->count, 0);
    store_relaxed(&track->open, 0);
    store_relaxed(&track->launches, 0);
    store_relaxed(&track->allowance, 1);
    store_relaxed(&track->last, 0);
    store_relaxed(&track->owner, owner);
    store_release(&track->key, key);
    return track;
}

void track_list(struct track *track) {
    if (!track->listed) {
        store_relaxed(&track->listed, 1);
        tracks_listed[tracks_listed_count] = (uint16_t)(track - tracks);
        store_relaxed(&tracks_listed_count, tracks_listed_count + 1);
    }
}

void track_unlist_at(unsigned int at) {
    store_relaxed(&tracks[tracks_listed[at]].listed, 0);
    tracks_listed[at] = tracks_listed[tracks_listed_count - 1];
    store_relaxed(&tracks_listed_count, tracks_listed_count - 1);
}

void tracks_forget(void) {
    for (unsigned int i = 0; i < tracks_listed_count; i++)
        tracks[tracks_listed[i]].listed = 0;
    tracks_listed_count = 0;
    for (int i = 0; i < TRACKS; i++)
        if (tracks[i].key)
            memset(&tracks[i], 0, sizeof tracks[i]);
}
