/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of other processes. An exported allocation is a file (memfd) that names it, or a fabric handle that does; who
 * imports it holds it, and it is the card's until the last process that holds it lets go or dies. IPC handles and
 * external memory that is no export of the simulator's only give addresses: they hold and charge nothing. Bytes are not
 * shared between processes.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "physical.h"

#define EXPORT_MAGIC "PSIMMEM"
#define IPC_MAGIC "PSIMIPC"
#define FD_CLOEXEC_FLAG 1u

struct export {
    char magic[8];
    uint64_t shared, size;
    unsigned char card[16]; /* its UUID */
};

struct ipc {
    char magic[8];
    uint64_t size;
    unsigned char card[16];
    uint32_t pid, pad;
    uint64_t base;
};

static int ordinal_of(const unsigned char card[16]) {
    for (int i = 0; i < driver_device_count; i++)
        if (memcmp(driver_devices[i].card->uuid_bytes, card, 16) == 0)
            return i;
    return -1;
}

static bool is_shareable(int type) {
    return type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || type == CU_MEM_HANDLE_TYPE_FABRIC;
}

CUresult cuMemExportToShareableHandle(void *shareable, CUmemGenericAllocationHandle handle, int type,
                                      unsigned long long flags) {
    FAULT_POINT();
    CUresult result = driver_ready();
    struct export export = {.magic = EXPORT_MAGIC};
    struct physical *physical;
    int fd = -1;

    if (result != CUDA_SUCCESS)
        return result;
    if (!shareable || flags || !is_shareable(type))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    physical = physical_of(handle);
    if (!physical || physical->ordinal < 0 || !(physical->prop.requestedHandleTypes & type)) {
        result = physical && physical->ordinal < 0 ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    } else {
        if (!physical->shared)
            physical->shared =
                sim_shared_make(&driver_state, driver_devices[physical->ordinal].card->unit, physical->size);
        export.shared = physical->shared;
        export.size = physical->size;
        memcpy(export.card, driver_devices[physical->ordinal].card->uuid_bytes, 16);
        if (!export.shared)
            result = CUDA_ERROR_OPERATING_SYSTEM;
        else if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
            fd = (int)syscall(SYS_memfd_create, "simulated-memory", FD_CLOEXEC_FLAG);
        if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR &&
            (fd < 0 || write(fd, &export, sizeof export) != (ssize_t)sizeof export))
            result = CUDA_ERROR_OPERATING_SYSTEM;
    }
    pthread_mutex_unlock(&driver_lock);
    if (result == CUDA_SUCCESS && type == CU_MEM_HANDLE_TYPE_FABRIC) {
        memset(shareable, 0, sizeof(CUmemFabricHandle));
        memcpy(shareable, &export, sizeof export);
    } else if (result == CUDA_SUCCESS)
        *(int *)shareable = fd;
    else if (fd >= 0)
        close(fd);
    return result;
}

/* Holds what the file or the fabric handle names. Under driver_lock. */
static CUresult import(const void *shareable, int type, struct physical **imported) {
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .requestedHandleTypes = type};
    struct export export;
    int ordinal;

    if (type == CU_MEM_HANDLE_TYPE_FABRIC)
        memcpy(&export, shareable, sizeof export);
    else if (pread((int)(intptr_t)shareable, &export, sizeof export, 0) != (ssize_t)sizeof export)
        return CUDA_ERROR_INVALID_VALUE;
    if (memcmp(export.magic, EXPORT_MAGIC, 8) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    ordinal = ordinal_of(export.card);
    if (ordinal < 0)
        return CUDA_ERROR_INVALID_DEVICE;
    prop.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, ordinal};
    *imported = physical_make(export.size, ordinal, &prop);
    if (!*imported)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (sim_shared_hold(&driver_state, export.shared)) {
        (*imported)->shared = export.shared;
        return CUDA_SUCCESS;
    }
    (*imported)->ordinal = -1; /* nobody holds it any more */
    (*imported)->handles = 0;
    physical_settle(*imported);
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *shareable, int type) {
    FAULT_POINT();
    CUresult result = driver_ready();
    struct physical *imported = NULL;

    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || !is_shareable(type) || (type == CU_MEM_HANDLE_TYPE_FABRIC && !shareable))
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    result = import(shareable, type, &imported);
    pthread_mutex_unlock(&driver_lock);
    if (result == CUDA_SUCCESS)
        *handle = physical_handle(imported);
    return result;
}

