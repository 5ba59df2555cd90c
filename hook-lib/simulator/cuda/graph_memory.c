/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs that allocate. A node's address is fixed when it is added, and an allocation that comes right after a free in
 * the same graph gets the freed addresses again if they suffice. A launch takes what the graph needs from the device's
 * graph memory, which grows by whole granules and is kept until cuDeviceGraphMemTrim. Graphs share it. Nothing is in
 * use after a launch, or what it has mapped stays so (graph-memory-stays-used). Memory that a graph does not free
 * itself is not simulated.
 */
#include "graph.h"

static struct {
    uint64_t reserved, high;
} graph_memory[SIM_MAX_CARDS];
static CUdeviceptr next_address = UINT64_C(0x600000000000);

static uint64_t granules(uint64_t bytes) {
    return (bytes + GRANULARITY - 1) / GRANULARITY * GRANULARITY;
}

/* The addresses of an earlier node that one of the dependencies freed. */
static CUdeviceptr freed_before(CUgraph graph, const CUgraphNode *needs, size_t count, size_t bytes) {
    for (size_t d = 0; d < count; d++)
        for (size_t i = 0; needs[d]->work.type == CU_GRAPH_NODE_TYPE_MEM_FREE && i < graph->count; i++) {
            const struct work *other = &graph->nodes[i]->work;

            if (other->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && other->alloc.dptr == needs[d]->work.freed &&
                granules(other->alloc.bytesize) >= bytes)
                return other->alloc.dptr;
        }
    return 0;
}

CUresult graph_add_allocation(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs, size_t count,
                              CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    struct device *device;
    struct work work = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};

    if (params->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE || !params->bytesize ||
        driver_device(params->poolProps.location.id, &device) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    if (graph->body_of)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (graph->bytes && graph->ordinal != params->poolProps.location.id)
        return CUDA_ERROR_NOT_SUPPORTED;
    params->dptr = freed_before(graph, needs, count, params->bytesize);
    if (!params->dptr) {
        pthread_mutex_lock(&driver_lock);
        params->dptr = next_address;
        next_address += granules(params->bytesize);
        pthread_mutex_unlock(&driver_lock);
        graph->bytes += granules(params->bytesize);
        graph->ordinal = params->poolProps.location.id;
    }
    work.alloc = *params;
    return graph_add(graph, &work, needs, count, node);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                size_t dependencyCount, CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    FAULT_POINT();
    if (!node || !graph || !params || (dependencyCount && !dependencies))
        return CUDA_ERROR_INVALID_VALUE;
    return graph_add_allocation(node, graph, dependencies, dependencyCount, params);
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                               size_t dependencyCount, CUdeviceptr pointer) {
    FAULT_POINT();
    struct work work = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .freed = pointer};

    return pointer ? graph_add(graph, &work, dependencies, dependencyCount, node) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    FAULT_POINT();
    if (!node || !params || node->work.type != CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        return CUDA_ERROR_INVALID_VALUE;
    *params = node->work.alloc;
    return CUDA_SUCCESS;
}

CUresult graph_memory_reserve(CUgraphExec exec) {
    int ordinal = exec->ordinal;
    const struct device *device = &driver_devices[ordinal];
    CUresult result = CUDA_SUCCESS;
    uint64_t reserved, bytes = exec->bytes;

    pthread_mutex_lock(&driver_lock);
    reserved = graph_memory[ordinal].reserved;
    if (bytes > reserved) {
        if (sim_state_reserve(&driver_state, device->card->unit, SIM_MEMORY, bytes - reserved, device_capacity(device)))
            graph_memory[ordinal].reserved = bytes;
        else
            result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    exec->mapped |= result == CUDA_SUCCESS;
    if (graph_memory[ordinal].reserved > graph_memory[ordinal].high)
        graph_memory[ordinal].high = graph_memory[ordinal].reserved;
    pthread_mutex_unlock(&driver_lock);
    return result;
}

void graph_memory_reset(int ordinal) {
    if (graph_memory[ordinal].reserved)
        sim_state_release(&driver_state, driver_devices[ordinal].card->unit, SIM_MEMORY,
                          graph_memory[ordinal].reserved);
    graph_memory[ordinal].reserved = 0;
    execs_unmap(ordinal);
}

CUresult cuDeviceGraphMemTrim(CUdevice ordinal) {
    FAULT_POINT();
    struct device *device;
    CUresult result = driver_device(ordinal, &device);

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    graph_memory_reset(ordinal);
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

/* Physical memory that a graph has mapped (CUDA's guide), or that is associated with graphs that run (cuda.h). */
static uint64_t used_now(int ordinal) {
    return sim_contrary(&driver_node, SIM_GRAPH_MEMORY_STAYS_USED) ? execs_mapped(ordinal) : 0;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice ordinal, int attribute, void *value) {
    FAULT_POINT();
    struct device *device;
    CUresult result = driver_device(ordinal, &device);

    if (result != CUDA_SUCCESS)
        return result;
    if (!value || attribute < 0 || attribute > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    *(cuuint64_t *)value = attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT ? graph_memory[ordinal].reserved
                           : attribute == CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT   ? used_now(ordinal)
                                                                               : graph_memory[ordinal].high;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}
