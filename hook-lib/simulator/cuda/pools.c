/*
 * Stream-ordered pools. A pool takes memory of the card in steps of 32 MiB (a larger request in whole granules) and keeps it:
 * freed memory serves the same stream at once, other streams and the card only after the host has synchronised, and then the
 * pool keeps as much as its release threshold. Streams are always idle and any free memory fits any request: order and
 * fragmentation are not simulated.
 */
#include <stdlib.h>

#include "capture.h"

#define STEP (32 * MIB)
#define UNIT 512
#define STREAMS 8

struct CUmemPoolHandle_st {
    int ordinal;
    bool alive, is_default, on_host;
    uint64_t reserved, reserved_high, used, used_high, threshold, max_size;
    struct {
        CUstream stream;
        uint64_t bytes;
    } unseen[STREAMS]; /* freed and not yet seen by the host; the last stands for all streams that found no place */
    struct block *blocks;
    struct CUmemPoolHandle_st *next; /* never freed, so that a stale handle is told */
};

static struct CUmemPoolHandle_st *pools;

static uint64_t rounded(uint64_t bytes, uint64_t step)
{
    return (bytes + step - 1) / step * step;
}

static const struct device *device_of(const struct CUmemPoolHandle_st *pool)
{
    return &driver_devices[pool->ordinal];
}

static uint64_t unseen(const struct CUmemPoolHandle_st *pool)
{
    uint64_t sum = 0;

    for (int i = 0; i < STREAMS; i++)
        sum += pool->unseen[i].bytes;
    return sum;
}

