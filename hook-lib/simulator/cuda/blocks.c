/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator's model: the card gives whole granules of 2 MiB. A request up to 1 MiB becomes a piece (the next power
 * of two, at least 512 bytes) of a slab, one granule that pieces of the same size and context share; a larger one takes
 * its own granules. A slab goes back to the card with its last piece.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>

#include "physical.h"

static uint64_t charge(struct CUctx_st *context, uint64_t size, bool managed) {
    const struct device *device = &driver_devices[context->ordinal];

    if (managed && sim_contrary(&driver_node, SIM_MANAGED_ON_HOST))
        return 0;
    if (managed)
        return sim_state_reserve_up_to(&driver_state, device->card->unit, size, device_capacity(device), GRANULARITY);
    return sim_state_reserve(&driver_state, device->card->unit, SIM_MEMORY, size, device_capacity(device)) ? size : 0;
}

static void give_back(struct CUctx_st *context, uint64_t bytes) {
    if (bytes)
        sim_state_release(&driver_state, driver_devices[context->ordinal].card->unit, SIM_MEMORY, bytes);
}

static CUresult add_block(struct CUctx_st *context, uint64_t size, bool low, bool managed, struct block **list,
                          struct block **added) {
    struct block *block = calloc(1, sizeof *block);
    void *base = NULL;

    if (!block)
        return CUDA_ERROR_OUT_OF_MEMORY;
    block->size = size;
    block->resident = charge(context, size, managed);
    if (block->resident || managed)
        base = address_reserve_granules(size, low, managed);
    if (!base || !page_assign((CUdeviceptr)(uintptr_t)base, size, block)) {
        if (base)
            munmap(base, size);
        give_back(context, block->resident);
        free(block);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    block->base = (CUdeviceptr)(uintptr_t)base;
    block->context = context;
    block->managed = managed;
    block->next = *list;
    block->link = list;
    if (block->next)
        block->next->link = &block->next;
    *list = block;
    *added = block;
    return CUDA_SUCCESS;
}

static void drop_block(struct block *block) {
    *block->link = block->next;
    if (block->next)
        block->next->link = block->link;
    page_assign(block->base, block->size, NULL);
    munmap((void *)(uintptr_t)block->base, block->size);
    if (block->content)
        munmap(block->content, block->size < CONTENT_MAX ? block->size : CONTENT_MAX);
    give_back(block->context, block->resident);
    free(block->pieces);
    free(block);
}

CUresult block_place(struct CUmemPoolHandle_st *pool, uint64_t bytes, struct block **list, CUdeviceptr *pointer) {
    struct block *block = calloc(1, sizeof *block);
    uint64_t size = round_up(bytes, GRANULARITY);
    void *base = block ? address_reserve_granules(size, false, false) : NULL;

    if (!base || !page_assign((CUdeviceptr)(uintptr_t)base, size, block)) {
        if (base)
            munmap(base, size);
        free(block);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    block->base = (CUdeviceptr)(uintptr_t)base;
    block->size = size;
    block->requested = bytes;
    block->pool = pool;
    block->next = *list;
    block->link = list;
    if (block->next)
        block->next->link = &block->next;
    *list = block;
    *pointer = block->base;
    return CUDA_SUCCESS;
}

static CUresult slab_with_room(struct CUctx_st *context, unsigned piece, bool low, struct block **slab) {
    CUresult result;

    for (*slab = context->slabs; *slab; *slab = (*slab)->next)
        if ((*slab)->piece == piece && (*slab)->pieces_used < GRANULARITY / piece &&
            (!low || (*slab)->base + GRANULARITY <= UINT32_MAX))
            return CUDA_SUCCESS;
    result = add_block(context, GRANULARITY, low, false, &context->slabs, slab);
    if (result != CUDA_SUCCESS)
        return result;
    (*slab)->piece = piece;
    (*slab)->pieces = calloc(GRANULARITY / piece, sizeof *(*slab)->pieces);
    if ((*slab)->pieces)
        return CUDA_SUCCESS;
    drop_block(*slab);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult allocate_piece(struct CUctx_st *context, uint64_t bytes, bool low, CUdeviceptr *pointer) {
    unsigned piece = SMALL_MIN, index = 0;
    struct block *slab;
    CUresult result;

    while (piece < bytes)
        piece *= 2;
    result = slab_with_room(context, piece, low, &slab);
    if (result != CUDA_SUCCESS)
        return result;
    while (slab->pieces[index])
        index++;
    slab->pieces[index] = (uint32_t)bytes;
    slab->pieces_used++;
    *pointer = slab->base + (CUdeviceptr)index * piece;
    return CUDA_SUCCESS;
}

CUresult block_allocate(struct CUctx_st *context, uint64_t bytes, bool low, bool managed, CUdeviceptr *pointer) {
    struct block *block;
    CUresult result;

    if (sim_card_lost(&driver_node, driver_devices[context->ordinal].card))
        return CUDA_ERROR_UNKNOWN;
    if (bytes > (1ull << 46))
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (bytes <= SMALL_MAX && !managed)
        return allocate_piece(context, bytes, low, pointer);
    result = add_block(context, round_up(bytes, GRANULARITY), low, managed, &context->blocks, &block);
    if (result != CUDA_SUCCESS)
        return result;
    block->requested = bytes;
    *pointer = block->base;
    return CUDA_SUCCESS;
}

CUresult block_range(CUdeviceptr address, CUdeviceptr *base, uint64_t *size) {
    struct block *block = page_block(address);
    uint64_t index;

    if (!block)
        return CUDA_ERROR_INVALID_VALUE;
    if (!block->piece) {
        *base = block->base;
        *size = block->requested;
    } else {
        index = (address - block->base) / block->piece;
        *base = block->base + index * block->piece;
        *size = block->pieces[index];
    }
    return address < *base + *size ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult block_free(CUdeviceptr pointer) {
    struct block *block = page_block(pointer);
    CUdeviceptr base;
    uint64_t size;

    if (block_range(pointer, &base, &size) != CUDA_SUCCESS || base != pointer || block->physical ||
        (block->foreign && !block->foreign_buffer))
        return CUDA_ERROR_INVALID_VALUE;
    if (block->foreign)
        return foreign_close(pointer);
    if (block->piece) {
        block->pieces[(pointer - block->base) / block->piece] = 0;
        if (--block->pieces_used > 0)
            return CUDA_SUCCESS;
    }
    if (block->pool) {
        struct CUmemPoolHandle_st *pool = block->pool;

        drop_block(block);
        pool_take_back(pool, size);
        return CUDA_SUCCESS;
    }
    drop_block(block);
    return CUDA_SUCCESS;
}

CUresult block_content(CUdeviceptr address, uint64_t bytes, unsigned char **content, uint64_t *kept) {
    struct block *block = page_block(address);
    uint64_t size, limit, offset;
    unsigned char **bytes_kept;
    CUdeviceptr base;

    if (block_range(address, &base, &size) != CUDA_SUCCESS || bytes > base + size - address)
        return CUDA_ERROR_INVALID_VALUE;
    offset = address - block->base;
    if (block->managed) {
        *content = (unsigned char *)(uintptr_t)address;
        *kept = bytes;
        return CUDA_SUCCESS;
    }
    if (block->physical) {
        if (block->access == CU_MEM_ACCESS_FLAGS_PROT_NONE)
            return CUDA_ERROR_INVALID_VALUE;
        offset += block->offset;
    }
    limit = block->physical ? physical_size(block->physical) : block->size;
    if (limit > CONTENT_MAX)
        limit = CONTENT_MAX;
    bytes_kept = block->physical ? physical_content(block->physical) : &block->content;
    if (!*bytes_kept) {
        void *memory = mmap(NULL, limit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

        if (memory == MAP_FAILED)
            return CUDA_ERROR_OUT_OF_MEMORY;
        *bytes_kept = memory;
    }
    *content = *bytes_kept + (offset < limit ? offset : 0);
    *kept = offset >= limit ? 0 : bytes < limit - offset ? bytes : limit - offset;
    return CUDA_SUCCESS;
}

void context_release_memory(struct CUctx_st *context) {
    while (context->blocks)
        drop_block(context->blocks);
    while (context->slabs)
        drop_block(context->slabs);
}
