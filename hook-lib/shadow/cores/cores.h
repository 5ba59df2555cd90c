/* SPDX-License-Identifier: Apache-2.0 */
/* The core limits of this process' cards: what was used, and how long launches have to wait. */
#ifndef PARTITA_CORES_H
#define PARTITA_CORES_H

#include <stdbool.h>
#include <stdint.h>

#include "common/atomics.h"

/* Whether launches are timed or may have to pause, on any card. Changes with the quota and the card reports. */
extern uint32_t cores_in_force;

static inline bool cores_watch(void) {
    return load_relaxed(&cores_in_force) != 0;
}

/* Re-reads quotas and card reports, every 50 ms at most. Keeps errno. */
void cores_look(void);

/* Whether the GPU time of the card is limited. */
bool cores_limited(int card);

/* Percent of the card that launches may have now; 100 without a limit. */
unsigned int cores_percent(int card);

/*
 * The wall time from..to (CLOCK_MONOTONIC, ns) was used on the card, by what the program had launched by `launched`;
 * that is `from` where it is not known for how long it had waited. One thread at a time for a card.
 */
void cores_used(int card, uint64_t launched, uint64_t from, uint64_t to);

/* ns that a launch has to wait from now on, as far as is known; ask again then. */
uint64_t cores_due(int card, uint64_t now);

/* Whether the container has core limits on more than one card, used by this process or not. */
bool cores_several(void);

/*
 * What runs on the other cards of the container, that a launch may follow though its own card's limit does not allow it
 * now: the lowest turn of it, 0 if a limit allowed it; PARTITA_TURNS if there is none, or too much is owed. Only for a
 * launch before which the process has nothing under way on its card.
 */
unsigned int cores_turn_of_others(int card, uint64_t now);

/* A window of launches begins in a turn, 0 if the card's limit allowed it; it has ended or is given up. */
void cores_window_begins(int card, unsigned int turn);
void cores_window_ends(int card, unsigned int turn);

/* A launch waited so long. */
void cores_waited(int card, uint64_t ns);

/* The limit holds, or does not hold for the reason PARTITA_COMPUTE_... */
void cores_enforced(int card);
void cores_unenforced(int card, uint32_t reason);

/* In a child of fork. */
void cores_forget(void);

uint64_t cores_now(void);

#endif
