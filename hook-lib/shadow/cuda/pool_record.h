/* What pool_books.c, which knows the pools, and pool_reckoning.c, which charges for them, have in common. */
#ifndef PARTITA_POOL_RECORD_H
#define PARTITA_POOL_RECORD_H

#include "cuda/pool_books.h"

enum state { FREE, OPEN, ENDING, CLOSED }; /* ENDING: the driver is destroying it; CLOSED: it has, and something is still lent */

struct pool {
    uint64_t handle;
    uint32_t generation;
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
};

void pool_books_enter(void);
void pool_books_leave(void);

/* Under the lock, and good until that is left: the pool, or NULL if it is not known any more. */
struct pool *pool_of(pool_id id);

/* Under the lock: ends a closed pool of which nothing is lent any more; the units to be given back. */
uint64_t pool_finish_if_over(struct pool *pool);

/* Outside of the lock. */
void pool_give_back(int card, uint64_t units);

#endif
