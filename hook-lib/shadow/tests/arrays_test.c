/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays and mipmapped arrays are charged their bytes, against the simulated driver. */
#include "cases.h"
#include "check.h"
#include "cuda_arrays.h"
#include "stage.h"

static __typeof__(&cuArrayCreate_v2) create;
static __typeof__(&cuArray3DCreate_v2) create_3d;
static __typeof__(&cuArrayDestroy) destroy;
static __typeof__(&cuMipmappedArrayCreate) create_mipmapped;
static __typeof__(&cuMipmappedArrayDestroy) destroy_mipmapped;

static void start(uint64_t memory) {
    stage_driver("h200x1");
    const char *box = stage_container("box");
    stage_share(box, "share", 0, memory);
    cuda_start(box, 0);
    create = cuda_function("cuArrayCreate_v2");
    create_3d = cuda_function("cuArray3DCreate_v2");
    destroy = cuda_function("cuArrayDestroy");
    create_mipmapped = cuda_function("cuMipmappedArrayCreate");
    destroy_mipmapped = cuda_function("cuMipmappedArrayDestroy");
}

static CUDA_ARRAY3D_DESCRIPTOR floats(size_t width, size_t height, size_t depth, unsigned int flags) {
    return (CUDA_ARRAY3D_DESCRIPTOR){width, height, depth, CU_AD_FORMAT_FLOAT, 4, flags};
}

static void an_array_is_charged_in_bytes_until_it_is_destroyed(void) {
    const CUDA_ARRAY_DESCRIPTOR descriptor = {4096, 4096, CU_AD_FORMAT_FLOAT, 4}; /* 256 MiB */
    CUarray first, second, third;
    start(600 * MIB);
    CHECK_EQUAL(create(&first, &descriptor), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 344 * MIB);
    CHECK_EQUAL(create(&second, &descriptor), CUDA_SUCCESS);
    CHECK_EQUAL(stage_hardware_used(0), 512 * MIB);
    CHECK_EQUAL(create(&third, &descriptor), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(stage_hardware_used(0), 512 * MIB);
    CHECK_EQUAL(destroy(first), CUDA_SUCCESS);
    CHECK_EQUAL(destroy(first), CUDA_ERROR_INVALID_HANDLE);
    CHECK_EQUAL(cuda_free(), 344 * MIB);
    CHECK_EQUAL(destroy(second), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 600 * MIB);
    CHECK_EQUAL(stage_hardware_used(0), 0);
}

static void layers_faces_and_depth_all_count(void) {
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR volume = floats(128, 128, 128, 0), line = floats(1 << 17, 0, 0, 0);
    CUDA_ARRAY3D_DESCRIPTOR layers = floats(1024, 1024, 5, CUDA_ARRAY3D_LAYERED);
    CUDA_ARRAY3D_DESCRIPTOR lines = floats(1024, 0, 256, CUDA_ARRAY3D_LAYERED);
    CUDA_ARRAY3D_DESCRIPTOR cube = floats(512, 512, 6, CUDA_ARRAY3D_CUBEMAP);
    start(GIB);
    const struct {
        const CUDA_ARRAY3D_DESCRIPTOR *descriptor;
        uint64_t bytes;
    } each[] = {{&volume, 32 * MIB}, {&line, 2 * MIB}, {&layers, 80 * MIB}, {&lines, 4 * MIB}, {&cube, 24 * MIB}};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        CHECK_EQUAL(create_3d(&array, each[i].descriptor), CUDA_SUCCESS);
        CHECK_EQUAL(cuda_free(), GIB - each[i].bytes);
        CHECK_EQUAL(stage_hardware_used(0), each[i].bytes);
        CHECK_EQUAL(destroy(array), CUDA_SUCCESS);
    }
    CHECK_EQUAL(cuda_free(), GIB);
}

static void every_mip_level_counts_and_no_more_than_there_can_be(void) {
    CUmipmappedArray array;
    CUDA_ARRAY3D_DESCRIPTOR image = floats(4096, 4096, 0, 0); /* 256 + 64 + 16 + 4 + 1 + ... MiB */
    start(GIB);
    CHECK_EQUAL(create_mipmapped(&array, &image, 3), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 336 * MIB);
    CHECK_EQUAL(destroy_mipmapped(array), CUDA_SUCCESS);
    CHECK_EQUAL(create_mipmapped(&array, &image, 99), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 342 * MIB); /* 341 and a third */
    CHECK_EQUAL(stage_hardware_used(0), 342 * MIB);
    CHECK_EQUAL(destroy_mipmapped(array), CUDA_SUCCESS);
    image = floats(1024, 1024, 4, CUDA_ARRAY3D_LAYERED); /* layers do not halve */
    CHECK_EQUAL(create_mipmapped(&array, &image, 2), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 80 * MIB);
    CHECK_EQUAL(destroy_mipmapped(array), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB);
}

