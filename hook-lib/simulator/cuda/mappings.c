/* SPDX-License-Identifier: Apache-2.0 */
/* Reserved addresses, and physical allocations mapped there. A mapping is one block of the address space. */
#include <stdlib.h>

#include "physical.h"

struct range {
    CUdeviceptr base;
    uint64_t size;
    struct range *next;
};

static struct range *ranges; /* under driver_lock */
static struct block *mappings;

CUresult cuMemAddressReserve(CUdeviceptr *pointer, size_t size, size_t alignment, CUdeviceptr address,
                             unsigned long long flags) {
    FAULT_POINT();
    CUresult ready = driver_ready();
    struct range *range;
    void *base;

    (void)address; /* a wish, which may be left unfulfilled */
    if (ready != CUDA_SUCCESS)
        return ready;
    if (!pointer || size == 0 || size % GRANULARITY || (alignment & (alignment - 1)) || flags)
        return CUDA_ERROR_INVALID_VALUE;
    range = malloc(sizeof *range);
    base = range ? address_reserve(size, alignment > GRANULARITY ? alignment : GRANULARITY) : NULL;
    if (!base) {
        free(range);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pthread_mutex_lock(&driver_lock);
    *range = (struct range){(CUdeviceptr)(uintptr_t)base, size, ranges};
    ranges = range;
    pthread_mutex_unlock(&driver_lock);
    *pointer = range->base;
    return CUDA_SUCCESS;
}

static bool has_mappings(const struct range *range) {
    for (CUdeviceptr address = range->base; address < range->base + range->size; address += GRANULARITY)
        if (page_block(address))
            return true;
    return false;
}

CUresult cuMemAddressFree(CUdeviceptr pointer, size_t size) {
    FAULT_POINT();
    CUresult result = driver_ready();
    struct range **link = &ranges, *range;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    while (*link && (*link)->base != pointer)
        link = &(*link)->next;
    range = *link;
    if (!range || range->size != size || has_mappings(range)) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        *link = range->next;
        address_free(range->base, range->size);
        free(range);
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

static bool is_free(CUdeviceptr pointer, uint64_t size) {
    const struct range *range = ranges;

    while (range && (pointer < range->base || size > range->size || pointer - range->base > range->size - size))
        range = range->next;
    for (CUdeviceptr address = pointer; range && address < pointer + size; address += GRANULARITY)
        if (page_block(address))
            return false;
    return range != NULL;
}

CUresult cuMemMap(CUdeviceptr pointer, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
    FAULT_POINT();
    CUresult result = driver_ready();
    struct block *block = NULL;
    struct physical *physical;

    if (result != CUDA_SUCCESS)
        return result;
    if (size == 0 || size % GRANULARITY || offset % GRANULARITY || pointer % GRANULARITY || flags)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    physical = physical_of(handle);
    if (!physical || size > physical->size || offset > physical->size - size || !is_free(pointer, size)) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else if (!(block = calloc(1, sizeof *block)) || !page_assign(pointer, size, block)) {
        free(block);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    } else {
        *block = (struct block){.base = pointer,
                                .size = size,
                                .requested = size,
                                .physical = physical,
                                .offset = offset,
                                .access = CU_MEM_ACCESS_FLAGS_PROT_NONE,
                                .next = mappings,
                                .link = &mappings};
        if (block->next)
            block->next->link = &block->next;
        mappings = block;
        physical->uses++;
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

/* Whether whole mappings, one after the other, fill the addresses. */
static bool is_mapped(CUdeviceptr pointer, uint64_t size) {
    CUdeviceptr address = pointer;

    while (address < pointer + size) {
        const struct block *block = page_block(address);

        if (!block || !block->physical || block->base != address)
            return false;
        address += block->size;
    }
    return size > 0 && address == pointer + size;
}

CUresult cuMemUnmap(CUdeviceptr pointer, size_t size) {
    FAULT_POINT();
    CUresult result = driver_ready();
    CUdeviceptr end = pointer + size;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    if (!is_mapped(pointer, size))
        result = CUDA_ERROR_INVALID_VALUE;
    while (result == CUDA_SUCCESS && pointer < end) {
        struct block *block = page_block(pointer);

        pointer += block->size;
        page_assign(block->base, block->size, NULL);
        *block->link = block->next;
        if (block->next)
            block->next->link = block->link;
        block->physical->uses--;
        physical_settle(block->physical);
        free(block);
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

static bool valid_access(const CUmemAccessDesc *access) {
    struct device *device;

    return (access->flags == CU_MEM_ACCESS_FLAGS_PROT_NONE || access->flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
            access->flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) &&
           (access->location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
            driver_device(access->location.id, &device) == CUDA_SUCCESS);
}

CUresult cuMemSetAccess(CUdeviceptr pointer, size_t size, const CUmemAccessDesc *access, size_t count) {
    FAULT_POINT();
    CUresult result = driver_ready();
    CUdeviceptr end = pointer + size;

    if (result != CUDA_SUCCESS)
        return result;
    if (!access || count == 0)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!valid_access(&access[i]))
            return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    if (!is_mapped(pointer, size))
        result = CUDA_ERROR_INVALID_VALUE;
    while (result == CUDA_SUCCESS && pointer < end) {
        struct block *block = page_block(pointer);

        block->access = access[count - 1].flags;
        pointer += block->size;
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

/* Which device may do what is not told apart. */
CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr pointer) {
    FAULT_POINT();
    CUresult result = driver_ready();
    struct block *block;

    if (result != CUDA_SUCCESS)
        return result;
    if (!flags || !location)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    block = page_block(pointer);
    if (block && block->physical)
        *flags = (unsigned long long)block->access;
    else
        result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&driver_lock);
    return result;
}
