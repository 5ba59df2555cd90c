/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multicast objects: a team of devices, and the memory that is bound for each. An object takes no memory; what is bound
 * lives on.
 */
#include <stdlib.h>

#include "physical.h"

struct team {
    CUmulticastObjectProp prop;
    unsigned members; /* a bit a device */
    struct binding {
        struct physical *memory;
        int ordinal;
        uint64_t offset, size;
        struct binding *next;
    } *bindings;
};

void team_disband(struct team *team) {
    while (team->bindings) {
        struct binding *binding = team->bindings;

        team->bindings = binding->next;
        binding->memory->uses--;
        physical_settle(binding->memory);
        free(binding);
    }
    free(team);
}

static bool valid(const CUmulticastObjectProp *prop) {
    return prop && prop->numDevices > 0 && (int)prop->numDevices <= driver_device_count && prop->size &&
           prop->size % GRANULARITY == 0 && !prop->flags &&
           !(prop->handleTypes & ~(unsigned long long)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

CUresult cuMulticastGetGranularity(size_t *granularity, const CUmulticastObjectProp *prop, int option) {
    FAULT_POINT();
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (!granularity || !prop || option < 0 || option > 1)
        return CUDA_ERROR_INVALID_VALUE;
    *granularity = GRANULARITY;
    return CUDA_SUCCESS;
}

CUresult cuMulticastCreate(CUmemGenericAllocationHandle *handle, const CUmulticastObjectProp *prop) {
    FAULT_POINT();
    CUresult ready = driver_ready();
    CUmemAllocationProp as_memory = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
    struct physical *object;
    struct team *team;

    if (ready != CUDA_SUCCESS)
        return ready;
    if (!handle || !valid(prop))
        return CUDA_ERROR_INVALID_VALUE;
    team = calloc(1, sizeof *team);
    if (!team)
        return CUDA_ERROR_OUT_OF_MEMORY;
    team->prop = *prop;
    pthread_mutex_lock(&driver_lock);
    object = physical_make(prop->size, -1, &as_memory);
    if (object)
        object->team = team;
    pthread_mutex_unlock(&driver_lock);
    if (!object) {
        free(team);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *handle = physical_handle(object);
    return CUDA_SUCCESS;
}

static struct team *team_of(CUmemGenericAllocationHandle handle) {
    struct physical *object = physical_of(handle);

    return object ? object->team : NULL;
}

CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice ordinal) {
    FAULT_POINT();
    struct device *device;
    CUresult result = driver_device(ordinal, &device);
    struct team *team;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    team = team_of(handle);
    if (!team || team->members >> ordinal & 1 || (unsigned)__builtin_popcount(team->members) == team->prop.numDevices)
        result = CUDA_ERROR_INVALID_VALUE;
    else
        team->members |= 1u << ordinal;
    pthread_mutex_unlock(&driver_lock);
    return result;
}

/* Under driver_lock. All devices must have joined before memory is bound. */
static CUresult bind(CUmemGenericAllocationHandle handle, uint64_t offset, struct physical *memory,
                     uint64_t memory_offset, uint64_t size) {
    struct team *team = team_of(handle);
    struct binding *binding;

    if (!team || !memory || memory->team || memory->ordinal < 0 || size == 0 || size % GRANULARITY ||
        offset % GRANULARITY || memory_offset % GRANULARITY || size > team->prop.size ||
        offset > team->prop.size - size || size > memory->size || memory_offset > memory->size - size ||
        !(team->members >> memory->ordinal & 1))
        return CUDA_ERROR_INVALID_VALUE;
    if ((unsigned)__builtin_popcount(team->members) != team->prop.numDevices)
        return CUDA_ERROR_ILLEGAL_STATE;
    for (binding = team->bindings; binding; binding = binding->next)
        if (binding->ordinal == memory->ordinal && offset < binding->offset + binding->size &&
            binding->offset < offset + size)
            return CUDA_ERROR_INVALID_VALUE;
    binding = malloc(sizeof *binding);
    if (!binding)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *binding = (struct binding){memory, memory->ordinal, offset, size, team->bindings};
    team->bindings = binding;
    memory->uses++;
    return CUDA_SUCCESS;
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle handle, size_t offset, CUmemGenericAllocationHandle memory,
                            size_t memoryOffset, size_t size, unsigned long long flags) {
    FAULT_POINT();
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    result = bind(handle, offset, physical_of(memory), memoryOffset, size);
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle handle, size_t offset, CUdeviceptr pointer, size_t size,
                             unsigned long long flags) {
    FAULT_POINT();
    CUresult result = driver_ready();
    struct block *block;

    if (result != CUDA_SUCCESS)
        return result;
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    block = page_block(pointer);
    result = block && block->physical
                 ? bind(handle, offset, block->physical, block->offset + (pointer - block->base), size)
                 : CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice ordinal, size_t offset, size_t size) {
    FAULT_POINT();
    struct device *device;
    CUresult result = driver_device(ordinal, &device);
    struct binding **link, *binding = NULL;
    struct team *team;

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    team = team_of(handle);
    link = team ? &team->bindings : &binding;
    while (*link && ((*link)->ordinal != ordinal || (*link)->offset != offset || (*link)->size != size))
        link = &(*link)->next;
    binding = *link;
    if (binding) {
        *link = binding->next;
        binding->memory->uses--;
        physical_settle(binding->memory);
        free(binding);
    } else {
        result = CUDA_ERROR_INVALID_VALUE;
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}
