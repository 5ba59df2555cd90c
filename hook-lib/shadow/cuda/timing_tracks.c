#include "cuda/timing_tracks.h"

#include <string.h>

struct track tracks[TRACKS];
uint16_t tracks_listed[TRACKS];
uint32_t tracks_listed_count;

struct track *track_make(uint64_t key, uint64_t owner, CUstream stream, CUcontext context, CUcontext home, int card) {
    uint32_t place = track_place(key, owner);
    struct track *track = track_find(key, owner);
    for (uint32_t i = 0; i < TRACK_PROBES && !track; i++) {
        struct track *there = &tracks[(place + i) % TRACKS];
        if (load(&there->key) == 0)
            track = there;
    }
    for (uint32_t i = 0; i < TRACK_PROBES && !track; i++) { /* one that is not in use may be of a stream that is gone */
        struct track *there = &tracks[(place + i) % TRACKS];
        if (!load32(&there->listed))
            track = there;
    }
    struct clock *clock = track ? clock_of(home, card) : NULL;
    if (!clock)
        return NULL;
    store(&track->key, 0);
    track->clock = clock;
    track->stream = stream;
    track->context = context;
    store(&track->each, 0);
    track->most = 0;
    store(&track->loop, 0);
    track->first = 0;
    store32(&track->count, 0);
    store32(&track->open, 0);
    store32(&track->launches, 0);
    store32(&track->allowance, 1);
    store(&track->last, 0);
    store(&track->owner, owner);
    __atomic_store_n(&track->key, key, __ATOMIC_RELEASE);
    return track;
}

void track_list(struct track *track) {
    if (!track->listed) {
        store32(&track->listed, 1);
        tracks_listed[tracks_listed_count] = (uint16_t)(track - tracks);
        store32(&tracks_listed_count, tracks_listed_count + 1);
    }
}

void track_unlist_at(unsigned int at) {
    store32(&tracks[tracks_listed[at]].listed, 0);
    tracks_listed[at] = tracks_listed[tracks_listed_count - 1];
    store32(&tracks_listed_count, tracks_listed_count - 1);
}

void tracks_forget(void) {
    for (unsigned int i = 0; i < tracks_listed_count; i++)
        tracks[tracks_listed[i]].listed = 0;
    tracks_listed_count = 0;
    for (int i = 0; i < TRACKS; i++)
        if (tracks[i].key)
            memset(&tracks[i], 0, sizeof tracks[i]);
}
