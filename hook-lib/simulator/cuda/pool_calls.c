/* SPDX-License-Identifier: Apache-2.0 */
/* The life of stream-ordered pools, their attributes, and which one a device uses. */
#include "capture.h"
#include "pool.h"

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *props) {
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
    *pool = pool_make(on_host ? 0 : props->location.id, false);
    if (*pool) {
        (*pool)->on_host = on_host;
        (*pool)->max_size = props->maxSize;
    }
    pthread_mutex_unlock(&driver_lock);
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* Begins what needs a pool that is alive: then the driver's lock is held. */
static CUresult lock_alive(CUmemoryPool pool) {
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    if (pool_alive(pool))
        return CUDA_SUCCESS;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
    FAULT_POINT();
    CUresult result = lock_alive(pool);

    if (result != CUDA_SUCCESS)
        return result;
    if (pool->is_default) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        pool->alive = false;
        if (driver_devices[pool->ordinal].current_pool == pool)
            driver_devices[pool->ordinal].current_pool = pool_default_of(&driver_devices[pool->ordinal]);
        pool_shrink_to(pool, 0);
    }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep) {
    FAULT_POINT();
    CUresult result = lock_alive(pool);

    if (result != CUDA_SUCCESS)
        return result;
    pool_shrink_to(pool, pool_rounded(minBytesToKeep < pool->reserved ? minBytesToKeep : pool->reserved, GRANULARITY));
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    FAULT_POINT();
    CUresult result = lock_alive(pool);

    if (result != CUDA_SUCCESS)
        return result;
    if (!value)
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

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    FAULT_POINT();
    CUresult result = lock_alive(pool);

    if (result != CUDA_SUCCESS)
        return result;
    if (!value)
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

static CUresult pool_of_device(CUmemoryPool *pool, CUdevice ordinal, bool current) {
    struct device *device;
    CUresult result = driver_device(ordinal, &device);

    if (result != CUDA_SUCCESS)
        return result;
    if (!pool)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    *pool = pool_default_of(device);
    if (*pool && current)
        *pool = device->current_pool;
    pthread_mutex_unlock(&driver_lock);
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device) {
    FAULT_POINT();
    return pool_of_device(pool, device, false);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
    FAULT_POINT();
    return pool_of_device(pool, device, true);
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool pool) {
    FAULT_POINT();
    CUmemoryPool former;
    CUresult result = pool_of_device(&former, ordinal, true);

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    if (pool_alive(pool) && pool->ordinal == ordinal)
        driver_devices[ordinal].current_pool = pool;
    else
        result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_unlock(&driver_lock);
    return result;
}
