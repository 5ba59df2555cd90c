/*
 * Graphs that allocate. A node's address is fixed when it is added, and an allocation that comes right after a free in the
 * same graph gets the freed addresses again if they suffice. A launch takes what the graph needs from the device's graph memory, which
 * grows by whole granules and is kept until cuDeviceGraphMemTrim. Streams are idle: nothing is in use after a launch. Memory that a
 * graph does not free itself is not simulated.
 */
#include <stdlib.h>

#include "cuda_graphs.h"
#include "driver.h"

#define NODES 256

struct CUgraphNode_st {
    int type;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    CUdeviceptr freed;
};

struct CUgraph_st {
    struct CUgraphNode_st *nodes[NODES];
    size_t count;
    uint64_t bytes; /* of distinct granules, on `ordinal` */
    int ordinal;
    struct CUgraph_st *next;
};

struct CUgraphExec_st {
    uint64_t bytes;
    int ordinal;
    struct CUgraphExec_st *next;
};

/* Those that live; under driver_lock. */
static struct CUgraph_st *graphs;
static struct CUgraphExec_st *execs;

static struct {
    uint64_t reserved, high;
} graph_memory[SIM_MAX_CARDS];
static CUdeviceptr next_address = UINT64_C(0x600000000000);

static uint64_t granules(uint64_t bytes)
{
    return (bytes + GRANULARITY - 1) / GRANULARITY * GRANULARITY;
}

CUresult cuGraphCreate(CUgraph *graph, unsigned int flags)
{
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (!graph || flags)
        return CUDA_ERROR_INVALID_VALUE;
    *graph = calloc(1, sizeof **graph);
    if (!*graph)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&driver_lock);
    (*graph)->next = graphs;
    graphs = *graph;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph)
{
    struct CUgraph_st **link = &graphs;

    pthread_mutex_lock(&driver_lock);
    while (*link && *link != graph)
        link = &(*link)->next;
    if (graph && *link)
        *link = graph->next;
    else
        graph = NULL;
    pthread_mutex_unlock(&driver_lock);
    if (!graph)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < graph->count; i++)
        free(graph->nodes[i]);
    free(graph);
    return CUDA_SUCCESS;
}

static CUresult add(CUgraph graph, const struct CUgraphNode_st *node, CUgraphNode *added)
{
    if (graph->count == NODES || !(*added = malloc(sizeof **added)))
        return CUDA_ERROR_OUT_OF_MEMORY;
    **added = *node;
    graph->nodes[graph->count++] = *added;
    return CUDA_SUCCESS;
}

/* The addresses of an earlier node that one of the dependencies freed. */
static CUdeviceptr freed_before(CUgraph graph, const CUgraphNode *dependencies, size_t count, size_t bytes)
{
    for (size_t d = 0; d < count; d++)
        for (size_t i = 0; dependencies[d]->freed && i < graph->count; i++)
            if (graph->nodes[i]->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
                graph->nodes[i]->alloc.dptr == dependencies[d]->freed && granules(graph->nodes[i]->alloc.bytesize) >= bytes)
                return dependencies[d]->freed;
    return 0;
}

CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                size_t dependencyCount, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    struct device *device;

    if (!node || !graph || !params || !params->bytesize || (dependencyCount && !dependencies) ||
        params->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
        driver_device(params->poolProps.location.id, &device) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_VALUE;
    if (graph->bytes && graph->ordinal != params->poolProps.location.id)
        return CUDA_ERROR_NOT_SUPPORTED;
    params->dptr = freed_before(graph, dependencies, dependencyCount, params->bytesize);
    if (!params->dptr) {
        pthread_mutex_lock(&driver_lock);
        params->dptr = next_address;
        next_address += granules(params->bytesize);
        pthread_mutex_unlock(&driver_lock);
        graph->bytes += granules(params->bytesize);
        graph->ordinal = params->poolProps.location.id;
    }
    return add(graph, &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .alloc = *params}, node);
}

CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                               size_t dependencyCount, CUdeviceptr pointer)
{
    (void)dependencies;
    (void)dependencyCount;
    if (!node || !graph || !pointer)
        return CUDA_ERROR_INVALID_VALUE;
    return add(graph, &(struct CUgraphNode_st){.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .freed = pointer}, node);
}

CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t dependencyCount,
                        CUgraphNodeParams *params)
{
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return cuGraphAddMemAllocNode(node, graph, dependencies, dependencyCount, &params->alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return cuGraphAddMemFreeNode(node, graph, dependencies, dependencyCount, params->free.dptr);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return node && graph ? add(graph, &(struct CUgraphNode_st){.type = params->type}, node) : CUDA_ERROR_INVALID_VALUE;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
    if (!graph || !count)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; nodes && i < *count; i++)
        nodes[i] = i < graph->count ? graph->nodes[i] : NULL;
    if (!nodes || *count > graph->count)
        *count = graph->count;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, int *type)
{
    if (!node || !type)
        return CUDA_ERROR_INVALID_VALUE;
    *type = node->type;
    return CUDA_SUCCESS;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    if (!node || !params || node->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        return CUDA_ERROR_INVALID_VALUE;
    *params = node->alloc;
    return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    struct CUctx_st *context;
    CUresult result = driver_current(&context);

    (void)stream;
    if (result != CUDA_SUCCESS)
        return result;
    if (!exec)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    uint64_t reserved = graph_memory[exec->ordinal].reserved;
    const struct device *device = &driver_devices[exec->ordinal];

    if (exec->bytes > reserved) {
        if (sim_state_reserve(&driver_state, device->card->index, SIM_MEMORY, exec->bytes - reserved, device_capacity(device)))
            graph_memory[exec->ordinal].reserved = exec->bytes;
        else
            result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (graph_memory[exec->ordinal].reserved > graph_memory[exec->ordinal].high)
        graph_memory[exec->ordinal].high = graph_memory[exec->ordinal].reserved;
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream)
{
    return cuGraphUpload(exec, stream);
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    return cuGraphUpload(exec, stream);
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream)
{
    return cuGraphUpload(exec, stream);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (!exec || !graph)
        return CUDA_ERROR_INVALID_VALUE;
    *exec = malloc(sizeof **exec);
    if (!*exec)
        return CUDA_ERROR_OUT_OF_MEMORY;
    pthread_mutex_lock(&driver_lock);
    **exec = (struct CUgraphExec_st){graph->bytes, graph->ordinal, execs};
    execs = *exec;
    pthread_mutex_unlock(&driver_lock);
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
        ready = cuGraphUpload(*exec, NULL);
    if (ready != CUDA_SUCCESS)
        cuGraphExecDestroy(*exec);
    return ready;
}

CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *errorNode, char *log, size_t logSize)
{
    (void)errorNode;
    if (log && logSize)
        *log = 0;
    return cuGraphInstantiateWithFlags(exec, graph, 0);
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *errorNode, char *log, size_t logSize)
{
    return cuGraphInstantiate_v2(exec, graph, errorNode, log, logSize);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    params->result_out = 0;
    return cuGraphInstantiateWithFlags(exec, graph, params->flags);
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    return cuGraphInstantiateWithParams(exec, graph, params);
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    struct CUgraphExec_st **link = &execs;

    pthread_mutex_lock(&driver_lock);
    while (*link && *link != exec)
        link = &(*link)->next;
    if (exec && *link)
        *link = exec->next;
    else
        exec = NULL;
    pthread_mutex_unlock(&driver_lock);
    if (!exec)
        return CUDA_ERROR_INVALID_VALUE;
    free(exec);
    return CUDA_SUCCESS;
}

void graph_memory_reset(int ordinal)
{
    if (graph_memory[ordinal].reserved)
        sim_state_release(&driver_state, driver_devices[ordinal].card->index, SIM_MEMORY, graph_memory[ordinal].reserved);
    graph_memory[ordinal].reserved = 0;
}

CUresult cuDeviceGraphMemTrim(CUdevice ordinal)
{
    struct device *device;
    CUresult result = driver_device(ordinal, &device);

    if (result != CUDA_SUCCESS)
        return result;
    pthread_mutex_lock(&driver_lock);
    graph_memory_reset(ordinal);
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice ordinal, int attribute, void *value)
{
    struct device *device;
    CUresult result = driver_device(ordinal, &device);

    if (result != CUDA_SUCCESS)
        return result;
    if (!value || attribute < 0 || attribute > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    *(cuuint64_t *)value = attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT ? graph_memory[ordinal].reserved
                           : attribute == CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT   ? 0
                                                                               : graph_memory[ordinal].high;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}
