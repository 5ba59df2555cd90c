/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/pool_books.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "common/atomics.h"
#include "common/cancelling.h"
#include "common/growing.h"
#include "common/owned_lock.h"
#include "common/this_thread.h"
#include "share/cards.h"

/* ENDING: the driver is destroying it; CLOSED: it has, and something is still lent */
enum state { FREE, OPEN, ENDING, CLOSED };

struct pool {
    uint64_t handle;
    uint32_t generation;
    uint64_t opening; /* its number among all that were opened */
    enum state state;
    int card, device;
    uint32_t visitors;
    uint64_t charged;  /* units, of the card */
    uint64_t charging; /* units that a thread is charging now */
    uint64_t begun;    /* units of `charged` for growth that no reading has seen yet */
    uint64_t reserved; /* units, by the newest reading */
    uint64_t lent;     /* units handed out */
    uint64_t loans;
    uint64_t asked, heard; /* numbers of the last reading asked for, and of the newest heard */
    uint32_t calls;        /* of the driver under way that are not alone */
    uint64_t alone;        /* the thread whose call is, or is to be; 0: none */
};

enum { INDEX_BITS = 20 }; /* the rest of an id's bits tell an account from former ones in its place */

/* Grows, and may move then: a pool's address holds only until the lock is left. */
static struct pool *pools;
static uint32_t pool_room, pool_bound;
static uint64_t openings;
static struct owned_lock lock;

static void pool_books_enter(void) {
    owned_lock_enter(&lock);
}

/* What handlers that interrupted the lock's holder have to say: pool and units, as in `loans`; 0: free. */
enum { LATER = 64 };
static uint64_t returned_later[LATER];
static uint32_t any_later;

static void take_what_came_later(void) {
    store_relaxed(&any_later, 0);
    for (int i = 0; i < LATER; i++) {
        uint64_t one =
            load_relaxed(&returned_later[i]) ? __atomic_exchange_n(&returned_later[i], 0, __ATOMIC_ACQUIRE) : 0;
        if (one)
            pool_returned((pool_id)(one >> 32), one & UINT32_MAX);
    }
}

static void pool_books_leave(void) {
    owned_lock_leave(&lock);
    if (__builtin_expect(load_relaxed(&any_later), 0))
        take_what_came_later();
}

static pool_id id_of(const struct pool *pool) {
    return pool->generation << INDEX_BITS | ((uint32_t)(pool - pools) + 1);
}

/* Under the lock, and good until that is left: the pool, or NULL if it is not known any more. */
static struct pool *pool_of(pool_id id) {
    uint32_t index = (id & ((1u << INDEX_BITS) - 1)) - 1;
    if (id == 0 || index >= pool_bound || pools[index].state == FREE || id_of(&pools[index]) != id)
        return NULL;
    return &pools[index];
}

static struct pool *by_handle(uint64_t handle) {
    for (uint32_t i = 0; i < pool_bound; i++)
        if ((pools[i].state == OPEN || pools[i].state == ENDING) && pools[i].handle == handle)
            return &pools[i];
    return NULL;
}

static uint64_t finish(struct pool *pool) {
    uint64_t charged = pool->charged;
    pool->state = FREE;
    pool->charged = 0;
    return charged;
}

/* Under the lock: ends a closed pool of which nothing is lent any more; the units to be given back. */
static uint64_t finish_if_over(struct pool *pool) {
    return pool->state == CLOSED && pool->loans == 0 ? finish(pool) : 0;
}

/* Outside of the lock. */
static void pool_give_back(int card, uint64_t units) {
    if (units > 0 && card >= 0)
        cards_release(card, SHARE_RESIDENT, units);
}

pool_id pool_find(uint64_t handle, int *card) {
    pool_books_enter();
    struct pool *pool = by_handle(handle);
    pool_id id = pool ? id_of(pool) : 0;
    if (pool)
        *card = pool->card;
    pool_books_leave();
    return id;
}

static struct pool *add(uint64_t handle, int card, int device) {
    uint32_t i = 0;
    while (i < pool_bound && pools[i].state != FREE)
        i++;
    if (i + 1 >= 1u << INDEX_BITS || (i == pool_room && !growing_more((void **)&pools, &pool_room, sizeof *pools)))
        return NULL;
    if (i >= pool_bound)
        store_relaxed(&pool_bound, i + 1);
    pools[i] = (struct pool){.handle = handle,
                             .generation = pools[i].generation + 1,
                             .opening = ++openings,
                             .state = OPEN,
                             .card = card,
                             .device = device};
    return &pools[i];
}

pool_id pool_open(uint64_t handle, int card, int device) {
    pool_books_enter();
    struct pool *pool = by_handle(handle);
    if (!pool)
        pool = add(handle, card, device);
    pool_id id = pool ? id_of(pool) : 0;
    pool_books_leave();
    return id;
}

