/* Windows of launches in a stream: opened, closed, and charged when the card has done them. All but windows_miss under the timing's lock. */
#ifndef PARTITA_TIMING_WINDOWS_H
#define PARTITA_TIMING_WINDOWS_H

#include "share/cards.h"
#include "cuda/timing_tracks.h"

/* Of a card: windows that the card has not done yet. */
extern struct backlog {
    uint64_t ns;
    uint32_t windows;
    uint64_t progress; /* changes when one comes to an end, or a launch goes on though none did */
    uint64_t missed; /* ns that launches which were not timed took by what was learned of their streams: not charged yet */
} backlogs[CARDS_MAX];

/* The track's context is the current one. Its window may stay closed: nothing can be recorded. */
void window_open(struct track *track, uint64_t ticks, bool open_ended);

/*
 * The window may stay open: nothing can be recorded, or there are too many. `gap`: the card may have waited for the program in it, so what the
 * launches take is estimated, if there is anything to do it by.
 */
void window_close(struct track *track, bool gap);

/* There is no room for one more window, and none will be: the last one that is pending ends here. */
void window_join_last(struct track *track);

/* The stream was left alone for a while: has the card waited for the program meanwhile? */
void window_after_gap(struct track *track);

/* Those of the context, but for the default streams of other threads. */
void windows_close_of(CUcontext context);

/* Takes account of what the card has done. Takes tracks from the list. */
void windows_poll(void);

/* The first pending window of the track came to an end, or is given up. */
void window_forget(struct track *track, const struct window *window);

/* A launch is not timed. `track`: its stream's, if it has one. */
void windows_miss(int card, const struct track *track, bool open_ended);

/* In a child of fork. */
void windows_forget(void);

#endif
