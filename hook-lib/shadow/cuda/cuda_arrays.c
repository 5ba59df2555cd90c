/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays and mipmapped arrays. What the driver pads is not known: cuArrayGetMemoryRequirements answers only for arrays
 * whose memory is mapped later (sparse, deferred), and those take none when they are made: it comes from cuMemCreate,
 * which is charged.
 */
#include "cuda_arrays.h"

#include "common/lifetime.h"
#include "cuda/array_size.h"
#include "cuda/cuda_charge.h"
#include "cuda/cuda_driver.h"
#include "cuda/sparse.h"

/* A handle is an address of the host: the bit tells it from an address of the card. */
static uint64_t array_key(const void *handle) {
    return (uint64_t)(uintptr_t)handle | UINT64_C(1) << 63;
}

static CUresult begin_array(struct charge *charge, const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned int levels) {
    if (descriptor->Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)) {
        *charge = CHARGE_NOTHING;
        return CUDA_SUCCESS;
    }
    return charge_begin_in_context(charge, array_bytes(descriptor, levels));
}

#define END_OF_CREATE(name, type, destroy)                                                                             \
    static CUresult name(const struct charge *charge, CUresult result, type *array, type former) {                     \
        if (charge_end(charge, result, array_key(*array)))                                                             \
            return result;                                                                                             \
        result = charge_undo(charge, DRIVER(destroy) ? DRIVER(destroy)(*array) : CUDA_ERROR_NOT_SUPPORTED);            \
        *array = former;                                                                                               \
        return result;                                                                                                 \
    }

END_OF_CREATE(end_array, CUarray, cuArrayDestroy)
END_OF_CREATE(end_mipmapped, CUmipmappedArray, cuMipmappedArrayDestroy)

#define ARRAY_CREATE(name, descriptor_type, depth, flags)                                                              \
    CUresult name(CUarray *array, const descriptor_type *descriptor) {                                                 \
        NEED(name);                                                                                                    \
        if (!array || !descriptor || descriptor->Width == 0)                                                           \
            return DRIVER(name)(array, descriptor);                                                                    \
        struct charge charge;                                                                                          \
        const CUDA_ARRAY3D_DESCRIPTOR wide = {descriptor->Width,  descriptor->Height,      (depth),                    \
                                              descriptor->Format, descriptor->NumChannels, (flags)};                   \
        CUresult result = begin_array(&charge, &wide, 1);                                                              \
        if (result != CUDA_SUCCESS)                                                                                    \
            return result;                                                                                             \
        CUarray former = *array;                                                                                       \
        result = DRIVER(name)(array, descriptor);                                                                      \
        return end_array(&charge, result, array, former);                                                              \
    }

ARRAY_CREATE(cuArrayCreate, CUDA_ARRAY_DESCRIPTOR_v1, 0, 0)
ARRAY_CREATE(cuArrayCreate_v2, CUDA_ARRAY_DESCRIPTOR, 0, 0)
ARRAY_CREATE(cuArray3DCreate, CUDA_ARRAY3D_DESCRIPTOR_v1, descriptor->Depth, descriptor->Flags)
ARRAY_CREATE(cuArray3DCreate_v2, CUDA_ARRAY3D_DESCRIPTOR, descriptor->Depth, descriptor->Flags)

CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                                unsigned int levels) {
    NEED(cuMipmappedArrayCreate);
    if (!array || !descriptor || descriptor->Width == 0)
        return DRIVER(cuMipmappedArrayCreate)(array, descriptor, levels);
    struct charge charge;
    CUresult result = begin_array(&charge, descriptor, levels);
    if (result != CUDA_SUCCESS)
        return result;
    CUmipmappedArray former = *array;
    result = DRIVER(cuMipmappedArrayCreate)(array, descriptor, levels);
    return end_mipmapped(&charge, result, array, former);
}

CUresult cuArrayDestroy(CUarray array) {
    NEED(cuArrayDestroy);
    uint64_t taken = charge_take(array_key(array)), owner = sparse_array_ends(array);
    CUresult result = DRIVER(cuArrayDestroy)(array);
    sparse_array_ended(owner, array, result == CUDA_SUCCESS);
    return charge_return(taken, result, array_key(array));
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
    NEED(cuMipmappedArrayDestroy);
    uint64_t taken = charge_take(array_key(array)), owner = sparse_array_ends(array);
    CUresult result = DRIVER(cuMipmappedArrayDestroy)(array);
    sparse_array_ended(owner, array, result == CUDA_SUCCESS);
    return charge_return(taken, result, array_key(array));
}
