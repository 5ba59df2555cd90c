/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the simulated graphs. Graphs may be used by one thread at a time, as the documentation says; lists are
 * under driver_lock.
 */
#ifndef PARTITA_SIM_GRAPH_H
#define PARTITA_SIM_GRAPH_H

#include "cuda_graphs.h"
#include "driver.h"

/* What conditional nodes ask: the simulator's own side of a CUgraphConditionalHandle (conditionals.c). */
struct condition;

/*
 * Semaphores and what is to be done with them; counted, since executable graphs have them as well (semaphore_nodes.c).
 */
struct semaphore_set;

/* What a node does. The part of a node that an executable graph has a copy of. */
struct work {
    int type;
    union {
        CUDA_MEM_ALLOC_NODE_PARAMS alloc;
        CUdeviceptr freed;
        struct {
            CUDA_KERNEL_NODE_PARAMS_v2 params; /* kernelParams and extra are not the caller's */
            uint64_t first;                    /* its parameters, where the simulator knows what they mean */
            unsigned second;
        } kernel;
        CUDA_MEMSET_NODE_PARAMS memset;
        struct {
            CUdeviceptr destination, source; /* 0: the host's, below */
            void *to;
            const void *from;
            size_t bytes;
        } copy;
        CUDA_HOST_NODE_PARAMS host;
        CUgraph child; /* the node's own */
        CUevent event;
        struct {
            struct condition *condition;
            int type;
            unsigned size;
            CUgraph *bodies; /* the node's own */
            CUcontext context;
        } conditional;
        struct semaphore_set *semaphores;
    };
};

struct CUgraphNode_st {
    struct work work;
    CUgraph graph;
    CUgraphNode *needs;
    size_t need_count;
    size_t round; /* of ordering: when it was placed */
    void *parameters[2];
};

struct CUgraph_st {
    CUgraphNode *nodes;
    size_t count, room;
    uint64_t bytes; /* of distinct granules, on `ordinal` */
    int ordinal;
    CUgraph within;    /* whose node it is a child graph or a body of */
    CUcontext body_of; /* the context of the conditional node that it is a body of, or within one; NULL: none */
    struct CUgraph_st *next;
};

/* In order, child graphs' among them. */
struct steps {
    struct step *at;
    size_t count;
};

struct step {
    CUgraphNode origin;
    struct work work;
    struct steps *bodies; /* of a conditional node */
};

struct CUgraphExec_st {
    struct steps steps;
    CUgraph only_of; /* a graph with conditional nodes, which has no second one; NULL: not such a one, or it is gone */
    uint64_t bytes;
    int ordinal;
    bool mapped; /* it was launched or uploaded, and its memory not trimmed since */
    struct CUgraphExec_st *next;
};

/* Adds a node that needs the others of the same graph. */
CUresult graph_add(CUgraph graph, const struct work *work, const CUgraphNode *needs, size_t count, CUgraphNode *added);

/* Makes a graph and all within it parts of a body; CUDA_ERROR_NOT_SUPPORTED: not all of it may be in one. */
CUresult graph_become_body(CUgraph graph, CUgraph within, CUcontext context);

/* Whether the graph, or one within it, has a conditional node. */
bool graph_has_conditionals(const struct CUgraph_st *graph);

/* A graph ends: the executable one of it may be followed by others. Under driver_lock. */
void graph_forget_exec(CUgraph graph);

/* What an executable graph does for a node; NULL: nothing. */
struct step *exec_step(CUgraphExec exec, CUgraphNode node);

/* A kernel node's work, its parameters taken over. */
CUresult kernel_work(const CUDA_KERNEL_NODE_PARAMS_v2 *params, struct work *work);

/*
 * The graph's nodes one by one such that each comes after what it needs: place `round` 1, 2, …; false: there is a
 * circle.
 */
bool graph_order(CUgraph graph, CUgraphNode *ordered);

/* Memory that a graph's allocation nodes need, taken at a launch (graph_memory.c). */
CUresult graph_memory_reserve(CUgraphExec exec);
/* The most that one of the executable graphs on a device has mapped; none of them has any longer. Under driver_lock. */
uint64_t execs_mapped(int ordinal);
void execs_unmap(int ordinal);
CUresult graph_add_allocation(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs, size_t count,
                              CUDA_MEM_ALLOC_NODE_PARAMS *params);

CUresult conditional_add(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs, size_t count,
                         CUDA_CONDITIONAL_NODE_PARAMS *params);
void conditional_describe(const struct work *work, CUDA_CONDITIONAL_NODE_PARAMS *params);
/* A kernel sets the value of a handle, or takes one from it. */
void conditional_kernel(enum kernel_kind kind, CUgraphConditionalHandle handle, unsigned value);
/* The body that the node does next, and whether it asks again after it; -1: none. */
int conditional_body(const struct work *work, bool *again);
/* A launch begins. */
void conditional_begin(const struct work *work);
/* A graph ends. Under driver_lock. */
void conditional_forget(CUgraph graph);

/* What a copy of such a work begins and ends with. */
void semaphores_hold(const struct work *work);
void semaphores_drop(const struct work *work);
CUresult semaphores_act(const struct work *work, const struct CUctx_st *context, CUstream stream);

/* Does a copy or fill in a stream of the calling thread's context. */
CUresult copy_in_stream(const struct work *work, struct CUctx_st *context, CUstream stream);

#endif
