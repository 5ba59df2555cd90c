/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/timing_windows.h"

#include <string.h>

#include "common/atomics.h"
#include "common/ticks.h"
#include "cores/cores.h"
#include "cuda/cuda_driver.h"
#include "partita/usage_region.h"

enum { LAUNCHES_MAX = 32, AWAY_US = 30, UNDER_WAY_US = 100000, EXACT_BURSTS = 16, PATIENCE_MAX = 16 };
static const uint64_t AIM_NS = 2000000, LONG_NS = 100000, UNKNOWN_NS = 12000000, REBASE_NS = 4000000000;

struct backlog backlogs[CARDS_MAX];
struct clock clocks[CLOCKS_MAX];
struct track tracks[TRACKS];
uint32_t windows_clocks;

enum { WORD = 64, WORDS = TRACKS / WORD };
static struct listed_tracks {
    uint64_t bits[WORDS];
    uint32_t count;
} listed_tracks[CLOCKS_MAX];

struct clock *clock_find(CUcontext context, int card) {
    for (int i = 0; i < CLOCKS_MAX && context; i++)
        if (load_acquire(&clocks[i].context) == context && load_relaxed(&clocks[i].card) == card)
            return &clocks[i];
    return NULL;
}

struct clock *clock_make(CUcontext context, int card) {
    struct clock *clock = clock_find(context, card);
    if (clock)
        return clock;
    timing_lock_wait(TIMING_TABLES);
    clock = clock_find(context, card);
    for (int i = 0; i < CLOCKS_MAX && !clock; i++)
        if (!load_acquire(&clocks[i].context)) {
            clock = &clocks[i];
            store_relaxed(&clock->card, card);
            store_release(&clock->context, context);
        }
    timing_lock_leave(TIMING_TABLES);
    return clock;
}

void clock_free(struct clock *clock) {
    for (int i = 0; i < TRACKS; i++)
        if (load_relaxed(&tracks[i].clock) == clock)
            store_relaxed(&tracks[i].key, 0);
    clock->base = NULL;
    clock->base_at = 0;
    clock->ending = 0;
    clock->spares = 0;
    store_release(&clock->context, NULL); /* then it may be another one's */
}

static CUevent take_event(struct clock *clock) {
    CUevent event = NULL;
    bool pushed;
    if (clock->spares > 0)
        return clock->spare[--clock->spares];
    /* A green context may be current, whose events may end with it, and which does not outlive the others. */
    if (!context_enter(load_relaxed(&clock->context), &pushed) ||
        DRIVER(cuEventCreate)(&event, CU_EVENT_DEFAULT) != CUDA_SUCCESS) {
        cores_unenforced(clock->card, PARTITA_COMPUTE_EVENT_FAILED);
        event = NULL;
    }
    context_leave(pushed);
    return event;
}

static void destroy_event(CUevent event) {
    if (DRIVER(cuEventDestroy_v2))
        DRIVER(cuEventDestroy_v2)(event);
}

void clock_drop_event(struct clock *clock, CUevent event) {
    if (!event)
        return;
    if (clock->spares < CLOCK_EVENTS)
        clock->spare[clock->spares++] = event;
    else
        destroy_event(event);
}

CUevent clock_record(struct clock *clock, CUstream stream) {
    CUevent event = take_event(clock);
    if (event && DRIVER(cuEventRecord)(event, stream) != CUDA_SUCCESS) {
        cores_unenforced(clock->card, PARTITA_COMPUTE_EVENT_FAILED);
        destroy_event(event); /* taken again, it might fail again */
        return NULL;
    }
    return event;
}

CUresult clock_since_base(const struct clock *clock, CUevent event, int64_t *ns) {
    float ms = 0;
    CUresult result = DRIVER(cuEventElapsedTime_v2) ? DRIVER(cuEventElapsedTime_v2)(&ms, clock->base, event)
                                                    : DRIVER(cuEventElapsedTime)(&ms, clock->base, event);
    *ns = (int64_t)((double)ms * 1e6);
    return result;
}

/* Under the tables' lock, too: whether the track can be another stream's; of another clock while nobody is at it. */
static bool can_be_taken(struct track *track, const struct clock *clock) {
    const struct clock *of = load_relaxed(&track->clock);
    if (load_relaxed(&track->key) == 0)
        return true;
    if (!of || of == clock)
        return !load_relaxed(&track->listed);
    if (!timing_lock_try(clock_lock(of)))
        return false;
    bool can = !load_relaxed(&track->listed);
    if (can)
        store_relaxed(&track->key, 0);
    timing_lock_leave(clock_lock(of));
    return can;
}

