/* Inside of the simulated graphs. Graphs may be used by one thread at a time, as the documentation says; lists are under driver_lock. */
#ifndef PARTITA_SIM_GRAPH_H
#define PARTITA_SIM_GRAPH_H

#include "cuda_graphs.h"
#include "driver.h"

/* What a node does. The part of a node that an executable graph has a copy of. */
struct work {
    int type;
    union {
        CUDA_MEM_ALLOC_NODE_PARAMS alloc;
        CUdeviceptr freed;
        struct {
            CUDA_KERNEL_NODE_PARAMS_v2 params; /* kernelParams and extra are not the caller's */
            uint64_t spin;                     /* partita_spin: its parameter */
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
    };
};

struct CUgraphNode_st {
    struct work work;
    CUgraph graph;
    CUgraphNode *needs;
    size_t need_count;
    size_t round; /* of ordering: when it was placed */
    void *spin_parameter[1];
};

struct CUgraph_st {
    CUgraphNode *nodes;
    size_t count, room;
    uint64_t bytes; /* of distinct granules, on `ordinal` */
    int ordinal;
    struct CUgraph_st *next;
};

struct step {
    CUgraphNode origin;
    struct work work;
};

struct CUgraphExec_st {
    struct step *steps; /* in order, child graphs' among them */
    size_t count;
    uint64_t bytes;
    int ordinal;
    struct CUgraphExec_st *next;
};

/* Adds a node that needs the others of the same graph. */
CUresult graph_add(CUgraph graph, const struct work *work, const CUgraphNode *needs, size_t count, CUgraphNode *added);

/* A kernel node's work, its parameters taken over. */
CUresult kernel_work(const CUDA_KERNEL_NODE_PARAMS_v2 *params, struct work *work);

/* The graph's nodes one by one such that each comes after what it needs: place `round` 1, 2, …; false: there is a circle. */
bool graph_order(CUgraph graph, CUgraphNode *ordered);

/* Memory that a graph's allocation nodes need, taken at a launch (graph_memory.c). */
CUresult graph_memory_reserve(int ordinal, uint64_t bytes);
CUresult graph_add_allocation(CUgraphNode *node, CUgraph graph, const CUgraphNode *needs, size_t count,
                              CUDA_MEM_ALLOC_NODE_PARAMS *params);

/* Does a copy or fill now, in the calling thread's context. */
CUresult copy_now(const struct work *work);

#endif
