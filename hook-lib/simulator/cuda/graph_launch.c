/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A launch of an executable graph does the nodes one after the other; kernels that follow each other, also those of
 * conditional nodes' bodies, are one piece of work, which takes the sum of their time.
 */
#include "capture.h"

#define ROUNDS_MAX (1u << 20) /* of loops, in one launch: one that has made more never ends */

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_stream(&stream, &context);

    if (result != CUDA_SUCCESS)
        return result;
    return exec ? graph_memory_reserve(exec) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream) {
    FAULT_POINT();
    return cuGraphUpload(exec, PTSZ(stream));
}

static CUresult act(const struct work *work, struct CUctx_st *context, CUstream stream) {
    switch (work->type) {
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return cuEventRecord(work->event, stream);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return cuStreamWaitEvent(stream, work->event, 0);
    case CU_GRAPH_NODE_TYPE_HOST:
        return cuLaunchHostFunc(stream, work->host.fn, work->host.userData);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
        return semaphores_act(work, context, stream);
    case CU_GRAPH_NODE_TYPE_MEMSET:
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return copy_in_stream(work, context, stream);
    default:
        return CUDA_SUCCESS;
    }
}

/* In a capture a launch becomes a child graph of the same nodes, one after the other. */
static CUresult capture_launch(CUgraphExec exec, const struct CUctx_st *context, CUstream stream, bool *taken) {
    struct work work = {.type = CU_GRAPH_NODE_TYPE_GRAPH};
    CUgraphNode last = NULL;
    CUresult result =
        stream && stream->capture ? cuGraphCreate(&work.child, 0) : captured_work(context, stream, &work, taken);

    if (!work.child)
        return result;
    if (exec->bytes)
        result = CUDA_ERROR_NOT_SUPPORTED;
    for (size_t i = 0; i < exec->steps.count; i++)
        if (exec->steps.at[i].bodies) /* a graph with conditional nodes is no child graph */
            result = CUDA_ERROR_NOT_SUPPORTED;
    for (size_t i = 0; result == CUDA_SUCCESS && i < exec->steps.count; i++)
        result = graph_add(work.child, &exec->steps.at[i].work, last ? &last : NULL, last != NULL, &last);
    if (result == CUDA_SUCCESS)
        result = captured_work(context, stream, &work, taken);
    if (result != CUDA_SUCCESS || !*taken)
        cuGraphDestroy(work.child);
    return result;
}

struct run {
    struct CUctx_st *context;
    CUstream stream;
    uint64_t cost, kernels; /* cost: of the kernels since work was submitted last */
    unsigned rounds;
};

static void submit(struct run *run) {
    stream_submit(run->context, run->stream, run->cost);
    run->cost = 0;
}

static void add_cost(struct run *run, uint64_t ns) {
    run->cost = ns < SIM_MAX_COST - run->cost ? run->cost + ns : SIM_MAX_COST;
}

static void run_kernel(const struct work *work, struct run *run) {
    CUfunction function = work->kernel.params.func ? work->kernel.params.func : (CUfunction)work->kernel.params.kern;

    add_cost(run, function->kind == KERNEL_SPIN ? work->kernel.first : kernel_cost(run->context, function, NULL, NULL));
    run->kernels++;
    conditional_kernel(function->kind, work->kernel.first, work->kernel.second);
}

static CUresult run_steps(const struct steps *steps, struct run *run) {
    CUresult result = CUDA_SUCCESS;

    for (size_t i = 0; result == CUDA_SUCCESS && i < steps->count; i++) {
        const struct step *step = &steps->at[i];
        bool again = true;

        switch (step->work.type) {
        case CU_GRAPH_NODE_TYPE_KERNEL:
            run_kernel(&step->work, run);
            break;
        case CU_GRAPH_NODE_TYPE_CONDITIONAL:
            for (int body; again && result == CUDA_SUCCESS && (body = conditional_body(&step->work, &again)) >= 0;) {
                if (run->rounds == ROUNDS_MAX) {
                    add_cost(run, SIM_MAX_COST);
                    break;
                }
                run->rounds += again;
                result = run_steps(&step->bodies[body], run);
            }
            break;
        case CU_GRAPH_NODE_TYPE_EMPTY:
        case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        case CU_GRAPH_NODE_TYPE_MEM_FREE:
            break;
        default:
            submit(run);
            result = act(&step->work, run->context, run->stream);
        }
    }
    return result;
}

static void begin_conditions(const struct steps *steps) {
    for (size_t i = 0; i < steps->count; i++)
        for (unsigned body = 0; steps->at[i].bodies && body < steps->at[i].work.conditional.size; body++) {
            conditional_begin(&steps->at[i].work);
            begin_conditions(&steps->at[i].bodies[body]);
        }
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_stream(&stream, &context);
    struct run run = {.stream = stream};
    bool taken = false;

    if (result == CUDA_SUCCESS && !exec)
        result = CUDA_ERROR_INVALID_VALUE;
    if (result == CUDA_SUCCESS && captures_ongoing)
        result = capture_launch(exec, context, stream, &taken);
    if (result != CUDA_SUCCESS || taken)
        return result;
    run.context = context;
    begin_conditions(&exec->steps);
    result = graph_memory_reserve(exec);
    if (result == CUDA_SUCCESS)
        result = run_steps(&exec->steps, &run);
    if (result != CUDA_SUCCESS)
        return result;
    submit(&run);
    count_launches(context, run.kernels);
    return CUDA_SUCCESS;
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream) {
    FAULT_POINT();
    return cuGraphLaunch(exec, PTSZ(stream));
}
