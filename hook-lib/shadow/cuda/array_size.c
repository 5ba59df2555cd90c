/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/array_size.h"

#include <stdbool.h>

#include "common/numbers.h"

/* Bits of an element; of compressed formats a square of 4 x 4 is stored as one. */
struct format {
    unsigned int bits;
    bool compressed;
};

static struct format format_of(int format, unsigned int channels) {
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return (struct format){8 * channels, false};
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return (struct format){16 * channels, false};
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return (struct format){32 * channels, false};
    case CU_AD_FORMAT_UNORM_INT8X1:
    case CU_AD_FORMAT_SNORM_INT8X1:
        return (struct format){8, false};
    case CU_AD_FORMAT_NV12:
        return (struct format){12, false};
    case CU_AD_FORMAT_UNORM_INT8X2:
    case CU_AD_FORMAT_SNORM_INT8X2:
    case CU_AD_FORMAT_UNORM_INT16X1:
    case CU_AD_FORMAT_SNORM_INT16X1:
    case CU_AD_FORMAT_NV16:
    case CU_AD_FORMAT_YUY2:
        return (struct format){16, false};
    case CU_AD_FORMAT_P010:
    case CU_AD_FORMAT_P016:
    case CU_AD_FORMAT_Y444_PLANAR8:
    case CU_AD_FORMAT_YUV444_8bit_SemiPlanar:
        return (struct format){24, false};
    case CU_AD_FORMAT_UNORM_INT8X4:
    case CU_AD_FORMAT_SNORM_INT8X4:
    case CU_AD_FORMAT_UNORM_INT16X2:
    case CU_AD_FORMAT_SNORM_INT16X2:
    case CU_AD_FORMAT_UNORM_INT_101010_2:
    case CU_AD_FORMAT_P210:
    case CU_AD_FORMAT_P216:
    case CU_AD_FORMAT_Y210:
    case CU_AD_FORMAT_Y216:
    case CU_AD_FORMAT_AYUV:
    case CU_AD_FORMAT_Y410:
        return (struct format){32, false};
    case CU_AD_FORMAT_Y444_PLANAR10:
    case CU_AD_FORMAT_YUV444_16bit_SemiPlanar:
        return (struct format){48, false};
    case CU_AD_FORMAT_UNORM_INT16X4:
    case CU_AD_FORMAT_SNORM_INT16X4:
    case CU_AD_FORMAT_Y416:
        return (struct format){64, false};
    case CU_AD_FORMAT_BC1_UNORM:
    case CU_AD_FORMAT_BC1_UNORM_SRGB:
    case CU_AD_FORMAT_BC4_UNORM:
    case CU_AD_FORMAT_BC4_SNORM:
        return (struct format){64, true};
    default:
        return (struct format){128, format >= CU_AD_FORMAT_BC2_UNORM && format <= CU_AD_FORMAT_BC7_UNORM_SRGB};
    }
}

static uint64_t at_level(uint64_t extent, unsigned int level) {
    extent = level < 64 ? extent >> level : 0;
    return extent ? extent : 1;
}

static uint64_t level_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned int level) {
    bool layers = descriptor->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    struct format format = format_of(descriptor->Format, descriptor->NumChannels);
    uint64_t width = at_level(descriptor->Width, level), height = at_level(descriptor->Height, level);
    if (format.compressed) {
        width = width / 4 + (width % 4 != 0);
        height = height / 4 + (height % 4 != 0);
    }
    uint64_t depth = at_level(descriptor->Depth, layers ? 0 : level);
    uint64_t bits = times(times(times(width, height), depth), format.bits);
    return bits == UINT64_MAX ? bits : bits / 8 + (bits % 8 != 0);
}

static bool is_last(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned int level) {
    bool layers = descriptor->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    return at_level(descriptor->Width, level) == 1 && at_level(descriptor->Height, level) == 1 &&
           (layers || at_level(descriptor->Depth, level) == 1);
}

uint64_t array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned int levels) {
    uint64_t sum = level_bytes(descriptor, 0);
    for (unsigned int level = 1; level < levels && !is_last(descriptor, level - 1); level++)
        if (__builtin_add_overflow(sum, level_bytes(descriptor, level), &sum))
            return UINT64_MAX;
    return sum;
}
