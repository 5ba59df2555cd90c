/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver that has virtual memory management and pools, and hardly anything else: one card, which counts what is
 * physically allocated. Handles are used again as soon as they can be, and cuMemUnmap takes a range of several
 * mappings, as the real driver does.
 */
#include "cuda_pages.h"
#include "cuda_pools.h"

enum { OBJECTS = 1024, MAPPINGS = 256 };

static struct {
    size_t size;
    int handles, mappings, bindings; /* bindings: bound_driver.c */
    unsigned long long handle;
} objects[OBJECTS];
static struct {
    CUdeviceptr address;
    size_t size;
    int object;
} mappings[MAPPINGS];
static size_t used;
static CUdeviceptr next = 1 << 30;

PARTITA_EXPORT size_t pages_driver_used(void);
size_t pages_driver_used(void) {
    return used;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (char)(i + device);
    return CUDA_SUCCESS;
}

static int by_handle(unsigned long long handle) {
    for (int i = 0; i < OBJECTS; i++)
        if (objects[i].handles > 0 && objects[i].handle == handle)
            return i;
    return -1;
}

static void settle(int i) {
    if (objects[i].handles == 0 && objects[i].mappings == 0 && objects[i].bindings == 0) {
        used -= objects[i].size;
        objects[i].size = 0;
    }
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                     unsigned long long flags) {
    int i = 0;
    if (!handle || !prop || size == 0 || flags)
        return CUDA_ERROR_INVALID_VALUE;
    while (i < OBJECTS && objects[i].size)
        i++;
    if (i == OBJECTS)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (*handle = 100; by_handle(*handle) >= 0;)
        ++*handle;
    objects[i].size = size;
    objects[i].handles = 1;
    objects[i].mappings = 0;
    objects[i].handle = *handle;
    used += size;
    return CUDA_SUCCESS;
}

/*
 * What is shared is the handle itself; 0 stands for an allocation of another process, which is not this one's to count.
 */
CUresult cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle, int type,
                                      unsigned long long flags) {
    (void)type;
    if (by_handle(handle) < 0 || flags)
        return CUDA_ERROR_INVALID_VALUE;
    *(CUmemGenericAllocationHandle *)shareable = handle;
    return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable, int type) {
    CUmemGenericAllocationHandle shared = *(CUmemGenericAllocationHandle *)shareable;
    (void)type;
    if (shared == 0) {
        const CUmemAllocationProp foreign = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
        return cuMemCreate(handle, 2 << 20, &foreign, 0);
    }
    if (by_handle(shared) < 0)
        return CUDA_ERROR_INVALID_VALUE;
    objects[by_handle(shared)].handles++;
    *handle = shared;
    return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    int i = by_handle(handle);
    if (i < 0)
        return CUDA_ERROR_INVALID_VALUE;
    objects[i].handles--;
    settle(i);
    return CUDA_SUCCESS;
}

CUresult cuMemMap(CUdeviceptr pointer, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
    int i = by_handle(handle), m = 0;
    if (i < 0 || offset || flags || size > objects[i].size)
        return CUDA_ERROR_INVALID_VALUE;
    while (mappings[m].size)
        m++;
    mappings[m].address = pointer;
    mappings[m].size = size;
    mappings[m].object = i;
    objects[i].mappings++;
    return CUDA_SUCCESS;
}

CUresult cuMemUnmap(CUdeviceptr pointer, size_t size) {
    int found = 0;
    for (int m = 0; m < MAPPINGS; m++)
        if (mappings[m].size && mappings[m].address >= pointer &&
            mappings[m].address + mappings[m].size <= pointer + size) {
            mappings[m].size = 0;
            objects[mappings[m].object].mappings--;
            settle(mappings[m].object);
            found++;
        }
    return found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* What another thread does when a handle has been retained, before the call that retained it returns. */
PARTITA_EXPORT extern void (*pages_driver_meanwhile)(void);
void (*pages_driver_meanwhile)(void);

/* A handle whose number may be someone else's by now gets a fresh one. */
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address) {
    CUdeviceptr pointer = (CUdeviceptr)(uintptr_t)address;
    for (int m = 0; m < MAPPINGS; m++)
        if (mappings[m].size && pointer >= mappings[m].address && pointer < mappings[m].address + mappings[m].size) {
            int i = mappings[m].object;
            if (objects[i].handles++ == 0) {
                objects[i].handle = 0;
                for (*handle = 100; by_handle(*handle) >= 0;)
                    ++*handle;
                objects[i].handle = *handle;
            }
            *handle = objects[i].handle;
            if (pages_driver_meanwhile)
                pages_driver_meanwhile();
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream) {
    (void)pool, (void)stream;
    *pointer = next;
    next += (bytes + 511) / 512 * 512;
    used += bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
    (void)stream;
    used = 0;
    return pointer ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
