/*
 * What page_refs.c, which counts who holds an object, and page_parts.c, which keeps what parts of arrays and multicast objects it is mapped
 * into, have in common: the lock of both, and references.
 */
#ifndef PARTITA_PAGE_BOOKS_H
#define PARTITA_PAGE_BOOKS_H

#include "cuda/page_refs.h"

void page_books_enter(void);
void page_books_leave(void);

/* Also gives back what calls of page_books_drop have freed. */
void page_books_leave_and_give_back(void);

/* All under the lock: one reference less; the parts of an owner, all or within one; all parts, in a child of fork; memory for more parts. */
void page_books_drop(page_object object);
void page_parts_drop_of(uint64_t owner, const struct page_part *outer);
void page_parts_forget(void);
bool page_parts_room(uint32_t more);

#endif
