/*
 * Memory that graphs allocate. It belongs to the device, not to a graph, and is kept until it is trimmed: one account a device, as a
 * pool's. What a graph may need is known when it is instantiated: the addresses of its allocation nodes are fixed by then, and
 * allocations that do not live at once have the same ones. A launch charges beforehand what that is above the memory
 * that lies idle, or is refused.
 */
#include "cuda_graphs.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cards.h"
#include "cuda_charge.h"
#include "cuda_driver.h"
#include "lifetime.h"
#include "pool_books.h"
#include "pools.h"
#include "table.h"

enum { PAGE = 2 << 20 };

/* One device's part of what a graph needs. Key: the executable graph, with the part's number in the bits that addresses leave. */
enum { PARTS = 32, PART_SHIFT = 58 };
static struct table parts; /* -> bits 0-31 units, 32-39 device */
static uint32_t graphs_with_memory;

struct range {
    int device;
    uint64_t first, end; /* pages */
};

static int compare(const void *a, const void *b) {
    const struct range *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static uint64_t key_of(CUgraphExec exec, unsigned int part) {
    return (uint64_t)(uintptr_t)exec ^ (uint64_t)(part + 1) << PART_SHIFT;
}

/* The allocation nodes' addresses; how many, or -1 where they cannot be had. */
static int ranges_of(const CUgraphNode *nodes, size_t count, struct range *ranges) {
    int found = 0;
    for (size_t i = 0; i < count; i++) {
        CUDA_MEM_ALLOC_NODE_PARAMS alloc;
        int type;
        if (DRIVER(cuGraphNodeGetType)(nodes[i], &type) != CUDA_SUCCESS)
            return -1;
        if (type != CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            continue;
        if (DRIVER(cuGraphMemAllocNodeGetParams)(nodes[i], &alloc) != CUDA_SUCCESS)
            return -1;
        if (alloc.poolProps.location.type == CU_MEM_LOCATION_TYPE_DEVICE)
            ranges[found++] = (struct range){alloc.poolProps.location.id, alloc.dptr / PAGE,
                                             (alloc.dptr + alloc.bytesize + PAGE - 1) / PAGE};
    }
    return found;
}

/* Pages of the ranges of one device, sorted, each counted once; takes them from the front. */
static uint64_t pages_of_first_device(struct range **ranges, int *count) {
    uint64_t pages = 0, reached = 0;
    int device = (*ranges)->device;
    for (; *count > 0 && (*ranges)->device == device; ++*ranges, --*count) {
        uint64_t from = (*ranges)->first > reached ? (*ranges)->first : reached;
        if ((*ranges)->end > from) {
            pages += (*ranges)->end - from;
            reached = (*ranges)->end;
        }
    }
    return pages;
}

struct needs {
    unsigned int count;
    struct {
        int device;
        uint64_t units;
    } part[PARTS];
};

static void needs_of(CUgraph graph, struct needs *needs) {
    size_t count = 0;
    needs->count = 0;
    if (!cards_limited() || !graph || !DRIVER(cuGraphGetNodes) || !DRIVER(cuGraphNodeGetType) ||
        !DRIVER(cuGraphMemAllocNodeGetParams) || DRIVER(cuGraphGetNodes)(graph, NULL, &count) != CUDA_SUCCESS || count == 0)
        return;
    int error = errno;
    size_t size = count * (sizeof(CUgraphNode) + sizeof(struct range));
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = error;
    if (memory == MAP_FAILED)
        return;
    struct range *all = memory, *ranges = all;
    CUgraphNode *nodes = (CUgraphNode *)(all + count);
    int found = DRIVER(cuGraphGetNodes)(graph, nodes, &count) == CUDA_SUCCESS ? ranges_of(nodes, count, ranges) : -1;
    if (found > 0)
        qsort(ranges, (size_t)found, sizeof *ranges, compare);
    while (found > 0 && needs->count < PARTS) {
        needs->part[needs->count].device = ranges->device;
        needs->part[needs->count++].units = pages_of_first_device(&ranges, &found) * (PAGE / PARTITA_UNIT);
    }
    munmap(memory, size);
    errno = error;
}

static void keep_needs(CUgraphExec exec, const struct needs *needs) {
    int error = errno;
    for (unsigned int i = 0; i < needs->count; i++) {
        uint64_t former, units = needs->part[i].units < UINT32_MAX ? needs->part[i].units : UINT32_MAX;
        table_put(&parts, key_of(exec, i), (uint64_t)(needs->part[i].device & 0xff) << 32 | units, &former);
        __atomic_fetch_add(&graphs_with_memory, 1, __ATOMIC_RELAXED);
    }
    errno = error;
}

static void recall_needs(CUgraphExec exec, struct needs *needs) {
    needs->count = 0;
    if (__atomic_load_n(&graphs_with_memory, __ATOMIC_RELAXED) == 0)
        return;
    for (uint64_t value; needs->count < PARTS && (value = table_find(&parts, key_of(exec, needs->count))) != 0;) {
        needs->part[needs->count].device = (int)(value >> 32 & 0xff);
        needs->part[needs->count++].units = value & UINT32_MAX;
    }
}

/* What a launch has charged beforehand. */
struct growth {
    unsigned int count;
    struct {
        pool_id account;
        int device;
        uint64_t units;
    } part[PARTS];
};

static uint64_t idle_units(CUdevice device) {
    cuuint64_t reserved = 0, used = 0;
    if (DRIVER(cuDeviceGetGraphMemAttribute)(device, CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &reserved) != CUDA_SUCCESS ||
        DRIVER(cuDeviceGetGraphMemAttribute)(device, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used) != CUDA_SUCCESS)
        return 0;
    return reserved > used ? (reserved - used) / PARTITA_UNIT : 0;
}

static bool begin_part(struct growth *growth, CUdevice device, int card, uint64_t units) {
    pool_id account = pool_open(pools_graph_memory_of(device), card, device);
    uint64_t idle = idle_units(device), more = units > idle ? units - idle : 0;
    if (!pool_begin(account, more)) {
        /* Trimming also takes what lies idle here. */
        if (!pools_trim(card))
            return false;
        idle = idle_units(device);
        more = units > idle ? units - idle : 0;
        if (!pool_begin(account, more))
            return false;
    }
    growth->part[growth->count].account = account;
    growth->part[growth->count].device = device;
    growth->part[growth->count++].units = more;
    return true;
}

static void end(const struct growth *growth) {
    for (unsigned int i = 0; i < growth->count; i++)
        pools_read_one(growth->part[i].account, pools_graph_memory_of(growth->part[i].device), growth->part[i].units);
}

static bool begin(struct growth *growth, const struct needs *needs) {
    growth->count = 0;
    for (unsigned int i = 0; i < needs->count && DRIVER(cuDeviceGetGraphMemAttribute); i++) {
        int card = cuda_card_of(needs->part[i].device);
        if (card == CARD_UNLIMITED)
            continue;
        if (card == CARD_REFUSED || !begin_part(growth, needs->part[i].device, card, needs->part[i].units)) {
            end(growth);
            return false;
        }
    }
    return true;
}

#define INSTANTIATE(name, parameters, arguments, upload)                                                              \
    CUresult name parameters {                                                                                        \
        NEED(name);                                                                                                   \
        struct needs needs;                                                                                           \
        struct growth growth = {.count = 0};                                                                          \
        needs_of(graph, &needs);                                                                                      \
        if ((upload) && !begin(&growth, &needs))                                                                      \
            return CUDA_ERROR_OUT_OF_MEMORY;                                                                          \
        CUresult result = DRIVER(name) arguments;                                                                     \
        if (result == CUDA_SUCCESS && exec)                                                                           \
            keep_needs(*exec, &needs);                                                                                \
        end(&growth);                                                                                                 \
        return result;                                                                                                \
    }

INSTANTIATE(cuGraphInstantiate,
            (CUgraphExec *exec, CUgraph graph, CUgraphNode *errorNode, char *log, size_t logSize),
            (exec, graph, errorNode, log, logSize), false)
INSTANTIATE(cuGraphInstantiate_v2,
            (CUgraphExec *exec, CUgraph graph, CUgraphNode *errorNode, char *log, size_t logSize),
            (exec, graph, errorNode, log, logSize), false)
INSTANTIATE(cuGraphInstantiateWithFlags, (CUgraphExec *exec, CUgraph graph, unsigned long long flags),
            (exec, graph, flags), flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD)
INSTANTIATE(cuGraphInstantiateWithParams, (CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
            (exec, graph, params), params && (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD))
INSTANTIATE(cuGraphInstantiateWithParams_ptsz,
            (CUgraphExec *exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params), (exec, graph, params),
            params && (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD))

#define LAUNCH(name)                                                                                                  \
    CUresult name(CUgraphExec exec, CUstream stream) {                                                                \
        NEED(name);                                                                                                   \
        struct needs needs;                                                                                           \
        struct growth growth;                                                                                         \
        recall_needs(exec, &needs);                                                                                   \
        if (needs.count == 0)                                                                                         \
            return DRIVER(name)(exec, stream);                                                                        \
        if (!begin(&growth, &needs))                                                                                  \
            return CUDA_ERROR_OUT_OF_MEMORY;                                                                          \
        CUresult result = DRIVER(name)(exec, stream);                                                                 \
        end(&growth);                                                                                                 \
        return result;                                                                                                \
    }

LAUNCH(cuGraphLaunch)
LAUNCH(cuGraphLaunch_ptsz)
LAUNCH(cuGraphUpload)
LAUNCH(cuGraphUpload_ptsz)

CUresult cuGraphExecDestroy(CUgraphExec exec) {
    NEED(cuGraphExecDestroy);
    struct needs needs;
    recall_needs(exec, &needs);
    for (unsigned int i = 0; i < needs.count; i++)
        if (table_take(&parts, key_of(exec, i)))
            __atomic_fetch_sub(&graphs_with_memory, 1, __ATOMIC_RELAXED);
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
    graphs_with_memory = 0;
}
