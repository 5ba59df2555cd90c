/* Reads and writes of what other threads write, without an order between them. */
#ifndef PARTITA_RELAXED_H
#define PARTITA_RELAXED_H

#include <stdint.h>

static inline uint64_t load(const uint64_t *at) {
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

static inline uint32_t load32(const uint32_t *at) {
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

static inline void store(uint64_t *at, uint64_t value) {
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
}

static inline void store32(uint32_t *at, uint32_t value) {
    __atomic_store_n(at, value, __ATOMIC_RELAXED);
}

#endif
