/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual memory management and pools, against a driver that has hardly anything else. */
#include <dlfcn.h>

#include "cases.h"
#include "check.h"
#include "cuda_pages.h"
#include "cuda_pools.h"
#include "partita/usage_region.h"
#include "scratch.h"

#define MIB (UINT64_C(1) << 20)

static void *library;
static __typeof__(&cuMemCreate) create;
static __typeof__(&cuMemRelease) release;
static __typeof__(&cuMemMap) map;
static __typeof__(&cuMemUnmap) unmap;
static __typeof__(&cuMemRetainAllocationHandle) retain;
static size_t (*used)(void);
static const CUmemAllocationProp on_card = {.type = 1, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};

static void start(uint64_t memory) {
    const char *box = scratch_folder();
    make_folders(text("%s/lib/partita", box));
    copy_file(shadow_cuda(), text("%s/lib/libcuda.so.1", box));
    copy_file(PAGES_DRIVER, text("%s/lib/partita/libcuda-real.so.1", box));
    write_quota(box, "share", "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", memory, 1);
    make_region(box, "share");
    CHECK((library = dlopen(text("%s/lib/libcuda.so.1", box), RTLD_NOW)) != NULL);
    *(void **)&create = dlsym(library, "cuMemCreate");
    *(void **)&release = dlsym(library, "cuMemRelease");
    *(void **)&map = dlsym(library, "cuMemMap");
    *(void **)&unmap = dlsym(library, "cuMemUnmap");
    *(void **)&retain = dlsym(library, "cuMemRetainAllocationHandle");
    *(void **)&used = dlsym(library, "pages_driver_used");
}

static CUmemGenericAllocationHandle must_create(uint64_t size) {
    CUmemGenericAllocationHandle handle;
    CHECK_EQUAL(create(&handle, size, &on_card, 0), CUDA_SUCCESS);
    return handle;
}

static void must_refuse(uint64_t size) {
    CUmemGenericAllocationHandle handle;
    CHECK_EQUAL(create(&handle, size, &on_card, 0), CUDA_ERROR_OUT_OF_MEMORY);
}

