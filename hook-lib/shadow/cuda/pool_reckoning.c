/* What a pool is charged: beforehand what it may grow by, after the driver's call what a reading says. */
#include "share/cards.h"
#include "cuda/pool_record.h"

/* Takes out what is charged for nothing, to be given back outside the lock. */
static uint64_t surplus(struct pool *pool) {
    uint64_t needed = pool->reserved + pool->begun;
    uint64_t more = pool->charged > needed ? pool->charged - needed : 0;
    pool->charged -= more;
    return more;
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

void pool_lent(pool_id id, uint64_t units) {
    pool_books_enter();
    struct pool *pool = pool_of(id);
    if (pool) {
        pool->lent += units;
        pool->loans++;
    }
    pool_books_leave();
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
        over = pool_finish_if_over(pool);
    }
    pool_books_leave();
    pool_give_back(card, over);
}
