/* SPDX-License-Identifier: Apache-2.0 */
/* Each contrary reading changes what it is to change, and nothing does without it. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include "cuda_capture.h"
#include "cuda_copies.h"
#include "cuda_events.h"
#include "cuda_green.h"
#include "cuda_pools.h"
#include "spinning.h"

/* The second line of node.conf. */
static void read_contrary(const char *readings) {
    char path[PATH_MAX + 64], line[512];
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size), *file;

    snprintf(path, sizeof path, "%s/etc/partita-simulator/node.conf", node_root);
    CHECK(out && (file = fopen(path, "r")));
    while (fgets(line, sizeof line, file)) {
        fputs(line, out);
        if (strncmp(line, "partita-simulator", 17) == 0)
            fprintf(out, "contrary %s\n", readings);
    }
    fclose(file);
    CHECK(fclose(out) == 0 && (file = fopen(path, "w")));
    fputs(text, file);
    CHECK(fclose(file) == 0);
    free(text);
}

/* In a process of its own each: without the reading, and with it. */
static void both_ways(const char *reading, void (*body)(int link, long contrary)) {
    struct child child;

    install_node("t4x1");
    child = start_child(body, 0);
    join_child(&child);
    read_contrary(reading);
    child = start_child(body, 1);
    join_child(&child);
}

static uint64_t now(void) {
    return sim_clock_time();
}

static CUstream new_stream(unsigned flags) {
    CUstream created;

    CHECK_EQUAL(CU(cuStreamCreate)(&created, flags), CUDA_SUCCESS);
    return created;
}

static CUevent recorded_in(CUstream stream) {
    CUevent event;

    CHECK_EQUAL(CU(cuEventCreate)(&event, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventRecord)(event, stream), CUDA_SUCCESS);
    return event;
}

static CUgreenCtx make_green(CUcontext *context) {
    static unsigned char resource[DEV_RESOURCE_BYTES] __attribute__((aligned(8)));
    CUdevResourceDesc descriptor;
    CUgreenCtx green;

    CHECK_EQUAL(CU(cuDeviceGetDevResource)(0, resource, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDevResourceGenerateDesc)(&descriptor, resource, 1), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGreenCtxCreate)(&green, descriptor, 0, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxFromGreenCtx)(context, green), CUDA_SUCCESS);
    return green;
}

static void readings_are_named_alone_together_and_left_out(void) {
    unsigned readings;

    CHECK(sim_contrary_parse("all", &readings));
    CHECK_EQUAL(readings, (1u << SIM_READING_COUNT) - 1);
    CHECK(sim_contrary_parse("pools-keep folded-stubs", &readings));
    CHECK_EQUAL(readings, 1u << SIM_POOLS_KEEP | 1u << SIM_FOLDED_STUBS);
    CHECK(sim_contrary_parse("all -pools-keep", &readings));
    CHECK_EQUAL(readings, ((1u << SIM_READING_COUNT) - 1) & ~(1u << SIM_POOLS_KEEP));
    CHECK(sim_contrary_parse("-all", &readings));
    CHECK_EQUAL(readings, 0);
    CHECK(!sim_contrary_parse("", &readings));
    CHECK(!sim_contrary_parse("pools-keeps", &readings));
    CHECK(!sim_contrary_parse("pools", &readings));
    CHECK(!sim_contrary_parse("all - ", &readings));
}

static void a_node_file_with_an_unknown_reading_is_not_read(void) {
    static struct sim_node node;
    char error[PATH_MAX + 128];

    install_node("t4x1");
    read_contrary("pools-keep no-such-reading");
    CHECK(!sim_node_read(node_root, &node, error, sizeof error));
    CHECK(strstr(error, "line 2 is not understood") != NULL);
}

static cuuint64_t graph_memory_used(void) {
    cuuint64_t used;

    CHECK_EQUAL(CU(cuDeviceGetGraphMemAttribute)(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used), CUDA_SUCCESS);
    return used;
}