static struct track *free_track(uint64_t key, uint64_t owner, const struct clock *clock) {
    uint32_t place = track_place(key, owner);
    for (uint32_t i = 0; i < TRACK_PROBES; i++)
        if (load_relaxed(&tracks[(place + i) % TRACKS].key) == 0)
            return &tracks[(place + i) % TRACKS];
    for (uint32_t i = 0; i < TRACK_PROBES; i++) /* one that is not in use may be of a stream that is gone */
        if (can_be_taken(&tracks[(place + i) % TRACKS], clock))
            return &tracks[(place + i) % TRACKS];
    return NULL;
}

static struct track *make_in_tables(uint64_t key, uint64_t owner, CUstream stream, CUcontext context,
                                    struct clock *clock) {
    struct track *track = free_track(key, owner, clock);
    if (!track)
        return NULL;
    store_relaxed(&track->key, 0);
    store_relaxed(&track->clock, clock);
    track->stream = stream;
    store_relaxed(&track->context, context);
    store_relaxed(&track->each, 0);
    track->most = 0;
    track->exact = track->unsure = track->patience = 0;
    store_relaxed(&track->loop, 0);
    track->first = 0;
    store_relaxed(&track->count, 0);
    store_relaxed(&track->open, 0);
    store_relaxed(&track->launches, 0);
    store_relaxed(&track->allowance, 1);
    store_relaxed(&track->last, 0);
    store_relaxed(&track->begun, 0);
    store_relaxed(&track->owner, owner);
    store_release(&track->key, key);
    return track;
}

struct track *track_make(uint64_t key, uint64_t owner, CUstream stream, CUcontext context, struct clock *clock) {
    timing_lock_wait(TIMING_TABLES);
    struct track *track = make_in_tables(key, owner, stream, context, clock);
    timing_lock_leave(TIMING_TABLES);
    return track;
}

struct track *track_listed(const struct clock *clock, unsigned int place) {
    const struct listed_tracks *listed = &listed_tracks[clock - clocks];
    for (unsigned int word = place / WORD; word < WORDS; word++) {
        uint64_t bits = load_acquire(&listed->bits[word]);
        if (word == place / WORD)
            bits &= UINT64_MAX << place % WORD;
        if (bits)
            return &tracks[word * WORD + (unsigned int)__builtin_ctzll(bits)];
    }
    return NULL;
}

void track_list(struct track *track) {
    struct listed_tracks *listed = &listed_tracks[track->clock - clocks];
    unsigned int place = (unsigned int)(track - tracks);
    if (load_relaxed(&track->listed))
        return;
    store_relaxed(&track->listed, 1);
    store_release(&listed->bits[place / WORD], listed->bits[place / WORD] | UINT64_C(1) << place % WORD);
    if (listed->count++ == 0)
        __atomic_fetch_or(&windows_clocks, UINT32_C(1) << (track->clock - clocks), __ATOMIC_RELEASE);
}

void track_unlist(struct track *track) {
    struct listed_tracks *listed = &listed_tracks[track->clock - clocks];
    unsigned int place = (unsigned int)(track - tracks);
    store_relaxed(&listed->bits[place / WORD], listed->bits[place / WORD] & ~(UINT64_C(1) << place % WORD));
    if (--listed->count == 0)
        __atomic_fetch_and(&windows_clocks, ~(UINT32_C(1) << (track->clock - clocks)), __ATOMIC_RELAXED);
    store_release(&track->listed, 0); /* then it may be another stream's */
}

/* Where the account cannot be had it is charged with the next that is used. */
void windows_used(int card, uint64_t launched, uint64_t from, uint64_t to) {
    if (!timing_lock_enter(TIMING_ACCOUNTS + card)) {
        windows_miss(card, to - from);
        return;
    }
    cores_used(card, launched, from, to);
    timing_lock_leave(TIMING_ACCOUNTS + card);
}

void track_burst_begins(struct track *track) {
    track->exact -= track->exact > 0;
}

bool track_is_exact(const struct track *track) {
    return track->exact > 0;
}

/* The rest of the burst that has begun is timed exactly, and so many more. */
static void time_exactly(struct track *track, uint32_t bursts) {
    if (track->exact < 1 + bursts)
        track->exact = 1 + bursts;
}

static void bound_may_be_too_low(struct track *track) {
    if (++track->unsure < track->patience)
        return;
    track->unsure = 0;
    track->patience = track->patience ? 2 * track->patience : 1;
    if (track->patience > PATIENCE_MAX)
        track->patience = PATIENCE_MAX;
    time_exactly(track, 1);
}

