/* SPDX-License-Identifier: Apache-2.0 */
/* What a graph needs of each device, as far as that is known before it is launched. Calls the driver. */
#ifndef PARTITA_GRAPH_NEEDS_H
#define PARTITA_GRAPH_NEEDS_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_graphs.h"

enum { GRAPH_PARTS = 32 };

struct graph_needs {
    /* of the graph and of those within it, each body of a conditional node once; UINT32_MAX: unknown */
    uint32_t kernels;
    bool open_ended; /* it has conditional nodes: a launch may take any time */
    unsigned int count;
    struct {
        int device;
        uint64_t units;
    } part[GRAPH_PARTS]; /* one a device */
};

/* Of a graph that is about to be instantiated. False: no memory to find out. Keeps errno. */
bool graph_needs_of(CUgraph graph, struct graph_needs *needs);

#endif