static CUgraphExec allocating(uint64_t bytes) {
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = bytes};
    CUgraphNode allocates, frees;
    CUgraphExec exec;
    CUgraph graph;

    CHECK_EQUAL(CU(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphAddMemAllocNode)(&allocates, graph, NULL, 0, &params), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphAddMemFreeNode)(&frees, graph, &allocates, 1, params.dptr), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGraphInstantiateWithFlags)(&exec, graph, 0), CUDA_SUCCESS);
    return exec;
}

static void look_at_graph_memory(int link, long contrary) {
    CUgraphExec small, large;

    (void)link;
    begin_cuda(0);
    small = allocating(8 * MIB);
    large = allocating(32 * MIB);
    CHECK_EQUAL(graph_memory_used(), 0);
    CHECK_EQUAL(CU(cuGraphLaunch)(small, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(graph_memory_used(), contrary * 8 * MIB);
    CHECK_EQUAL(CU(cuGraphLaunch)(large, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
    CHECK_EQUAL(graph_memory_used(), contrary * 32 * MIB); /* they share it */
    CHECK_EQUAL(CU(cuGraphExecDestroy)(large), CUDA_SUCCESS);
    CHECK_EQUAL(graph_memory_used(), contrary * 8 * MIB);
    CHECK_EQUAL(CU(cuDeviceGraphMemTrim)(0), CUDA_SUCCESS);
    CHECK_EQUAL(graph_memory_used(), 0);
}

static void what_a_graph_has_mapped_stays_used(void) {
    both_ways("graph-memory-stays-used", look_at_graph_memory);
}

static void look_at_a_pool(int link, long contrary) {
    CUmemoryPool pool;
    CUdeviceptr pointer;
    uint64_t before;

    (void)link;
    begin_cuda(0);
    before = nvml_used(0);
    CHECK_EQUAL(CU(cuMemAllocAsync)(&pointer, 64 * MIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemFreeAsync)(pointer, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
    CHECK_EQUAL(nvml_used(0) - before, contrary * 64 * MIB);
    CHECK_EQUAL(CU(cuDeviceGetDefaultMemPool)(&pool, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemPoolTrimTo)(pool, 0), CUDA_SUCCESS);
    CHECK_EQUAL(nvml_used(0), before);
}

static void a_pool_keeps_what_is_above_its_threshold(void) {
    both_ways("pools-keep", look_at_a_pool);
}

static void look_at_managed_memory(int link, long contrary) {
    CUdeviceptr pointer;
    uint64_t before;

    (void)link;
    begin_cuda(0);
    before = nvml_used(0);
    CHECK_EQUAL(CU(cuMemAllocManaged)(&pointer, 64 * MIB, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
    *(char *)(uintptr_t)pointer = 1;
    CHECK_EQUAL(nvml_used(0) - before, contrary ? 0 : 64 * MIB);
    CHECK_EQUAL(CU(cuMemFree_v2)(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(nvml_used(0), before);
}

static void managed_memory_is_the_hosts(void) {
    both_ways("managed-on-host", look_at_managed_memory);
}

static CUcontext of_green;
static CUresult in_thread[2];

static void *make_green_current(void *nothing) {
    in_thread[0] = CU(cuCtxSetCurrent)(of_green);
    in_thread[1] = CU(cuCtxPushCurrent_v2)(of_green);
    return nothing;
}

static void try_in_another_thread(void) {
    pthread_t thread;

    CHECK(pthread_create(&thread, NULL, make_green_current, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

static void look_at_a_green_context(int link, long contrary) {
    CUcontext popped;

    (void)link;
    begin_cuda(0);
    make_green(&of_green);
    CHECK_EQUAL(CU(cuCtxPushCurrent_v2)(of_green), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxPushCurrent_v2)(of_green), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxPopCurrent_v2)(&popped), CUDA_SUCCESS);
    try_in_another_thread();
    CHECK_EQUAL(in_thread[0], contrary ? CUDA_ERROR_CONTEXT_ALREADY_IN_USE : CUDA_SUCCESS);
    CHECK_EQUAL(in_thread[1], contrary ? CUDA_ERROR_CONTEXT_ALREADY_IN_USE : CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxPopCurrent_v2)(&popped), CUDA_SUCCESS);
    for (int i = 0; i < 2; i++) { /* a thread that ends lets go of it */
        try_in_another_thread();
        CHECK_EQUAL(in_thread[0], CUDA_SUCCESS);
        CHECK_EQUAL(in_thread[1], CUDA_SUCCESS);
    }
}

static void a_green_context_is_current_to_one_thread(void) {
    both_ways("green-one-thread", look_at_a_green_context);
}

static void look_at_a_green_stream(int link, long contrary) {
    CUcontext context, primary, told;
    CUgreenCtx green, of;
    CUstream stream;

    (void)link;
    begin_cuda(0);
    CHECK_EQUAL(CU(cuCtxGetCurrent)(&primary), CUDA_SUCCESS);
    green = make_green(&context);
    CHECK_EQUAL(CU(cuGreenCtxStreamCreate)(&stream, green, CU_STREAM_NON_BLOCKING, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamGetCtx)(stream, &told), contrary ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamGetCtx)(NULL, &told), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamGetCtx_v2)(stream, &told, &of), CUDA_SUCCESS);
    CHECK(told == primary && of == green);
    CHECK_EQUAL(CU(cuStreamGetCtx_v2)(NULL, &told, &of), CUDA_SUCCESS);
    CHECK(told == primary && of == NULL);
    CHECK_EQUAL(CU(cuCtxSetCurrent)(context), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamGetCtx_v2)(NULL, &told, &of), CUDA_SUCCESS);
    CHECK(told == primary && of == green);
    CHECK_EQUAL(CU(cuStreamGetCtx_v2)(CU_STREAM_PER_THREAD, &told, &of), CUDA_ERROR_INVALID_HANDLE);
}

static void a_green_contexts_stream_is_told_by_the_second_version_only(void) {
    both_ways("green-streams-untold", look_at_a_green_stream);
}

static void look_at_a_green_event(int link, long contrary) {
    CUcontext context;
    CUgreenCtx green;
    CUevent event;

    (void)link;
    begin_cuda(0);
    green = make_green(&context);
    CHECK_EQUAL(CU(cuCtxPushCurrent_v2)(context), CUDA_SUCCESS);
    event = recorded_in(NULL);
    CHECK_EQUAL(CU(cuCtxPopCurrent_v2)(&context), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventRecord)(event, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGreenCtxDestroy)(green), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventQuery)(event), contrary ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS);
}

static void a_green_contexts_events_end_with_it(void) {
    both_ways("green-events", look_at_a_green_event);
}

static void look_at_the_legacy_stream(int link, long contrary) {
    CUstream apart, blocking, idle;
    CUevent legacy, behind;

    (void)link;
    begin_spinning();
    apart = new_stream(CU_STREAM_NON_BLOCKING);
    blocking = new_stream(CU_STREAM_DEFAULT);
    idle = new_stream(CU_STREAM_DEFAULT);
    spin_for(30 * MS, apart);
    legacy = recorded_in(NULL);
    CHECK_EQUAL(CU(cuEventQuery)(legacy), contrary ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY);
    CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS); /* waits for all of them, in both */
    CHECK_EQUAL(CU(cuStreamQuery)(apart), CUDA_SUCCESS);
    spin_for(30 * MS, blocking);
    behind = recorded_in(idle);
    CHECK_EQUAL(CU(cuEventQuery)(behind), CUDA_SUCCESS);
    legacy = recorded_in(NULL);
    behind = recorded_in(idle);
    CHECK_EQUAL(CU(cuEventQuery)(legacy), CUDA_ERROR_NOT_READY);
    CHECK_EQUAL(CU(cuEventQuery)(behind), contrary ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
    behind = recorded_in(apart);
    CHECK_EQUAL(CU(cuEventQuery)(behind), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
}

static void an_event_in_the_legacy_stream_is_a_barrier_for_blocking_streams_only(void) {
    both_ways("legacy-barriers", look_at_the_legacy_stream);
}

static void look_at_copies(int link, long contrary) {
    static char host[64 * 1024 * 1024];
    CUstream stream;
    CUdeviceptr pointer;
    CUevent event;
    uint64_t begin;

    (void)link;
    begin_cuda(0);
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, sizeof host), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemcpyHtoDAsync_v2)(pointer, host, sizeof host, stream), CUDA_SUCCESS);
    event = recorded_in(stream);
    begin = now();
    if (!contrary)
        CHECK_EQUAL(CU(cuEventQuery)(event), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventSynchronize)(event), CUDA_SUCCESS);
    begin = now();
    CHECK_EQUAL(CU(cuMemsetD8Async)(pointer, 1, sizeof host, stream), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamSynchronize)(stream), CUDA_SUCCESS);
    CHECK(!contrary || now() - begin >= sizeof host / 25);
    begin = now();
    CHECK_EQUAL(CU(cuMemcpyDtoH_v2)(host, pointer, sizeof host), CUDA_SUCCESS);
    CHECK(!contrary || now() - begin >= sizeof host / 25);
    CHECK_EQUAL(host[1], 1);
    CHECK_EQUAL(use_of(getpid()).busy, 0); /* none of it the SMs' */
}

static void copies_and_fills_take_time(void) {
    both_ways("copies-take-time", look_at_copies);
}

static void look_at_a_free(int link, long contrary) {
    CUdeviceptr pointer;
    CUstream stream;

    (void)link;
    begin_spinning();
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, MIB), CUDA_SUCCESS);
    spin_for(100 * MS, stream);
    CHECK_EQUAL(CU(cuMemFree_v2)(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuStreamQuery)(stream), contrary ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
}