static void long_kernel_found(struct track *track) {
    time_exactly(track, EXACT_BURSTS);
    track->unsure = track->patience = 0;
}

static void learn_of_window(struct track *track, const struct window *window, uint64_t ns) {
    if (window->open_ended) {
        uint64_t loop = track->loop;
        store_relaxed(&track->loop, ns >= loop ? ns + 1 : loop - (loop - ns) / 4);
        return;
    }
    uint64_t each = ns / (window->launches ? window->launches : 1) + 1;
    uint64_t average = track->each ? (3 * track->each + each) / 4 : each;
    if (track_is_exact(track) && each > LONG_NS && each > 2 * track->each)
        long_kernel_found(track);
    store_relaxed(&track->each, each > 2 * average ? each : average); /* rather too few launches at a time */
    track->most = each > track->most ? each : track->most - (track->most - each) / 16;
    uint64_t allowance = AIM_NS / track->each, most = 2 * (uint64_t)load_relaxed(&track->allowance);
    allowance = allowance < most ? allowance : most;
    store_relaxed(&track->allowance, allowance < 1 ? 1 : allowance > LAUNCHES_MAX ? LAUNCHES_MAX : (uint32_t)allowance);
}

void window_give_up(struct track *track) {
    store_relaxed(&track->open, 0);
    cores_window_ends(track->clock->card, track->now.turn);
}

void window_forget(struct track *track, const struct window *window) {
    struct backlog *backlog = &backlogs[track->clock->card];
    cores_window_ends(track->clock->card, window->turn);
    clock_drop_event(track->clock, window->start);
    clock_drop_event(track->clock, window->end);
    __atomic_fetch_sub(&backlog->ns, window->guess, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&backlog->windows, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&backlog->progress, 1, __ATOMIC_RELAXED);
    track->first = (track->first + 1) % TRACK_PENDING;
    store_relaxed(&track->count, track->count - 1);
}

/* False: the card has not done it yet. */
static bool account_for(struct track *track) {
    struct clock *clock = track->clock;
    struct window window = track->pending[track->first];
    int64_t start = 0, end = 0;
    CUresult result = DRIVER(cuEventQuery)(window.end);
    if (result == CUDA_SUCCESS)
        result = clock_since_base(clock, window.start, &start);
    if (result == CUDA_SUCCESS)
        result = clock_since_base(clock, window.end, &end);
    if (result == CUDA_ERROR_NOT_READY)
        return false;
    uint64_t now = cores_now();
    if (result != CUDA_SUCCESS || end < start) { /* what cannot be read took no longer than this */
        windows_used(clock->card, window.recorded, window.recorded, now);
        window_forget(track, &window);
        return true;
    }
    /* Nothing comes before it was recorded, nor after it was seen. */
    if (clock->base_at + (uint64_t)start < window.recorded)
        clock->base_at = window.recorded - (uint64_t)start;
    if (clock->base_at + (uint64_t)end > now)
        clock->base_at = now - (uint64_t)end;
    uint64_t from = clock->base_at + (uint64_t)start, ns = (uint64_t)(end - start);
    /* at most, and at least */
    uint64_t idle = window.closed > from ? window.closed - from : 0, busy = idle < ns ? ns - idle : 0;
    if (window.bound > busy && window.bound < ns / 2 && !window.open_ended)
        bound_may_be_too_low(track);
    if (window.bound > 0 && window.bound < ns)
        ns = window.bound > busy ? window.bound : busy;
    if (window.bound == 0 || busy > window.bound)
        learn_of_window(track, &window, ns);
    windows_used(clock->card, window.launched, from, from + ns);
    if (end > (int64_t)REBASE_NS) {
        CUevent former = clock->base;
        clock->base = window.end;
        clock->base_at += (uint64_t)end;
        window.end = former;
    }
    window_forget(track, &window);
    return true;
}

static void charge_missed(int card) {
    uint64_t ns =
        load_relaxed(&backlogs[card].missed) ? __atomic_exchange_n(&backlogs[card].missed, 0, __ATOMIC_RELAXED) : 0;
    if (ns > 0) {
        uint64_t now = cores_now();
        windows_used(card, now - ns, now - ns, now);
    }
}

static bool launch_is_under_way(const struct track *track) {
    uint64_t begun = load_relaxed(&track->begun);
    return begun > load_relaxed(&track->last) && ticks_now() - begun < UNDER_WAY_US * ticks_in_a_microsecond();
}

/*
 * Nobody else can record in a thread's own stream. Where the thread is away for long, or has ended, its window would
 * stay open.
 */
