/* SPDX-License-Identifier: Apache-2.0 */
#include "cores.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../shadow/tests/card_reports.h"
#include "card.h"
#include "conditional.h"
#include "cuda_capture.h"
#include "cuda_copies.h"
#include "cuda_events.h"
#include "cuda_graphs.h"
#include "cuda_green.h"

enum { KERNELS = 4 }; /* in a batch, for which the program waits */
static const size_t COPIED = 64 * MIB;

void cores_calibrate(uint64_t ns) {
    uint64_t iterations = 100000, took = 0;
    card_open();
    while (took < ns && iterations < UINT64_C(1) << 40) {
        struct spin spin = spin_load(ns, iterations);
        spin_launch(&spin);
        DO(CUDA(cuCtxSynchronize)());
        uint64_t begin = clock_ns();
        for (int i = 0; i < 8; i++)
            spin_launch(&spin);
        DO(CUDA(cuCtxSynchronize)());
        took = (clock_ns() - begin) / 8;
        if (took < ns / 2)
            iterations *= 2;
        else {
            iterations = (uint64_t)((double)iterations * (double)ns / (double)took);
            break;
        }
    }
    printf("%llu\n", (unsigned long long)iterations);
}

static struct spin spin;
static uint64_t batch;  /* ns of the card's time */
static CUstream stream; /* NULL: the legacy one */
static CUgraphExec graph;
static CUevent event;
static CUdeviceptr copied;
static void *copy;

static void nothing(void) {
}

static void wait_for_batch(void) {
    DO(CUDA(cuStreamSynchronize)(stream));
}

static void launch_batch(void) {
    for (int i = 0; i < KERNELS; i++)
        spin_launch_in(&spin, stream);
    wait_for_batch();
}

/* One kernel at a time, of less than ns: where that is a time slice, it is done before another program has the card. */
static void shorten(void) {
    spin.ns = spin.ns / 4 * 3;
    spin.iterations = spin.iterations / 4 * 3;
    batch = spin.ns;
}

static void launch_one(void) {
    spin_launch_in(&spin, stream);
    wait_for_batch();
}

/* Before the kernel is loaded: modules belong to the current context. */
static void enter_green_context(void) {
    static unsigned char resource[DEV_RESOURCE_BYTES] __attribute__((aligned(8)));
    CUdevResourceDesc descriptor;
    CUcontext context;
    CUgreenCtx green;
    if (!CUDA(cuGreenCtxStreamCreate)) {
        fputs("the driver has no green contexts with streams (CUDA 12.5)\n", stderr);
        exit(1);
    }
    DO(CUDA(cuDeviceGetDevResource)(0, resource, CU_DEV_RESOURCE_TYPE_SM));
    DO(CUDA(cuDevResourceGenerateDesc)(&descriptor, resource, 1));
    DO(CUDA(cuGreenCtxCreate)(&green, descriptor, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    DO(CUDA(cuCtxFromGreenCtx)(&context, green));
    DO(CUDA(cuGreenCtxStreamCreate)(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    DO(CUDA(cuCtxSetCurrent)(context));
}

static void make_graph(void) {
    CUgraph made;
    DO(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
    spin_launch_in(&spin, stream); /* loads the kernel, which no capture allows */
    wait_for_batch();
    DO(CUDA(cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    for (int i = 0; i < KERNELS; i++)
        spin_launch_in(&spin, stream);
    DO(CUDA(cuStreamEndCapture)(stream, &made));
    DO(CUDA(cuGraphInstantiateWithFlags)(&graph, made, 0));
}

static void launch_graph(void) {
    DO(CUDA(cuGraphLaunch)(graph, stream));
    wait_for_batch();
}

static void make_while(void) {
    DO(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
    graph = conditional_while(&spin, KERNELS);
}

static void make_if(void) {
    DO(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
    graph = conditional_if(&spin, KERNELS);
}

/* As a watchdog does: it asks for what another thread has launched. */
static void *poll(void *context) {
    DO(CUDA(cuCtxSetCurrent)(context));
    for (;;) {
        CUDA(cuEventQuery)(event);
        nanosleep(&(struct timespec){0, 100000}, NULL);
    }
    return NULL;
}

static void start_polling(void) {
    CUcontext context;
    pthread_t thread;
    DO(CUDA(cuCtxGetCurrent)(&context));
    DO(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
    DO(CUDA(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING));
    DO(CUDA(cuEventRecord)(event, stream));
    if (pthread_create(&thread, NULL, poll, context) != 0)
        exit(1);
}

static void launch_and_record(void) {
    for (int i = 0; i < KERNELS; i++)
        spin_launch_in(&spin, stream);
    DO(CUDA(cuEventRecord)(event, stream));
    wait_for_batch();
}

static void make_room_to_copy(void) {
    DO(CUDA(cuMemAlloc_v2)(&copied, COPIED));
    copy = calloc(1, COPIED);
    if (!copy)
        exit(1);
}

static void launch_and_copy(void) {
    for (int i = 0; i < KERNELS; i++)
        spin_launch_in(&spin, stream);
    DO(CUDA(cuMemcpyDtoH_v2)(copy, copied, COPIED));
    DO(CUDA(cuMemcpyHtoD_v2)(copied, copy, COPIED));
    wait_for_batch();
}

const char cores_ways[] = "plain | short | green | graph | while | if | polled | copies";
static const struct way {
    const char *name;
    void (*before)(void), (*begin)(void), (*batch)(void); /* before: the kernel is loaded */
} ways[] = {
    {"plain", nothing, nothing, launch_batch},
    {"short", nothing, shorten, launch_one},
    {"green", enter_green_context, nothing, launch_batch},
    {"graph", nothing, make_graph, launch_graph},
    {"while", nothing, make_while, launch_graph},
    {"if", nothing, make_if, launch_graph},
    {"polled", nothing, start_polling, launch_and_record},
    {"copies", nothing, make_room_to_copy, launch_and_copy},
};

static void run(const struct way *way, double seconds, uint64_t ns, uint64_t iterations) {
    alarm((unsigned int)seconds + 120); /* ends it, should a loop on the card not end */
    card_open();
    way->before();
    spin = spin_load(ns, iterations);
    batch = KERNELS * ns;
    way->begin();
    printf("%.2f\n", 100.0 * batches_a_second(seconds, way->batch) * (double)batch / 1e9);
}

bool cores_spin(double seconds, uint64_t ns, uint64_t iterations, const char *way) {
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, way) == 0) {
            run(&ways[i], seconds, ns, iterations);
            return true;
        }
    return false;
}

void cores_report(char *const *pairs, int count) {
    static struct card_reports reports = {.period = 1000000};
    static struct reported processes[REPORTED_PROCESSES];
    int known = 0;
    truth_open();
    reports.device = truth_device();
    reports.ask = truth_sampler();
    for (; known < REPORTED_PROCESSES && 2 * known + 1 < count; known++)
        processes[known] = (struct reported){pairs[2 * known], (uint32_t)atoi(pairs[2 * known + 1]), false};
    for (;;) {
        nanosleep(&(struct timespec){0, REPORT_PAUSE_MS * 1000000}, NULL);
        card_reports_write(&reports, processes, (uint32_t)known);
    }
}
