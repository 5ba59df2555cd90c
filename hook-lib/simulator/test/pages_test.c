/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual memory management: physical allocations live as long as a handle, a mapping or another process holds them. */
#include <sys/socket.h>
#include <unistd.h>

#include "cuda_pages.h"
#include "spinning.h"

static const CUmemAllocationProp on_card = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                            .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                            .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
static const CUmemAccessDesc both = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

static CUmemGenericAllocationHandle make(uint64_t size) {
    CUmemGenericAllocationHandle handle;

    CHECK_EQUAL(CU(cuMemCreate)(&handle, size, &on_card, 0), CUDA_SUCCESS);
    return handle;
}

static CUdeviceptr reserve(uint64_t size) {
    CUdeviceptr pointer;

    CHECK_EQUAL(CU(cuMemAddressReserve)(&pointer, size, 0, 0, 0), CUDA_SUCCESS);
    return pointer;
}

static uint64_t held(void) {
    return use_of(getpid()).memory;
}

static void memory_is_held_by_handles_and_mappings(void) {
    CUmemGenericAllocationHandle handle, again;
    CUdeviceptr pointer;

    install_node("t4x1");
    begin_cuda(0);
    handle = make(4 * MIB);
    CHECK_EQUAL(held(), 4 * MIB);
    pointer = reserve(8 * MIB);
    CHECK_EQUAL(CU(cuMemMap)(pointer, 4 * MIB, 0, handle, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemMap)(pointer, 4 * MIB, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuMemMap)(pointer + 4 * MIB, 2 * MIB, 2 * MIB, handle, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemRelease)(handle), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemRelease)(handle), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(held(), 4 * MIB);
    CHECK_EQUAL(CU(cuMemFree_v2)(pointer), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuMemUnmap)(pointer, 2 * MIB), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuMemUnmap)(pointer, 4 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(held(), 4 * MIB);
    CHECK_EQUAL(CU(cuMemRetainAllocationHandle)(&again, (void *)(uintptr_t)(pointer + 5 * MIB)), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemUnmap)(pointer + 4 * MIB, 2 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(held(), 4 * MIB);
    CHECK_EQUAL(CU(cuMemRelease)(again), CUDA_SUCCESS);
    CHECK_EQUAL(held(), 0);
    CHECK_EQUAL(CU(cuMemAddressFree)(pointer, 4 * MIB), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuMemAddressFree)(pointer, 8 * MIB), CUDA_SUCCESS);
}

static void memory_is_reached_through_every_mapping_that_has_access(void) {
    CUmemGenericAllocationHandle handle;
    unsigned long long flags;
    CUdeviceptr pointer;
    char byte = 5, seen = 0;

    install_node("t4x1");
    begin_cuda(0);
    handle = make(4 * MIB);
    pointer = reserve(8 * MIB);
    CHECK_EQUAL(CU(cuMemMap)(pointer, 4 * MIB, 0, handle, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemMap)(pointer + 4 * MIB, 4 * MIB, 0, handle, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemcpyHtoD_v2)(pointer, &byte, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuMemSetAccess)(pointer, 8 * MIB, &both, 1), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemGetAccess)(&flags, &both.location, pointer + 4 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CHECK_EQUAL(CU(cuMemcpyHtoD_v2)(pointer + 3 * MIB, &byte, 1), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemcpyDtoH_v2)(&seen, pointer + 7 * MIB, 1), CUDA_SUCCESS);
    CHECK_EQUAL(seen, 5);
    CHECK_EQUAL(CU(cuMemUnmap)(pointer, 8 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemAddressFree)(pointer, 8 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemRelease)(handle), CUDA_SUCCESS);
}

