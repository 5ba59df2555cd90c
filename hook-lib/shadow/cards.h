/* The cards of which this container has shares. A card's limit is the sum of its shares'; they are charged in turn. */
#ifndef PARTITA_CARDS_H
#define PARTITA_CARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "share.h"

enum { CARD_UNLIMITED = -1, CARD_REFUSED = -2 }; /* no share of it; some share cannot be read, it may be this card's */

/* Finds the shares. Once, before anything else. Keeps errno. `self`: an address inside the library. */
void cards_open(const void *self);

/* Whether the container has shares at all. If not, everything passes through. */
bool cards_limited(void);

/* The card with this UUID ("GPU-..."): an index, or one of the above. */
int cards_find(const char *gpu);

/* Charges the units to the card's shares, all or nothing. */
bool cards_charge(int card, uint64_t units);
void cards_release(int card, uint64_t units);

/* Bytes that the card's shares allow and hold. `join`: the caller uses the card, and takes a seat. */
void cards_view(int card, bool join, uint64_t *limit, uint64_t *used);

/* A process that holds memory of a card, as one in the caller's pid namespace sees it. */
struct card_process {
    uint32_t pid;
    uint64_t bytes;
};

/* Fills at most `room` and returns how many there are. */
size_t cards_processes(int card, struct card_process *processes, size_t room);

/* In a child of fork. */
void cards_forked(void);

/* Units that an allocation of this many bytes is charged. */
uint64_t units_of(uint64_t bytes);

/* The same for memory that comes in whole pages of the card, however small it is. */
uint64_t units_of_pages(uint64_t bytes);

/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" from the 16 bytes. */
void card_uuid_text(const unsigned char bytes[16], char text[41]);

#endif
