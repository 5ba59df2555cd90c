/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver says that pools and graph memory have reserved, and what they give up when they are asked. */
#include "cuda/cuda_driver.h"
#include "cuda/pool_books.h"
#include "cuda/pools.h"
#include "cuda/sparse.h"
#include "cuda/timing_calls.h"
#include "cuda_graphs.h"
#include "cuda_pools.h"
#include "share/cards.h"

/* Above all addresses: the graph memory of a device. */
#define GRAPH_MEMORY (UINT64_C(1) << 63)

uint64_t pools_graph_memory_of(CUdevice device) {
    return GRAPH_MEMORY | (uint32_t)device;
}

static CUresult reserved_by_driver(uint64_t handle, cuuint64_t *bytes) {
    if (handle & GRAPH_MEMORY)
        return DRIVER(cuDeviceGetGraphMemAttribute)((CUdevice)(handle & INT32_MAX),
                                                    CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, bytes);
    return DRIVER(cuMemPoolGetAttribute)((CUmemoryPool)(uintptr_t)handle, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, bytes);
}

static void trim_by_driver(uint64_t handle) {
    if (!(handle & GRAPH_MEMORY) && DRIVER(cuMemPoolTrimTo))
        DRIVER(cuMemPoolTrimTo)((CUmemoryPool)(uintptr_t)handle, 0);
    if (handle & GRAPH_MEMORY && DRIVER(cuDeviceGraphMemTrim))
        DRIVER(cuDeviceGraphMemTrim)((CUdevice)(handle & INT32_MAX));
}

/* A pool that cannot be read keeps its charge, but for that of a call that failed. */
bool pools_end_call(pool_id id, uint64_t handle, uint64_t begun, CUresult result) {
    cuuint64_t bytes = 0;
    uint64_t reading = pool_ask(id);
    if (reserved_by_driver(handle, &bytes) != CUDA_SUCCESS)
        reading = 0;
    if (reading == 0 && result != CUDA_SUCCESS) {
        pool_undo(id, begun);
        return true;
    }
    return pool_told(id, reading, bytes / PARTITA_UNIT + (bytes % PARTITA_UNIT != 0), begun);
}

bool pools_read_one(pool_id id, uint64_t handle, uint64_t begun) {
    return pools_end_call(id, handle, begun, CUDA_SUCCESS);
}

static void trim_one(pool_id id, uint64_t handle) {
    int mode = timing_calls_begin(); /* a capture of the program's must not be hurt */
    trim_by_driver(handle);
    timing_calls_end(mode);
    pools_read_one(id, handle, 0);
}

bool pools_known(CUmemoryPool pool) {
    cuuint64_t bytes;
    return reserved_by_driver((uint64_t)(uintptr_t)pool, &bytes) == CUDA_SUCCESS;
}

bool pools_readable(void) {
    return DRIVER(cuMemPoolGetAttribute) && DRIVER(cuDeviceGetMemPool);
}

void pools_read(void) {
    uint64_t handle;
    uint32_t at = 0;
    for (pool_id id; (id = pool_visit(&at, -1, false, &handle)) != 0; pool_leave(id))
        if (!pools_read_one(id, handle, 0))
            trim_one(id, handle); /* what was refused and freed: the driver only "tries" to release it (cuda.h) */
}

bool pools_trim(int card) {
    if (pool_books_interrupted())
        return false;
    uint64_t handle;
    uint32_t at = 0;
    bool settled = sparse_waiting() && sparse_settle(), trimmed = false;
    for (pool_id id; (id = pool_visit(&at, card, true, &handle)) != 0; pool_leave(id)) {
        trim_one(id, handle);
        trimmed = true;
    }
    return trimmed || settled;
}
