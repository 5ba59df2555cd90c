/* Graphs as far as they allocate memory; from the public documentation. */
#ifndef PARTITA_CUDA_GRAPHS_H
#define PARTITA_CUDA_GRAPHS_H

#include "cuda_pools.h"

typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;

#define CU_GRAPH_NODE_TYPE_EMPTY 5
#define CU_GRAPH_NODE_TYPE_MEM_ALLOC 10
#define CU_GRAPH_NODE_TYPE_MEM_FREE 11

#define CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD 2

/* The values are cuuint64_t. */
#define CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT 0
#define CU_GRAPH_MEM_ATTR_USED_MEM_HIGH 1
#define CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT 2
#define CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH 3

typedef struct CUDA_MEM_ALLOC_NODE_PARAMS_st {
    CUmemPoolProps poolProps;
    const void *accessDescs;
    size_t accessDescCount, bytesize;
    CUdeviceptr dptr; /* out */
} CUDA_MEM_ALLOC_NODE_PARAMS;

typedef struct CUgraphNodeParams_st {
    int type, reserved0[3];
    union {
        long long reserved1[29];
        CUDA_MEM_ALLOC_NODE_PARAMS alloc;
        struct {
            CUdeviceptr dptr;
        } free;
    };
    long long reserved2;
} CUgraphNodeParams;

typedef struct CUDA_GRAPH_INSTANTIATE_PARAMS_st {
    cuuint64_t flags;
    CUstream hUploadStream;
    CUgraphNode hErrNode_out;
    int result_out;
} CUDA_GRAPH_INSTANTIATE_PARAMS;

PARTITA_EXPORT CUresult cuGraphCreate(CUgraph *graph, unsigned int flags);
PARTITA_EXPORT CUresult cuGraphDestroy(CUgraph graph);
PARTITA_EXPORT CUresult cuGraphAddMemAllocNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                               size_t dependencyCount, CUDA_MEM_ALLOC_NODE_PARAMS *params);
PARTITA_EXPORT CUresult cuGraphAddMemFreeNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                              size_t dependencyCount, CUdeviceptr pointer);
PARTITA_EXPORT CUresult cuGraphAddNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                       size_t dependencyCount, CUgraphNodeParams *params);
PARTITA_EXPORT CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count);
PARTITA_EXPORT CUresult cuGraphNodeGetType(CUgraphNode node, int *type);
PARTITA_EXPORT CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params);
PARTITA_EXPORT CUresult cuGraphInstantiate(CUgraphExec *exec, CUgraph graph, CUgraphNode *errorNode, char *log,
                                           size_t logSize);
PARTITA_EXPORT CUresult cuGraphInstantiate_v2(CUgraphExec *exec, CUgraph graph, CUgraphNode *errorNode, char *log,
                                              size_t logSize);
PARTITA_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags);
PARTITA_EXPORT CUresult cuGraphInstantiateWithParams(CUgraphExec *exec, CUgraph graph,
                                                     CUDA_GRAPH_INSTANTIATE_PARAMS *params);
PARTITA_EXPORT CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *exec, CUgraph graph,
                                                          CUDA_GRAPH_INSTANTIATE_PARAMS *params);
PARTITA_EXPORT CUresult cuGraphUpload(CUgraphExec exec, CUstream stream);
PARTITA_EXPORT CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream);
PARTITA_EXPORT CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream);
PARTITA_EXPORT CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream);
PARTITA_EXPORT CUresult cuGraphExecDestroy(CUgraphExec exec);
PARTITA_EXPORT CUresult cuDeviceGraphMemTrim(CUdevice device);
PARTITA_EXPORT CUresult cuDeviceGetGraphMemAttribute(CUdevice device, int attribute, void *value);

#endif
