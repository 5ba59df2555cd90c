/* SPDX-License-Identifier: Apache-2.0 */
/* What else keeps physical memory: arrays that it is mapped into, multicast objects; and places new in CUDA 13. */
#include <dlfcn.h>

#include "cases.h"
#include "check.h"
#include "cuda_events.h"
#include "cuda_graphs.h"
#include "cuda_pages.h"
#include "no_memory.h"
#include "scratch.h"

#define MIB (UINT64_C(1) << 20)

static void *library;

/* The shadow's function of that name, typed. */
#define CUDA(name) ((__typeof__(&name))function(#name))

static void *function(const char *name) {
    void *found = dlsym(library, name);
    CHECK(found);
    return found;
}

static const CUmemAllocationProp on_card = {.type = 1, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
static CUarray const array = (CUarray)(uintptr_t)0x5000;

static void start(uint64_t memory) {
    const char *box = scratch_folder();
    make_folders(text("%s/lib/partita", box));
    copy_file(shadow_cuda(), text("%s/lib/libcuda.so.1", box));
    copy_file(BOUND_DRIVER, text("%s/lib/partita/libcuda-real.so.1", box));
    write_quota(box, "share", "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", memory, 1);
    make_region(box, "share");
    CHECK((library = dlopen(text("%s/lib/libcuda.so.1", box), RTLD_NOW)) != NULL);
}

static size_t used(void) {
    return ((size_t (*)(void))function("pages_driver_used"))();
}

static void run_stream(void) {
    ((void (*)(void))function("bound_driver_run"))();
}

static CUmemGenericAllocationHandle must_create(uint64_t size) {
    CUmemGenericAllocationHandle handle;
    CHECK_EQUAL(CUDA(cuMemCreate)(&handle, size, &on_card, 0), CUDA_SUCCESS);
    return handle;
}

static void must_refuse(uint64_t size) {
    CUmemGenericAllocationHandle handle;
    CHECK_EQUAL(CUDA(cuMemCreate)(&handle, size, &on_card, 0), CUDA_ERROR_OUT_OF_MEMORY);
}

static CUarrayMapInfo tiles(int operation, unsigned int from, unsigned int width, CUmemGenericAllocationHandle handle) {
    CUarrayMapInfo info = {
        .resourceType = CU_RESOURCE_TYPE_ARRAY, .resource.array = array, .memOperationType = operation};
    info.subresource.sparseLevel.offsetX = from;
    info.subresource.sparseLevel.extentWidth = width;
    info.subresource.sparseLevel.extentHeight = info.subresource.sparseLevel.extentDepth = 1;
    info.memHandle.memHandle = handle;
    return info;
}

static void must_map(int operation, unsigned int from, unsigned int width, CUmemGenericAllocationHandle handle) {
    CUarrayMapInfo info = tiles(operation, from, width, handle);
    CHECK_EQUAL(CUDA(cuMemMapArrayAsync)(&info, 1, NULL), CUDA_SUCCESS);
}

static void a_sparse_array_keeps_the_charge_until_the_stream_has_unmapped_it(void) {
    start(8 * MIB);
    CUmemGenericAllocationHandle handle = must_create(8 * MIB);
    must_map(CU_MEM_OPERATION_TYPE_MAP, 0, 64, handle);
    CHECK_EQUAL(CUDA(cuMemRelease)(handle), CUDA_SUCCESS);
    must_refuse(2 * MIB);
    must_map(CU_MEM_OPERATION_TYPE_UNMAP, 0, 64, 0);
    must_refuse(2 * MIB); /* not yet */
    CHECK_EQUAL(used(), 8 * MIB);
    run_stream();
    CHECK_EQUAL(CUDA(cuMemRelease)(must_create(8 * MIB)), CUDA_SUCCESS); /* asked before it would be refused */
    CHECK_EQUAL(used(), 0);
}

static void tiles_are_unmapped_together_and_exchanged_one_by_one(void) {
    start(8 * MIB);
    CUarrayMapInfo list[100];
    CUmemGenericAllocationHandle first = must_create(2 * MIB), second = must_create(2 * MIB),
                                 third = must_create(2 * MIB);
    for (unsigned int i = 0; i < 100; i++)
        list[i] = tiles(i < 2 ? CU_MEM_OPERATION_TYPE_MAP : CU_MEM_OPERATION_TYPE_UNMAP, i, 1, i ? second : first);
    CHECK_EQUAL(CUDA(cuMemMapArrayAsync_ptsz)(list, 100, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(first), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(second), CUDA_SUCCESS);
    must_refuse(4 * MIB);
    must_map(CU_MEM_OPERATION_TYPE_MAP, 0, 1, third); /* where the first was */
    CHECK_EQUAL(CUDA(cuMemRelease)(third), CUDA_SUCCESS);
    must_refuse(4 * MIB);
    run_stream();
    CHECK_EQUAL(CUDA(cuMemRelease)(must_create(4 * MIB)), CUDA_SUCCESS); /* the first is gone */
    must_refuse(6 * MIB);
    must_map(CU_MEM_OPERATION_TYPE_UNMAP, 0, 100, 0);
    run_stream();
    CHECK_EQUAL(CUDA(cuCtxSynchronize_v2)(NULL), CUDA_SUCCESS);
    CHECK_EQUAL(((int (*)(void))function("bound_driver_captures_ended"))(), 0);
    must_create(8 * MIB);
    CHECK_EQUAL(used(), 8 * MIB);
}

static void what_was_mapped_in_one_piece_may_be_unmapped_in_several(void) {
    start(8 * MIB);
    CUmemGenericAllocationHandle handle = must_create(8 * MIB);
    must_map(CU_MEM_OPERATION_TYPE_MAP, 0, 64, handle);
    CHECK_EQUAL(CUDA(cuMemRelease)(handle), CUDA_SUCCESS);
    must_map(CU_MEM_OPERATION_TYPE_UNMAP, 16, 16, 0);
    run_stream();
    must_refuse(2 * MIB);
    must_map(CU_MEM_OPERATION_TYPE_UNMAP, 0, 16, 0);
    run_stream();
    must_refuse(2 * MIB);
    must_map(CU_MEM_OPERATION_TYPE_UNMAP, 24, 40, 0);
    run_stream();
    CHECK_EQUAL(used(), 0);
    must_create(8 * MIB);
}

static void what_takes_a_part_of_anothers_place_keeps_the_charge_of_both(void) {
    start(8 * MIB);
    CUmemGenericAllocationHandle first = must_create(4 * MIB), second = must_create(4 * MIB);
    must_map(CU_MEM_OPERATION_TYPE_MAP, 0, 64, first);
    must_map(CU_MEM_OPERATION_TYPE_MAP, 16, 16, second);
    CHECK_EQUAL(CUDA(cuMemRelease)(first), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(second), CUDA_SUCCESS);
    run_stream();
    must_refuse(2 * MIB);
    must_map(CU_MEM_OPERATION_TYPE_UNMAP, 0, 16, 0);
    must_map(CU_MEM_OPERATION_TYPE_UNMAP, 32, 32, 0);
    run_stream();
    CHECK_EQUAL(used(), 4 * MIB);
    must_create(4 * MIB);
    must_refuse(2 * MIB);
}

/* More at once than are watched: what comes then is waited for. */
static void however_much_a_stream_is_to_unmap_all_of_it_is_given_back(void) {
    enum { MANY = 300 };
    start(MANY * 2 * MIB);
    for (unsigned int i = 0; i < MANY; i++) {
        CUmemGenericAllocationHandle handle = must_create(2 * MIB);
        must_map(CU_MEM_OPERATION_TYPE_MAP, i, 1, handle);
        CHECK_EQUAL(CUDA(cuMemRelease)(handle), CUDA_SUCCESS);
    }
    must_refuse(2 * MIB);
    for (unsigned int i = 0; i < MANY; i++)
        must_map(CU_MEM_OPERATION_TYPE_UNMAP, i, 1, 0);
    run_stream();
    CHECK_EQUAL(used(), 0);
    must_create(MANY * 2 * MIB);
}

static void an_array_that_is_destroyed_lets_go_of_what_was_mapped_into_it(void) {
    start(8 * MIB);
    CUmemGenericAllocationHandle handle = must_create(8 * MIB);
    must_map(CU_MEM_OPERATION_TYPE_MAP, 0, 64, handle);
    CHECK_EQUAL(CUDA(cuMemRelease)(handle), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuArrayDestroy)(array), CUDA_SUCCESS);
    CHECK_EQUAL(used(), 0);
    must_create(8 * MIB);
}

/* The driver gives the array's handle out again. */
static void map_into_the_next_array(void) {
    CUmemGenericAllocationHandle handle = must_create(4 * MIB);
    must_map(CU_MEM_OPERATION_TYPE_MAP, 0, 64, handle);
    CHECK_EQUAL(CUDA(cuMemRelease)(handle), CUDA_SUCCESS);
}

static void what_is_mapped_into_an_array_with_the_handle_of_one_that_is_being_destroyed_stays_charged(void) {
    start(8 * MIB);
    map_into_the_next_array();
    *(void (**)(void))function("bound_driver_meanwhile") = map_into_the_next_array;
    CHECK_EQUAL(CUDA(cuArrayDestroy)(array), CUDA_SUCCESS);
    run_stream();
    CHECK_EQUAL(used(), 4 * MIB);
    must_refuse(6 * MIB);
    CHECK_EQUAL(CUDA(cuArrayDestroy)(array), CUDA_SUCCESS);
    must_create(8 * MIB);
}

static void an_array_that_could_not_be_destroyed_keeps_what_is_mapped_into_it(void) {
    start(8 * MIB);
    CUmemGenericAllocationHandle handle = must_create(4 * MIB);
    CUarrayMapInfo info = tiles(CU_MEM_OPERATION_TYPE_MAP, 0, 64, handle);
    info.resource.array = NULL; /* which this driver does not destroy */
    CHECK_EQUAL(CUDA(cuMemMapArrayAsync)(&info, 1, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(handle), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuArrayDestroy)(NULL), CUDA_ERROR_INVALID_HANDLE);
    CHECK_EQUAL(used(), 4 * MIB);
    must_refuse(6 * MIB);
    info.memOperationType = CU_MEM_OPERATION_TYPE_UNMAP;
    CHECK_EQUAL(CUDA(cuMemMapArrayAsync)(&info, 1, NULL), CUDA_SUCCESS);
    run_stream();
    must_create(8 * MIB);
}

static void a_mapping_that_fails_keeps_nothing(void) {
    start(8 * MIB);
    CUmemGenericAllocationHandle handle = must_create(8 * MIB);
    CUarrayMapInfo list[2] = {tiles(CU_MEM_OPERATION_TYPE_MAP, 0, 1, 4711),
                              tiles(CU_MEM_OPERATION_TYPE_MAP, 1, 1, handle)};
    CHECK_EQUAL(CUDA(cuMemMapArrayAsync)(list, 2, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CUDA(cuMemRelease)(handle), CUDA_SUCCESS);
    CHECK_EQUAL(used(), 0);
    must_create(8 * MIB);
}

static CUmemGenericAllocationHandle multicast(void) {
    const CUmulticastObjectProp prop = {.numDevices = 2, .size = 64 * MIB};
    CUmemGenericAllocationHandle handle;
    CHECK_EQUAL(CUDA(cuMulticastCreate)(&handle, &prop), CUDA_SUCCESS);
    return handle;
}

static void what_is_bound_to_a_multicast_object_stays_charged_until_it_is_unbound(void) {
    start(8 * MIB);
    CUmemGenericAllocationHandle object = multicast(), by_handle = must_create(2 * MIB),
                                 by_address = must_create(2 * MIB);
    CHECK_EQUAL(CUDA(cuMemMap)(0x10000000, 2 * MIB, 0, by_address, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMulticastBindMem)(object, 0, by_handle, 0, 2 * MIB, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMulticastBindAddr)(object, 2 * MIB, 0x10000000, 2 * MIB, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMulticastBindMem)(object, 4 * MIB, 4711, 0, 2 * MIB, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CUDA(cuMemRelease)(by_handle), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(by_address), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemUnmap)(0x10000000, 2 * MIB), CUDA_SUCCESS);
    must_refuse(6 * MIB);
    CHECK_EQUAL(CUDA(cuMulticastUnbind)(object, 1, 0, 2 * MIB), CUDA_ERROR_INVALID_VALUE);
    must_refuse(6 * MIB);
    CHECK_EQUAL(CUDA(cuMulticastUnbind)(object, 0, 0, 2 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(must_create(6 * MIB)), CUDA_SUCCESS);
    must_refuse(8 * MIB);
    CHECK_EQUAL(CUDA(cuMulticastUnbind)(object, 0, 2 * MIB, 2 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(used(), 0);
    must_create(8 * MIB);
}

static void devices_bind_to_a_multicast_object_each_for_itself(void) {
    start(8 * MIB);
    CUmemGenericAllocationHandle object = multicast(), first = must_create(4 * MIB), second = must_create(4 * MIB);
    CHECK_EQUAL(CUDA(cuMemMap)(0x10000000, 4 * MIB, 0, second, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMulticastBindMem_v2)(object, 0, 0, first, 0, 4 * MIB, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMulticastBindAddr_v2)(object, 1, 0, 0x10000000, 4 * MIB, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemUnmap)(0x10000000, 4 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(first), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(second), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMulticastUnbind)(object, 0, 0, 4 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(must_create(4 * MIB)), CUDA_SUCCESS);
    must_refuse(6 * MIB);
    CHECK_EQUAL(CUDA(cuMulticastUnbind)(object, 1, 0, 4 * MIB), CUDA_SUCCESS);
    must_create(8 * MIB);
}

static void what_is_bound_to_a_logical_endpoint_stays_charged_until_it_is_unbound_or_the_endpoint_ends(void) {
    start(8 * MIB);
    CUmemGenericAllocationHandle by_handle = must_create(2 * MIB), by_address = must_create(2 * MIB),
                                 other = must_create(4 * MIB);
    CHECK_EQUAL(CUDA(cuMemMap)(0x10000000, 2 * MIB, 0, by_address, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuLogicalEndpointBindMem)(1, 0, 0, by_handle, 0, 2 * MIB, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuLogicalEndpointBindAddr)(1, 0, 2 * MIB, (void *)(uintptr_t)0x10000000, 2 * MIB, 0),
                CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuLogicalEndpointBindMem)(2, 0, 0, other, 0, 4 * MIB, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuLogicalEndpointBindMem)(2, 0, 0, 4711, 0, 2 * MIB, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CUDA(cuMemRelease)(by_handle), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(by_address), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(other), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemUnmap)(0x10000000, 2 * MIB), CUDA_SUCCESS);
    must_refuse(2 * MIB);
    CHECK_EQUAL(CUDA(cuLogicalEndpointUnbind)(1, 1, 0, 2 * MIB), CUDA_ERROR_INVALID_VALUE);
    must_refuse(2 * MIB);
    CHECK_EQUAL(CUDA(cuLogicalEndpointUnbind)(1, 0, 0, 2 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(must_create(2 * MIB)), CUDA_SUCCESS);
    must_refuse(4 * MIB);
    CHECK_EQUAL(CUDA(cuLogicalEndpointDestroy)(0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CUDA(cuLogicalEndpointDestroy)(1), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(must_create(4 * MIB)), CUDA_SUCCESS);
    must_refuse(6 * MIB);
    CHECK_EQUAL(CUDA(cuLogicalEndpointDestroy)(2), CUDA_SUCCESS);
    CHECK_EQUAL(used(), 0);
    must_create(8 * MIB);
}

static void a_part_of_a_card_is_that_card(void) {
    const CUmemAllocationProp in_domain = {.type = 1,
                                           .location = {CU_MEM_LOCATION_TYPE_DEVICE_LOCALITY_DOMAIN, 1 << 8}};
    const CUmemAllocationProp in_future = {.type = 1, .location = {99, 0}};
    CUmemGenericAllocationHandle handle, refused;
    start(8 * MIB);
    CHECK_EQUAL(CUDA(cuMemCreate)(&handle, 4 * MIB, &in_domain, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemCreate)(&handle, 4 * MIB, &in_future, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemCreate)(&refused, 2 * MIB, &in_domain, 0), CUDA_ERROR_OUT_OF_MEMORY);
    must_refuse(2 * MIB);
}

static CUdeviceptr rows_of(uint64_t bytes) {
    CUdeviceptr pointer;
    size_t pitch;
    CHECK_EQUAL(CUDA(cuMemAllocPitch_v2)(&pointer, &pitch, 512, bytes / 512, 4), CUDA_SUCCESS);
    return pointer;
}

static void what_a_stream_is_to_free_stays_charged_until_it_has(void) {
    start(8 * MIB);
    CUdeviceptr pointer = rows_of(6 * MIB);
    CHECK_EQUAL(CUDA(cuMemFreeAsync)(pointer, NULL), CUDA_SUCCESS);
    must_refuse(4 * MIB);
    run_stream();
    CHECK_EQUAL(CUDA(cuMemRelease)(must_create(8 * MIB)), CUDA_SUCCESS);
    pointer = rows_of(6 * MIB);
    CHECK_EQUAL(CUDA(cuMemFreeAsync)(pointer, NULL), CUDA_SUCCESS);
    run_stream();
    CHECK_EQUAL(CUDA(cuCtxSynchronize_v2)(NULL), CUDA_SUCCESS);
    must_create(8 * MIB);
}

/* More at once than are watched: what comes then is waited for. */
static void however_much_streams_are_to_free_all_of_it_is_given_back(void) {
    enum { MANY = 700 };
    static CUdeviceptr pointers[MANY];
    start(MANY * MIB * 2);
    for (int i = 0; i < MANY; i++)
        pointers[i] = rows_of(2 * MIB);
    must_refuse(2 * MIB);
    for (int i = 0; i < MANY; i++)
        CHECK_EQUAL(CUDA(cuMemFreeAsync)(pointers[i], NULL), CUDA_SUCCESS);
    run_stream();
    must_create(MANY * MIB * 2);
}

static void the_pool_of_a_place_on_the_host_is_not_charged(void) {
    CUmemLocation host = {CU_MEM_LOCATION_TYPE_HOST, 0}, card = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemoryPool pool;
    CUdeviceptr pointer;
    start(8 * MIB);
    CHECK_EQUAL(CUDA(cuMemGetDefaultMemPool)(&pool, &host, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemAllocFromPoolAsync)(&pointer, 64 * MIB, pool, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemFreeAsync)(pointer, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemGetMemPool)(&pool, &card, CU_MEM_ALLOCATION_TYPE_PINNED), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemAllocFromPoolAsync)(&pointer, 8 * MIB, pool, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemAllocFromPoolAsync)(&pointer, 2 * MIB, pool, NULL), CUDA_ERROR_OUT_OF_MEMORY);
}

/* One of those that the driver has. */
static void graph_of_6_mib(uintptr_t number) {
    CUgraphExec exec;
    start(8 * MIB);
    CHECK_EQUAL(CUDA(cuGraphInstantiateWithFlags)(&exec, (CUgraph)number, 0), CUDA_SUCCESS);
    CUmemGenericAllocationHandle handle = must_create(4 * MIB);
    CHECK_EQUAL(CUDA(cuGraphLaunch)(exec, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(CUDA(cuMemRelease)(handle), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuGraphLaunch)(exec, NULL), CUDA_SUCCESS);
    must_refuse(4 * MIB);
    must_create(2 * MIB);
}

static void what_a_graph_within_a_graph_allocates_is_charged_with_it(void) {
    graph_of_6_mib(1);
}

static void what_a_conditional_nodes_body_allocates_is_charged_with_its_graph(void) {
    graph_of_6_mib(4);
}

static void what_a_graph_a_thousand_deep_allocates_is_charged_with_the_outermost(void) {
    graph_of_6_mib(1000);
}

static void a_context_ends_when_nobody_is_attached_to_it(void) {
    CUdeviceptr pointer;
    CUcontext context;
    start(8 * MIB);
    CHECK_EQUAL(CUDA(cuMemAllocManaged)(&pointer, 8 * MIB, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuCtxAttach)(&context, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuCtxDetach)(context), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemAllocManaged)(&pointer, 2 * MIB, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(CUDA(cuCtxDetach)(context), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemAllocManaged)(&pointer, 8 * MIB, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
}

static size_t most_used(void) {
    return ((size_t (*)(void))function("bound_driver_most_used"))();
}

static void rows_are_charged_as_far_apart_as_the_driver_may_lay_them_before_it_does(void) {
    CUdeviceptr pointer;
    size_t pitch;
    start(8 * MIB);
    CHECK_EQUAL(CUDA(cuMemAllocPitch_v2)(&pointer, &pitch, 1, 8 * MIB / 512 + 1, 4), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(CUDA(cuMemAllocPitch_v2)(&pointer, &pitch, SIZE_MAX, 2, 4), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(most_used(), 0);
    CHECK_EQUAL(CUDA(cuMemAllocPitch_v2)(&pointer, &pitch, 1, 8 * MIB / 512, 4), CUDA_SUCCESS);
    must_refuse(2 * MIB);
    CHECK_EQUAL(CUDA(cuMemFree_v2)(pointer), CUDA_SUCCESS);
    ((void (*)(size_t))function("bound_driver_rows"))(128); /* settled with what the driver took */
    CHECK_EQUAL(CUDA(cuMemAllocPitch_v2)(&pointer, &pitch, 1, 8 * MIB / 512, 4), CUDA_SUCCESS);
    must_create(6 * MIB);
    must_refuse(2 * MIB);
}

static void a_driver_that_lays_rows_further_apart_is_believed_from_then_on(void) {
    CUdeviceptr pointer;
    size_t pitch;
    start(8 * MIB);
    ((void (*)(size_t))function("bound_driver_rows"))(4096);
    CHECK_EQUAL(CUDA(cuMemAllocPitch_v2)(&pointer, &pitch, 1, 512, 4), CUDA_SUCCESS); /* 2 MiB */
    CHECK_EQUAL(CUDA(cuMemFree_v2)(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemAllocPitch_v2)(&pointer, &pitch, 1, 4096, 4), CUDA_ERROR_OUT_OF_MEMORY); /* 16 MiB */
    CHECK_EQUAL(most_used(), 2 * MIB);
    must_create(8 * MIB);
}

static void rows_further_apart_than_any_seen_do_not_exceed_the_quota_even_the_first_time(void) {
    CUdeviceptr pointer;
    size_t pitch;
    start(8 * MIB);
    ((void (*)(size_t))function("bound_driver_rows"))(4096);
    /* 16 MiB, and 2 by rows of 512 */
    CHECK_EQUAL(CUDA(cuMemAllocPitch_v2)(&pointer, &pitch, 1, 4096, 4), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(most_used() <= 8 * MIB);
    CHECK_EQUAL(CUDA(cuMemAllocPitch_v2)(&pointer, &pitch, 1, 2048, 4), CUDA_SUCCESS);
    CHECK_EQUAL(pitch, 4096);
    must_refuse(2 * MIB);
}

static CUstream const elsewhere = (CUstream)(uintptr_t)0x9000; /* a stream of the context that is not current */

static void must_unmap_elsewhere(void) {
    CUmemGenericAllocationHandle handle = must_create(8 * MIB);
    CUarrayMapInfo mapped = tiles(CU_MEM_OPERATION_TYPE_MAP, 0, 64, handle),
                   unmapped = tiles(CU_MEM_OPERATION_TYPE_UNMAP, 0, 64, 0);
    CHECK_EQUAL(CUDA(cuMemMapArrayAsync)(&mapped, 1, elsewhere), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(handle), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemMapArrayAsync)(&unmapped, 1, elsewhere), CUDA_SUCCESS);
    must_refuse(2 * MIB);
}

static void what_a_stream_of_another_context_has_unmapped_is_given_back(void) {
    CUcontext context;
    start(8 * MIB);
    must_unmap_elsewhere();
    run_stream();
    must_create(8 * MIB);
    CHECK_EQUAL(CUDA(cuCtxGetCurrent)(&context), CUDA_SUCCESS);
    CHECK(context != ((CUcontext (*)(void))function("bound_driver_other"))());
}

static void what_a_stream_was_to_unmap_is_given_back_with_its_context(void) {
    start(8 * MIB);
    CUcontext other = ((CUcontext (*)(void))function("bound_driver_other"))();
    must_unmap_elsewhere();
    CHECK_EQUAL(CUDA(cuCtxDestroy_v2)(other), CUDA_SUCCESS);
    must_create(8 * MIB);
    must_refuse(2 * MIB);
    CHECK_EQUAL(((int (*)(void))function("bound_driver_dead_asked"))(), 0);
}

static void what_was_mapped_into_an_array_is_given_back_with_the_arrays_context(void) {
    start(8 * MIB);
    CUcontext other = ((CUcontext (*)(void))function("bound_driver_other"))();
    CUmemGenericAllocationHandle handle = must_create(6 * MIB), here = must_create(2 * MIB);
    CUarrayMapInfo mapped = tiles(CU_MEM_OPERATION_TYPE_MAP, 0, 64, handle);
    CHECK_EQUAL(CUDA(cuMemMapArrayAsync)(&mapped, 1, elsewhere), CUDA_SUCCESS);
    mapped = tiles(CU_MEM_OPERATION_TYPE_MAP, 0, 64, here);
    mapped.resource.array = (CUarray)(uintptr_t)0x6000;
    CHECK_EQUAL(CUDA(cuMemMapArrayAsync)(&mapped, 1, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(handle), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(here), CUDA_SUCCESS);
    must_refuse(2 * MIB);
    CHECK_EQUAL(CUDA(cuCtxDestroy_v2)(other), CUDA_SUCCESS);
    CHECK_EQUAL(used(), 2 * MIB);
    must_create(6 * MIB);
    must_refuse(2 * MIB);
}

static void a_context_that_stays_keeps_what_its_streams_have_to_unmap(void) {
    CUcontext context;
    start(8 * MIB);
    CHECK_EQUAL(CUDA(cuCtxAttach)(&context, 0), CUDA_SUCCESS);
    CUmemGenericAllocationHandle handle = must_create(8 * MIB);
    must_map(CU_MEM_OPERATION_TYPE_MAP, 0, 64, handle);
    CHECK_EQUAL(CUDA(cuMemRelease)(handle), CUDA_SUCCESS);
    must_map(CU_MEM_OPERATION_TYPE_UNMAP, 0, 64, 0);
    CHECK_EQUAL(CUDA(cuCtxDetach)(context), CUDA_SUCCESS);
    must_refuse(2 * MIB);
    run_stream();
    must_create(8 * MIB);
}

static void what_the_books_have_no_room_for_is_not_bound_or_mapped_and_keeps_nothing(void) {
    start(8 * MIB);
    CUmemGenericAllocationHandle handle = must_create(8 * MIB), object = multicast();
    CUarrayMapInfo map = tiles(CU_MEM_OPERATION_TYPE_MAP, 0, 64, handle),
                   unmap = tiles(CU_MEM_OPERATION_TYPE_UNMAP, 0, 64, 0);
    no_memory = true;
    CHECK_EQUAL(CUDA(cuMulticastBindMem)(object, 0, handle, 0, 2 * MIB, 0), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(CUDA(cuMemMapArrayAsync)(&map, 1, NULL), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(CUDA(cuMemMapArrayAsync)(&unmap, 1, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemRelease)(handle), CUDA_SUCCESS);
    CHECK_EQUAL(used(), 0);
    must_create(8 * MIB);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(a_sparse_array_keeps_the_charge_until_the_stream_has_unmapped_it),
        CASE(tiles_are_unmapped_together_and_exchanged_one_by_one),
        CASE(what_was_mapped_in_one_piece_may_be_unmapped_in_several),
        CASE(what_takes_a_part_of_anothers_place_keeps_the_charge_of_both),
        CASE(however_much_a_stream_is_to_unmap_all_of_it_is_given_back),
        CASE(an_array_that_is_destroyed_lets_go_of_what_was_mapped_into_it),
        CASE(what_is_mapped_into_an_array_with_the_handle_of_one_that_is_being_destroyed_stays_charged),
        CASE(an_array_that_could_not_be_destroyed_keeps_what_is_mapped_into_it),
        CASE(a_mapping_that_fails_keeps_nothing),
        CASE(what_is_bound_to_a_multicast_object_stays_charged_until_it_is_unbound),
        CASE(devices_bind_to_a_multicast_object_each_for_itself),
        CASE(what_the_books_have_no_room_for_is_not_bound_or_mapped_and_keeps_nothing),
        CASE(what_is_bound_to_a_logical_endpoint_stays_charged_until_it_is_unbound_or_the_endpoint_ends),
        CASE(a_part_of_a_card_is_that_card),
        CASE(what_a_stream_is_to_free_stays_charged_until_it_has),
        CASE(however_much_streams_are_to_free_all_of_it_is_given_back),
        CASE(the_pool_of_a_place_on_the_host_is_not_charged),
        CASE(what_a_graph_within_a_graph_allocates_is_charged_with_it),
        CASE(what_a_conditional_nodes_body_allocates_is_charged_with_its_graph),
        CASE(what_a_graph_a_thousand_deep_allocates_is_charged_with_the_outermost),
        CASE(a_context_ends_when_nobody_is_attached_to_it),
        CASE(rows_are_charged_as_far_apart_as_the_driver_may_lay_them_before_it_does),
        CASE(what_a_stream_of_another_context_has_unmapped_is_given_back),
        CASE(what_a_stream_was_to_unmap_is_given_back_with_its_context),
        CASE(what_was_mapped_into_an_array_is_given_back_with_the_arrays_context),
        CASE(a_context_that_stays_keeps_what_its_streams_have_to_unmap),
        CASE(a_driver_that_lays_rows_further_apart_is_believed_from_then_on),
        CASE(rows_further_apart_than_any_seen_do_not_exceed_the_quota_even_the_first_time),
    };
    return RUN_CASES(cases, argc, argv);
}
