/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs: their nodes in an order that the dependencies allow (graph_launch.c does them). */
#include <stdlib.h>
#include <string.h>

#include "capture.h"

static struct CUgraphExec_st *execs; /* those that live; under driver_lock */

static CUresult add_steps(struct steps *steps, CUgraph graph);

static void discard(struct steps *steps) {
    for (size_t i = 0; i < steps->count; i++) {
        struct step *step = &steps->at[i];

        for (unsigned body = 0; step->bodies && body < step->work.conditional.size; body++)
            discard(&step->bodies[body]);
        free(step->bodies);
        semaphores_drop(&step->work);
    }
    free(steps->at);
    *steps = (struct steps){0};
}

static CUresult add_bodies(struct step *step) {
    CUresult result = CUDA_SUCCESS;

    step->bodies = calloc(step->work.conditional.size, sizeof *step->bodies);
    if (!step->bodies)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (unsigned body = 0; result == CUDA_SUCCESS && body < step->work.conditional.size; body++)
        result = add_steps(&step->bodies[body], step->work.conditional.bodies[body]);
    return result;
}

static CUresult add_step(struct steps *steps, CUgraphNode node) {
    struct step *grown =
        steps->count & (steps->count - 1) ? steps->at : realloc(steps->at, (2 * steps->count + 1) * sizeof *grown);
    struct step *step;

    if (!grown)
        return CUDA_ERROR_OUT_OF_MEMORY;
    steps->at = grown;
    step = &steps->at[steps->count++];
    *step = (struct step){node, node->work, NULL};
    semaphores_hold(&step->work);
    return node->work.type == CU_GRAPH_NODE_TYPE_CONDITIONAL ? add_bodies(step) : CUDA_SUCCESS;
}

static CUresult add_steps(struct steps *steps, CUgraph graph) {
    CUgraphNode *ordered = malloc((graph->count + 1) * sizeof *ordered);
    CUresult result = !ordered                      ? CUDA_ERROR_OUT_OF_MEMORY
                      : graph_order(graph, ordered) ? CUDA_SUCCESS
                                                    : CUDA_ERROR_INVALID_VALUE;

    for (size_t i = 0; i < graph->count && result == CUDA_SUCCESS; i++)
        result = ordered[i]->work.type == CU_GRAPH_NODE_TYPE_GRAPH ? add_steps(steps, ordered[i]->work.child)
                                                                   : add_step(steps, ordered[i]);
    free(ordered);
    return result;
}

static struct step *find_step(const struct steps *steps, CUgraphNode node) {
    struct step *found = NULL;

    for (size_t i = 0; i < steps->count && !found; i++) {
        struct step *step = &steps->at[i];

        if (step->origin == node)
            found = step;
        for (unsigned body = 0; step->bodies && !found && body < step->work.conditional.size; body++)
            found = find_step(&step->bodies[body], node);
    }
    return found;
}

struct step *exec_step(CUgraphExec exec, CUgraphNode node) {
    return find_step(&exec->steps, node);
}

void graph_forget_exec(CUgraph graph) {
    for (struct CUgraphExec_st *exec = execs; exec; exec = exec->next)
        if (exec->only_of == graph)
            exec->only_of = NULL;
}

uint64_t execs_mapped(int ordinal) {
    uint64_t most = 0;

    for (const struct CUgraphExec_st *exec = execs; exec; exec = exec->next)
        if (exec->mapped && exec->ordinal == ordinal && exec->bytes > most)
            most = exec->bytes;
    return most;
}

void execs_unmap(int ordinal) {
    for (struct CUgraphExec_st *exec = execs; exec; exec = exec->next)
        if (exec->ordinal == ordinal)
            exec->mapped = false;
}

