/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that graphs allocate. It belongs to the device, not to a graph, and is kept until it is trimmed: one account a
 * device, as a pool's. What a graph may need is known when it is instantiated: the addresses of its allocation nodes
 * are fixed by then, and allocations that do not live at once have the same ones. A launch charges beforehand what that
 * is above the memory that lies idle, or is refused. A graph whose memory is still mapped needs no more
 * (graph_mapped.h).
 */
#include "cuda_graphs.h"

#include <errno.h>

#include "common/atomics.h"
#include "common/lifetime.h"
#include "common/table.h"
#include "cuda/cuda_charge.h"
#include "cuda/cuda_driver.h"
#include "cuda/cuda_timing.h"
#include "cuda/graph_mapped.h"
#include "cuda/graph_needs.h"
#include "cuda/pool_books.h"
#include "cuda/pools.h"
#include "share/cards.h"

/*
 * One device's part of what a graph needs. Key: the executable graph, with the part's number in the bits that addresses
 * leave.
 */
enum { PART_SHIFT = 58 };
static struct table parts; /* -> bits 0-31 units, 32-39 device, 40-63 of which account it is known to be mapped */
enum { DEVICE_SHIFT = 32, NOTED_SHIFT = 40 };
static uint32_t graphs_with_memory;

static struct table kernels_of; /* executable graph -> kernels in it + 1, and whether a launch may take any time */
enum { OPEN_ENDED_SHIFT = 32 };

static uint64_t part_key(CUgraphExec exec, unsigned int part) {
    return (uint64_t)(uintptr_t)exec ^ (uint64_t)(part + 1) << PART_SHIFT;
}

/* False: no memory for what its launches have to be charged. Of kernels that are not known one is timed. */
static bool keep_needs(CUgraphExec exec, const struct graph_needs *needs) {
    int error = errno;
    uint64_t former;
    bool kept = true;
    if (needs->kernels != UINT32_MAX)
        table_put(&kernels_of, (uint64_t)(uintptr_t)exec,
                  ((uint64_t)needs->kernels + 1) | (uint64_t)needs->open_ended << OPEN_ENDED_SHIFT, &former);
    for (unsigned int i = 0; i < needs->count && kept; i++) {
        uint64_t units = needs->part[i].units < UINT32_MAX ? needs->part[i].units : UINT32_MAX;
        kept = table_put(&parts, part_key(exec, i), (uint64_t)(needs->part[i].device & 0xff) << DEVICE_SHIFT | units,
                         &former);
        if (kept)
            __atomic_fetch_add(&graphs_with_memory, 1, __ATOMIC_RELAXED);
    }
    errno = error;
    return kept;
}

static uint32_t noted_of(CUgraphExec exec, unsigned int part) {
    return (uint32_t)(table_find(&parts, part_key(exec, part)) >> NOTED_SHIFT);
}

static void note_part(CUgraphExec exec, unsigned int part, uint32_t noted) {
    uint64_t former, value = table_find(&parts, part_key(exec, part));
    uint64_t without = value & ((UINT64_C(1) << NOTED_SHIFT) - 1);
    if (value && table_put(&parts, part_key(exec, part), without | (uint64_t)noted << NOTED_SHIFT, &former) && !former)
        table_take(&parts, part_key(exec, part)); /* it was destroyed meanwhile */
}

static void forget_needs(CUgraphExec exec, unsigned int count) {
    table_take(&kernels_of, (uint64_t)(uintptr_t)exec);
    for (unsigned int i = 0; i < count; i++) {
        uint64_t value = table_take(&parts, part_key(exec, i));
        if (value)
            __atomic_fetch_sub(&graphs_with_memory, 1, __ATOMIC_RELAXED);
        graph_mapped_destroyed((CUdevice)(value >> DEVICE_SHIFT & 0xff), value & UINT32_MAX,
                               (uint32_t)(value >> NOTED_SHIFT));
    }
}

