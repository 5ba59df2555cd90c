#include "graph_needs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cards.h"
#include "cuda_driver.h"
#include "growing.h"

enum { PAGE = 2 << 20 };

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

/*
 * The addresses of a graph's allocation nodes, those of the graphs within it included; and how many of its own nodes use the SMs. A child
 * graph and a conditional node may do so many times; they count as one.
 */
struct ranges_found {
    struct range *at;
    uint32_t room, count, kernels;
    bool no_memory;
};

enum { DEEPEST = 64 };

static bool add_range(struct ranges_found *found, CUgraphNode node) {
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    if (DRIVER(cuGraphMemAllocNodeGetParams)(node, &alloc) != CUDA_SUCCESS)
        return false;
    int device = cuda_device_of_memory(alloc.poolProps.allocType, &alloc.poolProps.location);
    if (device < 0)
        return true;
    found->no_memory =
        found->count == found->room && !growing_more((void **)&found->at, &found->room, sizeof *found->at);
    if (found->no_memory)
        return false;
    found->at[found->count++] =
        (struct range){device, alloc.dptr / PAGE, (alloc.dptr + alloc.bytesize + PAGE - 1) / PAGE};
    return true;
}

static bool find_ranges(CUgraph graph, struct ranges_found *found, int depth) {
    size_t count = 0;
    if (depth > DEEPEST || DRIVER(cuGraphGetNodes)(graph, NULL, &count) != CUDA_SUCCESS)
        return false;
    if (count == 0)
        return true;
    size_t size = count * sizeof(CUgraphNode);
    CUgraphNode *nodes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    found->no_memory = nodes == MAP_FAILED;
    if (found->no_memory)
        return false;
    bool ok = DRIVER(cuGraphGetNodes)(graph, nodes, &count) == CUDA_SUCCESS;
    for (size_t i = 0; i < count && ok; i++) {
        CUgraph inner;
        int type;
        ok = DRIVER(cuGraphNodeGetType)(nodes[i], &type) == CUDA_SUCCESS;
        if (ok && depth == 0)
            found->kernels += type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_GRAPH ||
                              type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
        if (ok && type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            ok = add_range(found, nodes[i]);
        else if (ok && type == CU_GRAPH_NODE_TYPE_GRAPH && DRIVER(cuGraphChildGraphNodeGetGraph))
            ok = DRIVER(cuGraphChildGraphNodeGetGraph)(nodes[i], &inner) == CUDA_SUCCESS &&
                 find_ranges(inner, found, depth + 1);
    }
    munmap(nodes, size);
    return ok;
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

bool graph_needs_of(CUgraph graph, struct graph_needs *needs) {
    struct ranges_found found = {NULL, 0, 0, 0, false};
    needs->count = 0;
    needs->kernels = UINT32_MAX;
    if (!cards_limited() || !graph || !DRIVER(cuGraphGetNodes) || !DRIVER(cuGraphNodeGetType) ||
        !DRIVER(cuGraphMemAllocNodeGetParams))
        return true;
    int error = errno;
    bool known = find_ranges(graph, &found, 0);
    if (known)
        needs->kernels = found.kernels;
    if (known && found.count > 0) {
        struct range *ranges = found.at;
        int count = (int)found.count;
        qsort(ranges, found.count, sizeof *ranges, compare);
        while (count > 0 && needs->count < GRAPH_PARTS) {
            needs->part[needs->count].device = ranges->device;
            needs->part[needs->count++].units = pages_of_first_device(&ranges, &count) * (PAGE / PARTITA_UNIT);
        }
    }
    if (found.room)
        munmap(found.at, found.room * sizeof *found.at);
    errno = error;
    return !found.no_memory;
}
