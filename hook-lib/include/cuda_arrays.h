/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays and mipmapped arrays of the CUDA driver API; from the public documentation. */
#ifndef PARTITA_CUDA_ARRAYS_H
#define PARTITA_CUDA_ARRAYS_H

#include "cuda_api.h"

typedef struct CUarray_st *CUarray;
typedef struct CUmipmappedArray_st *CUmipmappedArray;

#define CUDA_ARRAY3D_LAYERED 0x01
#define CUDA_ARRAY3D_SURFACE_LDST 0x02
#define CUDA_ARRAY3D_CUBEMAP 0x04
#define CUDA_ARRAY3D_SPARSE 0x40
#define CUDA_ARRAY3D_DEFERRED_MAPPING 0x80

#define CU_AD_FORMAT_UNSIGNED_INT8 0x01
#define CU_AD_FORMAT_UNSIGNED_INT16 0x02
#define CU_AD_FORMAT_UNSIGNED_INT32 0x03
#define CU_AD_FORMAT_SIGNED_INT8 0x08
#define CU_AD_FORMAT_SIGNED_INT16 0x09
#define CU_AD_FORMAT_SIGNED_INT32 0x0a
#define CU_AD_FORMAT_HALF 0x10
#define CU_AD_FORMAT_FLOAT 0x20
#define CU_AD_FORMAT_UNORM_INT_101010_2 0x50
#define CU_AD_FORMAT_BC1_UNORM 0x91
#define CU_AD_FORMAT_BC1_UNORM_SRGB 0x92
#define CU_AD_FORMAT_BC2_UNORM 0x93
#define CU_AD_FORMAT_BC4_UNORM 0x97
#define CU_AD_FORMAT_BC4_SNORM 0x98
#define CU_AD_FORMAT_BC7_UNORM_SRGB 0x9e
#define CU_AD_FORMAT_P010 0x9f
#define CU_AD_FORMAT_P016 0xa1
#define CU_AD_FORMAT_NV16 0xa2
#define CU_AD_FORMAT_P210 0xa3
#define CU_AD_FORMAT_P216 0xa4
#define CU_AD_FORMAT_YUY2 0xa5
#define CU_AD_FORMAT_Y210 0xa6
#define CU_AD_FORMAT_Y216 0xa7
#define CU_AD_FORMAT_AYUV 0xa8
#define CU_AD_FORMAT_Y410 0xa9
#define CU_AD_FORMAT_NV12 0xb0
#define CU_AD_FORMAT_Y416 0xb1
#define CU_AD_FORMAT_Y444_PLANAR8 0xb2
#define CU_AD_FORMAT_Y444_PLANAR10 0xb3
#define CU_AD_FORMAT_YUV444_8bit_SemiPlanar 0xb4
#define CU_AD_FORMAT_YUV444_16bit_SemiPlanar 0xb5
#define CU_AD_FORMAT_UNORM_INT8X1 0xc0
#define CU_AD_FORMAT_UNORM_INT8X2 0xc1
#define CU_AD_FORMAT_UNORM_INT8X4 0xc2
#define CU_AD_FORMAT_UNORM_INT16X1 0xc3
#define CU_AD_FORMAT_UNORM_INT16X2 0xc4
#define CU_AD_FORMAT_UNORM_INT16X4 0xc5
#define CU_AD_FORMAT_SNORM_INT8X1 0xc6
#define CU_AD_FORMAT_SNORM_INT8X2 0xc7
#define CU_AD_FORMAT_SNORM_INT8X4 0xc8
#define CU_AD_FORMAT_SNORM_INT16X1 0xc9
#define CU_AD_FORMAT_SNORM_INT16X2 0xca
#define CU_AD_FORMAT_SNORM_INT16X4 0xcb

/* Extents in elements; the descriptors of the functions without suffix have 32-bit extents. */
typedef struct CUDA_ARRAY_DESCRIPTOR_v1_st {
    unsigned int Width, Height;
    int Format;
    unsigned int NumChannels;
} CUDA_ARRAY_DESCRIPTOR_v1;

typedef struct CUDA_ARRAY_DESCRIPTOR_st {
    size_t Width, Height;
    int Format;
    unsigned int NumChannels;
} CUDA_ARRAY_DESCRIPTOR;

typedef struct CUDA_ARRAY3D_DESCRIPTOR_v1_st {
    unsigned int Width, Height, Depth;
    int Format;
    unsigned int NumChannels, Flags;
} CUDA_ARRAY3D_DESCRIPTOR_v1;

typedef struct CUDA_ARRAY3D_DESCRIPTOR_st {
    size_t Width, Height, Depth;
    int Format;
    unsigned int NumChannels, Flags;
} CUDA_ARRAY3D_DESCRIPTOR;

typedef struct CUDA_ARRAY_MEMORY_REQUIREMENTS_st {
    size_t size, alignment;
    unsigned int reserved[4];
} CUDA_ARRAY_MEMORY_REQUIREMENTS;

PARTITA_EXPORT CUresult cuArrayCreate(CUarray *array, const CUDA_ARRAY_DESCRIPTOR_v1 *descriptor);
PARTITA_EXPORT CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *descriptor);
PARTITA_EXPORT CUresult cuArray3DCreate(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR_v1 *descriptor);
PARTITA_EXPORT CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor);
PARTITA_EXPORT CUresult cuArrayDestroy(CUarray array);
PARTITA_EXPORT CUresult cuArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements, CUarray array,
                                                     CUdevice device);
PARTITA_EXPORT CUresult cuMipmappedArrayCreate(CUmipmappedArray *array, const CUDA_ARRAY3D_DESCRIPTOR *descriptor,
                                               unsigned int levels);
PARTITA_EXPORT CUresult cuMipmappedArrayGetLevel(CUarray *array, CUmipmappedArray mipmapped, unsigned int level);
PARTITA_EXPORT CUresult cuMipmappedArrayDestroy(CUmipmappedArray array);
PARTITA_EXPORT CUresult cuMipmappedArrayGetMemoryRequirements(CUDA_ARRAY_MEMORY_REQUIREMENTS *requirements,
                                                              CUmipmappedArray array, CUdevice device);

#endif