pool_id pool_made(uint64_t handle, int card, int device) {
    uint64_t over = 0;
    int former_card = -1;
    pool_books_enter();
    struct pool *former = by_handle(handle);
    if (former) {
        former->state = CLOSED;
        former_card = former->card;
        over = finish_if_over(former);
    }
    struct pool *pool = add(handle, card, device);
    pool_id id = pool ? id_of(pool) : 0;
    pool_books_leave();
    pool_give_back(former_card, over);
    return id;
}

int pool_device(pool_id id) {
    pool_books_enter();
    struct pool *pool = pool_of(id);
    int device = pool ? pool->device : -1;
    pool_books_leave();
    return device;
}

void pool_set_card(pool_id id, int card) {
    pool_books_enter();
    struct pool *pool = pool_of(id);
    if (pool)
        pool->card = card;
    pool_books_leave();
}

void pool_destroy_begin(pool_id id) {
    for (bool visited = true; visited;) {
        pool_books_enter();
        struct pool *pool = pool_of(id);
        if (pool && pool->state == OPEN)
            pool->state = ENDING;
        visited = pool && pool->visitors > 0;
        pool_books_leave();
        if (visited)
            sched_yield();
    }
}

void pool_destroy_end(pool_id id, bool destroyed) {
    uint64_t over = 0;
    int card = -1;
    pool_books_enter();
    struct pool *pool = pool_of(id);
    if (pool && pool->state == ENDING) {
        card = pool->card;
        pool->state = destroyed ? CLOSED : OPEN;
        over = finish_if_over(pool);
    }
    pool_books_leave();
    pool_give_back(card, over);
}

uint64_t pool_openings(void) {
    pool_books_enter();
    uint64_t last = openings;
    pool_books_leave();
    return last;
}

bool pool_device_gone(uint32_t *at, int device, uint64_t opening, uint64_t *handle) {
    uint64_t over = 0;
    int card = -1;
    bool found = false;
    pool_books_enter();
    for (; *at < pool_bound && !found; ++*at) {
        struct pool *pool = &pools[*at];
        found = pool->state != FREE && pool->device == device && pool->opening <= opening;
        if (found) {
            *handle = pool->handle;
            card = pool->card;
            over = finish(pool);
        }
    }
    pool_books_leave();
    pool_give_back(card, over);
    return found;
}

pool_id pool_visit(uint32_t *at, int card, bool with_spare, uint64_t *handle) {
    pool_id found = 0;
    if (load_relaxed(&pool_bound) == 0)
        return 0;
    pool_books_enter();
    for (; *at < pool_bound && !found; ++*at) {
        struct pool *pool = &pools[*at];
        if (pool->state != OPEN || pool->charged + pool->reserved == 0 || (card >= 0 && pool->card != card) ||
            (with_spare && pool->reserved <= pool->lent))
            continue;
        pool->visitors++;
        *handle = pool->handle;
        found = id_of(pool);
    }
    pool_books_leave();
    return found;
}

bool pool_visit_one(pool_id id, uint64_t *handle) {
    pool_books_enter();
    struct pool *pool = pool_of(id);
    bool open = pool && pool->state == OPEN;
    if (open) {
        pool->visitors++;
        *handle = pool->handle;
    }
    pool_books_leave();
    return open;
}

void pool_leave(pool_id id) {
    pool_books_enter();
    struct pool *pool = pool_of(id);
    if (pool)
        pool->visitors--;
    pool_books_leave();
}

/* What a pool is charged: beforehand what it may grow by, after the driver's call what a reading says. */

/*
 * Takes out what is charged for nothing, to be given back outside the lock. Nothing while a call is alone: what is
 * spare, the driver may have given up meanwhile, and takes again for that call.
 */
static uint64_t surplus(struct pool *pool) {
    if (pool->alone)
        return 0;
    uint64_t needed = pool->reserved + pool->begun;
    uint64_t more = pool->charged > needed ? pool->charged - needed : 0;
    pool->charged -= more;
    return more;
}

/* How long a call waits for others: better a moment too much memory than a standstill, if these wait for it. */
enum { MOST_WAITS = 20000, YIELDS = 100 };
static const struct timespec wait_time = {.tv_nsec = 50000};

/* Who waits to be alone keeps the others waiting meanwhile: a thread that ended there would do so for ever. */
static void wait_a_moment(int waited) {
    if (waited < YIELDS) {
        sched_yield();
        return;
    }
    int error = errno, cancelling = cancelling_off();
    nanosleep(&wait_time, NULL);
    cancelling_back(cancelling);
    errno = error;
}

void pool_call_begin(pool_id id) {
    uint64_t me = this_thread();
    for (int waited = 0;; waited++) {
        pool_books_enter();
        struct pool *pool = pool_of(id);
        bool may = !pool || pool->alone == 0 || pool->alone == me || waited == MOST_WAITS;
        if (pool && may)
            pool->calls++;
        pool_books_leave();
        if (may)
            return;
        wait_a_moment(waited);
    }
}

void pool_call_end(pool_id id) {
    pool_books_enter();
    struct pool *pool = pool_of(id);
    if (pool)
        pool->calls--;
    pool_books_leave();
}