static void a_free_does_not_wait_for_kernels(void) {
    both_ways("frees-do-not-wait", look_at_a_free);
}

static void look_at_events_without_a_context(int link, long contrary) {
    CUresult wanted = contrary ? CUDA_ERROR_INVALID_CONTEXT : CUDA_SUCCESS;
    CUevent event, second;
    CUcontext popped;
    float ms;

    (void)link;
    begin_cuda(0);
    event = recorded_in(NULL);
    second = recorded_in(NULL);
    CHECK_EQUAL(CU(cuCtxPopCurrent_v2)(&popped), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventQuery)(event), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventSynchronize)(event), wanted);
    CHECK_EQUAL(CU(cuEventElapsedTime)(&ms, event, second), wanted);
    CHECK_EQUAL(CU(cuEventDestroy_v2)(event), wanted);
}

static void events_want_a_current_context(void) {
    both_ways("events-want-context", look_at_events_without_a_context);
}

static void look_at_a_query_beside_a_capture(int link, long contrary) {
    CUstream stream;
    CUgraph graph;
    CUevent event;

    (void)link;
    begin_spinning();
    stream = new_stream(CU_STREAM_NON_BLOCKING);
    event = recorded_in(NULL);
    CHECK_EQUAL(CU(cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventQuery)(event), contrary ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    CHECK_EQUAL(CU(cuStreamEndCapture)(stream, &graph),
                contrary ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

static void asking_for_an_event_is_safe_beside_a_capture(void) {
    both_ways("queries-are-safe", look_at_a_query_beside_a_capture);
}

static void *found(const char *name, int version) {
    CUdriverProcAddressQueryResult status;
    void *function;

    CHECK_EQUAL(CU(cuGetProcAddress_v2)(name, &function, version, 0, &status), CUDA_SUCCESS);
    return function;
}

static void look_at_addresses(int link, long contrary) {
    (void)link;
    begin_cuda(0);
    CHECK_EQUAL(found("cuEventDestroy", 3000) == found("cuEventDestroy", 12000), contrary);
    CHECK_EQUAL(found("cuCtxPopCurrent", 3000) == found("cuCtxPopCurrent", 12000), contrary);
    CHECK(found("cuMemAlloc", 3000) != found("cuMemAlloc", 12000)); /* other parameters */
}

static void identical_functions_have_one_address(void) {
    both_ways("folded-stubs", look_at_addresses);
}

static void look_at_samples(int link, long contrary) {
    nvmlSample_t samples[SIM_SAMPLES];
    unsigned count = SIM_SAMPLES;
    nvmlValueType_t type;
    nvmlDevice_t device;

    (void)link;
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetHandleByIndex_v2)(0, &device), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetSamples)(device, NVML_GPU_UTILIZATION_SAMPLES, 0, &type, &count, samples),
                NVML_SUCCESS);
    CHECK(count > 2);
    CHECK_EQUAL(samples[1].timeStamp - samples[0].timeStamp, contrary ? 1000000 : 166667);
}

