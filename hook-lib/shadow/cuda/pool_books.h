/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each stream-ordered pool of the process is charged: one account a pool, which follows what the driver says the
 * pool has reserved. Thread-safe; no function calls the driver, and none charges a card with the books' lock held.
 *
 * An allocation first charges what the pool may at most grow by (`pool_begin`), and after the driver's call a reading
 * of the reserved size replaces that (`pool_told`). Readings of several threads may arrive in any order: each has a
 * number, taken before the driver is asked, and an older one never replaces a newer one. Whoever changes a pool reads
 * it afterwards, so the newest reading has seen every change.
 */
#ifndef PARTITA_POOL_BOOKS_H
#define PARTITA_POOL_BOOKS_H

#include <stdbool.h>
#include <stdint.h>

/* A pool's account; 0: none. An account that has ended is never mistaken for a later one. */
typedef uint32_t pool_id;

/* The account of a pool in use. */
pool_id pool_find(uint64_t handle, int *card);

/* The same, opened if there is none. 0: no memory for the account. */
pool_id pool_open(uint64_t handle, int card, int device);

/* A pool that the driver has just made: an account that still stands under the handle is over. */
pool_id pool_made(uint64_t handle, int card, int device);

/* The device of a pool; negative: its account is over, or it is the host's. What is known of its card by now. */
int pool_device(pool_id pool);
void pool_set_card(pool_id pool, int card);

/*
 * The driver may serve any call from what a pool has spare. So a call that is not charged, since there is enough to
 * spare, is alone: it waits until the others are done, and these wait for it; and what the pool is charged stays, for
 * the driver may give spare memory up meanwhile and take it again. Each call of the driver that may take memory stands
 * between pool_call_begin and pool_call_end, or pool_call_alone and pool_call_alone_end.
 *
 * pool_call_alone is false, and needs no end, where that cannot be: for a handler of a signal that interrupted such a
 * call, and after a second. Nobody else waits for longer than that either.
 */
void pool_call_begin(pool_id pool);
void pool_call_end(pool_id pool);
bool pool_call_alone(pool_id pool);
void pool_call_alone_end(pool_id pool);

/* Charges what the pool may grow by. False: the quota does not allow it. */
bool pool_begin(pool_id pool, uint64_t units);

/* Whether the pool has so many units that nobody uses, by the last reading. */
bool pool_has_spare(pool_id pool, uint64_t units);

/* The number of a reading; to be taken before the driver is asked. */
uint64_t pool_ask(pool_id pool);

/*
 * A reading, and the end of what `begin` charged; number 0: it failed, and that stays charged. False: the pool has
 * grown by more than the quota allows.
 */
bool pool_told(pool_id pool, uint64_t reading, uint64_t reserved_units, uint64_t begun);

/* The driver's call failed, and the pool cannot be read: it has not grown by what `begin` charged. */
void pool_undo(pool_id pool, uint64_t begun);

/* Units handed out of the pool, and come back. False: the account is over, and with it what `begin` charged. */
bool pool_lent(pool_id pool, uint64_t units);
void pool_returned(pool_id pool, uint64_t units);

/*
 * The driver is about to destroy the pool: waits until no other thread's reading is under way. Afterwards: whether it
 * did. What is lent stays charged, with the rest of the pool, until all of it has come back.
 */
void pool_destroy_begin(pool_id pool);
void pool_destroy_end(pool_id pool, bool destroyed);

/* The number of the account that was opened last. */
uint64_t pool_openings(void);

/*
 * A device was reset: what its pools held is gone. Ends the next account of the device that was opened no later than
 * the one of that number, and tells whose it was; *at starts at 0. False: there are no more.
 */
bool pool_device_gone(uint32_t *at, int device, uint64_t opening, uint64_t *handle);

/*
 * Walks the pools in use that hold something, of one card or of all (negative): *at starts at 0. While one is visited
 * it is not destroyed: pool_leave ends that.
 */
pool_id pool_visit(uint32_t *at, int card, bool with_spare, uint64_t *handle);
bool pool_visit_one(pool_id pool, uint64_t *handle);
void pool_leave(pool_id pool);

/*
 * A signal's handler asks that interrupted one of these functions: it must not call any but pool_returned_later, whose
 * units come back when that one is done. Of more than 64 at a time the rest counts as lent until the pool is gone.
 */
bool pool_books_interrupted(void);
void pool_returned_later(pool_id pool, uint64_t units);

/* In a child of fork. */
void pool_books_forget(void);

#endif
