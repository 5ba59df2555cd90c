/* SPDX-License-Identifier: Apache-2.0 */
#include "conditional.h"

#include <stdlib.h>

#include "cuda_launch.h"

static CUfunction sets, counts;

void conditional_target(void) {
    int major, minor;
    card_open();
    DO(CUDA(cuDeviceGetAttribute)(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
    DO(CUDA(cuDeviceGetAttribute)(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
    printf("sm_%d%d\n", major, minor);
}

static void load(void) {
    const char *file = getenv("PARTITA_CONDITIONAL");
    CUmodule module;
    if (!file || !CUDA(cuGraphConditionalHandleCreate)) {
        fputs(file ? "the driver has no conditional nodes (CUDA 12.3)\n" : "PARTITA_CONDITIONAL is not set\n", stderr);
        exit(1);
    }
    DO(CUDA(cuModuleLoad)(&module, file));
    DO(CUDA(cuModuleGetFunction)(&sets, module, "partita_set_conditional"));
    DO(CUDA(cuModuleGetFunction)(&counts, module, "partita_count_down"));
}

static CUgraphNode add(CUgraph graph, CUgraphNode after, CUfunction kernel, uint64_t first, uint64_t second) {
    void *parameters[] = {&first, &second};
    CUDA_KERNEL_NODE_PARAMS_v2 params = {.func = kernel,
                                         .gridDimX = 1,
                                         .gridDimY = 1,
                                         .gridDimZ = 1,
                                         .blockDimX = 1,
                                         .blockDimY = 1,
                                         .blockDimZ = 1,
                                         .kernelParams = parameters};
    CUgraphNode node;
    DO(CUDA(cuGraphAddKernelNode_v2)(&node, graph, after ? &after : NULL, after != NULL, &params));
    return node;
}

struct conditional {
    CUgraphConditionalHandle handle;
    CUgraphNode node;
    CUgraph body;
};

/* A node whose condition has that value when it begins. */
static struct conditional conditional(CUgraph graph, CUgraphNode after, int type, unsigned int value) {
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL, .conditional = {.type = type, .size = 1}};
    struct conditional made;
    CUgraphNode begins;
    DO(CUDA(cuCtxGetCurrent)(&params.conditional.ctx));
    DO(CUDA(cuGraphConditionalHandleCreate)(&made.handle, graph, params.conditional.ctx, 0, 0));
    params.conditional.handle = made.handle;
    begins = add(graph, after, sets, made.handle, value);
    DO(CUDA(cuGraphAddNode)(&made.node, graph, &begins, 1, &params));
    made.body = params.conditional.phGraph_out[0];
    return made;
}

static CUgraph new_graph(void) {
    CUgraph graph;
    load();
    DO(CUDA(cuGraphCreate)(&graph, 0));
    return graph;
}

static CUgraphExec executable(CUgraph graph) {
    CUgraphExec exec;
    DO(CUDA(cuGraphInstantiateWithFlags)(&exec, graph, 0));
    return exec;
}

CUgraphExec conditional_while(const struct spin *spin, unsigned int rounds) {
    CUgraph graph = new_graph();
    struct conditional loop = conditional(graph, NULL, CU_GRAPH_COND_TYPE_WHILE, rounds);
    add(loop.body, add(loop.body, NULL, spin->function, spin->ns, spin->iterations), counts, loop.handle, 0);
    return executable(graph);
}

CUgraphExec conditional_if(const struct spin *spin, unsigned int kernels) {
    CUgraph graph = new_graph();
    CUgraphNode before = NULL;
    for (unsigned int value = 0; value < 2; value++) {
        struct conditional made = conditional(graph, before, CU_GRAPH_COND_TYPE_IF, value);
        CUgraphNode last = NULL;
        for (unsigned int i = 0; i < kernels; i++)
            last = add(made.body, last, spin->function, spin->ns, spin->iterations);
        before = made.node;
    }
    return executable(graph);
}
