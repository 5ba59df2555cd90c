/*
 * The words of the ledger: what stands in a total and in a slot's H, how they are read as a whole and swapped. For ledger.c, which says what
 * they mean, and inline for its sake.
 */
#ifndef PARTITA_LEDGER_WORDS_H
#define PARTITA_LEDGER_WORDS_H

#include "common/atomics.h"
#include "common/atomic16.h"
#include "share/fault.h"
#include "share/ledger.h"

enum { ATTEMPTS = 1 << 20 }; /* honest contention ends far below; somebody who scribbles on the region must not hang us */

struct total {
    uint64_t low, high;
};

static inline uint64_t sum_of(struct total t) {
    return t.low & UINT32_MAX;
}
static inline uint64_t held_of(struct total t) {
    return t.low >> 32;
}
static inline uint32_t slot_of(struct total t) {
    return (uint32_t)(t.high & 0xffff);
}
static inline uint64_t step_of(struct total t) {
    return t.high >> 16;
}
static inline struct total total_of(uint64_t sum, uint32_t slot, uint64_t held, uint64_t step) {
    return (struct total){held << 32 | sum, step << 16 | slot};
}

static inline struct partita_total *total_at(const struct partita_region *region, enum ledger_book book) {
    return (struct partita_total *)(book == LEDGER_PAGED ? &region->paged : &region->total);
}
static inline struct partita_held *held_at(const struct partita_region *region, enum ledger_book book, uint32_t slot) {
    const struct partita_slot *at = &region->slots[slot];
    return (struct partita_held *)(book == LEDGER_PAGED ? &at->paged : &at->held);
}

static inline bool unmoved(const struct partita_region *region, enum ledger_book book, struct total t) {
    return load_acquire(&total_at(region, book)->high) == t.high;
}

static inline bool read_total(const struct partita_region *region, enum ledger_book book, struct total *t) {
    const struct partita_total *total = total_at(region, book);
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t high = load_acquire(&total->high);
        uint64_t low = load_acquire(&total->low);
        if (load_acquire(&total->high) == high) {
            *t = (struct total){low, high};
            return true;
        }
    }
    return false;
}

static inline bool read_held(const struct partita_held *held, struct pair *h) {
    for (int i = 0; i < ATTEMPTS; i++) {
        uint64_t step = load_acquire(&held->step);
        uint64_t units = load_acquire(&held->units);
        if (load_acquire(&held->step) == step) {
            *h = (struct pair){units, step};
            return true;
        }
    }
    return false;
}

static inline bool swap_total(struct partita_region *region, enum ledger_book book, struct total from, struct total to) {
    FAULT_POINT("before the swap");
    bool swapped =
        pair_swap(total_at(region, book), (struct pair){from.low, from.high}, (struct pair){to.low, to.high});
    FAULT_POINT("after the swap");
    return swapped;
}

#endif
