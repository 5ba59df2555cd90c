/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory management: the physical allocation is charged, to the card that it lies on, until no handle and no
 * mapping is left. Of one that was exported the driver does not tell whether others hold it. So who lets go of it looks
 * what the card has free before and after: where that has not grown by as much, the charge is left behind.
 */
#include "cuda_pages.h"

#include "common/lifetime.h"
#include "cuda/cuda_charge.h"
#include "cuda/cuda_driver.h"
#include "cuda/cuda_units.h"
#include "cuda/page_refs.h"
#include "share/cards.h"

/* Of a device that the driver does not know, and before cuInit of any: the driver says so. */
static CUresult refuse_to_create(size_t size, const CUmemAllocationProp *prop, unsigned long long flags,
                                 CUdevice device) {
    CUmemGenericAllocationHandle none;
    CUresult result = cuda_is_device(device) ? CUDA_ERROR_OUT_OF_MEMORY : DRIVER(cuMemCreate)(&none, size, prop, flags);
    if (result == CUDA_SUCCESS && DRIVER(cuMemRelease))
        DRIVER(cuMemRelease)(none); /* it would be in no account */
    return result != CUDA_SUCCESS ? result : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                     unsigned long long flags) {
    NEED(cuMemCreate);
    int card = CARD_UNLIMITED, device = -1;
    if (handle && prop && size > 0)
        device = cuda_device_of_memory(prop->type, &prop->location);
    if (device >= 0)
        card = cuda_card_of(device);
    if (card == CARD_UNLIMITED)
        return DRIVER(cuMemCreate)(handle, size, prop, flags);
    uint64_t units = units_of_pages(size);
    if (card == CARD_REFUSED)
        return refuse_to_create(size, prop, flags, device);
    if (!charge_card(card, SHARE_RESIDENT, units))
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = page_room(0) ? DRIVER(cuMemCreate)(handle, size, prop, flags) : CUDA_ERROR_OUT_OF_MEMORY;
    if (result != CUDA_SUCCESS)
        cards_release(card, SHARE_RESIDENT, units);
    else
        page_created(*handle, card, device, units);
    return result;
}

enum { FREE_UNKNOWN = 0 };

/* What the current card has free. */
static uint64_t free_of_card(void) {
    size_t free, total;
    bool known = DRIVER(cuMemGetInfo_v2) && DRIVER(cuMemGetInfo_v2)(&free, &total) == CUDA_SUCCESS;
    return known ? free + 1 : FREE_UNKNOWN;
}

static void look_what_is_left(struct page_left left, uint64_t before) {
    int card;
    if (left.units == 0)
        return;
    bool gone = !DRIVER(cuMemGetInfo_v2); /* of such a driver nothing can be known */
    if (before != FREE_UNKNOWN && cuda_current_card(&card) == CUDA_SUCCESS && card == left.card)
        gone |= free_of_card() >= before + left.units * PARTITA_UNIT;
    if (gone)
        cards_release(left.card, SHARE_RESIDENT, left.units);
    else
        cards_leave_behind(left.card, left.units);
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    NEED(cuMemRelease);
    page_object object = page_release_begin(handle);
    uint64_t free = page_exported(object) ? free_of_card() : FREE_UNKNOWN;
    CUresult result = DRIVER(cuMemRelease)(handle);
    look_what_is_left(page_release_end(object, handle, result == CUDA_SUCCESS), free);
    return result;
}

CUresult cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle, int type,
                                      unsigned long long flags) {
    NEED(cuMemExportToShareableHandle);
    page_object object = page_export_begin(handle);
    CUresult result = DRIVER(cuMemExportToShareableHandle)(shareable, handle, type, flags);
    page_export_end(object, result == CUDA_SUCCESS);
    return result;
}

CUresult cuMemMap(CUdeviceptr pointer, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
    NEED(cuMemMap);
    page_object object = page_map_begin(handle);
    CUresult result =
        object && !page_room(0) ? CUDA_ERROR_OUT_OF_MEMORY : DRIVER(cuMemMap)(pointer, size, offset, handle, flags);
    page_map_end(object, pointer, size, result == CUDA_SUCCESS);
    return result;
}

CUresult cuMemUnmap(CUdeviceptr pointer, size_t size) {
    NEED(cuMemUnmap);
    uint32_t unmapping = page_unmap_begin(pointer, size);
    uint64_t free = page_unmapping_exported(unmapping) ? free_of_card() : FREE_UNKNOWN;
    CUresult result = DRIVER(cuMemUnmap)(pointer, size);
    look_what_is_left(page_unmap_end(unmapping, result == CUDA_SUCCESS), free);
    return result;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address) {
    NEED(cuMemRetainAllocationHandle);
    if (!page_room(0))
        return CUDA_ERROR_OUT_OF_MEMORY;
    page_object object = page_bind_begin((uint64_t)(uintptr_t)address);
    CUresult result = DRIVER(cuMemRetainAllocationHandle)(handle, address);
    bool retained = result == CUDA_SUCCESS && handle;
    page_retain_end(object, retained ? *handle : 0, retained);
    return result;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable, int type) {
    NEED(cuMemImportFromShareableHandle);
    CUresult result = DRIVER(cuMemImportFromShareableHandle)(handle, shareable, type);
    if (result == CUDA_SUCCESS && handle)
        page_imported(*handle);
    return result;
}
