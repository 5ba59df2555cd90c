/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cards of which this container has shares. A card's limit is the sum of its shares'; they are charged in turn. A
 * MIG instance of which there are shares counts as a card here.
 */
#ifndef PARTITA_CARDS_H
#define PARTITA_CARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "share/card_report.h"
#include "share/share.h"

enum { CARDS_MAX = 64 };                         /* a card's index is below */
enum { CARD_UNLIMITED = -1, CARD_REFUSED = -2 }; /* no share of it; some share cannot be read, it may be this card's */

/*
 * Finds the shares, and forgets any found before. Once in a process, before anything else. Where it finds none,
 * cards_find looks again. Keeps errno. `self`: an address inside the library.
 */
void cards_open(const void *self);

/* The card ("GPU-...") or the instance ("MIG-...") with this UUID: an index, or one of the above. */
int cards_find(const char *gpu);

/* Charges the units to the card's shares, all or nothing. False: they do not allow it. */
bool cards_charge(int card, enum share_memory memory, uint64_t units);

/* The same for as many of the units as the shares allow; how many were charged. */
uint64_t cards_charge_part(int card, enum share_memory memory, uint64_t units);

/* Counts an allocation that failed because the shares do not allow it, when no other way is left; false. */
bool cards_refuse(int card);

/* Units that a context on the card takes by what NVML has shown; SHARE_CONTEXT_UNKNOWN. */
uint64_t cards_context(int card);

/* Around making a context on the card; it is charged in between, as SHARE_CONTEXT. */
void cards_context_begins(int card);
void cards_context_begun(int card, bool made);

/* A context that was charged is gone. */
void cards_context_gone(int card);

/* share_leave_behind for units that are charged as SHARE_RESIDENT, of all shares of the card. */
void cards_leave_behind(int card, uint64_t units);

void cards_release(int card, enum share_memory memory, uint64_t units);

/* Whether a share of the card may exceed its part of the card: then its quota may exceed the card, too. */
bool cards_oversubscribe(int card);

/* Units of the card that its shares may hold together, the overhead included. */
uint64_t cards_physical(int card);

/* What a container is told of a card. Bytes. */
struct card_view {
    uint64_t quota, used; /* of all shares; the overhead is used */
    uint64_t left;        /* what can be had; 0 where no share can be charged, whatever is used */
    bool oversubscribes;
};

/* `join`: the caller uses the card, and takes a seat. */
struct card_view cards_view(int card, bool join);

/* Bytes of `used` that contexts are charged beyond what was measured: their processes give them back when they look. */
uint64_t cards_charged_too_much(int card);

/* A process that holds memory of a card, as one in the caller's pid namespace sees it. */
struct card_process {
    uint32_t pid;
    uint64_t bytes;
    uint64_t sampled, utilization; /* as in its slot, partita_slot */
};

/* Fills at most `room` and returns how many there are. */
size_t cards_processes(int card, struct card_process *processes, size_t room);

/* The rules that the card's shares make together. */
struct core_rules cards_core_rules(int card);

/* Looks after the card's shares where that is due, and takes a seat in them. Keeps errno. */
void cards_tend(int card);

/* Reads the card's report. Keeps errno. */
bool cards_report(int card, struct card_report *report);

/* The first share's account of GPU time and this process' slot; NULL where there is none. */
struct partita_compute *cards_compute(int card);
uint32_t *cards_priced(int card);
struct partita_begins *cards_begins(int card);
struct partita_slot *cards_slot(int card);

/* Which windows of launches are under way on the card: not 0 where partita_slot.windows of a process is not 0. */
uint64_t cards_windows(int card);

/* Every card once, by its first share. */
void cards_each(void (*visit)(int card, void *context), void *context);

/* In a child of fork. */
void cards_forked(void);

#endif
