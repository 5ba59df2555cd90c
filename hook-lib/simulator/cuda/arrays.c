/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays: opaque memory of a context. An array takes its elements' bytes, as any other request of that size; one that
 * is sparse or mapped later takes none when it is made (cuMemMapArrayAsync is not simulated).
 */
#include <stdlib.h>

#include "capture.h"
#include "cuda_arrays.h"

#define LEVELS_MAX 17 /* of the largest extent, 65536 */
#define EXTENT_MAX 131072

struct CUarray_st {
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
};

struct CUmipmappedArray_st {
    CUDA_ARRAY3D_DESCRIPTOR descriptor;
    unsigned levels;
    struct CUarray_st level[LEVELS_MAX + 1];
};

struct array {
    struct CUmipmappedArray_st mipmapped;
    bool is_mipmapped;
    uint64_t bytes;
    CUdeviceptr memory; /* 0: takes none */
    struct array *next;
};

/* Bytes of an element; 0: a format that is not simulated. */
static unsigned element_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor) {
    switch (descriptor->Format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return descriptor->NumChannels;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2 * descriptor->NumChannels;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4 * descriptor->NumChannels;
    default:
        return 0;
    }
}

static bool valid(const CUDA_ARRAY3D_DESCRIPTOR *d) {
    bool cube = d->Flags & CUDA_ARRAY3D_CUBEMAP, layered = d->Flags & CUDA_ARRAY3D_LAYERED;

    if (d->NumChannels != 1 && d->NumChannels != 2 && d->NumChannels != 4)
        return false;
    if (!element_bytes(d) || !d->Width || d->Width > EXTENT_MAX || d->Height > EXTENT_MAX || d->Depth > 16384)
        return false;
    if (cube)
        return d->Width == d->Height && (layered ? d->Depth && d->Depth % 6 == 0 : d->Depth == 6);
    return layered ? d->Depth > 0 : d->Height > 0 || d->Depth == 0;
}

static size_t halved(size_t extent, unsigned level) {
    return extent == 0 ? 0 : extent >> level ? extent >> level : 1;
}

static CUDA_ARRAY3D_DESCRIPTOR at_level(const CUDA_ARRAY3D_DESCRIPTOR *whole, unsigned level) {
    CUDA_ARRAY3D_DESCRIPTOR part = *whole;

    part.Width = halved(whole->Width, level);
    part.Height = halved(whole->Height, level);
    if (!(whole->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)))
        part.Depth = halved(whole->Depth, level);
    return part;
}

static uint64_t bytes_of(const CUDA_ARRAY3D_DESCRIPTOR *d) {
    return (uint64_t)d->Width * (d->Height ? d->Height : 1) * (d->Depth ? d->Depth : 1) * element_bytes(d);
}

static unsigned levels_in(const CUDA_ARRAY3D_DESCRIPTOR *d) {
    size_t largest = d->Width > d->Height ? d->Width : d->Height;
    unsigned levels = 1;

    if (!(d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) && d->Depth > largest)
        largest = d->Depth;
    while (largest >>= 1)
        levels++;
    return levels;
}

static CUresult create(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned levels, bool is_mipmapped,
                       struct array **out) {
    struct CUctx_st *context;
    CUresult result = driver_home(&context);
    struct array *array;

    if (result != CUDA_SUCCESS)
        return result;
    if (!descriptor || !valid(descriptor))
        return CUDA_ERROR_INVALID_VALUE;
    result = unsafe_call();
    if (result != CUDA_SUCCESS)
        return result;
    array = calloc(1, sizeof *array);
    if (!array)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (levels > levels_in(descriptor))
        levels = levels_in(descriptor);
    array->is_mipmapped = is_mipmapped;
    array->mipmapped.descriptor = *descriptor;
    array->mipmapped.levels = levels ? levels : 1;
    for (unsigned i = 0; i < array->mipmapped.levels; i++) {
        array->mipmapped.level[i].descriptor = at_level(descriptor, i);
        array->bytes += bytes_of(&array->mipmapped.level[i].descriptor);
    }
    pthread_mutex_lock(&driver_lock);
    if (!(descriptor->Flags & (CUDA_ARRAY3D_SPARSE | CUDA_ARRAY3D_DEFERRED_MAPPING)))
        result = block_allocate(context, array->bytes, false, false, &array->memory);
    if (result == CUDA_SUCCESS) {
        array->next = context->arrays;
        context->arrays = array;
        *out = array;
    }
    pthread_mutex_unlock(&driver_lock);
    if (result != CUDA_SUCCESS)
        free(array);
    return result;
}