/* A graph of which it cannot be known what it needs is not launched. */
static CUresult keep_or_undo(CUgraphExec *exec, CUgraphExec former, const struct graph_needs *needs) {
    if (keep_needs(*exec, needs))
        return CUDA_SUCCESS;
    forget_needs(*exec, needs->count);
    if (DRIVER(cuGraphExecDestroy))
        DRIVER(cuGraphExecDestroy)(*exec);
    *exec = former;
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* What its launches are timed as. */
static void recall_kernels(CUgraphExec exec, struct graph_needs *needs) {
    uint64_t value = table_find(&kernels_of, (uint64_t)(uintptr_t)exec);
    needs->kernels = (uint32_t)value - 1; /* not noted: UINT32_MAX */
    needs->open_ended = value >> OPEN_ENDED_SHIFT;
}

static void recall_needs(CUgraphExec exec, struct graph_needs *needs) {
    needs->count = 0;
    if (load_relaxed(&graphs_with_memory) == 0)
        return;
    for (uint64_t value;
         needs->count < GRAPH_PARTS && (value = table_find(&parts, part_key(exec, needs->count))) != 0;) {
        needs->part[needs->count].device = (int)(value >> DEVICE_SHIFT & 0xff);
        needs->part[needs->count++].units = value & UINT32_MAX;
    }
}

/* What a launch has charged beforehand. */
struct growth {
    unsigned int count;
    struct {
        pool_id account;
        int device;
        unsigned int number;    /* of the graph's parts */
        uint64_t needed, units; /* by the graph, and charged beforehand */
        bool alone;
    } part[GRAPH_PARTS];
};

static bool graph_memory_is(CUdevice device, int attribute, uint64_t *units) {
    cuuint64_t bytes = 0;
    CUresult result = DRIVER(cuDeviceGetGraphMemAttribute)(device, attribute, &bytes);
    *units = bytes / PARTITA_UNIT;
    return result == CUDA_SUCCESS;
}

/* What the device's graph memory may grow by when a graph is launched. NULL: an upload of one that is being made. */
static uint64_t growth_of(CUgraphExec exec, unsigned int part, CUdevice device, uint64_t units) {
    uint64_t reserved, used;
    if (!graph_memory_is(device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved) ||
        !graph_memory_is(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used))
        return units;
    uint32_t number = graph_mapped_before(device, used), noted = exec ? noted_of(exec, part) : 0;
    if (noted != 0 && noted == number)
        return 0;
    uint64_t idle = reserved > used ? reserved - used : 0;
    return units > idle ? units - idle : 0;
}

/*
 * False: the quota does not allow what a launch may take. Else the launch is alone where it can be, so that no other
 * one counts on the same idle memory.
 */
static bool charge_part(pool_id account, CUgraphExec exec, unsigned int part, CUdevice device, uint64_t units,
                        uint64_t *more, bool *alone) {
    *alone = pool_call_alone(account);
    *more = growth_of(exec, part, device, units);
    bool begun = pool_begin(account, *more);
    if (!begun && *alone)
        pool_call_alone_end(account);
    return begun;
}

static bool begin_part(struct growth *growth, CUgraphExec exec, CUdevice device, int card, uint64_t units,
                       unsigned int part) {
    pool_id account = pool_open(pools_graph_memory_of(device), card, device);
    uint64_t more;
    bool alone;
    if (!charge_part(account, exec, part, device, units, &more, &alone) &&
        /* Trimming also takes what lies idle here. */
        (!pools_trim(card) || !charge_part(account, exec, part, device, units, &more, &alone)))
        return cards_refuse(card);
    growth->part[growth->count].alone = alone;
    growth->part[growth->count].account = account;
    growth->part[growth->count].device = device;
    growth->part[growth->count].number = part;
    growth->part[growth->count].needed = units;
    growth->part[growth->count++].units = more;
    return true;
}

static void end_part(CUgraphExec exec, unsigned int part, CUdevice device, uint64_t units) {
    uint64_t used;
    if (!graph_memory_is(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used))
        return;
    uint32_t noted = exec ? noted_of(exec, part) : 0, now = graph_mapped_after(device, used, exec ? units : 0, noted);
    if (exec && now != noted)
        note_part(exec, part, now);
}

/* NULL: what was launched did not begin, or is not known. */
static void end_growth(const struct growth *growth, CUgraphExec exec, CUresult result) {
    for (unsigned int i = 0; i < growth->count; i++) {
        CUdevice device = growth->part[i].device;
        pools_end_call(growth->part[i].account, pools_graph_memory_of(device), growth->part[i].units, result);
        end_part(result == CUDA_SUCCESS ? exec : NULL, growth->part[i].number, device, growth->part[i].needed);
        if (growth->part[i].alone)
            pool_call_alone_end(growth->part[i].account);
    }
}

static bool begin_growth(struct growth *growth, CUgraphExec exec, const struct graph_needs *needs) {
    growth->count = 0;
    for (unsigned int i = 0; i < needs->count && DRIVER(cuDeviceGetGraphMemAttribute); i++) {
        int card = cuda_card_of(needs->part[i].device);
        if (card == CARD_UNLIMITED)
            continue;
        if (card == CARD_REFUSED || !begin_part(growth, exec, needs->part[i].device, card, needs->part[i].units, i)) {
            end_growth(growth, NULL, CUDA_ERROR_OUT_OF_MEMORY);
            return false;
        }
    }
    return true;
}

#define INSTANTIATE(name, parameters, arguments, upload)                                                               \
    CUresult name parameters {                                                                                         \
        NEED(name);                                                                                                    \
        struct graph_needs needs;                                                                                      \
        struct growth growth = {.count = 0};                                                                           \
        if (!graph_needs_of(graph, &needs) || ((upload) && !begin_growth(&growth, NULL, &needs)))                      \
            return CUDA_ERROR_OUT_OF_MEMORY;                                                                           \
        CUgraphExec former = exec ? *exec : NULL;                                                                      \
        CUresult result = DRIVER(name) arguments;                                                                      \
        if (result == CUDA_SUCCESS && exec)                                                                            \
            result = keep_or_undo(exec, former, &needs);                                                               \
        end_growth(&growth, NULL, result);                                                                             \
        return result;                                                                                                 \
    }

INSTANTIATE(cuGraphInstantiate, (CUgraphExec *exec, CUgraph graph, CUgraphNode *errorNode, char *log, size_t logSize),
            (exec, graph, errorNode, log, logSize), false)
INSTANTIATE(cuGraphInstantiate_v2,
            (CUgraphExec *exec, CUgraph graph, CUgraphNode *errorNode, char *log, size_t logSize),
            (exec, graph, errorNode, log, logSize), false)
INSTANTIATE(cuGraphInstantiateWithFlags, (CUgraphExec *exec, CUgraph graph, unsigned long long flags),
            (exec, graph, flags), (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) != 0)
INSTANTIATE(cuGraphInstantiateWithParams, (CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
            (exec, graph, params), params && (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD))
INSTANTIATE(cuGraphInstantiateWithParams_ptsz,
            (CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params), (exec, graph, params),
            params && (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD))

static CUresult launch_timed(CUresult (*function)(CUgraphExec, CUstream), CUgraphExec exec, CUstream stream,
                             bool per_thread) {
    struct graph_needs needs;
    recall_kernels(exec, &needs);
    if (needs.kernels == 0) {
        timing_before_stream_work(stream, per_thread);
        return function(exec, stream);
    }
    struct timed_launch launch = {.open_ended = needs.open_ended};
    timing_begin(&launch, stream, per_thread);
    CUresult result = function(exec, stream);
    timing_end(&launch, needs.kernels != UINT32_MAX ? needs.kernels : 1, result);
    return result;
}

#define START(name, per_thread)                                                                                        \
    static CUresult start_##name(CUgraphExec exec, CUstream stream) {                                                  \
        return timing_watch() ? launch_timed(DRIVER(name), exec, stream, per_thread) : DRIVER(name)(exec, stream);     \
    }

START(cuGraphLaunch, false)
START(cuGraphLaunch_ptsz, true)

#define LAUNCH(name, start)                                                                                            \
    CUresult name(CUgraphExec exec, CUstream stream) {                                                                 \
        NEED(name);                                                                                                    \
        struct graph_needs needs;                                                                                      \
        struct growth growth;                                                                                          \
        recall_needs(exec, &needs);                                                                                    \
        if (needs.count == 0)                                                                                          \
            return start(exec, stream);                                                                                \
        if (!begin_growth(&growth, exec, &needs))                                                                      \
            return CUDA_ERROR_OUT_OF_MEMORY;                                                                           \
        CUresult result = start(exec, stream);                                                                         \
        end_growth(&growth, exec, result);                                                                             \
        return result;                                                                                                 \
    }

LAUNCH(cuGraphLaunch, start_cuGraphLaunch)
LAUNCH(cuGraphLaunch_ptsz, start_cuGraphLaunch_ptsz)
LAUNCH(cuGraphUpload, DRIVER(cuGraphUpload))
LAUNCH(cuGraphUpload_ptsz, DRIVER(cuGraphUpload_ptsz))

CUresult cuGraphExecDestroy(CUgraphExec exec) {
    NEED(cuGraphExecDestroy);
    struct graph_needs needs;
    recall_needs(exec, &needs);
    recall_kernels(exec, &needs);
    forget_needs(exec, needs.count);
    CUresult result = DRIVER(cuGraphExecDestroy)(exec);
    if (result != CUDA_SUCCESS)
        keep_needs(exec, &needs);
    return result;
}

CUresult cuDeviceGraphMemTrim(CUdevice device) {
    NEED(cuDeviceGraphMemTrim);
    CUresult result = DRIVER(cuDeviceGraphMemTrim)(device);
    int card;
    pool_id account = pool_find(pools_graph_memory_of(device), &card);
    if (result == CUDA_SUCCESS && account)
        pools_read_one(account, pools_graph_memory_of(device), 0);
    return result;
}

void graphs_forget(void) {
    table_clear(&parts);
    table_clear(&kernels_of);
    graphs_with_memory = 0;
    graph_mapped_forget();
}
