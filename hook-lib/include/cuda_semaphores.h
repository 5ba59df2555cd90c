/* SPDX-License-Identifier: Apache-2.0 */
/* Semaphores of other APIs, and the graph nodes that signal and wait for them; from the public documentation. */
#ifndef PARTITA_CUDA_SEMAPHORES_H
#define PARTITA_CUDA_SEMAPHORES_H

#include "cuda_api.h"

typedef struct CUextSemaphore_st *CUexternalSemaphore;

#define CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD 1
#define CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD 9

typedef struct CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_st {
    int type;
    union {
        int fd;
        struct {
            void *handle;
            const void *name;
        } win32;
        const void *nvSciSyncObj;
    } handle;
    unsigned int flags, reserved[16];
} CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC;

typedef struct CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS_st {
    struct {
        struct {
            unsigned long long value;
        } fence;
        union {
            void *fence;
            unsigned long long reserved;
        } nvSciSync;
        struct {
            unsigned long long key;
        } keyedMutex;
        unsigned int reserved[12];
    } params;
    unsigned int flags, reserved[16];
} CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS;

typedef struct CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS_st {
    struct {
        struct {
            unsigned long long value;
        } fence;
        union {
            void *fence;
            unsigned long long reserved;
        } nvSciSync;
        struct {
            unsigned long long key;
            unsigned int timeoutMs;
        } keyedMutex;
        unsigned int reserved[10];
    } params;
    unsigned int flags, reserved[16];
} CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS;

typedef struct CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_st {
    CUexternalSemaphore *extSemArray;
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *paramsArray;
    unsigned int numExtSems;
} CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1;

typedef struct CUDA_EXT_SEM_WAIT_NODE_PARAMS_st {
    CUexternalSemaphore *extSemArray;
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *paramsArray;
    unsigned int numExtSems;
} CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1;

PARTITA_EXPORT CUresult cuImportExternalSemaphore(CUexternalSemaphore *semaphore,
                                                  const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *handle);
PARTITA_EXPORT CUresult cuDestroyExternalSemaphore(CUexternalSemaphore semaphore);
PARTITA_EXPORT CUresult cuSignalExternalSemaphoresAsync(const CUexternalSemaphore *semaphores,
                                                        const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params,
                                                        unsigned int count, CUstream stream);
PARTITA_EXPORT CUresult cuSignalExternalSemaphoresAsync_ptsz(const CUexternalSemaphore *semaphores,
                                                             const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params,
                                                             unsigned int count, CUstream stream);
PARTITA_EXPORT CUresult cuWaitExternalSemaphoresAsync(const CUexternalSemaphore *semaphores,
                                                      const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params,
                                                      unsigned int count, CUstream stream);
PARTITA_EXPORT CUresult cuWaitExternalSemaphoresAsync_ptsz(const CUexternalSemaphore *semaphores,
                                                           const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params,
                                                           unsigned int count, CUstream stream);

typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;

PARTITA_EXPORT CUresult cuGraphAddExternalSemaphoresSignalNode(CUgraphNode *node, CUgraph graph,
                                                               const CUgraphNode *dependencies, size_t dependencyCount,
                                                               const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 *params);
PARTITA_EXPORT CUresult cuGraphExternalSemaphoresSignalNodeGetParams(CUgraphNode node,
                                                                     CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 *params);
PARTITA_EXPORT CUresult cuGraphExternalSemaphoresSignalNodeSetParams(CUgraphNode node,
                                                                     const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 *params);
PARTITA_EXPORT CUresult cuGraphExecExternalSemaphoresSignalNodeSetParams(
    CUgraphExec exec, CUgraphNode node, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v1 *params);
PARTITA_EXPORT CUresult cuGraphAddExternalSemaphoresWaitNode(CUgraphNode *node, CUgraph graph,
                                                             const CUgraphNode *dependencies, size_t dependencyCount,
                                                             const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 *params);
PARTITA_EXPORT CUresult cuGraphExternalSemaphoresWaitNodeGetParams(CUgraphNode node,
                                                                   CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 *params);
PARTITA_EXPORT CUresult cuGraphExternalSemaphoresWaitNodeSetParams(CUgraphNode node,
                                                                   const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 *params);
PARTITA_EXPORT CUresult cuGraphExecExternalSemaphoresWaitNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                                       const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v1 *params);

#endif