/* Addresses that stand for memory of somebody else. Under driver_lock. */
static CUresult open_addresses(uint64_t size, CUdeviceptr *pointer) {
    uint64_t rounded = (size + GRANULARITY - 1) / GRANULARITY * GRANULARITY;
    struct block *block = calloc(1, sizeof *block);
    void *base = block ? address_reserve(rounded, GRANULARITY) : NULL;

    if (!base || !page_assign((CUdeviceptr)(uintptr_t)base, rounded, block)) {
        free(block);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    block->base = (CUdeviceptr)(uintptr_t)base;
    block->size = rounded;
    block->requested = size;
    block->foreign = true;
    *pointer = block->base;
    return CUDA_SUCCESS;
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr pointer) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_home(&context);
    struct ipc ipc = {.magic = IPC_MAGIC, .pid = (uint32_t)getpid()};
    struct block *block;
    CUdeviceptr base;

    if (result != CUDA_SUCCESS)
        return result;
    if (!handle)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    block = page_block(pointer);
    if (!block || block->physical || block->pool || block->managed || block->foreign ||
        block_range(pointer, &base, &ipc.size) != CUDA_SUCCESS)
        result = CUDA_ERROR_INVALID_VALUE;
    ipc.base = pointer;
    memcpy(ipc.card, driver_devices[context->ordinal].card->uuid_bytes, 16);
    pthread_mutex_unlock(&driver_lock);
    if (result == CUDA_SUCCESS) {
        memset(handle, 0, sizeof *handle);
        memcpy(handle->reserved, &ipc, sizeof ipc);
    }
    return result;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pointer, CUipcMemHandle handle, unsigned int flags) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_home(&context);
    struct ipc ipc;

    if (result != CUDA_SUCCESS)
        return result;
    memcpy(&ipc, handle.reserved, sizeof ipc);
    if (!pointer || flags > 1 || memcmp(ipc.magic, IPC_MAGIC, 8) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (ipc.pid == (uint32_t)getpid())
        return CUDA_ERROR_INVALID_CONTEXT; /* as documented: not in the process that made it */
    if (ordinal_of(ipc.card) < 0)
        return CUDA_ERROR_INVALID_DEVICE;
    pthread_mutex_lock(&driver_lock);
    result = open_addresses(ipc.size, pointer);
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *pointer, CUipcMemHandle handle, unsigned int flags) {
    FAULT_POINT();
    return cuIpcOpenMemHandle_v2(pointer, handle, flags);
}

CUresult foreign_close(CUdeviceptr pointer) {
    struct block *block = page_block(pointer);

    if (!block || !block->foreign || block->base != pointer)
        return CUDA_ERROR_INVALID_VALUE;
    page_assign(block->base, block->size, NULL);
    address_free(block->base, block->size);
    if (block->content)
        address_free((CUdeviceptr)(uintptr_t)block->content, block->size < CONTENT_MAX ? block->size : CONTENT_MAX);
    free(block);
    return CUDA_SUCCESS;
}

CUresult cuIpcCloseMemHandle(CUdeviceptr pointer) {
    FAULT_POINT();
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    result =
        page_block(pointer) && page_block(pointer)->foreign_buffer ? CUDA_ERROR_INVALID_VALUE : foreign_close(pointer);
    pthread_mutex_unlock(&driver_lock);
    return result;
}

struct CUextMemory_st {
    unsigned long long size;
    struct physical *physical; /* NULL: not the simulator's */
};

CUresult cuImportExternalMemory(CUexternalMemory *memory, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *handle) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_home(&context);
    struct physical *physical = NULL;

    if (result != CUDA_SUCCESS)
        return result;
    if (!memory || !handle || handle->size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (handle->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD)
        return CUDA_ERROR_NOT_SUPPORTED;
    *memory = calloc(1, sizeof **memory);
    if (!*memory)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&driver_lock);
    if (import((const void *)(intptr_t)handle->handle.fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, &physical) ==
        CUDA_SUCCESS)
        (*memory)->physical = physical;
    pthread_mutex_unlock(&driver_lock);
    (*memory)->size = handle->size;
    close(handle->handle.fd);
    return CUDA_SUCCESS;
}

CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *pointer, CUexternalMemory memory,
                                         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *buffer) {
    FAULT_POINT();
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    if (!pointer || !memory || !buffer || buffer->size == 0 || buffer->size > memory->size ||
        buffer->offset > memory->size - buffer->size || buffer->flags)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    result = open_addresses(buffer->size, pointer);
    if (result == CUDA_SUCCESS)
        page_block(*pointer)->foreign_buffer = true;
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuDestroyExternalMemory(CUexternalMemory memory) {
    FAULT_POINT();
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    if (!memory)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    if (memory->physical) {
        memory->physical->handles--;
        physical_settle(memory->physical);
    }
    pthread_mutex_unlock(&driver_lock);
    free(memory);
    return CUDA_SUCCESS;
}
