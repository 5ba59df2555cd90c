/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/graph_needs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "common/growing.h"
#include "cuda/cuda_driver.h"
#include "share/cards.h"

enum { PAGE = 2 << 20 };

struct range {
    int device;
    uint64_t first, end; /* pages */
};

static int compare_ranges(const void *a, const void *b) {
    const struct range *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/*
 * What is found in a graph and in all that is within it, however deep: child graphs and the bodies of conditional
 * nodes. Each belongs to one node, so each is looked at once; a list of those that are still to be looked at takes the
 * place of calls within calls.
 */
struct walk {
    CUgraph *graphs;
    uint32_t graphs_room, graphs_count, graphs_done;
    struct range *ranges;
    uint32_t ranges_room, ranges_count;
    uint64_t kernels;
    bool open_ended, no_memory;
};

enum { KERNELS_MAX = 1 << 24 };

static void add_graph(struct walk *walk, CUgraph graph) {
    if (!graph || walk->no_memory)
        return;
    walk->no_memory = walk->graphs_count == walk->graphs_room &&
                      !growing_more((void **)&walk->graphs, &walk->graphs_room, sizeof *walk->graphs);
    if (!walk->no_memory)
        walk->graphs[walk->graphs_count++] = graph;
}

static void add_range(struct walk *walk, CUgraphNode node) {
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    if (DRIVER(cuGraphMemAllocNodeGetParams)(node, &alloc) != CUDA_SUCCESS)
        return;
    int device = cuda_device_of_memory(alloc.poolProps.allocType, &alloc.poolProps.location);
    if (device < 0)
        return;
    walk->no_memory = walk->ranges_count == walk->ranges_room &&
                      !growing_more((void **)&walk->ranges, &walk->ranges_room, sizeof *walk->ranges);
    if (!walk->no_memory)
        walk->ranges[walk->ranges_count++] =
            (struct range){device, alloc.dptr / PAGE, (alloc.dptr + alloc.bytesize + PAGE - 1) / PAGE};
}

/* One that cannot be looked into counts as a kernel. */
static void add_child(struct walk *walk, CUgraphNode node) {
    CUgraph child = NULL;
    if (DRIVER(cuGraphChildGraphNodeGetGraph) && DRIVER(cuGraphChildGraphNodeGetGraph)(node, &child) == CUDA_SUCCESS &&
        child)
        add_graph(walk, child);
    else
        walk->kernels++;
}

/*
 * Drivers tell what bodies a conditional node has since CUDA 13.2; an older one's may hold any number of kernels, and
 * nothing that allocates.
 */
static void add_bodies(struct walk *walk, CUgraphNode node) {
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    walk->open_ended = true;
    if (!DRIVER(cuGraphNodeGetParams) || DRIVER(cuGraphNodeGetParams)(node, &params) != CUDA_SUCCESS ||
        params.type != CU_GRAPH_NODE_TYPE_CONDITIONAL || !params.conditional.phGraph_out) {
        walk->kernels++;
        return;
    }
    for (unsigned int i = 0; i < params.conditional.size; i++)
        add_graph(walk, params.conditional.phGraph_out[i]);
}

static bool look_at_nodes(struct walk *walk, CUgraph graph, CUgraphNode *nodes, size_t count) {
    if (DRIVER(cuGraphGetNodes)(graph, nodes, &count) != CUDA_SUCCESS)
        return false;
    for (size_t i = 0; i < count && !walk->no_memory; i++) {
        int type;
        if (DRIVER(cuGraphNodeGetType)(nodes[i], &type) != CUDA_SUCCESS)
            return false;
        switch (type) {
        case CU_GRAPH_NODE_TYPE_KERNEL:
            walk->kernels++;
            break;
        case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
            add_range(walk, nodes[i]);
            break;
        case CU_GRAPH_NODE_TYPE_GRAPH:
            add_child(walk, nodes[i]);
            break;
        case CU_GRAPH_NODE_TYPE_CONDITIONAL:
            add_bodies(walk, nodes[i]);
            break;
        }
    }
    return true;
}

static bool look_at_graph(struct walk *walk, CUgraph graph) {
    size_t count = 0;
    if (DRIVER(cuGraphGetNodes)(graph, NULL, &count) != CUDA_SUCCESS)
        return false;
    if (count == 0)
        return true;
    size_t size = count * sizeof(CUgraphNode);
    CUgraphNode *nodes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    walk->no_memory = nodes == MAP_FAILED;
    if (walk->no_memory)
        return false;
    bool known = look_at_nodes(walk, graph, nodes, count);
    munmap(nodes, size);
    return known;
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
    struct walk walk = {.no_memory = false};
    needs->count = 0;
    needs->kernels = UINT32_MAX;
    needs->open_ended = false;
    if (!graph || !DRIVER(cuGraphGetNodes) || !DRIVER(cuGraphNodeGetType) || !DRIVER(cuGraphMemAllocNodeGetParams))
        return true;
    int error = errno;
    add_graph(&walk, graph);
    while (walk.graphs_done < walk.graphs_count && !walk.no_memory)
        if (!look_at_graph(&walk, walk.graphs[walk.graphs_done++]))
            walk.kernels++;
    needs->kernels = walk.kernels < KERNELS_MAX ? (uint32_t)walk.kernels : KERNELS_MAX;
    needs->open_ended = walk.open_ended;
    if (walk.ranges_count > 0) {
        struct range *ranges = walk.ranges;
        int count = (int)walk.ranges_count;
        qsort(ranges, walk.ranges_count, sizeof *ranges, compare_ranges);
        while (count > 0 && needs->count < GRAPH_PARTS) {
            needs->part[needs->count].device = ranges->device;
            needs->part[needs->count++].units = pages_of_first_device(&ranges, &count) * (PAGE / PARTITA_UNIT);
        }
    }
    if (walk.ranges_room)
        munmap(walk.ranges, walk.ranges_room * sizeof *walk.ranges);
    if (walk.graphs_room)
        munmap(walk.graphs, walk.graphs_room * sizeof *walk.graphs);
    errno = error;
    return !walk.no_memory;
}
