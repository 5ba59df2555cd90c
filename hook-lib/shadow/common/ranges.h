/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of addresses, each with a value; a tree in which a search costs the logarithm of how many there are. Not
 * thread-safe. An index stays a range's until it is dropped; 0 is none.
 */
#ifndef PARTITA_RANGES_H
#define PARTITA_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct range_node;

struct ranges {
    struct range_node *nodes;
    uint32_t room, count;          /* of nodes; node 0 is none */
    uint32_t unused, unused_count; /* dropped nodes, to be used again */
    uint32_t root, random;
};

/* Makes sure that so many more can be added; false: no memory for them. */
bool ranges_room(struct ranges *ranges, uint32_t more);

/* Adds a range. 0: no memory for it. */
uint32_t ranges_add(struct ranges *ranges, uint64_t address, uint64_t size, uint32_t value);

/* The value of the range that holds the address; 0 if none does. */
uint32_t ranges_at(const struct ranges *ranges, uint64_t address);

/* Takes all ranges that lie whole within this one out of the tree; the first of a list, to be put back or dropped. */
uint32_t ranges_take(struct ranges *ranges, uint64_t address, uint64_t size);

/* Puts a list that was taken back. */
void ranges_put_back(struct ranges *ranges, uint32_t list);

/* Tells the value of the first of a list that was taken, and gives the next. */
uint32_t ranges_next(const struct ranges *ranges, uint32_t list, uint32_t *value);

/* Drops the first of a list that was taken, tells its value, and gives the next. */
uint32_t ranges_drop(struct ranges *ranges, uint32_t list, uint32_t *value);

/* Forgets all; keeps the memory. */
void ranges_clear(struct ranges *ranges);

#endif
