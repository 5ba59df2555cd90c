/* SPDX-License-Identifier: Apache-2.0 */
/* cuMemCreate and its handles. */
#include "physical.h"

#include <stdlib.h>
#include <sys/mman.h>

static struct physical *all;

struct physical *physical_of(CUmemGenericAllocationHandle handle) {
    struct physical *physical = all;

    while (physical && (physical_handle(physical) != handle || physical->handles == 0))
        physical = physical->next;
    return physical;
}

CUmemGenericAllocationHandle physical_handle(struct physical *physical) {
    return (CUmemGenericAllocationHandle)(uintptr_t)physical;
}

uint64_t physical_size(const struct physical *physical) {
    return physical->size;
}

unsigned char **physical_content(struct physical *physical) {
    return &physical->content;
}

struct physical *physical_make(uint64_t size, int ordinal, const CUmemAllocationProp *prop) {
    struct physical *physical = calloc(1, sizeof *physical);

    if (!physical)
        return NULL;
    physical->size = size;
    physical->handles = 1;
    physical->ordinal = ordinal;
    physical->prop = *prop;
    physical->next = all;
    all = physical;
    return physical;
}

/* A process that imports what it exported itself has it twice. */
static bool held_by_another_handle(uint64_t shared) {
    const struct physical *physical = all;

    while (physical && physical->shared != shared)
        physical = physical->next;
    return physical != NULL;
}

void physical_settle(struct physical *physical) {
    struct physical **link = &all;

    if (physical->handles || physical->uses)
        return;
    while (*link != physical)
        link = &(*link)->next;
    *link = physical->next;
    if (physical->team)
        team_disband(physical->team);
    if (physical->shared && !held_by_another_handle(physical->shared))
        sim_shared_drop(&driver_state, physical->shared);
    else if (!physical->shared && physical->ordinal >= 0)
        sim_state_release(&driver_state, driver_devices[physical->ordinal].card->unit, SIM_MEMORY, physical->size);
    if (physical->content)
        munmap(physical->content, physical->size < CONTENT_MAX ? physical->size : CONTENT_MAX);
    free(physical);
}

static CUresult check_prop(const CUmemAllocationProp *prop, int *ordinal) {
    struct device *device;

    if (!prop || prop->type != CU_MEM_ALLOCATION_TYPE_PINNED ||
        (prop->requestedHandleTypes & ~(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC)))
        return CUDA_ERROR_INVALID_VALUE;
    *ordinal = -1;
    if (prop->location.type == CU_MEM_LOCATION_TYPE_DEVICE) {
        *ordinal = prop->location.id;
        return driver_device(prop->location.id, &device);
    }
    return prop->location.type >= CU_MEM_LOCATION_TYPE_HOST &&
                   prop->location.type <= CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop, int option) {
    FAULT_POINT();
    CUresult result = driver_ready();
    int ordinal;

    if (result != CUDA_SUCCESS)
        return result;
    if (!granularity || option < CU_MEM_ALLOC_GRANULARITY_MINIMUM || option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_prop(prop, &ordinal);
    if (result == CUDA_SUCCESS)
        *granularity = GRANULARITY;
    return result;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                     unsigned long long flags) {
    FAULT_POINT();
    CUresult result = driver_ready();
    struct physical *physical = NULL;
    int ordinal;

    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || size == 0 || size % GRANULARITY || flags)
        return CUDA_ERROR_INVALID_VALUE;
    result = check_prop(prop, &ordinal);
    if (result != CUDA_SUCCESS)
        return result;
    if (ordinal >= 0 && sim_card_lost(&driver_node, driver_devices[ordinal].card))
        return CUDA_ERROR_UNKNOWN;
    pthread_mutex_lock(&driver_lock);
    if (ordinal < 0 || sim_state_reserve(&driver_state, driver_devices[ordinal].card->unit, SIM_MEMORY, size,
                                         device_capacity(&driver_devices[ordinal]))) {
        physical = physical_make(size, ordinal, prop);
        if (!physical && ordinal >= 0)
            sim_state_release(&driver_state, driver_devices[ordinal].card->unit, SIM_MEMORY, size);
    }
    pthread_mutex_unlock(&driver_lock);
    if (!physical)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *handle = physical_handle(physical);
    return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    FAULT_POINT();
    CUresult result = driver_ready();
    struct physical *physical;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    physical = physical_of(handle);
    if (physical) {
        physical->handles--;
        physical_settle(physical);
    }
    pthread_mutex_unlock(&driver_lock);
    return physical ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address) {
    FAULT_POINT();
    CUresult result = driver_ready();
    struct block *block;

    if (result != CUDA_SUCCESS)
        return result;
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    block = page_block((CUdeviceptr)(uintptr_t)address);
    if (block && block->physical) {
        block->physical->handles++;
        *handle = physical_handle(block->physical);
    } else {
        result = CUDA_ERROR_INVALID_VALUE;
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle) {
    FAULT_POINT();
    CUresult result = driver_ready();
    struct physical *physical;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    physical = physical_of(handle);
    if (prop && physical)
        *prop = physical->prop;
    pthread_mutex_unlock(&driver_lock);
    return prop && physical ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
