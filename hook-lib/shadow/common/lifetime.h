/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells a process that uses the library for the first time, and a child of fork, from one that is under way. The fast
 * path is one load: the word lies in a page that the kernel zeroes in a child of fork (MADV_WIPEONFORK, Linux 4.14);
 * without that the process id is asked each time.
 */
#ifndef PARTITA_LIFETIME_H
#define PARTITA_LIFETIME_H

#include <stdint.h>

#include "common/atomics.h"

extern uint32_t *lifetime_word;
void lifetime_begin(void);

enum { LIFETIME_READY = 2 };

/* To be called first by every exported function. Keeps errno. */
static inline void lifetime_enter(void) {
    uint32_t *word = load_acquire(&lifetime_word);
    if (!word || load_acquire(word) != LIFETIME_READY)
        lifetime_begin();
}

/* Defined by each library: called once; called in a child of fork. No other thread is inside the library then. */
void lifetime_opened(void);
void lifetime_forked(void);

#endif
