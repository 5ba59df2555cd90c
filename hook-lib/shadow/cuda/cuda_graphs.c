/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that graphs allocate. It belongs to the device, not to a graph, and is kept until it is trimmed: one account a
 * device, as a pool's. What a graph may need is known when it is instantiated: the addresses of its allocation nodes
 * are fixed by then, and allocations that do not live at once have the same ones. A launch claims that, and charges
 * beforehand what the device's graph memory may grow by for it (graph_claims.h), or is refused.
 */
#include "cuda_graphs.h"

#include <errno.h>

#include "common/atomics.h"
#include "common/lifetime.h"
#include "common/table.h"
#include "cuda/cuda_charge.h"
#include "cuda/cuda_driver.h"
#include "cuda/cuda_timing.h"
#include "cuda/graph_claims.h"
#include "cuda/graph_needs.h"
#include "cuda/pool_books.h"
#include "cuda/pools.h"
#include "share/cards.h"

/*
 * One device's part of what a graph needs. Key: the executable graph, with the part's number in the bits that addresses
 * leave.
 */
enum { PART_SHIFT = 58 };
static struct table parts; /* -> bits 0-31 units, 32-39 device */
static struct table notes; /* -> what is known of its last launch (graph_claims.h) */
enum { DEVICE_SHIFT = 32 };
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
        table_take(&notes, part_key(exec, i));
        kept = table_put(&parts, part_key(exec, i), (uint64_t)(needs->part[i].device & 0xff) << DEVICE_SHIFT | units,
                         &former);
        if (kept)
            __atomic_fetch_add(&graphs_with_memory, 1, __ATOMIC_RELAXED);
    }
    errno = error;
    return kept;
}

/* Without memory for it nothing is known. */
static void note_launch(CUgraphExec exec, unsigned int part, uint64_t note) {
    uint64_t former;
    int error = errno;
    if (note && !table_put(&notes, part_key(exec, part), note, &former))
        table_take(&notes, part_key(exec, part));
    if (!table_find(&parts, part_key(exec, part)))
        table_take(&notes, part_key(exec, part)); /* it was destroyed meanwhile */
    errno = error;
}

static void forget_needs(CUgraphExec exec, unsigned int count) {
    table_take(&kernels_of, (uint64_t)(uintptr_t)exec);
    for (unsigned int i = 0; i < count; i++) {
        if (table_take(&parts, part_key(exec, i)))
            __atomic_fetch_sub(&graphs_with_memory, 1, __ATOMIC_RELAXED);
        table_take(&notes, part_key(exec, i));
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
        unsigned int number; /* of the graph's parts */
        uint64_t units;      /* charged beforehand */
        struct graph_claim claim;
        uint64_t noted;
        bool alone;
    } part[GRAPH_PARTS];
};

static bool graph_memory_is(CUdevice device, int attribute, uint64_t *units) {
    cuuint64_t bytes = 0;
    CUresult result = DRIVER(cuDeviceGetGraphMemAttribute)(device, attribute, &bytes);
    *units = bytes / PARTITA_UNIT;
    return result == CUDA_SUCCESS;
}

static bool read_reserved(CUdevice device, struct graph_reading *reading) {
    *reading = (struct graph_reading){.number = graph_reading_number()};
    return graph_memory_is(device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reading->reserved);
}

/* Where the driver does not say it, all is. */
static void read_used(CUdevice device, struct graph_reading *reading) {
    reading->uses_known = true;
    if (!graph_memory_is(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &reading->used))
        reading->used = reading->reserved;
}

/* What the device's graph memory may grow by. */
static uint64_t claim_part(CUdevice device, uint64_t units, uint64_t noted, struct graph_claim *claim) {
    struct graph_reading reading;
    uint64_t more;
    *claim = (struct graph_claim){.settled = true};
    if (!read_reserved(device, &reading))
        return units;
    if (!graph_claim(device, &reading, units, noted, claim, &more)) {
        read_used(device, &reading);
        graph_claim(device, &reading, units, noted, claim, &more);
    }
    return more;
}

/*
 * False: the quota does not allow what a launch may take. Else the launch is alone where it can be: the driver does not
 * give up meanwhile what it counts on.
 */
static bool charge_part(pool_id account, CUdevice device, uint64_t units, uint64_t noted, struct graph_claim *claim,
                        uint64_t *more, bool *alone) {
    *alone = pool_call_alone(account);
    *more = claim_part(device, units, noted, claim);
    bool begun = pool_begin(account, *more);
    if (!begun)
        graph_claim_undo(device, claim);
    if (!begun && *alone)
        pool_call_alone_end(account);
    return begun;
}

static bool begin_part(struct growth *growth, CUgraphExec exec, CUdevice device, int card, uint64_t units,
                       unsigned int part) {
    pool_id account = pool_open(pools_graph_memory_of(device), card, device);
    uint64_t more, noted = exec ? table_find(&notes, part_key(exec, part)) : 0;
    struct graph_claim claim;
    bool alone;
    if (!charge_part(account, device, units, noted, &claim, &more, &alone) &&
        /* Trimming also takes what lies idle here. */
        (!pools_trim(card) || !charge_part(account, device, units, noted, &claim, &more, &alone)))
        return cards_refuse(card);
    growth->part[growth->count].alone = alone;
    growth->part[growth->count].account = account;
    growth->part[growth->count].device = device;
    growth->part[growth->count].number = part;
    growth->part[growth->count].claim = claim;
    growth->part[growth->count].noted = noted;
    growth->part[growth->count++].units = more;
    return true;
}

/* exec NULL: of a graph that was not known. */
static void end_part(CUdevice device, const struct graph_claim *claim, CUgraphExec exec, unsigned int part,
                     uint64_t noted) {
    struct graph_reading reading;
    bool read = !claim->settled && read_reserved(device, &reading);
    if (read)
        read_used(device, &reading);
    uint64_t note = graph_claim_launched(device, claim, read ? &reading : NULL);
    if (exec && note != noted)
        note_launch(exec, part, note);
}

static void end_growth(const struct growth *growth, CUgraphExec exec, CUresult result) {
    for (unsigned int i = 0; i < growth->count; i++) {
        CUdevice device = growth->part[i].device;
        pools_end_call(growth->part[i].account, pools_graph_memory_of(device), growth->part[i].units, result);
        if (result == CUDA_SUCCESS)
            end_part(device, &growth->part[i].claim, exec, growth->part[i].number, growth->part[i].noted);
        else
            graph_claim_undo(device, &growth->part[i].claim);
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
        end_growth(&growth, result == CUDA_SUCCESS && exec ? *exec : NULL, result);                                    \
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
    table_clear(&notes);
    table_clear(&kernels_of);
    graphs_with_memory = 0;
    graph_claims_forget();
}
