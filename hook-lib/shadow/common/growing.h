/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow by halves, in memory of their own: the program's allocator may be what calls us. */
#ifndef PARTITA_GROWING_H
#define PARTITA_GROWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes room for more elements of this size, zeros at the end; false: no memory. Keeps errno. */
bool growing_more(void **array, uint32_t *room, size_t size);

#endif
