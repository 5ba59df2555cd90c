/*
 * Physical allocations of virtual memory management, and what keeps each alive: handles and mappings. The driver frees one
 * when the last of both is gone, and only then is its charge given back. Thread-safe; no function calls the driver.
 *
 * Every change is made in two halves around the driver's call, so that what the driver does in between - give the same handle or
 * address to another thread - finds the books in order: `begin` before it, `end` with whether it succeeded after it.
 */
#ifndef PARTITA_PAGE_REFS_H
#define PARTITA_PAGE_REFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A physical allocation; 0: none that we know. */
typedef uint32_t page_object;

/* A fresh allocation with one handle. 0: no memory for the books. */
page_object page_created(uint64_t handle, int card, uint64_t units);

/* One handle reference less. */
page_object page_release_begin(uint64_t handle);
void page_release_end(page_object object, uint64_t handle, bool released);

/* One mapping more. */
page_object page_map_begin(uint64_t handle);
void page_map_end(page_object object, uint64_t address, uint64_t size, bool mapped);

/* All mappings in the range less. Gives what page_unmap_end needs to know. */
uint32_t page_unmap_begin(uint64_t address, uint64_t size);
void page_unmap_end(uint32_t unmapping, bool unmapped);

/* A handle that the driver gave out for what is mapped at the address: one handle reference more. */
void page_retained(uint64_t handle, uint64_t address);

/*
 * A handle that the driver gave out for an exported allocation: one handle reference more if it is a handle of ours. An allocation of
 * another process is charged there.
 */
void page_imported(uint64_t handle);

/* In a child of fork. */
void page_refs_forget(void);

#endif