static void samples_are_a_second_apart(void) {
    both_ways("slow-samples", look_at_samples);
}

static void look_at_processes_samples(int link, long contrary) {
    nvmlProcessUtilizationSample_t samples[8];
    unsigned count = 8;
    nvmlDevice_t device;

    (void)link;
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetHandleByIndex_v2)(0, &device), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetProcessUtilization)(device, samples, &count, 0),
                contrary ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_NOT_FOUND);
}

static void nvml_samples_no_processes(void) {
    both_ways("no-process-samples", look_at_processes_samples);
}

static void keep_the_card_busy(int link, long unused) {
    (void)unused;
    begin_spinning();
    tell(link, 'b');
    for (;;)
        spin_for(60000 * MS, NULL);
}

/* Two that have half of the card each: both with their part, or one of them with all of it. */
static void look_at_who_is_named(int link, long contrary) {
    enum { ROOM = 128 };
    nvmlProcessUtilizationSample_t samples[ROOM];
    struct child children[2];
    nvmlDevice_t device;
    unsigned count = 8, told = 0;

    (void)link;
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetHandleByIndex_v2)(0, &device), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetProcessUtilization)(device, samples, &count, 0),
                contrary ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_ERROR_NOT_FOUND);
    CHECK_EQUAL(count, contrary ? 72 : 0);
    for (int i = 0; i < 2; i++)
        children[i] = start_child(keep_the_card_busy, 0);
    for (int i = 0; i < 2; i++)
        CHECK(hear(children[i].link) == 'b');
    for (unsigned long long seen = 0; told < 3;) {
        count = ROOM;
        if (NV(nvmlDeviceGetProcessUtilization)(device, samples, &count, seen) == NVML_SUCCESS) {
            unsigned sum = samples[0].smUtil + (count == 2 ? samples[1].smUtil : 0);
            if (seen && contrary)
                CHECK_EQUAL(count, 1);
            told += sum >= 90 && count == (contrary ? 1 : 2);
            seen = samples[0].timeStamp;
        }
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    for (int i = 0; i < 2; i++)
        kill_child(&children[i]);
}

