/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Physical allocations of virtual memory management, and what keeps each alive: handles, mappings, regions of sparse
 * arrays, and multicast objects that it is bound to. The driver frees one when the last of all is gone, and only then
 * is its charge given back. Thread-safe; no function calls the driver.
 *
 * Every change is made in two halves around the driver's call, so that what the driver does in between - give the same
 * handle or address to another thread - finds the books in order: `begin` before it, `end` with whether it succeeded
 * after it.
 */
#ifndef PARTITA_PAGE_REFS_H
#define PARTITA_PAGE_REFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A physical allocation, or a multicast object; 0: none that we know. */
typedef uint32_t page_object;

enum { PAGE_NO_CARD = -1 }; /* nothing is charged for the object itself: a multicast object */

/*
 * Makes sure, before the driver is asked, that the books have room for what a call adds: an object, a handle, a
 * mapping, and so many parts. False: no memory. Room is kept for more threads than call at once, so that nothing of
 * what the driver did gets lost.
 */
bool page_room(uint32_t parts);

/* A fresh allocation with one handle, on a device. 0: no memory for the books. */
page_object page_created(uint64_t handle, int card, int device, uint64_t units);

/*
 * The handle is being exported: other processes may hold the allocation when this one lets go of it, so that its charge
 * is left behind then (cards_leave_behind). Nothing is where the driver refused.
 */
page_object page_export_begin(uint64_t handle);
void page_export_end(page_object object, bool exported);

/* Whether what a call lets go of was exported: the allocation, or one of those that are being unmapped. */
bool page_exported(page_object object);
bool page_unmapping_exported(uint32_t unmapping);

/*
 * What is left of exported allocations that a call let go of, still charged: to be given back (cards_release) or left
 * behind. Of several cards it is one's, and the others' has been left behind.
 */
struct page_left {
    int card;
    uint64_t units; /* 0: nothing */
};

/* One handle reference less. */
page_object page_release_begin(uint64_t handle);
struct page_left page_release_end(page_object object, uint64_t handle, bool released);

/* One reference more, to be kept by one of the ends below. By handle; by an address that it is mapped at. */
page_object page_map_begin(uint64_t handle);
page_object page_bind_begin(uint64_t address);

void page_map_end(page_object object, uint64_t address, uint64_t size, bool mapped);

/* All mappings in the range less. Gives what page_unmap_end needs to know. */
uint32_t page_unmap_begin(uint64_t address, uint64_t size);
struct page_left page_unmap_end(uint32_t unmapping, bool unmapped);

/* A handle that the driver gave out for what is mapped at an address (page_bind_begin), if it did. */
void page_retain_end(page_object object, uint64_t handle, bool retained);

/*
 * A handle that the driver gave out for an exported allocation: one handle reference more if it is a handle of ours. An
 * allocation of another process is charged there.
 */
void page_imported(uint64_t handle);

/* A part of what keeps an allocation alive: of a sparse array, or of a multicast object. */
struct page_part {
    uint64_t owner; /* the array's handle, the multicast object, or the logical endpoint */
    uint64_t kind;  /* which level, layer and tail of the array; which device of the object or endpoint */
    uint64_t from[3], extent[3];
    uint32_t context; /* number of the context with which the array ends (cuda_contexts.h); 0: with none */
};

/* The part keeps the object of `begin`, or nothing was made of it. */
void page_part_end(page_object object, const struct page_part *part, bool kept);

/* All parts of that owner and kind within this one keep nothing any more. */
void page_part_gone(const struct page_part *part);

/*
 * They are another owner's from now on, and of those that lie partly within it that part; false: there were none. What
 * there is no memory to divide for stays the owner's.
 */
bool page_part_moved(const struct page_part *part, uint64_t to);

/* The same of all kinds and places of an owner. */
void page_parts_gone(uint64_t owner);
void page_parts_moved(uint64_t owner, uint64_t to);

/* A context is gone, and with it its arrays; the number that it had. */
void page_parts_of_context_gone(uint32_t context);

/* The device of an allocation; negative: not known. */
int page_device(page_object object);

/* A signal's handler asks that interrupted one of these functions: it must not call any. */
bool page_refs_interrupted(void);

/* In a child of fork. */
void page_refs_forget(void);

#endif
