/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Device addresses are reserved, inaccessible addresses of the process, so that nothing else has them and host code
 * that follows one crashes as on a real card. Managed memory is really accessible.
 */
#define _GNU_SOURCE
#include <sys/mman.h>

#include "physical.h"

/* Somewhere below 4 GiB: x86-64's kernel can be asked for that, others take a hint where nothing is yet. */
static void *map_low(uint64_t size, int access, int flags) {
#ifdef MAP_32BIT
    return mmap(NULL, size, access, flags | MAP_32BIT, -1, 0);
#else
    for (uint64_t at = UINT64_C(1) << 28; at + size <= UINT32_MAX; at += 16 * GRANULARITY) {
        char *memory = mmap((void *)(uintptr_t)at, size, access, flags, -1, 0);

        if (memory == MAP_FAILED || (uintptr_t)memory + size <= UINT32_MAX)
            return memory;
        munmap(memory, size);
    }
    return MAP_FAILED;
#endif
}

void *address_reserve_granules(uint64_t size, bool low, bool managed) {
    int access = managed ? PROT_READ | PROT_WRITE : PROT_NONE;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    uint64_t room = size + GRANULARITY;
    char *memory = low ? map_low(room, access, flags) : mmap(NULL, room, access, flags, -1, 0), *base;

    if (memory == MAP_FAILED)
        return NULL;
    base = (char *)round_up((uintptr_t)memory, GRANULARITY);
    if (base > memory)
        munmap(memory, (size_t)(base - memory));
    if (base < memory + GRANULARITY)
        munmap(base + size, (size_t)(memory + GRANULARITY - base));
    if (low && (uintptr_t)base + size > UINT32_MAX) {
        munmap(base, size);
        return NULL;
    }
    return base;
}

void *address_reserve(uint64_t size, uint64_t alignment) {
    char *memory = mmap(NULL, size + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), *base;

    if (memory == MAP_FAILED)
        return NULL;
    base = (char *)round_up((uintptr_t)memory, alignment);
    if (base > memory)
        munmap(memory, (size_t)(base - memory));
    if (base < memory + alignment)
        munmap(base + size, (size_t)(memory + alignment - base));
    return base;
}

void address_free(CUdeviceptr base, uint64_t size) {
    munmap((void *)(uintptr_t)base, size);
}
