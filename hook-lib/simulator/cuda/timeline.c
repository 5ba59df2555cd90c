/* SPDX-License-Identifier: Apache-2.0 */
#include "timeline.h"

#include <time.h>

#define NAP_NS 2000000 /* others may die or come in between */

struct timeline {
    _Atomic uint64_t end;     /* of the last that was submitted */
    _Atomic uint64_t reached; /* the card's work time as it was last seen */
    pthread_mutex_t lock;     /* of those who submit; the state's lock is taken inside it */
    uint64_t count, ends[TIMELINE_DEPTH];
};

static struct timeline timelines[SIM_MAX_CARDS] = {[0 ... SIM_MAX_CARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static void raise_to(_Atomic uint64_t *value, uint64_t to) {
    uint64_t present = *value;

    while (present < to && !atomic_compare_exchange_weak(value, &present, to))
        ;
}

uint64_t timeline_end(int ordinal) {
    struct timeline *timeline = &timelines[ordinal];
    uint64_t end = atomic_load_explicit(&timeline->end, memory_order_acquire);

    return end > atomic_load_explicit(&timeline->reached, memory_order_relaxed) ? end : 0;
}

static bool look(int ordinal, uint64_t work, uint64_t *time) {
    uint64_t reached;
    bool done = sim_clock_reached(&driver_state, driver_devices[ordinal].card->unit, work, time, &reached);

    raise_to(&timelines[ordinal].reached, reached);
    return done;
}

bool timeline_reached(int ordinal, uint64_t work, uint64_t *time) {
    uint64_t when;

    return look(ordinal, work, time ? time : &when);
}

uint64_t timeline_wait(int ordinal, uint64_t work) {
    uint64_t time;

    while (!look(ordinal, work, &time)) {
        uint64_t now = sim_clock_time(), nap = time > now ? time - now : 1;

        nanosleep(&(struct timespec){0, nap < NAP_NS ? (long)nap : NAP_NS}, NULL);
    }
    return time;
}

uint64_t timeline_mark(int ordinal) {
    struct timeline *timeline = &timelines[ordinal];
    uint64_t mark, reached = 0;

    if (driver_devices[ordinal].card->time_slice == 0)
        return 0;
    pthread_mutex_lock(&timeline->lock);
    mark = sim_clock_mark(&driver_state, driver_devices[ordinal].card->unit, &reached);
    raise_to(&timeline->end, mark);
    raise_to(&timeline->reached, reached);
    pthread_mutex_unlock(&timeline->lock);
    return mark;
}

uint64_t timeline_submit(int ordinal, uint64_t cost) {
    struct timeline *timeline = &timelines[ordinal];
    uint64_t end, reached;

    if (cost == 0 && timeline_end(ordinal) == 0)
        return 0;
    pthread_mutex_lock(&timeline->lock);
    if (timeline->count >= TIMELINE_DEPTH && timeline->ends[timeline->count % TIMELINE_DEPTH] > timeline->reached)
        timeline_wait(ordinal, timeline->ends[timeline->count % TIMELINE_DEPTH]);
    end = sim_clock_submit(&driver_state, driver_devices[ordinal].card->unit, cost, &reached);
    timeline->ends[timeline->count++ % TIMELINE_DEPTH] = end;
    raise_to(&timeline->end, end);
    raise_to(&timeline->reached, reached);
    pthread_mutex_unlock(&timeline->lock);
    return end;
}
