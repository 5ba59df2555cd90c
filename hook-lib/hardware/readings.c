/* SPDX-License-Identifier: Apache-2.0 */
#include "readings.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "card.h"
#include "cuda_capture.h"
#include "cuda_copies.h"
#include "cuda_events.h"
#include "cuda_graphs.h"
#include "cuda_green.h"
#include "cuda_pools.h"

/* Above the status of a program that DO ended. */
enum { BY_ITSELF = 10, CONTRARY, UNTOLD };
#define IF(contrary) ((contrary) ? CONTRARY : BY_ITSELF)

static struct spin spin; /* a tenth of a second */

/* Keeps the card busy in a stream that waits for no other. */
static CUstream busy_stream(void) {
    CUstream stream;
    DO(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
    spin = spin_load(spin.ns, spin.iterations);
    spin_launch_in(&spin, stream); /* the first one loads the kernel */
    DO(CUDA(cuStreamSynchronize)(stream));
    spin_launch_in(&spin, stream);
    return stream;
}

static CUevent recorded_event(void) {
    CUevent event;
    DO(CUDA(cuEventCreate)(&event, CU_EVENT_DEFAULT));
    DO(CUDA(cuEventRecord)(event, NULL));
    return event;
}

static cuuint64_t graph_memory_used(void) {
    cuuint64_t used;
    DO(CUDA(cuDeviceGetGraphMemAttribute)(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
    return used;
}

static int graph_memory_stays_used(void) {
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = 32 * MIB};
    CUgraphNode allocates, frees;
    CUgraphExec exec;
    CUgraph graph;
    DO(CUDA(cuGraphCreate)(&graph, 0));
    DO(CUDA(cuGraphAddMemAllocNode)(&allocates, graph, NULL, 0, &params));
    DO(CUDA(cuGraphAddMemFreeNode)(&frees, graph, &allocates, 1, params.dptr));
    DO(CUDA(cuGraphInstantiateWithFlags)(&exec, graph, 0));
    DO(CUDA(cuGraphLaunch)(exec, NULL));
    DO(CUDA(cuCtxSynchronize)());
    return IF(graph_memory_used() > 0);
}

static int pools_keep(void) {
    CUmemoryPool pool;
    CUdeviceptr pointer;
    cuuint64_t reserved;
    DO(CUDA(cuMemAllocAsync)(&pointer, 64 * MIB, NULL));
    DO(CUDA(cuMemFreeAsync)(pointer, NULL));
    DO(CUDA(cuCtxSynchronize)());
    DO(CUDA(cuDeviceGetDefaultMemPool)(&pool, 0));
    DO(CUDA(cuMemPoolGetAttribute)(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved));
    return IF(reserved > 0);
}

static int managed_on_host(void) {
    CUdeviceptr pointer;
    uint64_t before;
    before = truth_used();
    DO(CUDA(cuMemAllocManaged)(&pointer, 64 * MIB, CU_MEM_ATTACH_GLOBAL));
    DO(CUDA(cuMemsetD8_v2)(pointer, 1, 64 * MIB));
    DO(CUDA(cuCtxSynchronize)());
    return IF(truth_used() < before + 64 * MIB);
}

static CUgreenCtx green_context(CUcontext *context) {
    static unsigned char resource[DEV_RESOURCE_BYTES] __attribute__((aligned(8)));
    CUdevResourceDesc descriptor;
    CUgreenCtx green;
    if (!CUDA(cuGreenCtxCreate))
        exit(UNTOLD);
    DO(CUDA(cuDeviceGetDevResource)(0, resource, CU_DEV_RESOURCE_TYPE_SM));
    DO(CUDA(cuDevResourceGenerateDesc)(&descriptor, resource, 1));
    DO(CUDA(cuGreenCtxCreate)(&green, descriptor, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    DO(CUDA(cuCtxFromGreenCtx)(context, green));
    return green;
}

static CUcontext of_green;

static void *make_current(void *result) {
    *(CUresult *)result = CUDA(cuCtxSetCurrent)(of_green);
    return NULL;
}

static int green_one_thread(void) {
    CUresult result = CUDA_ERROR_UNKNOWN;
    pthread_t thread;
    green_context(&of_green);
    DO(CUDA(cuCtxSetCurrent)(of_green));
    if (pthread_create(&thread, NULL, make_current, &result) != 0 || pthread_join(thread, NULL) != 0)
        return UNTOLD;
    return IF(result != CUDA_SUCCESS);
}

static int green_streams_untold(void) {
    CUcontext context, told;
    CUstream stream;
    CUgreenCtx green = green_context(&context);
    if (!CUDA(cuGreenCtxStreamCreate))
        return UNTOLD;
    DO(CUDA(cuGreenCtxStreamCreate)(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    return IF(CUDA(cuStreamGetCtx)(stream, &told) != CUDA_SUCCESS);
}

static int green_events(void) {
    CUcontext context, popped;
    DO(CUDA(cuDevicePrimaryCtxRetain)(&context, 0)); /* else it ends with the green one */
    CUgreenCtx green = green_context(&context);
    DO(CUDA(cuCtxPushCurrent_v2)(context));
    CUevent event = recorded_event();
    DO(CUDA(cuCtxSynchronize)());
    DO(CUDA(cuCtxPopCurrent_v2)(&popped));
    DO(CUDA(cuGreenCtxDestroy)(green));
    return IF(CUDA(cuEventQuery)(event) != CUDA_SUCCESS);
}

static int legacy_barriers(void) {
    CUstream stream = busy_stream();
    CUevent event = recorded_event();
    struct timespec wait = {0, 5000000}; /* an event takes some microseconds */
    nanosleep(&wait, NULL);
    CUresult result = CUDA(cuEventQuery)(event);
    return CUDA(cuStreamQuery)(stream) == CUDA_SUCCESS ? UNTOLD : IF(result == CUDA_SUCCESS);
}

static int frees_do_not_wait(void) {
    CUdeviceptr pointer;
    DO(CUDA(cuMemAlloc_v2)(&pointer, 8 * MIB));
    CUstream stream = busy_stream();
    DO(CUDA(cuMemFree_v2)(pointer));
    return IF(CUDA(cuStreamQuery)(stream) == CUDA_ERROR_NOT_READY);
}

static int events_want_context(void) {
    CUevent first = recorded_event(), second = recorded_event();
    CUcontext popped;
    float ms;
    DO(CUDA(cuCtxSynchronize)());
    DO(CUDA(cuCtxPopCurrent_v2)(&popped));
    return IF(CUDA(cuEventElapsedTime)(&ms, first, second) != CUDA_SUCCESS ||
              CUDA(cuEventDestroy_v2)(first) != CUDA_SUCCESS);
}

static int queries_are_safe(void) {
    CUevent event = recorded_event();
    CUstream stream;
    DO(CUDA(cuCtxSynchronize)());
    DO(CUDA(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING));
    DO(CUDA(cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    return IF(CUDA(cuEventQuery)(event) == CUDA_SUCCESS);
}

static void *address(const char *name, int version) {
    void *function = NULL;
    DO(CUDA(cuGetProcAddress_v2)(name, &function, version, 0, NULL));
    return function;
}

static int folded_stubs(void) {
    return IF(address("cuEventDestroy", 3000) == address("cuEventDestroy", 12000));
}

static int slow_samples(void) {
    uint64_t period = truth_sample_period();
    return period == 0 ? UNTOLD : IF(period >= 500000);
}

static int no_process_samples(void) {
    return IF(!truth_samples_processes());
}

static pid_t another_program_that_spins(void) {
    char ns[24], iterations[24];
    snprintf(ns, sizeof ns, "%llu", (unsigned long long)spin.ns / 50);
    snprintf(iterations, sizeof iterations, "%llu",
             (unsigned long long)(spin.iterations > 50 ? spin.iterations / 50 : 1));
    pid_t pid = fork();
    if (pid == 0) {
        int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(nowhere, STDOUT_FILENO); /* it prints how much of the card it had */
        execl("/proc/self/exe", "partita-hardware", "spin", "3", ns, iterations, "plain", NULL);
        _exit(127);
    }
    return pid;
}

/* Two programs have half of the card each: whether samples name both, or one of them with all of it. */
static int samples_name_one(void) {
    enum { ROOM = 1024 };
    static nvmlProcessUtilizationSample_t samples[ROOM];
    unsigned long long seen = 0;
    int both = 0, one = 0, status;
    pid_t pids[] = {another_program_that_spins(), another_program_that_spins()};
    for (int i = 0; i < 100; i++) {
        unsigned int count = ROOM, named = 0;
        nanosleep(&(struct timespec){0, 30000000}, NULL);
        if (truth_sampler()(truth_device(), samples, &count, seen) != NVML_SUCCESS)
            continue;
        unsigned long long newest = seen;
        for (unsigned int j = 0; j < count && j < ROOM; j++)
            newest = samples[j].timeStamp > newest ? samples[j].timeStamp : newest;
        for (unsigned int j = 0; j < count && j < ROOM; j++)
            named += samples[j].timeStamp == newest && samples[j].timeStamp > seen && samples[j].smUtil > 0;
        if (seen) {
            both += named == 2;
            one += named == 1;
        }
        seen = newest;
    }
    for (int i = 0; i < 2; i++)
        if (pids[i] < 0 || waitpid(pids[i], &status, 0) != pids[i] || status != 0)
            return UNTOLD;
    return both + one < 3 ? UNTOLD : IF(one > both);
}

/*
 * Beside a program that always has work, launches that have to wait for the card: whether they have it alone then, or
 * take twice as long as they should.
 */
static int time_slices(void) {
    struct spin little = {NULL, spin.ns / 100, spin.iterations > 100 ? spin.iterations / 100 : 1};
    CUevent start, end;
    unsigned int alone = 0, together = 0;
    int status;
    pid_t pid = another_program_that_spins();
    little = spin_load(little.ns, little.iterations);
    DO(CUDA(cuEventCreate)(&start, CU_EVENT_DEFAULT));
    DO(CUDA(cuEventCreate)(&end, CU_EVENT_DEFAULT));
    for (uint64_t begin = clock_ns(); clock_ns() - begin < 2000000000;) {
        float ms;
        uint64_t launched = clock_ns();
        DO(CUDA(cuEventRecord)(start, NULL));
        spin_launch(&little);
        DO(CUDA(cuEventRecord)(end, NULL));
        DO(CUDA(cuCtxSynchronize)());
        double passed = (double)(clock_ns() - launched);
        DO(CUDA(cuEventElapsedTime)(&ms, start, end));
        if (passed > 1.5 * (double)little.ns && (double)ms * 1e6 < 1.25 * (double)little.ns)
            alone++;
        else if (passed > 1.5 * (double)little.ns)
            together++;
        nanosleep(&(struct timespec){0, 3000000}, NULL);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        return UNTOLD;
    return alone + together < 10 ? UNTOLD : IF(alone > together);
}

static const struct reading {
    const char *name;
    int (*find)(void);
} readings[] = {
    {"graph-memory-stays-used", graph_memory_stays_used},
    {"pools-keep", pools_keep},
    {"managed-on-host", managed_on_host},
    {"green-one-thread", green_one_thread},
    {"green-streams-untold", green_streams_untold},
    {"green-events", green_events},
    {"legacy-barriers", legacy_barriers},
    {"frees-do-not-wait", frees_do_not_wait},
    {"events-want-context", events_want_context},
    {"queries-are-safe", queries_are_safe},
    {"folded-stubs", folded_stubs},
    {"slow-samples", slow_samples},
    {"no-process-samples", no_process_samples},
    {"samples-name-one", samples_name_one},
    {"time-slices", time_slices},
};

static const char *found(const struct reading *reading) {
    static const char *const words[] = {"as the simulator by itself", "contrary", "cannot be told here"};
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        card_open();
        truth_open();
        _exit(reading->find());
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) < BY_ITSELF)
        return "cannot be told here: a call failed";
    return words[WEXITSTATUS(status) - BY_ITSELF];
}

void readings_check(uint64_t ns, uint64_t iterations) {
    uint64_t times = ns ? 100000000 / ns : 1;
    spin = (struct spin){NULL, ns * times, iterations * times};
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
        printf("readings\t%s\tfigure\t%s\n", readings[i].name, found(&readings[i]));
}
