/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of every kind that is simulated. */
#include "graph.h"

CUresult kernel_work(const CUDA_KERNEL_NODE_PARAMS_v2 *params, struct work *work) {
    CUfunction function = params->func ? params->func : (CUfunction)params->kern;
    uint64_t threads = (uint64_t)params->blockDimX * params->blockDimY * params->blockDimZ;
    struct CUctx_st *context;

    if (!function || (params->kernelParams && params->extra) || !params->gridDimX || !params->gridDimY ||
        !params->gridDimZ || !threads || threads > 1024 || params->gridDimY > 65535 || params->gridDimZ > 65535)
        return CUDA_ERROR_INVALID_VALUE;
    if (driver_current(&context) != CUDA_SUCCESS && !function->module)
        return CUDA_ERROR_INVALID_CONTEXT;
    *work = (struct work){.type = CU_GRAPH_NODE_TYPE_KERNEL};
    work->kernel.params = *params;
    work->kernel.params.kernelParams = work->kernel.params.extra = NULL;
    if (function->kind != KERNEL_ANY)
        kernel_parameters(params->kernelParams, params->extra, function->kind == KERNEL_SET_CONDITIONAL,
                          &work->kernel.first, &work->kernel.second);
    return CUDA_SUCCESS;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t dependencyCount, const CUDA_KERNEL_NODE_PARAMS_v2 *params) {
    FAULT_POINT();
    struct work work;
    CUresult result = params ? kernel_work(params, &work) : CUDA_ERROR_INVALID_VALUE;

    return result == CUDA_SUCCESS ? graph_add(graph, &work, dependencies, dependencyCount, node) : result;
}

static CUDA_KERNEL_NODE_PARAMS_v2 widened(const CUDA_KERNEL_NODE_PARAMS_v1 *old) {
    return (CUDA_KERNEL_NODE_PARAMS_v2){old->func,         old->gridDimX,  old->gridDimY,  old->gridDimZ,
                                        old->blockDimX,    old->blockDimY, old->blockDimZ, old->sharedMemBytes,
                                        old->kernelParams, old->extra,     NULL,           NULL};
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t dependencyCount,
                              const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    FAULT_POINT();
    CUDA_KERNEL_NODE_PARAMS_v2 wide;

    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    wide = widened(params);
    return cuGraphAddKernelNode_v2(node, graph, dependencies, dependencyCount, &wide);
}

CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2 *params) {
    FAULT_POINT();
    if (!node || !params || node->work.type != CU_GRAPH_NODE_TYPE_KERNEL)
        return CUDA_ERROR_INVALID_VALUE;
    *params = node->work.kernel.params;
    node->parameters[0] = &node->work.kernel.first;
    node->parameters[1] = &node->work.kernel.second;
    params->kernelParams = node->parameters;
    return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    FAULT_POINT();
    CUDA_KERNEL_NODE_PARAMS_v2 wide;
    CUresult result = params ? cuGraphKernelNodeGetParams_v2(node, &wide) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS)
        *params = (CUDA_KERNEL_NODE_PARAMS_v1){wide.func,         wide.gridDimX,  wide.gridDimY,  wide.gridDimZ,
                                               wide.blockDimX,    wide.blockDimY, wide.blockDimZ, wide.sharedMemBytes,
                                               wide.kernelParams, wide.extra};
    return result;
}

CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *params) {
    FAULT_POINT();
    if (!node || !params || node->work.type != CU_GRAPH_NODE_TYPE_KERNEL)
        return CUDA_ERROR_INVALID_VALUE;
    return kernel_work(params, &node->work);
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    FAULT_POINT();
    CUDA_KERNEL_NODE_PARAMS_v2 wide;

    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    wide = widened(params);
    return cuGraphKernelNodeSetParams_v2(node, &wide);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS_v2 *params) {
    FAULT_POINT();
    struct step *step;

    if (!exec || !node || !params)
        return CUDA_ERROR_INVALID_VALUE;
    step = exec_step(exec, node);
    return step && step->work.type == CU_GRAPH_NODE_TYPE_KERNEL ? kernel_work(params, &step->work)
                                                                : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params) {
    FAULT_POINT();
    CUDA_KERNEL_NODE_PARAMS_v2 wide;

    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    wide = widened(params);
    return cuGraphExecKernelNodeSetParams_v2(exec, node, &wide);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t dependencyCount,
                              const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context) {
    FAULT_POINT();
    struct work work = {.type = CU_GRAPH_NODE_TYPE_MEMSET};

    (void)context;
    if (!params || !params->dst || !params->width || !params->height ||
        (params->elementSize != 1 && params->elementSize != 2 && params->elementSize != 4))
        return CUDA_ERROR_INVALID_VALUE;
    work.memset = *params;
    return graph_add(graph, &work, dependencies, dependencyCount, node);
}

CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t dependencyCount,
                            const CUDA_HOST_NODE_PARAMS *params) {
    FAULT_POINT();
    struct work work = {.type = CU_GRAPH_NODE_TYPE_HOST};

    if (!params || !params->fn)
        return CUDA_ERROR_INVALID_VALUE;
    work.host = *params;
    return graph_add(graph, &work, dependencies, dependencyCount, node);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                  size_t dependencyCount, CUgraph child) {
    FAULT_POINT();
    struct work work = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    CUresult result;

    if (!graph || !child || child == graph)
        return CUDA_ERROR_INVALID_VALUE;
    if (child->bytes)
        return CUDA_ERROR_NOT_SUPPORTED; /* allocations in a child would have to be moved to it */
    result = cuGraphClone(&work.child, child);
    if (result != CUDA_SUCCESS)
        return result;
    result = graph_become_body(work.child, graph, graph->body_of);
    if (result == CUDA_SUCCESS)
        result = graph_add(graph, &work, dependencies, dependencyCount, node);
    if (result != CUDA_SUCCESS)
        cuGraphDestroy(work.child);
    return result;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *child) {
    FAULT_POINT();
    if (!node || !child || node->work.type != CU_GRAPH_NODE_TYPE_GRAPH)
        return CUDA_ERROR_INVALID_VALUE;
    *child = node->work.child;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                             size_t dependencyCount) {
    FAULT_POINT();
    return graph_add(graph, &(struct work){.type = CU_GRAPH_NODE_TYPE_EMPTY}, dependencies, dependencyCount, node);
}

CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                   size_t dependencyCount, CUevent event) {
    FAULT_POINT();
    struct work work = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .event = event};

    return event ? graph_add(graph, &work, dependencies, dependencyCount, node) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t dependencyCount, CUevent event) {
    FAULT_POINT();
    struct work work = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .event = event};

    return event ? graph_add(graph, &work, dependencies, dependencyCount, node) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies, size_t dependencyCount,
                        CUgraphNodeParams *params) {
    FAULT_POINT();
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cuGraphAddKernelNode_v2(node, graph, dependencies, dependencyCount, &params->kernel);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return cuGraphAddMemsetNode(node, graph, dependencies, dependencyCount, &params->memset, NULL);
    case CU_GRAPH_NODE_TYPE_HOST:
        return cuGraphAddHostNode(node, graph, dependencies, dependencyCount, &params->host);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return cuGraphAddChildGraphNode(node, graph, dependencies, dependencyCount, params->graph.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return cuGraphAddEmptyNode(node, graph, dependencies, dependencyCount);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cuGraphAddEventWaitNode(node, graph, dependencies, dependencyCount, params->eventWait.event);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cuGraphAddEventRecordNode(node, graph, dependencies, dependencyCount, params->eventRecord.event);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        return cuGraphAddMemAllocNode(node, graph, dependencies, dependencyCount, &params->alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        return cuGraphAddMemFreeNode(node, graph, dependencies, dependencyCount, params->free.dptr);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return conditional_add(node, graph, dependencies, dependencyCount, &params->conditional);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
        return cuGraphAddExternalSemaphoresSignalNode(node, graph, dependencies, dependencyCount,
                                                      &params->extSemSignal);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return cuGraphAddExternalSemaphoresWaitNode(node, graph, dependencies, dependencyCount, &params->extSemWait);
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
}

CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                           const CUgraphEdgeData *edges, size_t dependencyCount, CUgraphNodeParams *params) {
    FAULT_POINT();
    (void)edges;
    return cuGraphAddNode(node, graph, dependencies, dependencyCount, params);
}

/* What is the driver's own in them lives as long as the node. */
CUresult cuGraphNodeGetParams(CUgraphNode node, CUgraphNodeParams *params) {
    FAULT_POINT();
    const struct work *work = node ? &node->work : NULL;

    if (!work || !params)
        return CUDA_ERROR_INVALID_VALUE;
    *params = (CUgraphNodeParams){.type = work->type};
    switch (work->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return cuGraphKernelNodeGetParams_v2(node, &params->kernel);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        params->memset = work->memset;
        break;
    case CU_GRAPH_NODE_TYPE_HOST:
        params->host = work->host;
        break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        params->graph.graph = work->child;
        break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        params->eventWait.event = work->event;
        break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        params->eventRecord.event = work->event;
        break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        params->alloc = work->alloc;
        break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        params->free.dptr = work->freed;
        break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        conditional_describe(work, &params->conditional);
        break;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
        return cuGraphExternalSemaphoresSignalNodeGetParams(node, &params->extSemSignal);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return cuGraphExternalSemaphoresWaitNodeGetParams(node, &params->extSemWait);
    case CU_GRAPH_NODE_TYPE_EMPTY:
        break;
    default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
    return CUDA_SUCCESS;
}
