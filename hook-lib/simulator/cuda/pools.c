/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream-ordered pools. A pool takes memory of the card in steps of 32 MiB (a larger request in whole granules) and
 * keeps it: freed memory serves the same stream at once, other streams and the card only after the host has
 * synchronised, and then the pool keeps as much as its release threshold. Streams are always idle and any free memory
 * fits any request: order and fragmentation are not simulated.
 */
#include "pool.h"

#include <stdlib.h>

#include "capture.h"

#define STEP (32 * MIB)
#define UNIT 512

static struct CUmemPoolHandle_st *pools;

static const struct device *device_of(const struct CUmemPoolHandle_st *pool) {
    return &driver_devices[pool->ordinal];
}

static uint64_t unseen(const struct CUmemPoolHandle_st *pool) {
    uint64_t sum = 0;

    for (int i = 0; i < STREAMS; i++)
        sum += pool->unseen[i].bytes;
    return sum;
}

static bool grow(struct CUmemPoolHandle_st *pool, uint64_t bytes) {
    if (pool->max_size && pool->reserved + bytes > pool->max_size)
        return false;
    if (!pool->on_host && !sim_state_reserve(&driver_state, device_of(pool)->card->unit, SIM_MEMORY, bytes,
                                             device_capacity(device_of(pool))))
        return false;
    pool->reserved += bytes;
    if (pool->reserved > pool->reserved_high)
        pool->reserved_high = pool->reserved;
    return true;
}

void pool_shrink_to(struct CUmemPoolHandle_st *pool, uint64_t bytes) {
    uint64_t held = pool_rounded(pool->used + unseen(pool), GRANULARITY);

    if (held > 0 && held < STEP)
        held = STEP; /* a step is given back as a whole */
    if (bytes < held)
        bytes = held;
    if (bytes >= pool->reserved)
        return;
    if (!pool->on_host)
        sim_state_release(&driver_state, device_of(pool)->card->unit, SIM_MEMORY, pool->reserved - bytes);
    pool->reserved = bytes;
}

static void see_frees(struct CUmemPoolHandle_st *pool) {
    for (int i = 0; i < STREAMS; i++)
        pool->unseen[i].bytes = 0;
}

static void observe(struct CUmemPoolHandle_st *pool) {
    see_frees(pool);
    pool_shrink_to(pool, pool->alive ? pool_rounded(pool->threshold < pool->reserved ? pool->threshold : pool->reserved,
                                                    GRANULARITY)
                                     : 0);
}

void pool_observe(void) {
    for (struct CUmemPoolHandle_st *pool = pools; pool; pool = pool->next)
        if (pool->alive && sim_contrary(&driver_node, SIM_POOLS_KEEP)) /* "will try to release", says cuda.h */
            see_frees(pool);
        else
            observe(pool);
}

void pool_take_back(struct CUmemPoolHandle_st *pool, uint64_t bytes) {
    pool->used -= pool_rounded(bytes, UNIT);
    observe(pool);
}

void pool_reset(int ordinal) {
    for (struct CUmemPoolHandle_st *pool = pools; pool; pool = pool->next)
        if (pool->ordinal == ordinal) {
            while (pool->blocks)
                block_free(pool->blocks->base);
            pool->alive = pool->is_default;
            pool->threshold = 0;
            observe(pool);
        }
    driver_devices[ordinal].current_pool = driver_devices[ordinal].default_pool;
}

struct CUmemPoolHandle_st *pool_make(int ordinal, bool is_default) {
    struct CUmemPoolHandle_st *pool = calloc(1, sizeof *pool);

    if (!pool)
        return NULL;
    pool->ordinal = ordinal;
    pool->alive = true;
    pool->is_default = is_default;
    pool->next = pools;
    pools = pool;
    return pool;
}

struct CUmemPoolHandle_st *pool_default_of(struct device *device) {
    if (!device->default_pool)
        device->default_pool = device->current_pool = pool_make((int)(device - driver_devices), true);
    return device->default_pool;
}

bool pool_alive(const struct CUmemPoolHandle_st *handle) {
    for (const struct CUmemPoolHandle_st *pool = pools; pool; pool = pool->next)
        if (pool == handle)
            return pool->alive;
    return false;
}