static CUresult create_plain(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor) {
    struct array *created;
    CUresult result = array ? create(descriptor, 1, false, &created) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *array = &created->mipmapped.level[0];
    return result;
}

CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *d) {
    FAULT_POINT();
    return d ? create_plain(array, &(CUDA_ARRAY3D_DESCRIPTOR){d->Width, d->Height, 0, d->Format, d->NumChannels, 0})
             : create_plain(array, NULL);
}

CUresult cuArrayCreate(CUarray *array, const CUDA_ARRAY_DESCRIPTOR_v1 *d) {
    FAULT_POINT();
    return d ? create_plain(array, &(CUDA_ARRAY3D_DESCRIPTOR){d->Width, d->Height, 0, d->Format, d->NumChannels, 0})
             : create_plain(array, NULL);
}

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor) {
    FAULT_POINT();
    return create_plain(array, descriptor);
}

CUresult cuArray3DCreate(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR_v1 *d) {
    FAULT_POINT();
    return d ? create_plain(array, &(CUDA_ARRAY3D_DESCRIPTOR){d->Width, d->Height, d->Depth, d->Format, d->NumChannels,
                                                              d->Flags})
             : create_plain(array, NULL);
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                                unsigned int levels) {
    FAULT_POINT();
    struct array *created;
    CUresult result = array ? create(descriptor, levels, true, &created) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *array = &created->mipmapped;
    return result;
}

static void drop(struct CUctx_st *context, struct array **link) {
    struct array *array = *link;

    (void)context;
    *link = array->next;
    if (array->memory)
        block_free(array->memory);
    free(array);
}

/* Looks a handle up and destroys the array (`gone`), or tells about it. */
static CUresult with_array(const void *handle, bool mipmapped, bool gone,
                           CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements) {
    struct CUctx_st *context;
    CUresult result = driver_home(&context);

    if (result != CUDA_SUCCESS)
        return result;
    result = CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&driver_lock);
    for (struct array **link = &context->arrays; *link; link = &(*link)->next) {
        struct array *array = *link;

        if (array->is_mipmapped != mipmapped ||
            (mipmapped ? (const void *)&array->mipmapped : (const void *)&array->mipmapped.level[0]) != handle)
            continue;
        result = CUDA_SUCCESS;
        if (gone) {
            drop(context, link);
        } else if (!(array->mipmapped.descriptor.Flags & CUDA_ARRAY3D_DEFERRED_MAPPING)) {
            result = CUDA_ERROR_INVALID_VALUE; /* as documented */
        } else {
            requirements->alignment = GRANULARITY;
            requirements->size = (array->bytes + GRANULARITY - 1) / GRANULARITY * GRANULARITY;
        }
        break;
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuArrayDestroy(CUarray array) {
    FAULT_POINT();
    return with_array(array, false, true, NULL);
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
    FAULT_POINT();
    return with_array(array, true, true, NULL);
}

CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements, CUarray array, CUdevice device) {
    FAULT_POINT();
    (void)device;
    return requirements ? with_array(array, false, false, requirements) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements, CUmipmappedArray array,
                                               CUdevice device) {
    FAULT_POINT();
    (void)device;
    return requirements ? with_array(array, true, false, requirements) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMipmappedArrayGetLevel(CUarray *array, CUmipmappedArray mipmapped, unsigned int level) {
    FAULT_POINT();
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (!array || !mipmapped || level >= mipmapped->levels)
        return CUDA_ERROR_INVALID_VALUE;
    *array = &mipmapped->level[level];
    return CUDA_SUCCESS;
}

void context_release_arrays(struct CUctx_st *context) {
    while (context->arrays)
        drop(context, &context->arrays);
}
