/* SPDX-License-Identifier: Apache-2.0 */
#include "caching.h"

#define MIB ((size_t)1 << 20)

/* PyTorch's kSmallBuffer, kLargeBuffer and kRoundLarge. */
static size_t asked_of_driver(size_t bytes) {
    if (bytes <= MIB)
        return 2 * MIB;
    return bytes < 10 * MIB ? 20 * MIB : (bytes + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);
}

static CUresult give_back(struct caching *caching) {
    CUresult result = caching->driver->synchronize();

    while (result == CUDA_SUCCESS && caching->kept_blocks > 0) {
        result = caching->driver->mem_free(caching->kept[caching->kept_blocks - 1].pointer);
        if (result == CUDA_SUCCESS)
            caching->kept_blocks--;
    }
    return result;
}

CUresult caching_take(struct caching *caching, size_t bytes, struct caching_block *block) {
    CUresult result;

    block->bytes = asked_of_driver(bytes);
    for (size_t i = 0; i < caching->kept_blocks; i++)
        if (caching->kept[i].bytes == block->bytes) {
            *block = caching->kept[i];
            caching->kept[i] = caching->kept[--caching->kept_blocks];
            return CUDA_SUCCESS;
        }
    result = caching->driver->mem_alloc(&block->pointer, block->bytes);
    if (result != CUDA_ERROR_OUT_OF_MEMORY)
        return result;
    result = give_back(caching);
    return result == CUDA_SUCCESS ? caching->driver->mem_alloc(&block->pointer, block->bytes) : result;
}

CUresult caching_put(struct caching *caching, struct caching_block block) {
    if (caching->kept_blocks == sizeof caching->kept / sizeof *caching->kept)
        return caching->driver->mem_free(block.pointer);
    caching->kept[caching->kept_blocks++] = block;
    return CUDA_SUCCESS;
}
