/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What signals semaphores and waits for them: calls for streams, and nodes of graphs. The two kinds differ in nothing
 * but the names.
 */
#include <stdlib.h>
#include <string.h>

#include "semaphores.h"

struct semaphore_set {
    _Atomic unsigned holders;
    unsigned count;
    union {
        CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *signals;
        CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *waits;
    };
    CUexternalSemaphore semaphores[];
};

_Static_assert(sizeof(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS) == sizeof(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS),
               "both are kept the same way");

static struct semaphore_set *copy_of(const CUexternalSemaphore *semaphores, const void *params, unsigned count) {
    struct semaphore_set *set = malloc(sizeof *set + count * (sizeof *set->semaphores + sizeof *set->signals));

    if (!set)
        return NULL;
    set->holders = 1;
    set->count = count;
    set->signals = (void *)(set->semaphores + count);
    if (count) {
        memcpy(set->semaphores, semaphores, count * sizeof *semaphores);
        memcpy(set->signals, params, count * sizeof *set->signals);
    }
    return set;
}

static bool has_semaphores(const struct work *work) {
    return work->type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL || work->type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
}

void semaphores_hold(const struct work *work) {
    if (has_semaphores(work))
        work->semaphores->holders++;
}

void semaphores_drop(const struct work *work) {
    if (has_semaphores(work) && --work->semaphores->holders == 0)
        free(work->semaphores);
}

CUresult semaphores_act(const struct work *work, const struct CUctx_st *context, CUstream stream) {
    const struct semaphore_set *set = work->semaphores;
    CUresult result = CUDA_SUCCESS;

    for (unsigned i = 0; result == CUDA_SUCCESS && i < set->count; i++)
        if (work->type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL)
            semaphore_signal(set->semaphores[i], set->signals[i].params.fence.value, context, stream);
        else
            result = semaphore_wait(set->semaphores[i], set->waits[i].params.fence.value, context, stream);
    return result;
}

/* A work of its own, to be dropped. */
static CUresult make_work(int type, const CUexternalSemaphore *semaphores, const void *params, unsigned count,
                          struct work *work) {
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (count && (!semaphores || !params))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++)
        if (!semaphore_lives(semaphores[i]))
            return CUDA_ERROR_INVALID_HANDLE;
    *work = (struct work){.type = type};
    work->semaphores = copy_of(semaphores, params, count);
    return work->semaphores ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult enqueue(int type, const CUexternalSemaphore *semaphores, const void *params, unsigned count,
                        CUstream stream) {
    struct CUctx_st *context;
    CUresult result = driver_stream(&stream, &context);
    struct work work;
    bool taken;

    if (result == CUDA_SUCCESS)
        result = make_work(type, semaphores, params, count, &work);
    if (result != CUDA_SUCCESS)
        return result;
    result = captured_work(context, stream, &work, &taken);
    if (result == CUDA_SUCCESS && !taken)
        result = semaphores_act(&work, context, stream);
    semaphores_drop(&work);
    return result;
}

static CUresult add(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs, size_t need_count, int type,
                    const CUexternalSemaphore *semaphores, const void *params, unsigned count) {
    struct work work;
    CUresult result = make_work(type, semaphores, params, count, &work);

    if (result != CUDA_SUCCESS)
        return result;
    result = graph_add(graph, &work, needs, need_count, node);
    semaphores_drop(&work);
    return result;
}

/* `same`: their number cannot change. */
static CUresult replace(struct work *old, int type, const CUexternalSemaphore *semaphores, const void *params,
                        unsigned count, bool same) {
    struct work work;
    CUresult result = old->type == type && (!same || old->semaphores->count == count)
                          ? make_work(type, semaphores, params, count, &work)
                          : CUDA_ERROR_INVALID_VALUE;

    if (result != CUDA_SUCCESS)
        return result;
    semaphores_drop(old);
    *old = work;
    return CUDA_SUCCESS;
}

static struct work *work_in(CUgraphExec exec, CUgraphNode node) {
    struct step *step = exec && node ? exec_step(exec, node) : NULL;

    return step ? &step->work : NULL;
}

#define STREAM_CALL(name, parameter, type)                                                                             \
    CUresult name(const CUexternalSemaphore *semaphores, const parameter *params, unsigned int count,                  \
                  CUstream stream) {                                                                                   \
        FAULT_POINT();                                                                                                 \
        return enqueue(type, semaphores, params, count, stream);                                                       \
    }                                                                                                                  \
                                                                                                                       \
    CUresult name##_ptsz(const CUexternalSemaphore *semaphores, const parameter *params, unsigned int count,           \
                         CUstream stream) {                                                                            \
        FAULT_POINT();                                                                                                 \
        return name(semaphores, params, count, PTSZ(stream));                                                          \
    }

STREAM_CALL(cuSignalExternalSemaphoresAsync, CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL)
STREAM_CALL(cuWaitExternalSemaphoresAsync, CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT)

#define NODES(name, parameter, kind, array)                                                                            \
    CUresult cuGraphAdd##name(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,                       \
                              size_t dependencyCount, const parameter *params) {                                       \
        FAULT_POINT();                                                                                                 \
        return params ? add(node, graph, dependencies, dependencyCount, kind, params->extSemArray,                     \
                            params->paramsArray, params->numExtSems)                                                   \
                      : CUDA_ERROR_INVALID_VALUE;                                                                      \
    }                                                                                                                  \
                                                                                                                       \
    CUresult cuGraph##name##GetParams(CUgraphNode node, parameter *params) {                                           \
        FAULT_POINT();                                                                                                 \
        struct semaphore_set *set = node && node->work.type == (kind) ? node->work.semaphores : NULL;                  \
                                                                                                                       \
        if (!set || !params)                                                                                           \
            return CUDA_ERROR_INVALID_VALUE;                                                                           \
        *params = (parameter){set->semaphores, set->array, set->count};                                                \
        return CUDA_SUCCESS;                                                                                           \
    }                                                                                                                  \
                                                                                                                       \
    CUresult cuGraph##name##SetParams(CUgraphNode node, const parameter *params) {                                     \
        FAULT_POINT();                                                                                                 \
        return node && params                                                                                          \
                   ? replace(&node->work, kind, params->extSemArray, params->paramsArray, params->numExtSems, false)   \
                   : CUDA_ERROR_INVALID_VALUE;                                                                         \
    }                                                                                                                  \
                                                                                                                       \
    CUresult cuGraphExec##name##SetParams(CUgraphExec exec, CUgraphNode node, const parameter *params) {               \
        FAULT_POINT();                                                                                                 \
        struct work *work = work_in(exec, node);                                                                       \
                                                                                                                       \
        return work && params                                                                                          \
                   ? replace(work, kind, params->extSemArray, params->paramsArray, params->numExtSems, true)           \
                   : CUDA_ERROR_INVALID_VALUE;                                                                         \
    }

NODES(ExternalSemaphoresSignalNode, CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, signals)
NODES(ExternalSemaphoresWaitNode, CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, waits)