static bool is_left_behind(const struct track *track) {
    return load_relaxed(&track->open) && !track_is_ours(track) && !launch_is_under_way(track) &&
           load_relaxed(&track->last) + UNDER_WAY_US * ticks_in_a_microsecond() < ticks_now();
}

void windows_poll(const struct clock *clock) {
    for (EACH_LISTED(track, clock)) {
        while (track->count > 0 && !track->clock->ending && account_for(track)) {
        }
        if (is_left_behind(track)) {
            bound_may_be_too_low(track);
            window_join_last(track);
        }
        if (track->count == 0 && !load_relaxed(&track->open))
            track_unlist(track);
    }
    charge_missed(clock->card);
}

static void end_window(struct track *track, bool gap) {
    struct window window = track->now;
    if (track->count == TRACK_PENDING)
        windows_poll(track->clock);
    if (track->count == TRACK_PENDING || stream_capturing(track->stream))
        return;                       /* it stays open */
    store_relaxed(&track->ending, 1); /* a launch that comes behind the end looks whether it did */
    window.end = clock_record(track->clock, track->stream);
    if (!window.end) {
        window_give_up(track);
        clock_drop_event(track->clock, window.start);
        return;
    }
    store_relaxed(&track->open, 0);
    window.launches = load_relaxed(&track->launches);
    window.bound = !gap ? 0 : window.open_ended ? track->loop : track->most * window.launches;
    window.closed = cores_now();
    uint64_t takes = track_takes(track, window.launches, window.open_ended);
    window.guess = takes ? takes : UNKNOWN_NS;
    track->pending[(track->first + track->count) % TRACK_PENDING] = window;
    store_relaxed(&track->count, track->count + 1);
    struct backlog *backlog = &backlogs[track->clock->card];
    __atomic_fetch_add(&backlog->ns, window.guess, __ATOMIC_RELAXED);
    __atomic_fetch_add(&backlog->windows, 1, __ATOMIC_RELAXED);
}

static bool track_enter(const struct track *track, bool *pushed) {
    struct stream_contexts contexts = {track->context, track->clock->context};
    return stream_enter(track->stream, &contexts, pushed);
}

void window_close(struct track *track, bool gap) {
    bool pushed;
    if (track->clock->ending || !track_enter(track, &pushed))
        return; /* it stays open */
    end_window(track, gap);
    context_leave(pushed);
}

/*
 * As long as its launches take by what was learned of them, but no longer than until now. Where none has come back from
 * the driver yet, it charges itself when it does.
 */
static void estimate_window(const struct track *track) {
    uint32_t launches = load_relaxed(&track->launches);
    if (launches == 0)
        return;
    uint64_t from = track->now.recorded, now = cores_now(), passed = now > from ? now - from : 0;
    uint64_t takes = track_takes(track, launches, track->now.open_ended);
    windows_used(track->clock->card, from, from, from + (takes > 0 && takes < passed ? takes : passed));
}

static CUevent record_last(struct track *track) {
    bool pushed;
    CUevent end = NULL;
    if (track->clock->ending || !track_is_ours(track) || !track_enter(track, &pushed))
        return NULL;
    if (track->count > 0 && !stream_capturing(track->stream))
        end = clock_record(track->clock, track->stream);
    context_leave(pushed);
    return end;
}

bool window_extend_last(struct track *track, uint32_t launches, bool open_ended, bool gap) {
    CUevent end = record_last(track);
    if (!end)
        return false;
    struct window *last = &track->pending[(track->first + track->count - 1) % TRACK_PENDING];
    clock_drop_event(track->clock, last->end);
    last->end = end;
    last->open_ended |= open_ended;
    if (last->open_ended)
        last->bound = 0;
    else if (gap || last->bound)
        last->bound = (last->bound ? last->bound : track->most * last->launches) + track->most * launches;
    last->closed = cores_now();
    last->launches += launches;
    uint64_t takes = track_takes(track, launches, open_ended);
    last->guess += takes;
    __atomic_fetch_add(&backlogs[track->clock->card].ns, takes, __ATOMIC_RELAXED);
    return true;
}

void window_join_last(struct track *track) {
    window_give_up(track);
    if (!window_extend_last(track, load_relaxed(&track->launches), track->now.open_ended, false))
        estimate_window(track);
    clock_drop_event(track->clock, track->now.start);
}

