/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conditional nodes and the values that they ask. The work of one process on one card runs in the order in which it is
 * submitted, so a value is what the kernels that were submitted before have made of it: a launch knows beforehand which
 * bodies run, and how often.
 */
#include <stdlib.h>

#include "graph.h"

struct condition {
    CUgraphConditionalHandle handle;
    CUgraph graph; /* NULL: gone; an executable one may still ask */
    CUcontext context;
    unsigned initial, flags;
    _Atomic unsigned value;
    struct condition *next;
};

static struct condition *conditions; /* never taken away: kernels and executable graphs may know a handle for ever */

/* Under driver_lock. */
static struct condition *find(CUgraphConditionalHandle handle) {
    struct condition *condition = conditions;

    while (condition && condition->handle != handle)
        condition = condition->next;
    return condition;
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph, CUcontext context,
                                        unsigned int defaultLaunchValue, unsigned int flags) {
    FAULT_POINT();
    CUresult result = driver_ready();
    struct condition *made;

    if (result == CUDA_SUCCESS && !context)
        result = driver_current(&context);
    if (result != CUDA_SUCCESS)
        return result;
    if (!handle || !graph || flags > CU_GRAPH_COND_ASSIGN_DEFAULT)
        return CUDA_ERROR_INVALID_VALUE;
    made = malloc(sizeof *made);
    if (!made)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *made = (struct condition){.graph = graph, .context = context, .initial = defaultLaunchValue, .flags = flags};
    pthread_mutex_lock(&driver_lock);
    made->handle = conditions ? conditions->handle + 1 : 1;
    made->next = conditions;
    conditions = made;
    pthread_mutex_unlock(&driver_lock);
    *handle = made->handle;
    return CUDA_SUCCESS;
}

/* A handle is for its own graph and those within it. */
static struct condition *usable(CUgraphConditionalHandle handle, const struct CUgraph_st *graph, CUcontext context) {
    struct condition *condition;

    pthread_mutex_lock(&driver_lock);
    condition = find(handle);
    while (condition && graph && graph != condition->graph)
        graph = graph->within;
    pthread_mutex_unlock(&driver_lock);
    return condition && graph && condition->context == context ? condition : NULL;
}

static bool valid_size(int type, unsigned size) {
    switch (type) {
    case CU_GRAPH_COND_TYPE_IF:
        return size == 1 || size == 2;
    case CU_GRAPH_COND_TYPE_WHILE:
        return size == 1;
    case CU_GRAPH_COND_TYPE_SWITCH:
        return size > 0;
    default:
        return false;
    }
}

CUresult conditional_add(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs, size_t count,
                         CUDA_CONDITIONAL_NODE_PARAMS *params) {
    struct work work = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    CUcontext context = params->ctx;
    CUresult result = context ? driver_ready() : driver_current(&context);
    struct condition *condition;

    if (result != CUDA_SUCCESS)
        return result;
    condition = usable(params->handle, graph, context);
    if (!node || !graph || !condition || !valid_size(params->type, params->size))
        return CUDA_ERROR_INVALID_VALUE;
    work.conditional.condition = condition;
    work.conditional.type = params->type;
    work.conditional.context = context;
    work.conditional.bodies = calloc(params->size, sizeof *work.conditional.bodies);
    if (!work.conditional.bodies)
        return CUDA_ERROR_OUT_OF_MEMORY;
    while (result == CUDA_SUCCESS && work.conditional.size < params->size) {
        CUgraph *body = &work.conditional.bodies[work.conditional.size];

        result = cuGraphCreate(body, 0);
        if (result == CUDA_SUCCESS) {
            graph_become_body(*body, graph, context);
            work.conditional.size++;
        }
    }
    if (result == CUDA_SUCCESS)
        result = graph_add(graph, &work, needs, count, node);
    if (result == CUDA_SUCCESS) {
        params->phGraph_out = work.conditional.bodies;
        return CUDA_SUCCESS;
    }
    while (work.conditional.size > 0)
        cuGraphDestroy(work.conditional.bodies[--work.conditional.size]);
    free(work.conditional.bodies);
    return result;
}

void conditional_describe(const struct work *work, CUDA_CONDITIONAL_NODE_PARAMS *params) {
    *params =
        (CUDA_CONDITIONAL_NODE_PARAMS){work->conditional.condition->handle, work->conditional.type,
                                       work->conditional.size, work->conditional.bodies, work->conditional.context};
}

void conditional_kernel(enum kernel_kind kind, CUgraphConditionalHandle handle, unsigned value) {
    struct condition *condition;

    pthread_mutex_lock(&driver_lock);
    condition = find(handle);
    pthread_mutex_unlock(&driver_lock);
    if (condition && kind == KERNEL_SET_CONDITIONAL)
        condition->value = value;
    else if (condition && kind == KERNEL_COUNT_DOWN)
        condition->value--;
}

int conditional_body(const struct work *work, bool *again) {
    unsigned value = work->conditional.condition->value, size = work->conditional.size;

    *again = work->conditional.type == CU_GRAPH_COND_TYPE_WHILE;
    if (work->conditional.type == CU_GRAPH_COND_TYPE_SWITCH)
        return value < size ? (int)value : -1;
    return value ? 0 : size == 2 ? 1 : -1;
}

void conditional_begin(const struct work *work) {
    struct condition *condition = work->conditional.condition;

    if (condition->flags & CU_GRAPH_COND_ASSIGN_DEFAULT)
        condition->value = condition->initial;
}

void conditional_forget(CUgraph graph) {
    for (struct condition *condition = conditions; condition; condition = condition->next)
        if (condition->graph == graph)
            condition->graph = NULL;
}