static bool grow(struct CUmemPoolHandle_st *pool, uint64_t bytes)
{
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

static void shrink_to(struct CUmemPoolHandle_st *pool, uint64_t bytes)
{
    uint64_t held = rounded(pool->used + unseen(pool), GRANULARITY);

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

static void observe(struct CUmemPoolHandle_st *pool)
{
    for (int i = 0; i < STREAMS; i++)
        pool->unseen[i].bytes = 0;
    shrink_to(pool, pool->alive ? rounded(pool->threshold < pool->reserved ? pool->threshold : pool->reserved, GRANULARITY)
                                : 0);
}

void pool_observe(void)
{
    for (struct CUmemPoolHandle_st *pool = pools; pool; pool = pool->next)
        observe(pool);
}

void pool_take_back(struct CUmemPoolHandle_st *pool, uint64_t bytes)
{
    pool->used -= rounded(bytes, UNIT);
    observe(pool);
}

void pool_reset(int ordinal)
{
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

static struct CUmemPoolHandle_st *make(int ordinal, bool is_default)
{
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

static struct CUmemPoolHandle_st *default_of(struct device *device)
{
    if (!device->default_pool)
        device->default_pool = device->current_pool = make((int)(device - driver_devices), true);
    return device->default_pool;
}

static bool alive(const struct CUmemPoolHandle_st *handle)
{
    for (const struct CUmemPoolHandle_st *pool = pools; pool; pool = pool->next)
        if (pool == handle)
            return pool->alive;
    return false;
}

static CUresult allocate(struct CUmemPoolHandle_st *pool, CUdeviceptr *pointer, uint64_t bytes, CUstream stream)
{
    uint64_t size = rounded(bytes, UNIT), idle, own = 0;
    CUresult result;
    int place = 0;

    if (!alive(pool))
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
        uint64_t more = rounded(size - idle - own, GRANULARITY);

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

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream)
{
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
        result = !alive(pool) ? CUDA_ERROR_INVALID_VALUE
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

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    FAULT_POINT();
    return cuMemAllocFromPoolAsync(pointer, bytes, pool, PTSZ(stream));
}

CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream)
{
    FAULT_POINT();
    CUmemoryPool pool;
    CUcontext context;
    CUresult result = cuStreamGetCtx(stream, &context);

    if (result == CUDA_SUCCESS)
        result = cuDeviceGetMemPool(&pool, context->ordinal);
    return result == CUDA_SUCCESS ? cuMemAllocFromPoolAsync(pointer, bytes, pool, stream) : result;
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *pointer, size_t bytes, CUstream stream)
{
    FAULT_POINT();
    return cuMemAllocAsync(pointer, bytes, PTSZ(stream));
}

/* Memory that is not a pool's is freed like one's own, as the driver does. */
CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream)
{
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
        uint64_t size = rounded(block->requested, UNIT);

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

CUresult cuMemFreeAsync_ptsz(CUdeviceptr pointer, CUstream stream)
{
    FAULT_POINT();
    return cuMemFreeAsync(pointer, PTSZ(stream));
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props)
{
    FAULT_POINT();
    struct device *device;
    CUresult result = driver_ready();
    bool on_host = props && props->location.type == CU_MEM_LOCATION_TYPE_HOST;

    if (result != CUDA_SUCCESS)
        return result;
    if (!pool || !props || props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        (!on_host && props->location.type != CU_MEM_LOCATION_TYPE_DEVICE))
        return CUDA_ERROR_INVALID_VALUE;
    if (!on_host && (result = driver_device(props->location.id, &device)) != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    *pool = make(on_host ? 0 : props->location.id, false);
    if (*pool) {
        (*pool)->on_host = on_host;
        (*pool)->max_size = props->maxSize;
    }
    pthread_mutex_unlock(&driver_lock);
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    FAULT_POINT();
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    if (!alive(pool) || pool->is_default) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        pool->alive = false;
        if (driver_devices[pool->ordinal].current_pool == pool)
            driver_devices[pool->ordinal].current_pool = default_of(&driver_devices[pool->ordinal]);
        shrink_to(pool, 0);
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep)
{
    FAULT_POINT();
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    if (alive(pool))
        shrink_to(pool, rounded(minBytesToKeep < pool->reserved ? minBytesToKeep : pool->reserved, GRANULARITY));
    else
        result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    FAULT_POINT();
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    if (!value || !alive(pool))
        result = CUDA_ERROR_INVALID_VALUE;
    else if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
        pool->threshold = *(cuuint64_t *)value;
    else if (attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH && *(cuuint64_t *)value == 0)
        pool->reserved_high = pool->reserved;
    else if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH && *(cuuint64_t *)value == 0)
        pool->used_high = pool->used;
    else if (attribute < CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES ||
             attribute > CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
        result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    FAULT_POINT();
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    if (!value || !alive(pool))
        result = CUDA_ERROR_INVALID_VALUE;
    else if (attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
             attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
        *(int *)value = 1;
    else if (attribute >= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD && attribute <= CU_MEMPOOL_ATTR_USED_MEM_HIGH)
        *(cuuint64_t *)value = (const uint64_t[]){pool->threshold, pool->reserved, pool->reserved_high, pool->used,
                                                  pool->used_high}[attribute - CU_MEMPOOL_ATTR_RELEASE_THRESHOLD];
    else
        result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&driver_lock);
    return result;
}

static CUresult pool_of_device(CUmemoryPool *pool, CUdevice ordinal, bool current)
{
    struct device *device;
    CUresult result = driver_device(ordinal, &device);

    if (result != CUDA_SUCCESS)
        return result;
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    *pool = default_of(device);
    if (*pool && current)
        *pool = device->current_pool;
    pthread_mutex_unlock(&driver_lock);
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    FAULT_POINT();
    return pool_of_device(pool, device, false);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    FAULT_POINT();
    return pool_of_device(pool, device, true);
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool pool)
{
    FAULT_POINT();
    CUmemoryPool former;
    CUresult result = pool_of_device(&former, ordinal, true);

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    if (alive(pool) && pool->ordinal == ordinal)
        driver_devices[ordinal].current_pool = pool;
    else
        result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&driver_lock);
    return result;
}
