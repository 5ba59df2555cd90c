/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver that has graphs which allocate, and nothing else. How many MiB one needs is its graph's handle. It runs
 * until the test says that it is done. What CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT counts can be read in two ways: what is
 * mapped by a graph, done or not, until that is destroyed or trimmed; or what graphs use that run. A driver that tells
 * late counts a launch from when it begins, not from the call: until the test says so, or that it is done, it waits.
 * The call itself may take its time: one whose graph is held up takes its memory when the test lets it go on.
 */
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "cuda_api.h"
#include "cuda_graphs.h"

enum { EXECS = 8 };
static const cuuint64_t MIB = 1 << 20;

static struct exec {
    cuuint64_t needs;
    bool exists, waits, runs, maps, told; /* waits: for its begin; told: that it maps */
} execs[EXECS];
static cuuint64_t reserved, most;
static unsigned int trims;
static bool mapped_counts, late;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t goes_on = PTHREAD_COND_INITIALIZER;
static CUgraphExec held_up;
static bool holding_up;

PARTITA_EXPORT void graphs_driver_mapped_counts(bool counts);
PARTITA_EXPORT void graphs_driver_tells_late(void);
PARTITA_EXPORT void graphs_driver_begins(CUgraphExec exec);
PARTITA_EXPORT void graphs_driver_hold_up(CUgraphExec exec);
PARTITA_EXPORT bool graphs_driver_holds_up(void);
PARTITA_EXPORT size_t graphs_driver_most(void);
PARTITA_EXPORT unsigned int graphs_driver_trims(void);
PARTITA_EXPORT void graphs_driver_done(CUgraphExec exec);

void graphs_driver_mapped_counts(bool counts) {
    mapped_counts = counts;
}

void graphs_driver_tells_late(void) {
    late = true;
}

static struct exec *exec_of(CUgraphExec exec) {
    uintptr_t number = (uintptr_t)exec / 4096;
    return number >= 1 && number <= EXECS && execs[number - 1].needs ? &execs[number - 1] : NULL;
}

static bool holds(const struct exec *exec) {
    return mapped_counts ? exec->maps : exec->runs || exec->waits;
}

static bool counts(const struct exec *exec) {
    return mapped_counts ? exec->maps && exec->told : exec->runs;
}

static cuuint64_t sum_of(bool (*wanted)(const struct exec *exec)) {
    cuuint64_t sum = 0;
    for (int i = 0; i < EXECS; i++)
        sum += wanted(&execs[i]) ? execs[i].needs : 0;
    return sum;
}

/* One that was destroyed while it ran. */
static void end_if_over(struct exec *exec) {
    if (!exec->exists && !exec->runs && !exec->waits)
        memset(exec, 0, sizeof *exec);
}

static void begin(struct exec *exec) {
    exec->runs |= exec->waits;
    exec->told |= exec->runs;
    exec->waits = false;
}

void graphs_driver_begins(CUgraphExec exec) {
    pthread_mutex_lock(&lock);
    struct exec *begun = exec_of(exec);
    if (begun && !begun->runs)
        begin(begun);
    pthread_mutex_unlock(&lock);
}

void graphs_driver_done(CUgraphExec exec) {
    pthread_mutex_lock(&lock);
    struct exec *done = exec_of(exec);
    if (done) {
        if (!done->runs)
            begin(done);
        done->runs = false;
        end_if_over(done);
    }
    pthread_mutex_unlock(&lock);
}

void graphs_driver_hold_up(CUgraphExec exec) {
    pthread_mutex_lock(&lock);
    held_up = exec;
    pthread_cond_broadcast(&goes_on);
    pthread_mutex_unlock(&lock);
}

bool graphs_driver_holds_up(void) {
    pthread_mutex_lock(&lock);
    bool holds = holding_up;
    pthread_mutex_unlock(&lock);
    return holds;
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
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&lock);
    for (uintptr_t i = 0; i < EXECS && !flags && result != CUDA_SUCCESS; i++)
        if (!execs[i].needs) {
            execs[i] = (struct exec){.needs = (uintptr_t)graph * MIB, .exists = true};
            *exec = (CUgraphExec)((i + 1) * 4096);
            result = CUDA_SUCCESS;
        }
    pthread_mutex_unlock(&lock);
    return result;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    pthread_mutex_lock(&lock);
    while (exec && exec == held_up) {
        holding_up = true;
        pthread_cond_wait(&goes_on, &lock);
        holding_up = false;
    }
    struct exec *launched = exec_of(exec);
    bool valid = launched && !stream;
    if (valid) {
        cuuint64_t needed = sum_of(holds) + (holds(launched) ? 0 : launched->needs);
        reserved = needed > reserved ? needed : reserved;
        most = reserved > most ? reserved : most;
        launched->waits = launched->maps = true;
        if (!late)
            begin(launched);
    }
    pthread_mutex_unlock(&lock);
    return valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
    pthread_mutex_lock(&lock);
    struct exec *destroyed = exec_of(exec);
    bool valid = destroyed && destroyed->exists;
    if (valid) {
        destroyed->exists = false;
        end_if_over(destroyed);
    }
    pthread_mutex_unlock(&lock);
    return valid ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGraphMemTrim(CUdevice device) {
    pthread_mutex_lock(&lock);
    trims++;
    for (int i = 0; i < EXECS; i++) {
        execs[i].maps &= execs[i].runs || execs[i].waits;
        execs[i].told &= execs[i].maps;
    }
    reserved = sum_of(holds);
    pthread_mutex_unlock(&lock);
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, int attribute, void *value) {
    pthread_mutex_lock(&lock);
    *(cuuint64_t *)value = attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT ? reserved
                           : attribute == CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT   ? sum_of(counts)
                                                                               : most;
    pthread_mutex_unlock(&lock);
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}
