/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic that does not wrap around. */
#ifndef PARTITA_NUMBERS_H
#define PARTITA_NUMBERS_H

#include <stdint.h>

static inline uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* The product; UINT64_MAX: more than can be counted. */
static inline uint64_t times(uint64_t a, uint64_t b) {
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

#endif
