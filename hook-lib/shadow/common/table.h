/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process allocated: address (or handle) -> what was charged for it. Concurrent and lock-free; a look-up costs a
 * few cache lines, however many entries there are. Touches errno only where it grows (mmap).
 */
#ifndef PARTITA_TABLE_H
#define PARTITA_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum { TABLE_LEVELS = 8 };

struct table {
    struct bucket *levels[TABLE_LEVELS];
};

/* Keys 0 and 1 are not addresses of anything; values are never 0. */

/* Adds the entry. False: no memory for it. *former: the value that stood under this key before, or 0. */
bool table_put(struct table *table, uint64_t key, uint64_t value, uint64_t *former);

/* The entry's value; 0 if there is none. */
uint64_t table_find(struct table *table, uint64_t key);

/* Removes the entry and gives its value; 0 if there is none. Of two threads that take one key, one gets it. */
uint64_t table_take(struct table *table, uint64_t key);

/* Forgets everything, when no other thread uses the table. */
void table_clear(struct table *table);

/* Removes and hands over every entry that `wanted` picks. Entries added meanwhile may be missed. */
void table_sweep(struct table *table, bool (*wanted)(uint64_t value, void *data),
                 void (*taken)(uint64_t value, void *data), void *data);

#endif