static void what_does_not_fit_is_refused(void) {
    CUmemAllocationProp on_host = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_HOST, 0}},
                        read;
    CUmemGenericAllocationHandle handle;
    size_t granularity;

    install_node("t4x1");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuMemGetAllocationGranularity)(&granularity, &on_card, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
                CUDA_SUCCESS);
    CHECK_EQUAL(granularity, 2 * MIB);
    CHECK_EQUAL(CU(cuMemCreate)(&handle, 3 * MIB, &on_card, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuMemCreate)(&handle, 64 * GIB, &on_card, 0), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(CU(cuMemCreate)(&handle, 64 * GIB, &on_host, 0), CUDA_SUCCESS);
    CHECK_EQUAL(held(), 0);
    CHECK_EQUAL(CU(cuMemGetAllocationPropertiesFromHandle)(&read, handle), CUDA_SUCCESS);
    CHECK_EQUAL(read.location.type, CU_MEM_LOCATION_TYPE_HOST);
    CHECK_EQUAL(CU(cuMemRelease)(handle), CUDA_SUCCESS);
}

static void send_fd(int link, int fd) {
    char word = 'f', space[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec part = {&word, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};

    CMSG_FIRSTHDR(&message)->cmsg_level = SOL_SOCKET;
    CMSG_FIRSTHDR(&message)->cmsg_type = SCM_RIGHTS;
    CMSG_FIRSTHDR(&message)->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &fd, sizeof fd);
    CHECK(sendmsg(link, &message, 0) == 1);
}

