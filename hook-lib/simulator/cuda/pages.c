/* SPDX-License-Identifier: Apache-2.0 */
/* Which block each 2 MiB page of the process' address space belongs to: two levels over 48-bit addresses. */
#include <stdlib.h>

#include "driver.h"

#define LEVEL_BITS 14
#define LEVEL_SIZE (1u << LEVEL_BITS)
#define PAGE_BITS 21

static struct block **root[LEVEL_SIZE];

struct block *page_block(CUdeviceptr address) {
    uint64_t page = address >> PAGE_BITS;
    struct block **leaf;

    if (page >> (2 * LEVEL_BITS))
        return NULL;
    leaf = root[page >> LEVEL_BITS];
    return leaf ? leaf[page % LEVEL_SIZE] : NULL;
}

bool page_assign(CUdeviceptr base, uint64_t size, struct block *block) {
    for (uint64_t page = base >> PAGE_BITS; page < (base + size) >> PAGE_BITS; page++) {
        struct block ***leaf = &root[(page >> LEVEL_BITS) % LEVEL_SIZE];

        if (!*leaf && !(*leaf = calloc(LEVEL_SIZE, sizeof **leaf)))
            return false;
        (*leaf)[page % LEVEL_SIZE] = block;
    }
    return true;
}
