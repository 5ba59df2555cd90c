/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: what their nodes are, allocate and launch; from the public documentation. */
#ifndef PARTITA_CUDA_GRAPHS_H
#define PARTITA_CUDA_GRAPHS_H

#include "cuda_events.h"
#include "cuda_launch.h"
#include "cuda_pools.h"
#include "cuda_semaphores.h"

typedef cuuint64_t CUgraphConditionalHandle;

#define CU_GRAPH_NODE_TYPE_KERNEL 0
#define CU_GRAPH_NODE_TYPE_MEMCPY 1
#define CU_GRAPH_NODE_TYPE_MEMSET 2
#define CU_GRAPH_NODE_TYPE_HOST 3
#define CU_GRAPH_NODE_TYPE_GRAPH 4
#define CU_GRAPH_NODE_TYPE_EMPTY 5
#define CU_GRAPH_NODE_TYPE_WAIT_EVENT 6
#define CU_GRAPH_NODE_TYPE_EVENT_RECORD 7
#define CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL 8
#define CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT 9
#define CU_GRAPH_NODE_TYPE_MEM_ALLOC 10
#define CU_GRAPH_NODE_TYPE_MEM_FREE 11
#define CU_GRAPH_NODE_TYPE_CONDITIONAL 13

#define CU_GRAPH_COND_ASSIGN_DEFAULT 1
#define CU_GRAPH_COND_TYPE_IF 0
#define CU_GRAPH_COND_TYPE_WHILE 1
#define CU_GRAPH_COND_TYPE_SWITCH 2

#define CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD 2

/* The values are cuuint64_t. */
#define CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT 0
#define CU_GRAPH_MEM_ATTR_USED_MEM_HIGH 1
#define CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT 2
#define CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH 3

typedef struct CUDA_MEM_ALLOC_NODE_PARAMS_v1_st {
    CUmemPoolProps poolProps;
    const void *accessDescs;
    size_t accessDescCount, bytesize;
    CUdeviceptr dptr; /* out */
} CUDA_MEM_ALLOC_NODE_PARAMS;

typedef struct CUDA_KERNEL_NODE_PARAMS_st {
    CUfunction func;
    unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void **kernelParams, **extra;
} CUDA_KERNEL_NODE_PARAMS_v1;

/* the _v2 functions, and cuGraphAddNode */
typedef struct CUDA_KERNEL_NODE_PARAMS_v2_st {
    CUfunction func;
    unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    void **kernelParams, **extra;
    CUkernel kern; /* where func is NULL */
    CUcontext ctx; /* for kern; NULL: the current one */
} CUDA_KERNEL_NODE_PARAMS_v2;

typedef struct CUDA_MEMSET_NODE_PARAMS_st {
    CUdeviceptr dst;
    size_t pitch;
    unsigned int value, elementSize;
    size_t width, height;
} CUDA_MEMSET_NODE_PARAMS;

typedef struct CUDA_HOST_NODE_PARAMS_st {
    CUhostFn fn;
    void *userData;
} CUDA_HOST_NODE_PARAMS;

typedef struct CUDA_CONDITIONAL_NODE_PARAMS {
    CUgraphConditionalHandle handle;
    int type;
    unsigned int size;
    CUgraph *phGraph_out; /* the bodies: the driver's own, as long as the node lives */
    CUcontext ctx;
} CUDA_CONDITIONAL_NODE_PARAMS;

typedef struct CUgraphEdgeData_st {
    unsigned char from_port, to_port, type, reserved[5];
} CUgraphEdgeData;

typedef enum CUgraphExecUpdateResult_enum {
    CU_GRAPH_EXEC_UPDATE_SUCCESS = 0,
    CU_GRAPH_EXEC_UPDATE_ERROR = 1,
    CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED = 2,
    CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED = 3,
    CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED = 5
} CUgraphExecUpdateResult;

typedef struct CUgraphExecUpdateResultInfo_st {
    CUgraphExecUpdateResult result;
    CUgraphNode errorNode, errorFromNode;
} CUgraphExecUpdateResultInfo;

typedef struct CUgraphNodeParams_st {
    int type, reserved0[3];
    union {
        long long reserved1[29];
        CUDA_KERNEL_NODE_PARAMS_v2 kernel;
        CUDA_MEMSET_NODE_PARAMS memset;
        CUDA_HOST_NODE_PARAMS host;
        struct {
            CUgraph graph;
        } graph;
        struct {
            CUevent event;
        } eventWait, eventRecord;
        CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 extSemSignal;
        CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 extSemWait;
        CUDA_MEM_ALLOC_NODE_PARAMS alloc;
        struct {
            CUdeviceptr dptr;
        } free;
        CUDA_CONDITIONAL_NODE_PARAMS conditional;
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
PARTITA_EXPORT CUresult cuGraphAddNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                          const CUgraphEdgeData *edges, size_t dependencyCount,
                                          CUgraphNodeParams *params);
PARTITA_EXPORT CUresult cuGraphNodeGetParams(CUgraphNode node, CUgraphNodeParams *params);
PARTITA_EXPORT CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle *handle, CUgraph graph,
                                                       CUcontext context, unsigned int defaultLaunchValue,
                                                       unsigned int flags);
PARTITA_EXPORT CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                             size_t dependencyCount, const CUDA_KERNEL_NODE_PARAMS_v1 *params);
PARTITA_EXPORT CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                                size_t dependencyCount, const CUDA_KERNEL_NODE_PARAMS_v2 *params);
PARTITA_EXPORT CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *params);
PARTITA_EXPORT CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v2 *params);
PARTITA_EXPORT CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params);
PARTITA_EXPORT CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v2 *params);
PARTITA_EXPORT CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                       const CUDA_KERNEL_NODE_PARAMS_v1 *params);
PARTITA_EXPORT CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                          const CUDA_KERNEL_NODE_PARAMS_v2 *params);
PARTITA_EXPORT CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                             size_t dependencyCount, const CUDA_MEMSET_NODE_PARAMS *params,
                                             CUcontext context);
PARTITA_EXPORT CUresult cuGraphAddHostNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                           size_t dependencyCount, const CUDA_HOST_NODE_PARAMS *params);
PARTITA_EXPORT CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                                 size_t dependencyCount, CUgraph child);
PARTITA_EXPORT CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *child);
PARTITA_EXPORT CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                            size_t dependencyCount);
PARTITA_EXPORT CUresult cuGraphAddEventRecordNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                                  size_t dependencyCount, CUevent event);
PARTITA_EXPORT CUresult cuGraphAddEventWaitNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                                size_t dependencyCount, CUevent event);
PARTITA_EXPORT CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                               size_t count);
PARTITA_EXPORT CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                                  const CUgraphEdgeData *edges, size_t count);
PARTITA_EXPORT CUresult cuGraphClone(CUgraph *clone, CUgraph graph);
PARTITA_EXPORT CUresult cuGraphDestroyNode(CUgraphNode node);
PARTITA_EXPORT CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *dependencies, size_t *count);
PARTITA_EXPORT CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode *dependencies,
                                                      CUgraphEdgeData *edges, size_t *count);
PARTITA_EXPORT CUresult cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode *errorNode,
                                          CUgraphExecUpdateResult *result);
PARTITA_EXPORT CUresult cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info);
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