static CUresult allocate(struct CUmemPoolHandle_st *pool, CUdeviceptr *pointer, uint64_t bytes, CUstream stream) {
    uint64_t size = pool_rounded(bytes, UNIT), idle, own = 0;
    CUresult result;
    int place = 0;

    if (!pool_alive(pool))
        return CUDA_ERROR_INVALID_VALUE;
    if (bytes > 1ull << 46)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (sim_card_lost(&driver_node, device_of(pool)->card))
        return CUDA_ERROR_UNKNOWN;
    while (place < STREAMS - 1 && pool->unseen[place].stream != stream)
        place++;
    if (place < STREAMS - 1)
        own = pool->unseen[place].bytes;
    idle = pool->reserved - pool->used - unseen(pool);
    if (idle + own < size) {
        uint64_t more = pool_rounded(size - idle - own, GRANULARITY);

        if (!grow(pool, more > STEP ? more : STEP) && !grow(pool, more))
            return CUDA_ERROR_OUT_OF_MEMORY;
        idle = pool->reserved - pool->used - unseen(pool);
    }
    result = block_place(pool, bytes, &pool->blocks, pointer);
    if (result != CUDA_SUCCESS)
        return result;
    if (idle < size)
        pool->unseen[place].bytes -= size - idle;
    pool->used += size;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
    return CUDA_SUCCESS;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_any_stream(&stream, &context);
    bool taken = false;

    if (result != CUDA_SUCCESS)
        return result;
    if (!pointer || bytes == 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (captures_ongoing) {
        pthread_mutex_lock(&driver_lock);
        result = !pool_alive(pool) ? CUDA_ERROR_INVALID_VALUE
                                   : capture_allocation(context, stream, pool->ordinal, bytes, pointer, &taken);
        pthread_mutex_unlock(&driver_lock);
    }
    if (result != CUDA_SUCCESS || taken)
        return result;
    pthread_mutex_lock(&driver_lock);
    result = allocate(pool, pointer, bytes, stream);
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream) {
    FAULT_POINT();
    return cuMemAllocFromPoolAsync(pointer, bytes, pool, PTSZ(stream));
}

CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream) {
    FAULT_POINT();
    CUmemoryPool pool;
    CUcontext context;
    CUresult result = stream_context(stream, &context);

    if (result == CUDA_SUCCESS)
        result = cuDeviceGetMemPool(&pool, context->ordinal);
    return result == CUDA_SUCCESS ? cuMemAllocFromPoolAsync(pointer, bytes, pool, stream) : result;
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *pointer, size_t bytes, CUstream stream) {
    FAULT_POINT();
    return cuMemAllocAsync(pointer, bytes, PTSZ(stream));
}

/* Memory that is not a pool's is freed like one's own, as the driver does. */
CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
    FAULT_POINT();
    struct work work = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .freed = pointer};
    struct CUctx_st *context;
    CUresult result = driver_any_stream(&stream, &context);
    struct CUmemPoolHandle_st *pool = NULL;
    struct block *block;
    int place = 0;
    bool taken;

    if (result != CUDA_SUCCESS)
        return result;
    if (!pointer)
        return CUDA_ERROR_INVALID_VALUE;
    result = captured_work(context, stream, &work, &taken);
    if (result != CUDA_SUCCESS || taken)
        return result;
    pthread_mutex_lock(&driver_lock);
    block = page_block(pointer);
    if (block && block->base == pointer && block->pool) {
        uint64_t size = pool_rounded(block->requested, UNIT);

        pool = block->pool;
        block->pool = NULL;
        result = block_free(pointer);
        pool->used -= size;
        while (place < STREAMS - 1 && pool->unseen[place].stream != stream && pool->unseen[place].bytes)
            place++;
        pool->unseen[place].stream = stream;
        pool->unseen[place].bytes += size;
    } else {
        result = block_free(pointer);
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuMemFreeAsync_ptsz(CUdeviceptr pointer, CUstream stream) {
    FAULT_POINT();
    return cuMemFreeAsync(pointer, PTSZ(stream));
}
