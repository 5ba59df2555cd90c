/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/cuda_timing.h"

#include <string.h>

#include "common/atomics.h"
#include "common/ticks.h"
#include "cuda/cuda_contexts.h"
#include "cuda/timing_windows.h"
#include "share/cards.h"

/* Launches that are further apart are sparse; who is away for longer within one has lost the processor. */
enum { SPARSE_US = 30, GAP_US = 100, WINDOW_US = 200 };
enum { LOOPS_AHEAD = 4, PATIENCE_DOUBLINGS = 8 };
static const uint64_t LOOPS_AHEAD_NS = 100000;
static const uint64_t AHEAD_NS = 20000000, AHEAD_PERCENT_NS = 500000, FOLLOWING_NS = 50000, PEER_PATIENCE_NS = 300000,
                      PEER_PATIENCE_MOST_NS = 20000000, LOOKING_NS = 500000, PATIENCE_NS = 200000000,
                      PATIENCE_MOST_NS = 60000000000;

static uint64_t ticks_us; /* ticks in a microsecond */
static uint64_t first_ticks, first_ns;

struct timing_counter timing_counters[TIMING_COUNTERS];

bool timing_watch_slowly(void) {
    struct timing_counter *counter = timing_counter();
    /* A thread that launches seldom looks at each launch. */
    uint64_t now = cores_now(), looked = __atomic_exchange_n(&counter->looked, now, __ATOMIC_RELAXED);
    store_relaxed(&counter->left, now - looked < UINT64_C(100000000) ? TIMING_UNWATCHED : 0);
    cores_look();
    return cores_watch();
}

static void measure_ticks(void) {
    static uint32_t begun;
    uint64_t ticks = ticks_now(), ns = cores_now(), since = load_acquire(&first_ns);
    if (since == 0 && !__atomic_exchange_n(&begun, 1, __ATOMIC_RELAXED)) {
        store_relaxed(&ticks_us, ticks_in_a_microsecond());
        store_relaxed(&first_ticks, ticks);
        store_release(&first_ns, ns);
    } else if (since > 0 && ns > since + 1000000) {
        uint64_t rate = (ticks - load_relaxed(&first_ticks)) / ((ns - since) / 1000);
        store_relaxed(&ticks_us, rate ? rate : 1);
    }
}

/* Enters the lock of the track's clock; NULL: that cannot be had, or the track is another one's by then. */
static const struct clock *enter_clock_of(const struct track *track) {
    const struct clock *clock = load_relaxed(&track->clock);
    if (!clock || !timing_lock_enter(clock_lock(clock)))
        return NULL;
    if (load_relaxed(&track->clock) == clock)
        return clock;
    timing_lock_leave(clock_lock(clock));
    return NULL;
}

/*
 * A large share runs short of work when its program gets no processor for a while; a small one waits for its turn
 * anyway.
 */
static uint64_t far_ahead(int card) {
    uint64_t ns = AHEAD_PERCENT_NS * cores_percent(card);
    return ns > AHEAD_NS ? ns : AHEAD_NS;
}

/*
 * What runs may be waiting for this launch: when nothing came to an end for longer than all that is under way should
 * take, one of those who wait goes on, and the others begin to wait anew. To let all go on would let a program with
 * long kernels launch any number of them. What loops should take is not known: behind each window that is under way one
 * waits twice as long, so that few come together while one runs for minutes.
 */