bool pool_call_alone(pool_id id) {
    uint64_t me = this_thread();
    bool mine = false, alone = false, hopeless = false;
    for (int waited = 0; !alone && !hopeless; waited++) {
        pool_books_enter();
        struct pool *pool = pool_of(id);
        if (pool && pool->alone == 0) {
            pool->alone = me;
            mine = true;
        }
        alone = mine && pool && pool->calls == 0;
        hopeless = !pool || (!mine && pool->alone == me) || waited == MOST_WAITS;
        if (hopeless && !alone && mine && pool)
            pool->alone = 0;
        pool_books_leave();
        if (!alone && !hopeless)
            wait_a_moment(waited);
    }
    return alone;
}

void pool_call_alone_end(pool_id id) {
    uint64_t more = 0;
    int card = -1;
    pool_books_enter();
    struct pool *pool = pool_of(id);
    if (pool) {
        pool->alone = 0;
        card = pool->card;
        more = surplus(pool);
    }
    pool_books_leave();
    pool_give_back(card, more);
}

bool pool_begin(pool_id id, uint64_t units) {
    pool_books_enter();
    struct pool *pool = pool_of(id);
    int card = pool ? pool->card : -1;
    uint64_t covered = pool ? pool->charged + pool->charging : 0;
    uint64_t missing = pool && pool->reserved > covered ? pool->reserved - covered : 0;
    pool_books_leave();
    if (card < 0 || !cards_charge(card, SHARE_RESIDENT, units + missing))
        return false;
    pool_books_enter();
    pool = pool_of(id);
    if (pool) {
        pool->charged += units + missing;
        pool->begun += units;
    }
    pool_books_leave();
    if (!pool)
        pool_give_back(card, units + missing);
    return pool != NULL;
}

bool pool_has_spare(pool_id id, uint64_t units) {
    pool_books_enter();
    struct pool *pool = pool_of(id);
    bool has = pool && pool->reserved >= pool->lent && pool->reserved - pool->lent >= units;
    pool_books_leave();
    return has;
}

uint64_t pool_ask(pool_id id) {
    pool_books_enter();
    struct pool *pool = pool_of(id);
    uint64_t reading = pool ? ++pool->asked : 0;
    pool_books_leave();
    return reading;
}

bool pool_told(pool_id id, uint64_t reading, uint64_t reserved_units, uint64_t begun) {
    bool covered = true;
    uint64_t missing = 0, more = 0;
    int card = -1;
    pool_books_enter();
    struct pool *pool = pool_of(id);
    if (pool) {
        card = pool->card;
        pool->begun -= begun;
        if (reading == 0)
            pool->reserved += begun;
        if (reading > pool->heard && pool->state != CLOSED) {
            pool->heard = reading;
            pool->reserved = reserved_units;
        }
        if (pool->reserved > pool->charged + pool->charging)
            missing = pool->reserved - pool->charged - pool->charging;
        pool->charging += missing;
        more = surplus(pool);
    }
    pool_books_leave();
    pool_give_back(card, more);
    if (missing == 0)
        return true;
    covered = card < 0 || cards_charge(card, SHARE_RESIDENT, missing);
    pool_books_enter();
    pool = pool_of(id);
    if (pool) {
        pool->charging -= missing;
        if (covered)
            pool->charged += missing;
    } else if (covered) {
        more = missing;
    }
    pool_books_leave();
    pool_give_back(card, more);
    return covered;
}

void pool_undo(pool_id id, uint64_t begun) {
    uint64_t more = 0;
    int card = -1;
    pool_books_enter();
    struct pool *pool = pool_of(id);
    if (pool) {
        card = pool->card;
        pool->begun -= begun;
        more = surplus(pool);
    }
    pool_books_leave();
    pool_give_back(card, more);
}

bool pool_lent(pool_id id, uint64_t units) {
    pool_books_enter();
    struct pool *pool = pool_of(id);
    if (pool) {
        pool->lent += units;
        pool->loans++;
    }
    pool_books_leave();
    return pool != NULL;
}

void pool_returned(pool_id id, uint64_t units) {
    uint64_t over = 0;
    int card = -1;
    pool_books_enter();
    struct pool *pool = pool_of(id);
    if (pool) {
        card = pool->card;
        pool->lent -= units;
        pool->loans--;
        over = finish_if_over(pool);
    }
    pool_books_leave();
    pool_give_back(card, over);
}

void pool_returned_later(pool_id id, uint64_t units) {
    for (int i = 0; i < LATER; i++) {
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&returned_later[i], &none, (uint64_t)id << 32 | units, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
            break;
    }
    store_release(&any_later, 1);
}

bool pool_books_interrupted(void) {
    return owned_lock_mine(&lock);
}

void pool_books_forget(void) {
    if (pools)
        memset(pools, 0, pool_bound * sizeof *pools);
    pool_bound = 0;
    lock = (struct owned_lock){0};
    memset(returned_later, 0, sizeof returned_later);
    any_later = 0;
}