static void a_sample_names_one_process_with_what_all_had_and_wants_room(void) {
    both_ways("samples-name-one", look_at_who_is_named);
}

/*
 * A kernel that fits into a slice has the card alone; one that does not is interrupted. On a busy machine some time may
 * pass between the event and the launch: the shortest of many is meant.
 */
static void look_at_time_slices(int link, long contrary) {
    struct child busy = start_child(keep_the_card_busy, 0);
    float ms, shortest = 1000, most = contrary ? 1.01f : 2.01f;
    unsigned rounds = 0;

    (void)link;
    CHECK(hear(busy.link) == 'b');
    while (use_of(busy.pid).pending == 0)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    begin_spinning();
    for (; rounds < 20 || (shortest > most && rounds < 1000); rounds++) {
        CUevent start = recorded_in(NULL), end;

        spin_for(MS, NULL);
        end = recorded_in(NULL);
        CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
        CHECK_EQUAL(CU(cuEventElapsedTime)(&ms, start, end), CUDA_SUCCESS);
        shortest = ms < shortest ? ms : shortest;
        start = end;
        spin_for(5 * MS, NULL);
        end = recorded_in(NULL);
        CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
        CHECK_EQUAL(CU(cuEventElapsedTime)(&ms, start, end), CUDA_SUCCESS);
        CHECK(ms > 8); /* with slices: two or three of others, and the changes */
    }
    CHECK(shortest <= most && shortest > most - 0.02f);
    CHECK(use_of(getpid()).busy >= rounds * 6 * MS && use_of(getpid()).busy < rounds * 6 * MS + MS);
    kill_child(&busy);
}

