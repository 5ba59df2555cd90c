/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of arrays, by format and shape. */
#include "cuda/array_size.h"

#include "cases.h"
#include "check.h"

static uint64_t bytes(int format, unsigned int channels, size_t width, size_t height, size_t depth,
                      unsigned int levels) {
    const CUDA_ARRAY3D_DESCRIPTOR descriptor = {width, height, depth, format, channels, 0};
    return array_bytes(&descriptor, levels);
}

static void plain_formats_count_their_channels(void) {
    CHECK_EQUAL(bytes(CU_AD_FORMAT_SIGNED_INT8, 1, 10, 0, 0, 1), 10);
    CHECK_EQUAL(bytes(CU_AD_FORMAT_HALF, 2, 10, 10, 0, 1), 400);
    CHECK_EQUAL(bytes(CU_AD_FORMAT_FLOAT, 4, 10, 10, 10, 1), 16000);
}

static void compressed_formats_count_whole_squares(void) {
    CHECK_EQUAL(bytes(CU_AD_FORMAT_BC1_UNORM, 4, 5, 5, 0, 1), 4 * 8);
    CHECK_EQUAL(bytes(CU_AD_FORMAT_BC7_UNORM_SRGB, 4, 8, 8, 0, 1), 4 * 16);
    CHECK_EQUAL(bytes(CU_AD_FORMAT_BC4_SNORM, 1, 8, 8, 0, 9), (4 + 1 + 1 + 1) * 8); /* 8, 4, 2, 1 */
}

static void planar_formats_count_all_planes(void) {
    CHECK_EQUAL(bytes(CU_AD_FORMAT_NV12, 3, 1920, 1080, 0, 1), 1920 * 1080 * 3 / 2);
    CHECK_EQUAL(bytes(CU_AD_FORMAT_P010, 3, 1920, 1080, 0, 1), 1920 * 1080 * 3);
    CHECK_EQUAL(bytes(CU_AD_FORMAT_Y416, 4, 16, 16, 0, 1), 16 * 16 * 8);
}

static void an_unknown_format_counts_as_the_largest(void) {
    CHECK_EQUAL(bytes(0x7777, 1, 10, 10, 0, 1), 1600);
}

static void a_size_that_cannot_be_counted_is_the_largest_number(void) {
    CHECK(bytes(CU_AD_FORMAT_FLOAT, 4, SIZE_MAX, SIZE_MAX, SIZE_MAX, 1) >= UINT64_MAX / 8);
    CHECK(bytes(CU_AD_FORMAT_FLOAT, UINT32_MAX, SIZE_MAX / 2, 1, 1, 64) >= UINT64_MAX / 8);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(plain_formats_count_their_channels),
        CASE(compressed_formats_count_whole_squares),
        CASE(planar_formats_count_all_planes),
        CASE(an_unknown_format_counts_as_the_largest),
        CASE(a_size_that_cannot_be_counted_is_the_largest_number),
    };
    return RUN_CASES(cases, argc, argv);
}