static int receive_fd(int link) {
    char word, space[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {&word, 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    int fd;

    CHECK(recvmsg(link, &message, 0) == 1 && CMSG_FIRSTHDR(&message));
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

static void export_memory(int link, long unused) {
    CUmemGenericAllocationHandle handle;
    int fd;

    (void)unused;
    begin_cuda(0);
    handle = make(GIB);
    CHECK_EQUAL(CU(cuMemExportToShareableHandle)(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                CUDA_SUCCESS);
    send_fd(link, fd);
    hear(link);
}

static void exported_memory_lives_as_long_as_somebody_holds_it(void) {
    CUmemGenericAllocationHandle handle, late;
    struct child child;
    size_t free, total;
    int fd;

    install_node("t4x1");
    child = start_child(export_memory, 0);
    fd = receive_fd(child.link);
    begin_cuda(0);
    CHECK_EQUAL(
        CU(cuMemImportFromShareableHandle)(&handle, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
        CUDA_SUCCESS);
    CHECK_EQUAL(use_of(child.pid).memory + held(), GIB);
    kill_child(&child);
    CHECK_EQUAL(held(), GIB);
    CHECK_EQUAL(nvml_used(0), GIB + 300 * MIB);
    CHECK_EQUAL(CU(cuMemGetInfo_v2)(&free, &total), CUDA_SUCCESS);
    CHECK_EQUAL(total - free, GIB + 300 * MIB);
    CHECK_EQUAL(
        CU(cuMemImportFromShareableHandle)(&late, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
        CUDA_SUCCESS);
    CHECK_EQUAL(held(), GIB);
    CHECK_EQUAL(CU(cuMemRelease)(handle), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemRelease)(late), CUDA_SUCCESS);
    CHECK_EQUAL(held(), 0);
    CHECK_EQUAL(
        CU(cuMemImportFromShareableHandle)(&late, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
        CUDA_ERROR_INVALID_VALUE);
    close(fd);
}

static void share_by_ipc(int link, long unused) {
    CUipcMemHandle handle;
    CUdeviceptr pointer;

    (void)unused;
    begin_cuda(0);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, 8 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuIpcGetMemHandle)(&handle, pointer), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuIpcOpenMemHandle_v2)(&pointer, handle, 1), CUDA_ERROR_INVALID_CONTEXT);
    CHECK(write(link, &handle, sizeof handle) == sizeof handle);
    hear(link);
}

static void memory_opened_by_ipc_is_its_owners(void) {
    CUipcMemHandle handle;
    CUdeviceptr pointer, base;
    struct child child;
    size_t size;

    install_node("t4x1");
    child = start_child(share_by_ipc, 0);
    CHECK(read(child.link, &handle, sizeof handle) == sizeof handle);
    begin_cuda(0);
    CHECK_EQUAL(CU(cuIpcOpenMemHandle_v2)(&pointer, handle, 1), CUDA_SUCCESS);
    CHECK_EQUAL(held(), 0);
    CHECK_EQUAL(CU(cuMemGetAddressRange_v2)(&base, &size, pointer + MIB), CUDA_SUCCESS);
    CHECK(base == pointer && size == 8 * MIB);
    CHECK_EQUAL(CU(cuMemFree_v2)(pointer), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuIpcCloseMemHandle)(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuIpcCloseMemHandle)(pointer), CUDA_ERROR_INVALID_VALUE);
    kill_child(&child);
}

static void external_memory_is_held_while_it_is_imported(void) {
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC description = {.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .size = GIB};
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC buffer = {.offset = 0, .size = 4 * MIB};
    CUexternalMemory memory;
    CUdeviceptr pointer;
    struct child child;

    install_node("t4x1");
    child = start_child(export_memory, 0);
    description.handle.fd = receive_fd(child.link);
    begin_cuda(0);
    CHECK_EQUAL(CU(cuImportExternalMemory)(&memory, &description), CUDA_SUCCESS);
    kill_child(&child);
    CHECK_EQUAL(held(), GIB);
    CHECK_EQUAL(CU(cuExternalMemoryGetMappedBuffer)(&pointer, memory, &buffer), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemFree_v2)(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDestroyExternalMemory)(memory), CUDA_SUCCESS);
    CHECK_EQUAL(held(), 0);
}

static void a_multicast_object_holds_what_is_bound_to_it(void) {
    CUmulticastObjectProp prop = {.numDevices = 2, .size = 8 * MIB};
    CUmemGenericAllocationHandle object, memory;
    CUdeviceptr pointer;

    install_node("h100x2");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuMulticastCreate)(&object, &prop), CUDA_SUCCESS);
    memory = make(4 * MIB);
    CHECK_EQUAL(CU(cuMulticastAddDevice)(object, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMulticastBindMem)(object, 0, memory, 0, 4 * MIB, 0), CUDA_ERROR_ILLEGAL_STATE);
    CHECK_EQUAL(CU(cuMulticastAddDevice)(object, 1), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMulticastAddDevice)(object, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuMulticastBindMem)(object, 0, memory, 0, 4 * MIB, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMulticastBindMem)(object, 2 * MIB, memory, 0, 2 * MIB, 0), CUDA_ERROR_INVALID_VALUE);
    pointer = reserve(4 * MIB);
    CHECK_EQUAL(CU(cuMemMap)(pointer, 4 * MIB, 0, memory, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMulticastBindAddr)(object, 4 * MIB, pointer + 2 * MIB, 2 * MIB, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemUnmap)(pointer, 4 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemRelease)(memory), CUDA_SUCCESS);
    CHECK_EQUAL(held(), 4 * MIB);
    CHECK_EQUAL(CU(cuMulticastUnbind)(object, 0, 4 * MIB, 2 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMulticastUnbind)(object, 0, 4 * MIB, 2 * MIB), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(held(), 4 * MIB);
    CHECK_EQUAL(CU(cuMemRelease)(object), CUDA_SUCCESS);
    CHECK_EQUAL(held(), 0);
    CHECK_EQUAL(CU(cuMemAddressFree)(pointer, 4 * MIB), CUDA_SUCCESS);
}

RUN(TEST(memory_is_held_by_handles_and_mappings), TEST(memory_is_reached_through_every_mapping_that_has_access),
    TEST(what_does_not_fit_is_refused), TEST(exported_memory_lives_as_long_as_somebody_holds_it),
    TEST(memory_opened_by_ipc_is_its_owners), TEST(external_memory_is_held_while_it_is_imported),
    TEST(a_multicast_object_holds_what_is_bound_to_it))