static void programs_have_the_card_in_time_slices(void) {
    both_ways("time-slices", look_at_time_slices);
}

/* What two processes had, at a time of the card. */
static uint64_t had_by_both(const struct child children[2], uint64_t *card) {
    uint64_t had;

    do {
        *card = card_busy();
        had = use_of(children[0].pid).busy + use_of(children[1].pid).busy;
    } while (card_busy() - *card > 2 * MS);
    return had;
}

/* Two that always have work have 2 ms of every 2.15 together. */
static void changes_between_time_slices_take_time(void) {
    struct child children[2];
    uint64_t card, now, before, gained;

    install_node("t4x1");
    read_contrary("time-slices");
    for (int i = 0; i < 2; i++)
        children[i] = start_child(keep_the_card_busy, 0);
    for (int i = 0; i < 2; i++)
        CHECK(hear(children[i].link) == 'b');
    for (int i = 0; i < 2; i++)
        while (use_of(children[i].pid).pending == 0)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
    before = had_by_both(children, &card);
    while (card_busy() < card + 500 * MS)
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    gained = had_by_both(children, &now) - before;
    CHECK(gained * 100 > (now - card) * 90 && gained * 100 < (now - card) * 96);
    for (int i = 0; i < 2; i++)
        kill_child(&children[i]);
}

static void hold_a_context(int link, long unused) {
    (void)unused;
    begin_cuda(0);
    tell(link, 'h');
    hear(link);
}

static void look_at_pids(int link, long contrary) {
    nvmlProcessInfo_t processes[8];
    nvmlDevice_t device;
    struct child inside;
    unsigned count = 8;

    (void)link;
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0)
        return;
    inside = start_child(hold_a_context, 0);
    CHECK(hear(inside.link) == 'h');
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetHandleByIndex_v2)(0, &device), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetComputeRunningProcesses_v3)(device, &count, processes), NVML_SUCCESS);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(processes[0].pid, contrary ? 1 : inside.pid);
    kill_child(&inside);
}

static void a_process_has_the_pid_of_its_own_container(void) {
    both_ways("container-pids", look_at_pids);
}

RUN(TEST(readings_are_named_alone_together_and_left_out), TEST(a_node_file_with_an_unknown_reading_is_not_read),
    TEST(what_a_graph_has_mapped_stays_used), TEST(a_pool_keeps_what_is_above_its_threshold),
    TEST(managed_memory_is_the_hosts), TEST(a_green_context_is_current_to_one_thread),
    TEST(a_green_contexts_stream_is_told_by_the_second_version_only), TEST(a_green_contexts_events_end_with_it),
    TEST(an_event_in_the_legacy_stream_is_a_barrier_for_blocking_streams_only), TEST(copies_and_fills_take_time),
    TEST(a_free_does_not_wait_for_kernels), TEST(events_want_a_current_context),
    TEST(asking_for_an_event_is_safe_beside_a_capture), TEST(identical_functions_have_one_address),
    TEST(samples_are_a_second_apart), TEST(nvml_samples_no_processes),
    TEST(a_sample_names_one_process_with_what_all_had_and_wants_room), TEST(programs_have_the_card_in_time_slices),
    TEST(changes_between_time_slices_take_time), TEST(a_process_has_the_pid_of_its_own_container))