/* A graph with conditional nodes has one executable graph at a time. */
static CUresult enlist(CUgraphExec exec, CUgraph graph) {
    const struct CUgraphExec_st *other;

    pthread_mutex_lock(&driver_lock);
    if (graph_has_conditionals(graph))
        exec->only_of = graph;
    for (other = execs; other && (!exec->only_of || other->only_of != graph);)
        other = other->next;
    if (!other) {
        exec->next = execs;
        execs = exec;
    }
    pthread_mutex_unlock(&driver_lock);
    return other ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static void end(CUgraphExec exec) {
    discard(&exec->steps);
    free(exec);
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
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
    result = add_steps(&(*exec)->steps, graph);
    if (result == CUDA_SUCCESS)
        result = enlist(*exec, graph);
    if (result != CUDA_SUCCESS) {
        end(*exec);
        return result;
    }
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
        result = cuGraphUpload(*exec, NULL);
    if (result != CUDA_SUCCESS)
        cuGraphExecDestroy(*exec);
    return result;
}

CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *errorNode, char *log, size_t logSize) {
    FAULT_POINT();
    (void)errorNode;
    if (log && logSize)
        *log = 0;
    return cuGraphInstantiateWithFlags(exec, graph, 0);
}

CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *errorNode, char *log, size_t logSize) {
    FAULT_POINT();
    return cuGraphInstantiate_v2(exec, graph, errorNode, log, logSize);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
    FAULT_POINT();
    if (!params)
        return CUDA_ERROR_INVALID_VALUE;
    params->result_out = 0;
    return cuGraphInstantiateWithFlags(exec, graph, params->flags);
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params) {
    FAULT_POINT();
    return cuGraphInstantiateWithParams(exec, graph, params);
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
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
    end(exec);
    return CUDA_SUCCESS;
}

/* Whether the new steps can take the places of the old ones. */
static void compare(const struct steps *old, const struct steps *fresh, CUgraphExecUpdateResultInfo *info) {
    if (fresh->count != old->count)
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    for (size_t i = 0; i < fresh->count && info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS; i++) {
        const struct work *before = &old->at[i].work, *after = &fresh->at[i].work;

        if (after->type != before->type)
            info->result = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
        else if (after->type == CU_GRAPH_NODE_TYPE_CONDITIONAL &&
                 (after->conditional.type != before->conditional.type ||
                  after->conditional.size != before->conditional.size ||
                  after->conditional.context != before->conditional.context))
            info->result = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
        if (info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
            info->errorNode = fresh->at[i].origin;
        for (unsigned body = 0;
             fresh->at[i].bodies && info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS && body < after->conditional.size;
             body++)
            compare(&old->at[i].bodies[body], &fresh->at[i].bodies[body], info);
    }
}

/* The nodes stay those that the executable graph was made of. */
static void replace(struct steps *old, struct steps *fresh) {
    for (size_t i = 0; i < fresh->count; i++) {
        struct work work = old->at[i].work;

        for (unsigned body = 0; old->at[i].bodies && body < work.conditional.size; body++)
            replace(&old->at[i].bodies[body], &fresh->at[i].bodies[body]);
        old->at[i].work = fresh->at[i].work;
        fresh->at[i].work = work;
    }
}

/*
 * The new graph must have the same nodes in the same order: then the parameters of its nodes take the place of the old.
 */
CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info) {
    FAULT_POINT();
    struct steps fresh = {0};
    CUresult result;

    if (!exec || !graph || !info)
        return CUDA_ERROR_INVALID_VALUE;
    *info = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    result = add_steps(&fresh, graph);
    if (result != CUDA_SUCCESS)
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR;
    else if (graph->bytes != exec->bytes)
        info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    else
        compare(&exec->steps, &fresh, info);
    if (info->result == CU_GRAPH_EXEC_UPDATE_SUCCESS)
        replace(&exec->steps, &fresh);
    discard(&fresh);
    return result == CUDA_SUCCESS && info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
                                                                                  : result;
}

CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *errorNode, CUgraphExecUpdateResult *update) {
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
