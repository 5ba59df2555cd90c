/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts of a test driver with eight cards: device n has the contexts n + 1 (its primary one), n + 9 and so on. */
#ifndef PARTITA_CARD_CONTEXTS_H
#define PARTITA_CARD_CONTEXTS_H

#include <stdint.h>

enum { CONTEXT_CARDS = 8 };

/* The calling thread's; 0: none. */
uintptr_t current_context(void);

/* The device of the calling thread's context, which it has. */
int device_of_current_context(void);

#endif