static void the_oldest_functions_keep_their_narrow_descriptors(void) {
    const CUDA_ARRAY_DESCRIPTOR_v1 plain = {1024, 1024, CU_AD_FORMAT_HALF, 2};
    const CUDA_ARRAY3D_DESCRIPTOR_v1 volume = {128, 128, 128, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0};
    CUarray array;
    start(GIB);
    CHECK_EQUAL(((__typeof__(&cuArrayCreate))cuda_function("cuArrayCreate"))(&array, &plain), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 4 * MIB);
    CHECK_EQUAL(destroy(array), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuArray3DCreate))cuda_function("cuArray3DCreate"))(&array, &volume), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 8 * MIB);
    CHECK_EQUAL(destroy(array), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB);
}

static void an_array_whose_memory_is_mapped_later_is_not_charged(void) {
    CUarray array;
    CUmipmappedArray mipmapped;
    CUDA_ARRAY3D_DESCRIPTOR deferred = floats(4096, 4096, 0, CUDA_ARRAY3D_DEFERRED_MAPPING);
    CUDA_ARRAY3D_DESCRIPTOR sparse = floats(4096, 4096, 0, CUDA_ARRAY3D_SPARSE);
    CUDA_ARRAY_MEMORY_REQUIREMENTS requirements;
    start(4 * MIB);
    CHECK_EQUAL(create_3d(&array, &deferred), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuArrayGetMemoryRequirements))cuda_function("cuArrayGetMemoryRequirements"))(
                    &requirements, array, 0),
                CUDA_SUCCESS);
    CHECK_EQUAL(requirements.size, 256 * MIB);
    CHECK_EQUAL(create_mipmapped(&mipmapped, &sparse, 4), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 4 * MIB);
    CHECK_EQUAL(destroy(array), CUDA_SUCCESS);
    CHECK_EQUAL(destroy_mipmapped(mipmapped), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 4 * MIB);
}

static void a_context_that_ends_gives_back_its_arrays(void) {
    CUcontext other;
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR image = floats(1024, 1024, 0, 0);
    start(GIB);
    CHECK_EQUAL(cuda.context_create(&other, 0, 0), CUDA_SUCCESS);
    CHECK_EQUAL(create_3d(&array, &image), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB - 16 * MIB);
    CHECK_EQUAL(cuda.context_destroy(other), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuCtxSetCurrent))cuda_function("cuCtxSetCurrent"))(cuda.context), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB);
    CHECK_EQUAL(stage_hardware_used(0), 0);
}

static void what_cannot_be_an_array_gets_the_drivers_answer_and_costs_nothing(void) {
    CUarray array;
    CUDA_ARRAY3D_DESCRIPTOR bad = floats(1024, 1024, 0, 0), huge = floats(SIZE_MAX / 2, 4, 0, 0);
    start(GIB);
    CHECK_EQUAL(create(&array, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(create_3d(NULL, &bad), CUDA_ERROR_INVALID_VALUE);
    bad.NumChannels = 3;
    CHECK_EQUAL(create_3d(&array, &bad), CUDA_ERROR_INVALID_VALUE);
    bad.Width = 0;
    CHECK_EQUAL(create_3d(&array, &bad), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(create_3d(&array, &huge), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(cuda_free(), GIB);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(an_array_is_charged_in_bytes_until_it_is_destroyed),
        CASE(layers_faces_and_depth_all_count),
        CASE(every_mip_level_counts_and_no_more_than_there_can_be),
        CASE(the_oldest_functions_keep_their_narrow_descriptors),
        CASE(an_array_whose_memory_is_mapped_later_is_not_charged),
        CASE(a_context_that_ends_gives_back_its_arrays),
        CASE(what_cannot_be_an_array_gets_the_drivers_answer_and_costs_nothing),
    };
    return RUN_CASES(cases, argc, argv);
}
