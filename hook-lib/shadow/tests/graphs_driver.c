/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver that has graphs which allocate, and nothing else. How many MiB one needs is its graph's handle. It runs
 * until the test says that it is done. What CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT counts can be read in two ways: what is
 * mapped by a graph, done or not, until that is destroyed or trimmed; or what graphs use that run.
 */
#include <stdbool.h>
#include <string.h>

#include "cuda_api.h"
#include "cuda_graphs.h"

enum { EXECS = 8 };
static const cuuint64_t MIB = 1 << 20;

static struct exec {
    cuuint64_t needs;
    bool exists, runs, maps;
} execs[EXECS];
static cuuint64_t reserved, most;
static unsigned int trims;
static bool mapped_counts;

PARTITA_EXPORT void graphs_driver_mapped_counts(bool counts);
PARTITA_EXPORT void graphs_driver_done(CUgraphExec exec);
PARTITA_EXPORT size_t graphs_driver_most(void);
PARTITA_EXPORT unsigned int graphs_driver_trims(void);

void graphs_driver_mapped_counts(bool counts) {
    mapped_counts = counts;
}

static struct exec *exec_of(CUgraphExec exec) {
    uintptr_t number = (uintptr_t)exec / 4096;
    return number >= 1 && number <= EXECS && execs[number - 1].needs ? &execs[number - 1] : NULL;
}

static bool counts(const struct exec *exec) {
    return mapped_counts ? exec->maps : exec->runs;
}

static cuuint64_t used(void) {
    cuuint64_t sum = 0;
    for (int i = 0; i < EXECS; i++)
        sum += counts(&execs[i]) ? execs[i].needs : 0;
    return sum;
}

/* One that was destroyed while it ran. */
static void end_if_over(struct exec *exec) {
    if (!exec->exists && !exec->runs)
        memset(exec, 0, sizeof *exec);
}

void graphs_driver_done(CUgraphExec exec) {
    struct exec *done = exec_of(exec);
    if (done) {
        done->runs = false;
        end_if_over(done);
    }
}

size_t graphs_driver_most(void) {
    return most;
}

unsigned int graphs_driver_trims(void) {
    return trims;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) {
    for (int i = 0; i < 16; i++)
        uuid->bytes[i] = (char)(i + device);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device) {
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    *total = 64 * 1024 * MIB;
    *free = *total - reserved;
    return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    if (nodes)
        nodes[0] = (CUgraphNode)(void *)graph;
    *count = 1;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, int *type) {
    *type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    return node ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    *params = (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = (uintptr_t)node * MIB,
        .dptr = 1 << 30};
    return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    for (uintptr_t i = 0; i < EXECS && !flags; i++)
        if (!execs[i].needs) {
            execs[i] = (struct exec){.needs = (uintptr_t)graph * MIB, .exists = true};
            *exec = (CUgraphExec)((i + 1) * 4096);
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    struct exec *launched = exec_of(exec);
    if (!launched || stream)
        return CUDA_ERROR_INVALID_VALUE;
    cuuint64_t needed = used() + (counts(launched) ? 0 : launched->needs);
    reserved = needed > reserved ? needed : reserved;
    most = reserved > most ? reserved : most;
    launched->runs = launched->maps = true;
    return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
    struct exec *destroyed = exec_of(exec);
    if (!destroyed || !destroyed->exists)
        return CUDA_ERROR_INVALID_VALUE;
    destroyed->exists = false;
    end_if_over(destroyed);
    return CUDA_SUCCESS;
}

CUresult cuDeviceGraphMemTrim(CUdevice device) {
    trims++;
    for (int i = 0; i < EXECS; i++)
        execs[i].maps &= execs[i].runs;
    reserved = used();
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, int attribute, void *value) {
    *(cuuint64_t *)value = attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT ? reserved
                           : attribute == CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT   ? used()
                                                                               : most;
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}