static void a_physical_allocation_is_charged_until_its_handle_is_released(void) {
    start(8 * MIB);
    CUmemGenericAllocationHandle handle = must_create(6 * MIB);
    must_refuse(4 * MIB);
    CHECK_EQUAL(release(handle), CUDA_SUCCESS);
    CHECK_EQUAL(release(handle), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(release(must_create(8 * MIB)), CUDA_SUCCESS);
    CHECK_EQUAL(used(), 0);
}

static void a_mapping_keeps_the_charge_after_the_handle_is_gone(void) {
    start(8 * MIB);
    CUmemGenericAllocationHandle handle = must_create(8 * MIB);
    CHECK_EQUAL(map(0x10000000, 8 * MIB, 0, handle, 0), CUDA_SUCCESS);
    CHECK_EQUAL(map(0x20000000, 8 * MIB, 0, handle, 0), CUDA_SUCCESS);
    CHECK_EQUAL(release(handle), CUDA_SUCCESS);
    must_refuse(2 * MIB);
    CHECK_EQUAL(unmap(0x10000000, 8 * MIB), CUDA_SUCCESS);
    must_refuse(2 * MIB);
    CHECK_EQUAL(unmap(0x30000000, 8 * MIB), CUDA_ERROR_INVALID_VALUE);
    must_refuse(2 * MIB);
    CHECK_EQUAL(unmap(0x20000000, 8 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(used(), 0);
    must_create(8 * MIB);
}

/* PyTorch's expandable segments: create, map, release the handle, and unmap many at once. */
static void a_range_of_mappings_is_given_back_at_once_and_handles_are_used_again(void) {
    start(64 * MIB);
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 32; i++) {
            CUmemGenericAllocationHandle handle = must_create(2 * MIB);
            CHECK_EQUAL(map(0x10000000 + i * 2 * MIB, 2 * MIB, 0, handle, 0), CUDA_SUCCESS);
            CHECK_EQUAL(release(handle), CUDA_SUCCESS);
        }
        must_refuse(2 * MIB);
        CHECK_EQUAL(unmap(0x10000000, 32 * MIB), CUDA_SUCCESS);
        CHECK_EQUAL(used(), 32 * MIB);
        CUmemGenericAllocationHandle handle = must_create(32 * MIB);
        must_refuse(2 * MIB);
        CHECK_EQUAL(release(handle), CUDA_SUCCESS);
        CHECK_EQUAL(unmap(0x10000000 + 32 * MIB, 32 * MIB), CUDA_SUCCESS);
        CHECK_EQUAL(used(), 0);
    }
}

static void a_retained_handle_keeps_the_charge(void) {
    CUmemGenericAllocationHandle again;
    start(8 * MIB);
    CUmemGenericAllocationHandle handle = must_create(6 * MIB);
    CHECK_EQUAL(map(0x10000000, 6 * MIB, 0, handle, 0), CUDA_SUCCESS);
    CHECK_EQUAL(release(handle), CUDA_SUCCESS);
    CUmemGenericAllocationHandle other = must_create(2 * MIB); /* gets the same number */
    CHECK_EQUAL(other, handle);
    CHECK_EQUAL(retain(&again, (void *)(uintptr_t)(0x10000000 + MIB)), CUDA_SUCCESS);
    CHECK_EQUAL(unmap(0x10000000, 6 * MIB), CUDA_SUCCESS);
    must_refuse(2 * MIB);
    CHECK_EQUAL(release(again), CUDA_SUCCESS);
    must_create(6 * MIB);
    must_refuse(2 * MIB);
    CHECK_EQUAL(release(other), CUDA_SUCCESS);
    must_create(2 * MIB);
}

static void unmap_all(void) {
    CHECK_EQUAL(unmap(0x10000000, 6 * MIB), CUDA_SUCCESS);
}

static void a_handle_that_is_retained_while_another_thread_unmaps_the_address_keeps_the_charge(void) {
    CUmemGenericAllocationHandle again;
    start(8 * MIB);
    CUmemGenericAllocationHandle handle = must_create(6 * MIB);
    CHECK_EQUAL(map(0x10000000, 6 * MIB, 0, handle, 0), CUDA_SUCCESS);
    CHECK_EQUAL(release(handle), CUDA_SUCCESS);
    *(void (**)(void))dlsym(library, "pages_driver_meanwhile") = unmap_all;
    CHECK_EQUAL(retain(&again, (void *)(uintptr_t)0x10000000), CUDA_SUCCESS);
    CHECK_EQUAL(used(), 6 * MIB);
    must_refuse(4 * MIB);
    CHECK_EQUAL(release(again), CUDA_SUCCESS);
    must_create(8 * MIB);
}

static void pages_on_the_host_are_not_charged_and_bad_calls_get_the_drivers_answer(void) {
    const CUmemAllocationProp on_host = {.type = 1, .location = {2, 0}};
    CUmemGenericAllocationHandle handle;
    start(2 * MIB);
    CHECK_EQUAL(create(&handle, 64 * MIB, &on_host, 0), CUDA_SUCCESS);
    CHECK_EQUAL(release(handle), CUDA_SUCCESS);
    CHECK_EQUAL(create(NULL, 2 * MIB, &on_card, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(create(&handle, 2 * MIB, NULL, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(create(&handle, 0, &on_card, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(create(&handle, 2 * MIB, &on_card, 1), CUDA_ERROR_INVALID_VALUE); /* the driver refuses: given back */
    CHECK_EQUAL(map(0x10000000, 2 * MIB, 0, 999, 0), CUDA_ERROR_INVALID_VALUE);
    must_create(2 * MIB);
}

static void no_kind_of_host_memory_is_charged(void) {
    CUmemGenericAllocationHandle handle;
    start(2 * MIB);
    for (int type = 2; type <= 4; type++) { /* host, a NUMA node of it, the current NUMA node */
        const CUmemAllocationProp prop = {.type = 1, .location = {type, 0}};
        CHECK_EQUAL(create(&handle, 64 * MIB, &prop, 0), CUDA_SUCCESS);
        CHECK_EQUAL(release(handle), CUDA_SUCCESS);
    }
    must_create(2 * MIB);
}

static void pages_of_another_card_charge_that_card(void) {
    const CUmemAllocationProp on_other = {.type = 1, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 1}};
    const CUmemAllocationProp on_unlimited = {.type = 1, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 2}};
    CUmemGenericAllocationHandle handle, refused;
    write_quota(scratch_folder(), "other", "GPU-01020304-0506-0708-090a-0b0c0d0e0f10", 8 * MIB, 1);
    make_region(scratch_folder(), "other");
    start(2 * MIB); /* the current card is 0 */
    CHECK_EQUAL(create(&handle, 8 * MIB, &on_other, 0), CUDA_SUCCESS);
    CHECK_EQUAL(create(&refused, 2 * MIB, &on_other, 0), CUDA_ERROR_OUT_OF_MEMORY);
    must_create(2 * MIB);
    must_refuse(2 * MIB);
    CHECK_EQUAL(release(handle), CUDA_SUCCESS);
    CHECK_EQUAL(create(&handle, 8 * MIB, &on_other, 0), CUDA_SUCCESS);
    CHECK_EQUAL(create(&refused, 64 * MIB, &on_unlimited, 0), CUDA_SUCCESS); /* no share of it: not limited */
}

static void an_import_is_not_charged_and_keeps_what_it_imports_charged(void) {
    __typeof__(&cuMemExportToShareableHandle) export;
    __typeof__(&cuMemImportFromShareableHandle) import;
    CUmemGenericAllocationHandle shared, again, none = 0, foreign;
    start(4 * MIB);
    *(void **)&export = dlsym(library, "cuMemExportToShareableHandle");
    *(void **)&import = dlsym(library, "cuMemImportFromShareableHandle");
    CUmemGenericAllocationHandle handle = must_create(4 * MIB);
    CHECK_EQUAL(export(&shared, handle, 1, 0), CUDA_SUCCESS);
    CHECK_EQUAL(import(&again, &shared, 1), CUDA_SUCCESS); /* in the same process */
    CHECK_EQUAL(release(handle), CUDA_SUCCESS);
    must_refuse(2 * MIB);                                  /* the imported handle keeps the memory */
    CHECK_EQUAL(import(&foreign, &none, 1), CUDA_SUCCESS); /* of another process, which pays for it */
    CHECK_EQUAL(map(0x10000000, 2 * MIB, 0, foreign, 0), CUDA_SUCCESS);
    CHECK_EQUAL(release(foreign), CUDA_SUCCESS);
    CHECK_EQUAL(unmap(0x10000000, 2 * MIB), CUDA_SUCCESS);
    must_refuse(2 * MIB); /* and gives nothing back here */
    CHECK_EQUAL(release(again), CUDA_SUCCESS);
    must_create(4 * MIB);
}

static void an_allocation_from_a_pool_is_charged_until_it_is_freed(void) {
    __typeof__(&cuMemAllocFromPoolAsync) alloc;
    __typeof__(&cuMemFreeAsync) free_async;
    CUdeviceptr pointer, refused;
    start(8 * MIB);
    *(void **)&alloc = dlsym(library, "cuMemAllocFromPoolAsync");
    *(void **)&free_async = dlsym(library, "cuMemFreeAsync");
    CHECK_EQUAL(alloc(&pointer, 6 * MIB, NULL, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(alloc(&refused, 4 * MIB, NULL, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(free_async(pointer, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(alloc(&pointer, 8 * MIB, NULL, NULL), CUDA_SUCCESS);
}

static void what_this_driver_lacks_is_an_error_and_no_crash(void) {
    size_t bytes, total;
    CUdeviceptr pointer;
    void *function;
    CUcontext context;
    start(8 * MIB);
#define LACKS(name, ...) CHECK_EQUAL(((__typeof__(&name))dlsym(library, #name))(__VA_ARGS__), CUDA_ERROR_NOT_SUPPORTED)
    LACKS(cuMemAlloc_v2, &pointer, MIB);
    LACKS(cuMemFree_v2, 42);
    LACKS(cuMemGetInfo_v2, &bytes, &total);
    LACKS(cuDeviceTotalMem_v2, &bytes, 0);
    LACKS(cuGetProcAddress_v2, "cuInit", &function, 12000, 0, NULL);
    LACKS(cuGetProcAddress, "cuInit", &function, 12000, 0);
    LACKS(cuMemAllocManaged, &pointer, MIB, 1);
    LACKS(cuMemAllocAsync, &pointer, MIB, NULL);
    LACKS(cuMemAllocAsync_ptsz, &pointer, MIB, NULL);
    LACKS(cuMemFreeAsync_ptsz, 42, NULL);
    LACKS(cuCtxDestroy_v2, NULL);
    LACKS(cuDevicePrimaryCtxRetain, &context, 0);
    LACKS(cuDevicePrimaryCtxReset_v2, 0);
    LACKS(cuEventSynchronize, NULL);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(a_physical_allocation_is_charged_until_its_handle_is_released),
        CASE(a_mapping_keeps_the_charge_after_the_handle_is_gone),
        CASE(a_range_of_mappings_is_given_back_at_once_and_handles_are_used_again),
        CASE(a_retained_handle_keeps_the_charge),
        CASE(a_handle_that_is_retained_while_another_thread_unmaps_the_address_keeps_the_charge),
        CASE(pages_on_the_host_are_not_charged_and_bad_calls_get_the_drivers_answer),
        CASE(no_kind_of_host_memory_is_charged),
        CASE(pages_of_another_card_charge_that_card),
        CASE(an_import_is_not_charged_and_keeps_what_it_imports_charged),
        CASE(an_allocation_from_a_pool_is_charged_until_it_is_freed),
        CASE(what_this_driver_lacks_is_an_error_and_no_crash),
    };
    return RUN_CASES(cases, argc, argv);
}
