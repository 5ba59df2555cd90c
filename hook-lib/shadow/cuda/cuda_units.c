/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/cuda_units.h"

#include "partita/usage_region.h"

enum { SMALL = 1 << 20, PAGE = 2 << 20 };

static uint64_t in_steps(uint64_t bytes, uint64_t step) {
    if (bytes > UINT64_MAX - step)
        return UINT64_MAX;
    return (bytes + step - 1) / step * (step / PARTITA_UNIT);
}

uint64_t units_of(uint64_t bytes) {
    return in_steps(bytes, bytes > SMALL ? PAGE : PARTITA_UNIT);
}

uint64_t units_of_pages(uint64_t bytes) {
    return in_steps(bytes, PAGE);
}
