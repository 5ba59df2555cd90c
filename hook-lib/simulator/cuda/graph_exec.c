/*
 * Executable graphs. A launch does the nodes one after the other in an order that their dependencies allow; kernels that
 * follow each other are one piece of work, which takes the sum of their time.
 */
#include <stdlib.h>
#include <string.h>

#include "capture.h"

static struct CUgraphExec_st *execs; /* those that live; under driver_lock */

static CUresult add_steps(struct CUgraphExec_st *exec, CUgraph graph)
{
    CUgraphNode *ordered = malloc((graph->count + 1) * sizeof *ordered);
    CUresult result = !ordered                       ? CUDA_ERROR_OUT_OF_MEMORY
                      : graph_order(graph, ordered) ? CUDA_SUCCESS
                                                     : CUDA_ERROR_INVALID_VALUE;

    for (size_t i = 0; i < graph->count && result == CUDA_SUCCESS; i++) {
        struct step *grown;

        if (ordered[i]->work.type == CU_GRAPH_NODE_TYPE_GRAPH) {
            result = add_steps(exec, ordered[i]->work.child);
            continue;
        }
        grown = exec->count & (exec->count - 1) ? exec->steps
                                                : realloc(exec->steps, (2 * exec->count + 1) * sizeof *grown);
        if (!grown) {
            result = CUDA_ERROR_OUT_OF_MEMORY;
            break;
        }
        exec->steps = grown;
        exec->steps[exec->count++] = (struct step){ordered[i], ordered[i]->work};
    }
    free(ordered);
    return result;
}

static void discard(CUgraphExec exec)
{
    free(exec->steps);
    free(exec);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    FAULT_POINT();
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    if (!exec || !graph)
        return CUDA_ERROR_INVALID_VALUE;
    *exec = calloc(1, sizeof **exec);
    if (!*exec)
        return CUDA_ERROR_OUT_OF_MEMORY;
    (*exec)->bytes = graph->bytes;
    (*exec)->ordinal = graph->ordinal;
    result = add_steps(*exec, graph);
    if (result != CUDA_SUCCESS) {
        discard(*exec);
        return result;
    }
    pthread_mutex_lock(&driver_lock);
    (*exec)->next = execs;
    execs = *exec;
    pthread_mutex_unlock(&driver_lock);
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
        result = cuGraphUpload(*exec, NULL);
    if (result != CUDA_SUCCESS)
        cuGraphExecDestroy(*exec);
    return result;
}

CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *errorNode, char *log, size_t logSize)
{
    FAULT_POINT();
    (void)errorNode;
    if (log && logSize)
        *log = 0;
    return cuGraphInstantiateWithFlags(exec, graph, 0);
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *errorNode, char *log, size_t logSize)
{
    FAULT_POINT();
    return cuGraphInstantiate_v2(exec, graph, errorNode, log, logSize);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    FAULT_POINT();
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    params->result_out = 0;
    return cuGraphInstantiateWithFlags(exec, graph, params->flags);
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    FAULT_POINT();
    return cuGraphInstantiateWithParams(exec, graph, params);
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    FAULT_POINT();
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
    discard(exec);
    return CUDA_SUCCESS;
}

/* The new graph must have the same nodes in the same order: then the parameters of its nodes take the place of the old. */
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info)
{
    FAULT_POINT();
    struct CUgraphExec_st fresh = {0};
    CUresult result;

    if (!exec || !graph || !info)
        return CUDA_ERROR_INVALID_VALUE;
    *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    result = add_steps(&fresh, graph);
    if (result == CUDA_SUCCESS && (fresh.count != exec->count || graph->bytes != exec->bytes))
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < fresh.count && info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS; i++)
        if (fresh.steps[i].work.type != exec->steps[i].work.type) {
            info->result = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
            info->errorNode = fresh.steps[i].origin;
        }
    for (size_t i = 0; i < fresh.count && result == CUDA_SUCCESS && info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS; i++)
        exec->steps[i].work = fresh.steps[i].work;
    free(fresh.steps);
    if (result != CUDA_SUCCESS)
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR;
    return result == CUDA_SUCCESS && info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
                                                                                  : result;
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *errorNode, CUgraphExecUpdateResult *update)
{
    FAULT_POINT();
    CUgraphExecUpdateResultInfo info;
    CUresult result = update ? cuGraphExecUpdate_v2(exec, graph, &info) : CUDA_ERROR_INVALID_VALUE;

    if (result == CUDA_SUCCESS || result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE) {
        *update = info.result;
        if (errorNode)
            *errorNode = info.errorNode;
    }
    return result;
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_stream(&stream, &context);

    if (result != CUDA_SUCCESS)
        return result;
    return exec ? graph_memory_reserve(exec->ordinal, exec->bytes) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream)
{
    FAULT_POINT();
    return cuGraphUpload(exec, PTSZ(stream));
}

static CUresult act(const struct work *work, CUstream stream)
{
    switch (work->type) {
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return cuEventRecord(work->event, stream);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return cuStreamWaitEvent(stream, work->event, 0);
    case CU_GRAPH_NODE_TYPE_HOST: return cuLaunchHostFunc(stream, work->host.fn, work->host.userData);
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_MEMCPY: return copy_now(work);
    default: return CUDA_SUCCESS;
    }
}

/* In a capture a launch becomes a child graph of the same nodes, one after the other. */
static CUresult capture_launch(CUgraphExec exec, const struct CUctx_st *context, CUstream stream, bool *taken)
{
    struct work work = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    CUgraphNode last = NULL;
    CUresult result = stream && stream->capture ? cuGraphCreate(&work.child, 0)
                                                : captured_work(context, stream, &work, taken);

    if (!work.child)
        return result;
    if (exec->bytes)
        result = CUDA_ERROR_NOT_SUPPORTED;
    for (size_t i = 0; result == CUDA_SUCCESS && i < exec->count; i++)
        result = graph_add(work.child, &exec->steps[i].work, last ? &last : NULL, last != NULL, &last);
    if (result == CUDA_SUCCESS)
        result = captured_work(context, stream, &work, taken);
    if (result != CUDA_SUCCESS || !*taken)
        cuGraphDestroy(work.child);
    return result;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_stream(&stream, &context);
    uint64_t cost = 0, kernels = 0;
    bool taken = false;

    if (result == CUDA_SUCCESS && !exec)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && captures_ongoing)
        result = capture_launch(exec, context, stream, &taken);
    if (result != CUDA_SUCCESS || taken)
        return result;
    result = graph_memory_reserve(exec->ordinal, exec->bytes);
    for (size_t i = 0; result == CUDA_SUCCESS && i < exec->count; i++) {
        const struct work *work = &exec->steps[i].work;

        if (work->type == CU_GRAPH_NODE_TYPE_KERNEL) {
            CUfunction function = work->kernel.params.func ? work->kernel.params.func : (CUfunction)work->kernel.params.kern;

            cost += function->spins ? work->kernel.spin : kernel_cost(context, function, NULL, NULL);
            kernels++;
        } else if (work->type != CU_GRAPH_NODE_TYPE_EMPTY && work->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
                   work->type != CU_GRAPH_NODE_TYPE_MEM_FREE) {
            stream_submit(context, stream, cost);
            cost = 0;
            result = act(work, stream);
        }
    }
    if (result != CUDA_SUCCESS)
        return result;
    stream_submit(context, stream, cost);
    count_launches(context, kernels);
    return CUDA_SUCCESS;
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream)
{
    FAULT_POINT();
    return cuGraphLaunch(exec, PTSZ(stream));
}