static bool goes_on_without_progress(struct backlog *backlog, uint64_t progress, uint64_t waited, bool open_ended) {
    uint32_t under_way = open_ended ? load_relaxed(&backlog->windows) : 0;
    uint64_t patience =
        (PATIENCE_NS << (under_way < PATIENCE_DOUBLINGS ? under_way : PATIENCE_DOUBLINGS)) + load_relaxed(&backlog->ns);
    return waited > (patience < PATIENCE_MOST_NS ? patience : PATIENCE_MOST_NS) &&
           __atomic_compare_exchange_n(&backlog->progress, &progress, progress + 1, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
}

/*
 * Whether a launch would not begin any sooner: behind a long one in its own stream it need not be paid for at once with
 * that.
 */
static bool behind_a_long_one(const struct track *track, uint64_t most, bool open_ended) {
    uint32_t pending = track ? load_relaxed(&track->count) : 0;
    if (pending == 0)
        return false;
    if (!open_ended)
        return load_relaxed(&track->each) > 2 * most + most / 4;
    uint64_t loop = load_relaxed(&track->loop);
    return loop == 0 || loop > 2 * most + most / 4;
}

/* What other contexts' windows have come to, where nobody else is at it: of the card, or of all cards. */
static void poll_others(CUcontext home, int card, bool all) {
    const struct clock *clock;
    for (EACH_CLOCK(clock, load_relaxed(&windows_clocks)))
        if (load_relaxed(&clock->context) != home && (all || load_relaxed(&clock->card) == card) &&
            timing_lock_try(clock_lock(clock))) {
            windows_poll(clock);
            timing_lock_leave(clock_lock(clock));
        }
}

/* The context's own windows; with `close` none of the current context's stays open. False: they cannot be had. */
static bool poll_own(CUcontext home, int card, bool close) {
    const struct clock *clock = clock_find(home, card);
    if (!clock)
        return true;
    if (!timing_lock_enter(clock_lock(clock)))
        return false;
    if (close)
        windows_close(clock, &(struct windows_wanted){.context = context_current(), .opened = UINT64_MAX});
    windows_poll(clock);
    timing_lock_leave(clock_lock(clock));
    return true;
}

/* Whether the card has done all that this process has launched on it. */
static bool card_is_idle(CUcontext home, int card) {
    return poll_own(home, card, true) && !windows_under_way(card);
}

/*
 * The turn in which a launch may follow what is under way on other cards; PARTITA_TURNS: in none. *since: when
 * something of the last turn was seen there first, since when something has been.
 *
 * What launches took may be what they waited for others on the card. If the others' launches waited for as long as
 * that in turn, each wait would be as long as the one before, and be charged.
 */
static unsigned int turn_behind_others(int card, uint64_t *since, uint64_t now, uint64_t each) {
    unsigned int turn = cores_turn_of_others(card, now);
    if (turn + 1 < PARTITA_TURNS)
        return turn + 1;
    if (turn == PARTITA_TURNS)
        *since = 0;
    else if (*since == 0)
        *since = now;
    uint64_t patience = (each < PEER_PATIENCE_MOST_NS ? each : PEER_PATIENCE_MOST_NS) + PEER_PATIENCE_NS;
    return *since && now - *since > patience ? PARTITA_TURNS - 1 : PARTITA_TURNS;
}

/* Waits until the limit allows a launch, or it may follow others, and the card is not too far behind; the turn. */
static unsigned int wait_for_turn(CUcontext home, int card, struct track *track, bool open_ended) {
    struct backlog *backlog = &backlogs[card];
    uint64_t begin = cores_now(), progress = load_relaxed(&backlog->progress), moved = begin, now = begin;
    unsigned int turn = 0;
    uint64_t since = 0;
    for (;;) {
        cores_look();
        poll_own(home, card, false);
        now = cores_now();
        uint64_t due = cores_due(card, now);
        poll_others(home, card, due > 0 && cores_several()); /* launches may wait for those (cores_turn_of_others) */
        turn = due > 0 ? turn_behind_others(card, &since, now, track ? load_relaxed(&track->each) : 0) : 0;
        if (turn > 0 && turn < PARTITA_TURNS && card_is_idle(home, card))
            break;
        bool full = track && load_relaxed(&track->count) == TRACK_PENDING;
        uint64_t most = far_ahead(card);
        bool far = load_relaxed(&backlog->windows) >= 2 && load_relaxed(&backlog->ns) > most;
        far |= behind_a_long_one(track, most, open_ended);
        /*
         * Short loops may become long ones. What they take until one wakes from a wait is not enough to keep the card
         * busy.
         */
        far |=
            open_ended && load_relaxed(&backlog->windows) >= LOOPS_AHEAD && load_relaxed(&backlog->ns) > LOOPS_AHEAD_NS;
        bool ahead = (full || far) && cores_limited(card);
        if (due == 0 && !ahead)
            break;
        if (due > 0 || load_relaxed(&backlog->progress) != progress) {
            progress = load_relaxed(&backlog->progress);
            moved = now;
        } else if (goes_on_without_progress(backlog, progress, now - moved, open_ended)) {
            break;
        }
        /* The windows that a stream is full of may be short; a sleep lasts 50 us longer than it is told. */
        uint64_t least = far ? 50000 : 1000, pause = ahead && due == 0 ? (now - moved) / 8 + least : due;
        if (due > 0 && cores_several()) /* others may launch at any moment; where one may follow, they may be waiting */
            pause = turn < PARTITA_TURNS ? FOLLOWING_NS : pause < LOOKING_NS ? pause : LOOKING_NS;
        timing_sleep(
            pause < 2000000 || (due > 0 && load_relaxed(&backlog->windows) == 0 && pause < 20000000) ? pause : 2000000);
    }
    if (now - begin > 100000)
        cores_waited(card, now - begin);
    return turn;
}

/* False: the driver does not tell. */
static bool card_of_current(int *card) {
    CUdevice device;
    if (!DRIVER(cuCtxGetDevice) || DRIVER(cuCtxGetDevice)(&device) != CUDA_SUCCESS)
        return false;
    *card = cuda_card_of(device);
    return true;
}

static void no_limit_holds(uint32_t reason) {
    cores_look();
    for (int card = 0; card < CARDS_MAX; card++)
        if (cores_limited(card))
            cores_unenforced(card, reason);
}

/* It should be timed, and is not: its window is not the one that the track has. */
static struct track *misses(struct timed_launch *launch, int card, const struct track *track) {
    launch->missed_on = card;
    if (track)
        launch->each = launch->open_ended ? load_relaxed(&track->loop) : load_relaxed(&track->each);
    return NULL;
}

static void end_missed(const struct timed_launch *launch, uint32_t kernels) {
    if (launch->missed_on == TIMING_ANY_CARD)
        no_limit_holds(PARTITA_COMPUTE_EVENT_FAILED);
    else if (launch->each > 0)
        windows_miss(launch->missed_on, launch->each * (launch->open_ended ? 1 : kernels));
    else if (cores_limited(launch->missed_on))
        cores_unenforced(launch->missed_on, PARTITA_COMPUTE_EVENT_FAILED);
}

static struct track *begin_in_context(uint64_t key, uint64_t owner, CUstream stream,
                                      const struct stream_contexts *contexts, bool sparse,
                                      struct timed_launch *launch) {
    int card;
    if (!card_of_current(&card))
        return misses(launch, TIMING_ANY_CARD, NULL);
    if (card < 0)
        return NULL;
    enum capturing capturing = stream_capture(stream);
    if (capturing != CAPTURES_NOTHING)
        return capturing == CAPTURES_UNKNOWN ? misses(launch, card, NULL) : NULL;
    launch->turn = wait_for_turn(contexts->home, card, track_find(key, owner), launch->open_ended);
    launch->ticks = ticks_now();
    if (!cores_limited(card))
        return NULL;
    struct clock *clock = clock_make(contexts->home, card);
    if (!clock) {
        cores_unenforced(card, PARTITA_COMPUTE_TOO_MANY);
        return NULL;
    }
    if (!timing_lock_enter(clock_lock(clock)))
        return misses(launch, card, track_find(key, owner));
    measure_ticks();
    bool is_its = load_relaxed(&clock->context) == contexts->home;
    struct track *track = track_find(key, owner);
    if (!track && is_its)
        track = track_make(key, owner, stream, contexts->own, clock);
    if (!track && is_its)
        cores_unenforced(card, PARTITA_COMPUTE_TOO_MANY);
    else if (!is_its || load_relaxed(&track->clock) != clock || clock->ending)
        track = misses(launch, card, track);
    else {
        if (sparse)
            track_burst_begins(track);
        sparse |= track_ends_at_once(track);
        bool exact = track_is_exact(track);
        if (load_relaxed(&track->open) && sparse)
            window_after_gap(track);
        if (load_relaxed(&track->open) &&
            (launch->open_ended || exact ||
             (!sparse && load_relaxed(&track->launches) >= load_relaxed(&track->allowance))))
            window_close(track, false);
        if (!load_relaxed(&track->open))
            window_open(track, launch->ticks, launch->open_ended, launch->turn);
        store_relaxed(&track->sparse, sparse || exact);
        if (load_relaxed(&track->open))
            store_relaxed(&track->begun, launch->ticks);
        else
            track = NULL;
    }
    timing_lock_leave(clock_lock(clock));
    return track;
}

static struct track *begin_slowly(uint64_t key, uint64_t owner, CUstream stream, bool sparse,
                                  struct timed_launch *launch) {
    struct stream_contexts contexts;
    bool pushed;
    if (!stream_contexts(stream, &contexts) || !stream_enter(stream, &contexts, &pushed))
        return misses(launch, TIMING_ANY_CARD, NULL);
    struct track *track = begin_in_context(key, owner, stream, &contexts, sparse, launch);
    context_leave(pushed);
    return track;
}

void timing_begin(struct timed_launch *launch, CUstream stream, bool per_thread) {
    launch->track = NULL;
    launch->missed_on = TIMING_NEEDLESS;
    launch->each = 0;
    if (!DRIVER(cuCtxGetCurrent)) {
        no_limit_holds(PARTITA_COMPUTE_NO_EVENTS); /* a driver that lacks them does so on every card */
        return;
    }
    CUstream name = stream_name(stream, per_thread);
    uint64_t key = (uint64_t)(uintptr_t)name, owner = track_owner(name);
    struct track *track = track_find(key, owner);
    launch->ticks = ticks_now();
    bool sparse = !track || launch->ticks - load_relaxed(&track->last) > SPARSE_US * load_relaxed(&ticks_us);
    if (track && load_relaxed(&track->open) && !sparse && !launch->open_ended &&
        load_relaxed(&track->launches) < load_relaxed(&track->allowance)) {
        store_relaxed(&track->begun, launch->ticks);
        launch->track = track;
        return;
    }
    if (!timing_can()) {
        no_limit_holds(PARTITA_COMPUTE_NO_EVENTS);
        return;
    }
    if (name == CU_STREAM_PER_THREAD)
        timing_blocking_stream();
    int mode = timing_calls_begin();
    track = begin_slowly(key, owner, name, sparse, launch);
    timing_calls_end(mode);
    launch->track = track;
}

/*
 * The launch may have come behind the end of its window, which another thread closed meanwhile. Where that cannot end
 * later instead, what the launch takes is estimated. Whoever closed it may have counted the launch.
 */
static void end_behind_its_window(const struct timed_launch *launch, uint32_t kernels, bool counted, bool gap) {
    struct track *track = launch->track;
    if (load_relaxed(&track->open) || !window_extend_last(track, counted ? 0 : kernels, launch->open_ended, gap))
        windows_miss(track->clock->card, track_takes(track, kernels, launch->open_ended));
}

static void end_its_window(struct track *track, bool gap) {
    window_close(track, gap);
    if (load_relaxed(&track->open) && track_ends_at_once(track))
        window_join_last(track);
}

void timing_end(const struct timed_launch *launch, uint32_t kernels, CUresult result) {
    struct track *track = launch->track;
    if (!track) {
        if (launch->missed_on != TIMING_NEEDLESS && result == CUDA_SUCCESS)
            end_missed(launch, kernels);
        return;
    }
    bool ended = !load_relaxed(&track->open);
    uint32_t launches = load_relaxed(&track->launches) + kernels;
    store_relaxed(&track->launches, launches);      /* threads that launch into one stream at once may lose some */
    if (launch->ticks > load_relaxed(&track->last)) /* one that began later may have ended before */
        store_relaxed(&track->last, launch->ticks);
    bool first = launches == kernels,
         last = ended || launches >= load_relaxed(&track->allowance) || load_relaxed(&track->sparse) ||
                launch->open_ended || load_relaxed(&track->ending) ||
                launch->ticks - load_relaxed(&track->opened) >= WINDOW_US * load_relaxed(&ticks_us);
    if (!first && !last)
        return;
    /* The program may have lost the processor after the window's start was recorded, and the card have waited. */
    bool gap = ticks_now() - launch->ticks > GAP_US * load_relaxed(&ticks_us);
    if (!last && !gap)
        return;
    int mode = timing_calls_begin();
    const struct clock *clock = enter_clock_of(track);
    if (clock) {
        if (!ended && load_relaxed(&track->open))
            end_its_window(track, gap);
        else if (result == CUDA_SUCCESS)
            end_behind_its_window(launch, kernels, !ended, gap);
        windows_poll(clock);
        timing_lock_leave(clock_lock(clock));
    }
    timing_calls_end(mode);
    store_relaxed(&track->last, ticks_now()); /* what that took is no gap of the program's */
}

static bool nothing_to_do(void) {
    return load_relaxed(&windows_clocks) == 0;
}

static void close_windows(const struct windows_wanted *wanted) {
    const struct clock *clock;
    int mode = 0;
    bool begun = false;
    for (EACH_CLOCK(clock, load_acquire(&windows_clocks))) {
        if (!windows_any(clock, wanted))
            continue;
        if (!begun)
            mode = timing_calls_begin();
        begun = true;
        if (timing_lock_enter(clock_lock(clock))) {
            windows_close(clock, wanted);
            timing_lock_leave(clock_lock(clock));
        }
    }
    if (begun)
        timing_calls_end(mode);
}

void timing_before_wait(void) {
    if (nothing_to_do())
        return;
    close_windows(&(struct windows_wanted){.context = context_current(), .opened = UINT64_MAX});
}

void timing_before_poll(void) {
    if (nothing_to_do())
        return;
    struct windows_wanted wanted = {.context = context_current(), .opener = this_thread()};
    uint64_t now = ticks_now(), old = WINDOW_US * load_relaxed(&ticks_us);
    wanted.opened = now > old ? now - old : 0;
    if (wanted.context)
        close_windows(&wanted);
}

void timing_blocking_stream(void) {
    if (windows_legacy_shared())
        return;
    windows_share_legacy();
    if (nothing_to_do())
        return;
    const struct clock *clock;
    int mode = timing_calls_begin();
    for (EACH_CLOCK(clock, load_acquire(&windows_clocks))) {
        timing_lock_wait(clock_lock(clock));
        windows_close_legacy(clock);
        timing_lock_leave(clock_lock(clock));
    }
    timing_calls_end(mode);
}

void timing_before_stream_wait(CUstream stream, bool per_thread) {
    if (nothing_to_do())
        return;
    CUstream name = stream_name(stream, per_thread);
    if (name == CU_STREAM_LEGACY) /* waits for the others, too */
        timing_before_wait();
    else
        timing_before_stream_work(stream, per_thread);
}

void timing_before_stream_work(CUstream stream, bool per_thread) {
    if (nothing_to_do())
        return;
    CUstream name = stream_name(stream, per_thread);
    struct track *track = track_find((uint64_t)(uintptr_t)name, track_owner(name));
    if (!track || !load_relaxed(&track->open))
        return;
    int mode = timing_calls_begin();
    const struct clock *clock = enter_clock_of(track);
    if (clock) {
        window_end_before(track);
        timing_lock_leave(clock_lock(clock));
    }
    timing_calls_end(mode);
}

void timing_after_wait(void) {
    int card;
    if (nothing_to_do() || !card_of_current(&card) || card < 0)
        return;
    CUcontext home = cuda_context_home(context_current());
    int mode = timing_calls_begin();
    poll_own(home, card, false);
    timing_calls_end(mode);
}

/* Streams and contexts that end, and the child of a fork. */

static const uint64_t GONE = UINT64_MAX; /* a track's key: its stream is no more */

/*
 * Under its clock's lock. Another stream may come to have the same handle, in another context: it is not to be found
 * any more.
 */
static void track_ends(struct track *track) {
    if (load_relaxed(&track->open) && track_is_ours(track))
        window_close(track, false);
    if (load_relaxed(&track->open))
        window_join_last(track);
    store_relaxed(&track->key, GONE);
}

void timing_stream_ends(CUstream stream) {
    if (!stream || stream_is_default(stream) || !DRIVER(cuCtxGetCurrent))
        return;
    struct track *track = track_find((uint64_t)(uintptr_t)stream, track_owner(stream));
    const struct clock *clock = track ? load_relaxed(&track->clock) : NULL;
    if (!clock)
        return;
    int mode = timing_calls_begin();
    timing_lock_wait(clock_lock(clock));
    if (load_relaxed(&track->clock) == clock && load_relaxed(&track->key) == (uint64_t)(uintptr_t)stream &&
        track->stream == stream)
        track_ends(track);
    timing_lock_leave(clock_lock(clock));
    timing_calls_end(mode);
}

static bool track_is_of(const struct track *track, CUcontext context) {
    uint64_t key = load_acquire(&track->key);
    return key && key != GONE && load_relaxed(&track->context) == context;
}

void timing_green_ends(CUcontext context) {
    if (!context || !DRIVER(cuCtxGetCurrent))
        return;
    int mode = timing_calls_begin();
    for (int i = 0; i < TRACKS; i++) {
        const struct clock *clock = track_is_of(&tracks[i], context) ? load_relaxed(&tracks[i].clock) : NULL;
        if (!clock)
            continue;
        timing_lock_wait(clock_lock(clock));
        if (load_relaxed(&tracks[i].clock) == clock && track_is_of(&tracks[i], context))
            track_ends(&tracks[i]);
        timing_lock_leave(clock_lock(clock));
    }
    timing_calls_end(mode);
}

/* Waits for the clock's lock; false: it is not the context's. */
static bool wait_for_clock(const struct clock *clock, CUcontext context) {
    if (!context || load_acquire(&clock->context) != context)
        return false;
    timing_lock_wait(clock_lock(clock));
    if (load_acquire(&clock->context) == context)
        return true;
    timing_lock_leave(clock_lock(clock));
    return false;
}

void timing_context_ends(CUcontext context) {
    for (int i = 0; i < CLOCKS_MAX; i++)
        if (wait_for_clock(&clocks[i], context)) {
            clocks[i].ending++;
            timing_lock_leave(i);
        }
}

void timing_context_stays(CUcontext context) {
    for (int i = 0; i < CLOCKS_MAX; i++)
        if (wait_for_clock(&clocks[i], context)) {
            clocks[i].ending -= clocks[i].ending > 0;
            timing_lock_leave(i);
        }
}

/* Its events are gone with it. What they would have told took no longer than until now. */
static void clock_gone(struct clock *clock) {
    for (EACH_LISTED(track, clock)) {
        if (load_relaxed(&track->open)) {
            windows_used(clock->card, track->now.recorded, track->now.recorded, cores_now());
            window_give_up(track);
        }
        while (track->count > 0) {
            struct window window = track->pending[track->first];
            windows_used(clock->card, window.recorded, window.recorded, cores_now());
            window.start = window.end = NULL;
            window_forget(track, &window);
        }
        track_unlist(track);
    }
    clock_free(clock);
}

void timing_context_gone(CUcontext context) {
    for (int i = 0; i < CLOCKS_MAX; i++)
        if (wait_for_clock(&clocks[i], context)) {
            clock_gone(&clocks[i]);
            timing_lock_leave(i);
        }
}

void timing_forget(void) {
    timing_lock_forget();
    windows_forget();
    memset(timing_counters, 0, sizeof timing_counters);
    cores_forget();
}
