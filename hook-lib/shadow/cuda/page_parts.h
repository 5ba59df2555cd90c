/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of page_refs.h, of sparse arrays or multicast objects, and the object that each keeps alive. An array may
 * have tens of thousands of them, mapped one by one: those that touch a place are found without a look at the others.
 * Not thread-safe. A part keeps its index until it is dropped; 0 is none.
 */
#ifndef PARTITA_PAGE_PARTS_H
#define PARTITA_PAGE_PARTS_H

#include "cuda/page_refs.h"

/* Makes sure that so many more can be added; false: no memory for them. */
bool parts_room(uint32_t more);

/* 0: no memory for it. */
uint32_t parts_add(const struct page_part *part, page_object object);

/*
 * A list of the owner's parts, and with `place` only of those of its kind that overlap it or are next to it. It is good
 * for parts_next until another list of this owner's is made, and while its parts are changed or dropped.
 */
uint32_t parts_list(uint64_t owner, const struct page_part *place);
uint32_t parts_next(uint32_t part);

/* The highest index so far; parts_object is 0 for those that were dropped. */
uint32_t parts_bound(void);

struct page_part parts_at(uint32_t part);
page_object parts_object(uint32_t part);

/* The part is this one from now on; the object stays. */
void parts_change(uint32_t part, const struct page_part *to);

/* Gives the object that it kept. */
page_object parts_drop(uint32_t part);

void parts_clear(void);

#endif