void window_open(struct track *track, uint64_t ticks, bool open_ended, unsigned int turn) {
    struct clock *clock = track->clock;
    uint64_t now = cores_now();
    if (!clock->base) {
        clock->base = clock_record(track->clock, track->stream);
        clock->base_at = now;
        if (!clock->base)
            return;
    }
    track->now = (struct window){
        .start = clock_record(track->clock, track->stream), .recorded = now, .open_ended = open_ended, .turn = turn};
    if (!track->now.start)
        return;
    track->now.launched = cores_now();
    store_relaxed(&track->launches, 0);
    store_relaxed(&track->ending, 0);
    store_relaxed(&track->opened, ticks);
    store_relaxed(&track->opener, this_thread());
    store_relaxed(&track->open, 1);
    track_list(track);
    cores_enforced(clock->card);
    cores_window_begins(clock->card, turn);
}

bool windows_under_way(int card) {
    const struct clock *clock;
    for (EACH_CLOCK(clock, load_acquire(&windows_clocks)))
        if (load_relaxed(&clock->card) == card)
            for (EACH_LISTED(track, clock))
                if (load_relaxed(&track->count) > 0 || load_relaxed(&track->open))
                    return true;
    return false;
}

/* Whether the program has been away since its last launch, and the card has done that meanwhile. */
static bool card_waits_for_program(const struct track *track) {
    return load_relaxed(&track->last) + AWAY_US * ticks_in_a_microsecond() < ticks_now() && DRIVER(cuStreamQuery) &&
           !stream_capturing(track->stream) && DRIVER(cuStreamQuery)(track->stream) == CUDA_SUCCESS;
}

void window_end_before(struct track *track) {
    if (!load_relaxed(&track->open))
        return;
    bool was_left = load_relaxed(&track->ending);
    if (!was_left && launch_is_under_way(track)) {
        store_relaxed(&track->ending, 1);
        if (launch_is_under_way(track)) /* else it may have ended without having seen that */
            return;
    }
    window_close(track, was_left || card_waits_for_program(track));
}

void window_after_gap(struct track *track) {
    CUresult result = DRIVER(cuStreamQuery) ? DRIVER(cuStreamQuery)(track->stream) : CUDA_SUCCESS;
    if (result != CUDA_ERROR_NOT_READY)
        window_close(track, true);
}

/* A track that is in the list has a clock. Who looks without the lock may find it changed meanwhile. */
static bool is_wanted(const struct track *track, const struct windows_wanted *wanted) {
    const struct clock *clock = load_relaxed(&track->clock);
    /* a primary one waits for its green ones */
    bool of = !wanted->context || load_relaxed(&track->context) == wanted->context ||
              (clock && load_relaxed(&clock->context) == wanted->context);
    return of && (load_relaxed(&track->opener) == wanted->opener || load_relaxed(&track->opened) <= wanted->opened);
}

bool windows_any(const struct clock *clock, const struct windows_wanted *wanted) {
    for (EACH_LISTED(track, clock))
        if (load_relaxed(&track->open) && is_wanted(track, wanted))
            return true;
    return false;
}

/* Closing one may take others from the list. */
void windows_close(const struct clock *clock, const struct windows_wanted *wanted) {
    for (EACH_LISTED(track, clock))
        if (is_wanted(track, wanted) && track_is_ours(track))
            window_end_before(track);
}

static uint32_t legacy_shared;

bool windows_legacy_shared(void) {
    return load_relaxed(&legacy_shared) != 0;
}

void windows_share_legacy(void) {
    __atomic_store_n(&legacy_shared, 1, __ATOMIC_SEQ_CST);
}

bool track_ends_at_once(const struct track *track) {
    bool green = track->context != track->clock->context;
    return stream_is_default(track->stream) &&
           (green || (track->stream == CU_STREAM_LEGACY && windows_legacy_shared()));
}

/* The blocking stream is not made yet: what is closed here waits for nothing of it. */
void windows_close_legacy(const struct clock *clock) {
    for (EACH_LISTED(track, clock))
        if (load_relaxed(&track->open) && track->stream == CU_STREAM_LEGACY)
            window_close(track, false);
}

void windows_miss(int card, uint64_t ns) {
    __atomic_fetch_add(&backlogs[card].missed, ns, __ATOMIC_RELAXED);
}

void windows_forget(void) {
    const struct clock *clock;
    for (EACH_CLOCK(clock, windows_clocks)) {
        for (EACH_LISTED(track, clock))
            track->listed = 0;
        memset(&listed_tracks[clock - clocks], 0, sizeof *listed_tracks);
    }
    windows_clocks = 0;
    for (int i = 0; i < TRACKS; i++)
        if (tracks[i].key)
            memset(&tracks[i], 0, sizeof tracks[i]);
    for (int i = 0; i < CLOCKS_MAX; i++)
        if (clocks[i].context)
            memset(&clocks[i], 0, sizeof clocks[i]);
    memset(backlogs, 0, sizeof backlogs);
    legacy_shared = 0;
}
