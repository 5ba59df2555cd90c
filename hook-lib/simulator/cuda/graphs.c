/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs and what they are asked. */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

static struct CUgraph_st *graphs; /* those that live; under driver_lock */

CUresult cuGraphCreate(CUgraph *graph, unsigned int flags) {
    FAULT_POINT();
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

static void free_node(CUgraphNode node) {
    if (node->work.type == CU_GRAPH_NODE_TYPE_GRAPH)
        cuGraphDestroy(node->work.child);
    if (node->work.type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
        for (unsigned i = 0; i < node->work.conditional.size; i++)
            cuGraphDestroy(node->work.conditional.bodies[i]);
        free(node->work.conditional.bodies);
    }
    semaphores_drop(&node->work);
    free(node->needs);
    free(node);
}

CUresult cuGraphDestroy(CUgraph graph) {
    FAULT_POINT();
    struct CUgraph_st **link = &graphs;

    pthread_mutex_lock(&driver_lock);
    while (*link && *link != graph)
        link = &(*link)->next;
    if (graph && *link)
        *link = graph->next;
    else
        graph = NULL;
    if (graph) {
        conditional_forget(graph);
        graph_forget_exec(graph);
    }
    pthread_mutex_unlock(&driver_lock);
    if (!graph)
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < graph->count; i++)
        free_node(graph->nodes[i]);
    free(graph->nodes);
    free(graph);
    return CUDA_SUCCESS;
}

static bool add_need(CUgraphNode node, CUgraphNode need) {
    CUgraphNode *grown = realloc(node->needs, (node->need_count + 1) * sizeof *grown);

    if (!grown)
        return false;
    node->needs = grown;
    node->needs[node->need_count++] = need;
    return true;
}

bool graph_has_conditionals(const struct CUgraph_st *graph) {
    for (size_t i = 0; i < graph->count; i++) {
        const struct work *work = &graph->nodes[i]->work;

        if (work->type == CU_GRAPH_NODE_TYPE_CONDITIONAL ||
            (work->type == CU_GRAPH_NODE_TYPE_GRAPH && graph_has_conditionals(work->child)))
            return true;
    }
    return false;
}

/*
 * What the documentation allows in a conditional node's body; a graph's own nodes are looked at when it becomes a part
 * of it.
 */
static bool fits_body(const struct work *work, CUcontext context) {
    const struct CUfunc_st *function;

    switch (work->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        function = work->kernel.params.func ? work->kernel.params.func : (CUfunction)work->kernel.params.kern;
        return !function->module || function->module->context == context_home(context);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        return work->conditional.context == context;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_GRAPH:
    case CU_GRAPH_NODE_TYPE_EMPTY:
        return true;
    default:
        return false;
    }
}

CUresult graph_become_body(CUgraph graph, CUgraph within, CUcontext context) {
    CUresult result = CUDA_SUCCESS;

    for (size_t i = 0; context && i < graph->count && result == CUDA_SUCCESS; i++) {
        const struct work *work = &graph->nodes[i]->work;

        if (!fits_body(work, context))
            result = CUDA_ERROR_NOT_SUPPORTED;
        else if (work->type == CU_GRAPH_NODE_TYPE_GRAPH)
            result = graph_become_body(work->child, graph, context);
    }
    graph->within = within;
    graph->body_of = context;
    return result;
}

CUresult graph_add(CUgraph graph, const struct work *work, const CUgraphNode *needs, size_t count, CUgraphNode *added) {
    CUgraphNode node;

    if (!graph || !added || (count && !needs))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!needs[i] || needs[i]->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
    if (graph->body_of && !fits_body(work, graph->body_of))
        return CUDA_ERROR_NOT_SUPPORTED;
    if (graph->count == graph->room) {
        size_t room = graph->room ? 2 * graph->room : 16;
        CUgraphNode *grown = realloc(graph->nodes, room * sizeof *grown);

        if (!grown)
            return CUDA_ERROR_OUT_OF_MEMORY;
        graph->nodes = grown;
        graph->room = room;
    }
    node = calloc(1, sizeof *node);
    if (!node)
        return CUDA_ERROR_OUT_OF_MEMORY;
    node->work = *work;
    node->graph = graph;
    for (size_t i = 0; i < count; i++)
        if (!add_need(node, needs[i])) {
            free(node->needs);
            free(node);
            return CUDA_ERROR_OUT_OF_MEMORY;
        }
    semaphores_hold(work);
    graph->nodes[graph->count++] = node;
    *added = node;
    return CUDA_SUCCESS;
}

