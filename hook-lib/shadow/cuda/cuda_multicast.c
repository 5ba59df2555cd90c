/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Multicast objects, and CUDA 13.5's logical endpoints. They hold no memory of their own, but keep what is bound to
 * them until it is unbound, or they end.
 */
#include "common/lifetime.h"
#include "cuda/cuda_driver.h"
#include "cuda/page_refs.h"
#include "share/cards.h"

CUresult cuMulticastCreate(CUmemGenericAllocationHandle *handle, const CUmulticastObjectProp *prop) {
    NEED(cuMulticastCreate);
    if (!page_room(0))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = DRIVER(cuMulticastCreate)(handle, prop);
    if (result == CUDA_SUCCESS && handle)
        page_created(*handle, PAGE_NO_CARD, -1, 0);
    return result;
}

static struct page_part bound_part(uint64_t owner, int device, uint64_t offset, uint64_t size) {
    return (struct page_part){.owner = owner, .kind = (uint32_t)device, .from = {offset}, .extent = {size}};
}

static bool no_room(page_object object) {
    return object && !page_room(1);
}

/*
 * An object that came from another process is not known here: what is bound to it is charged until its own last handle
 * and mapping is gone, and the object's owner may keep it longer.
 */
static void bound(CUmemGenericAllocationHandle handle, page_object memory, int device, uint64_t offset, uint64_t size,
                  bool done) {
    page_object multicast = page_map_begin(handle);
    const struct page_part part = bound_part(multicast, device, offset, size);
    page_part_end(memory, &part, done && multicast != 0);
    page_part_end(multicast, &part, false);
}

#define BIND(name, parameters, arguments, begin, device)                                                               \
    CUresult name parameters {                                                                                         \
        NEED(name);                                                                                                    \
        page_object object = (begin);                                                                                  \
        CUresult result = no_room(object) ? CUDA_ERROR_OUT_OF_MEMORY : DRIVER(name) arguments;                         \
        bound(multicast, object, (device), offset, size, result == CUDA_SUCCESS);                                      \
        return result;                                                                                                 \
    }

BIND(cuMulticastBindMem,
     (CUmemGenericAllocationHandle multicast, size_t offset, CUmemGenericAllocationHandle memory, size_t memoryOffset,
      size_t size, unsigned long long flags),
     (multicast, offset, memory, memoryOffset, size, flags), page_map_begin(memory), page_device(object))
BIND(cuMulticastBindMem_v2,
     (CUmemGenericAllocationHandle multicast, CUdevice device, size_t offset, CUmemGenericAllocationHandle memory,
      size_t memoryOffset, size_t size, unsigned long long flags),
     (multicast, device, offset, memory, memoryOffset, size, flags), page_map_begin(memory), device)
BIND(cuMulticastBindAddr,
     (CUmemGenericAllocationHandle multicast, size_t offset, CUdeviceptr address, size_t size,
      unsigned long long flags),
     (multicast, offset, address, size, flags), page_bind_begin(address), page_device(object))
BIND(cuMulticastBindAddr_v2,
     (CUmemGenericAllocationHandle multicast, CUdevice device, size_t offset, CUdeviceptr address, size_t size,
      unsigned long long flags),
     (multicast, device, offset, address, size, flags), page_bind_begin(address), device)

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle multicast, CUdevice device, size_t offset, size_t size) {
    NEED(cuMulticastUnbind);
    page_object object = page_map_begin(multicast);
    CUresult result = DRIVER(cuMulticastUnbind)(multicast, device, offset, size);
    const struct page_part part = bound_part(object, device, offset, size);
    if (result == CUDA_SUCCESS && object)
        page_part_gone(&part);
    page_part_end(object, &part, false);
    return result;
}

/* An endpoint's number as the owner of parts: below arrays, above the objects of page_refs. */
static uint64_t owner_of(CUlogicalEndpointId endpoint) {
    return UINT64_C(1) << 62 | endpoint;
}

/* What the process has bound it unbinds with its own endpoint, however many others have imported that. */
#define BIND_TO_ENDPOINT(name, parameters, arguments, begin)                                                           \
    CUresult name parameters {                                                                                         \
        NEED(name);                                                                                                    \
        page_object object = (begin);                                                                                  \
        CUresult result = no_room(object) ? CUDA_ERROR_OUT_OF_MEMORY : DRIVER(name) arguments;                         \
        const struct page_part part = bound_part(owner_of(endpoint), device, offset, size);                            \
        page_part_end(object, &part, result == CUDA_SUCCESS);                                                          \
        return result;                                                                                                 \
    }

BIND_TO_ENDPOINT(cuLogicalEndpointBindMem,
                 (CUlogicalEndpointId endpoint, CUdevice device, cuuint64_t offset, CUmemGenericAllocationHandle memory,
                  cuuint64_t memoryOffset, cuuint64_t size, unsigned long long flags),
                 (endpoint, device, offset, memory, memoryOffset, size, flags), page_map_begin(memory))
BIND_TO_ENDPOINT(cuLogicalEndpointBindAddr,
                 (CUlogicalEndpointId endpoint, CUdevice device, cuuint64_t offset, void *pointer, cuuint64_t size,
                  unsigned long long flags),
                 (endpoint, device, offset, pointer, size, flags), page_bind_begin((uint64_t)(uintptr_t)pointer))

CUresult cuLogicalEndpointUnbind(CUlogicalEndpointId endpoint, CUdevice device, cuuint64_t offset, cuuint64_t size) {
    NEED(cuLogicalEndpointUnbind);
    CUresult result = DRIVER(cuLogicalEndpointUnbind)(endpoint, device, offset, size);
    const struct page_part part = bound_part(owner_of(endpoint), device, offset, size);
    if (result == CUDA_SUCCESS)
        page_part_gone(&part);
    return result;
}

CUresult cuLogicalEndpointDestroy(CUlogicalEndpointId endpoint) {
    NEED(cuLogicalEndpointDestroy);
    CUresult result = DRIVER(cuLogicalEndpointDestroy)(endpoint);
    if (result == CUDA_SUCCESS)
        page_parts_gone(owner_of(endpoint));
    return result;
}