bool graph_order(CUgraph graph, CUgraphNode *ordered) {
    size_t placed = 0, before;

    for (size_t i = 0; i < graph->count; i++)
        graph->nodes[i]->round = 0;
    do {
        before = placed;
        for (size_t i = 0; i < graph->count; i++) {
            CUgraphNode node = graph->nodes[i];
            bool ready = node->round == 0;

            for (size_t d = 0; ready && d < node->need_count; d++)
                ready = node->needs[d]->round != 0;
            if (!ready)
                continue;
            ordered[placed] = node;
            node->round = ++placed;
        }
    } while (placed > before && placed < graph->count);
    return placed == graph->count;
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count) {
    FAULT_POINT();
    if (!graph || (count && (!from || !to)))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!from[i] || !to[i] || from[i]->graph != graph || to[i]->graph != graph || from[i] == to[i])
            return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (!add_need(to[i], from[i]))
            return CUDA_ERROR_OUT_OF_MEMORY;
    return CUDA_SUCCESS;
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *edges, size_t count) {
    FAULT_POINT();
    (void)edges;
    return cuGraphAddDependencies(graph, from, to, count);
}

static CUgraphNode counterpart(const struct CUgraph_st *original, const struct CUgraph_st *copy, CUgraphNode node) {
    for (size_t i = 0; i < copy->count; i++)
        if (original->nodes[i] == node)
            return copy->nodes[i];
    return NULL;
}

CUresult cuGraphClone(CUgraph *clone, CUgraph graph) {
    FAULT_POINT();
    CUgraphNode *needs = NULL, added;
    CUresult result;

    if (!clone || !graph)
        return driver_ready() == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_INITIALIZED;
    if (graph_has_conditionals(graph))
        return CUDA_ERROR_NOT_SUPPORTED;
    result = cuGraphCreate(clone, 0);
    for (size_t i = 0; i < graph->count && result == CUDA_SUCCESS; i++) {
        struct work work = graph->nodes[i]->work;

        if (work.type == CU_GRAPH_NODE_TYPE_GRAPH)
            result = cuGraphClone(&work.child, work.child);
        if (result == CUDA_SUCCESS)
            result = graph_add(*clone, &work, NULL, 0, &added);
        if (result == CUDA_SUCCESS && work.type == CU_GRAPH_NODE_TYPE_GRAPH)
            work.child->within = *clone;
    }
    for (size_t i = 0; i < graph->count && result == CUDA_SUCCESS; i++) {
        CUgraphNode node = graph->nodes[i];

        needs = malloc((node->need_count + 1) * sizeof *needs);
        for (size_t d = 0; needs && d < node->need_count; d++)
            needs[d] = counterpart(graph, *clone, node->needs[d]);
        if (needs) {
            (*clone)->nodes[i]->needs = needs;
            (*clone)->nodes[i]->need_count = node->need_count;
        } else {
            result = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    if (result == CUDA_SUCCESS) {
        (*clone)->bytes = graph->bytes;
        (*clone)->ordinal = graph->ordinal;
    }
    return result;
}

static bool is_allocation(CUgraphNode node) {
    return node->work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || node->work.type == CU_GRAPH_NODE_TYPE_MEM_FREE;
}

/* Graphs with allocations cannot lose nodes, as the documentation says of these nodes. */
CUresult cuGraphDestroyNode(CUgraphNode node) {
    FAULT_POINT();
    CUgraph graph = node ? node->graph : NULL;

    if (!graph)
        return driver_ready() == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_INITIALIZED;
    if (is_allocation(node))
        return CUDA_ERROR_NOT_SUPPORTED;
    for (size_t i = 0; i < graph->count; i++) {
        CUgraphNode other = graph->nodes[i];
        size_t kept = 0;

        for (size_t d = 0; d < other->need_count; d++)
            if (other->needs[d] != node)
                other->needs[kept++] = other->needs[d];
        other->need_count = kept;
    }
    for (size_t i = 0, kept = 0; i < graph->count; i++)
        if (graph->nodes[i] != node)
            graph->nodes[kept++] = graph->nodes[i];
    graph->count--;
    free_node(node);
    return CUDA_SUCCESS;
}

/* As many as there is room for; the rest of the room is NULL. Without room only the count. */
static CUresult list(const CUgraphNode *from, size_t total, CUgraphNode *nodes, size_t *count) {
    for (size_t i = 0; nodes && i < *count; i++)
        nodes[i] = i < total ? from[i] : NULL;
    if (!nodes || *count > total)
        *count = total;
    return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    FAULT_POINT();
    return graph && count ? list(graph->nodes, graph->count, nodes, count) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *dependencies, size_t *count) {
    FAULT_POINT();
    return node && count ? list(node->needs, node->need_count, dependencies, count) : CUDA_ERROR_INVALID_VALUE;
}

/* No edge has data of its own. */
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *dependencies, CUgraphEdgeData *edges,
                                       size_t *count) {
    FAULT_POINT();
    CUresult result = cuGraphNodeGetDependencies(node, dependencies, count);

    if (result == CUDA_SUCCESS && edges && dependencies)
        memset(edges, 0, *count * sizeof *edges);
    return result;
}

CUresult cuGraphNodeGetType(CUgraphNode node, int *type) {
    FAULT_POINT();
    if (!node || !type)
        return CUDA_ERROR_INVALID_VALUE;
    *type = node->work.type;
    return CUDA_SUCCESS;
}
