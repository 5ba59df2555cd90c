/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "cores_stage.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "../../simulator/state/clock.h"
#include "../../simulator/state/state.h"
#include "card_reports.h"
#include "check.h"
#include "nvml_api.h"
#include "partita/card_report.h"
#include "partita/quota_file.h"

/* Shared with the reporter. */
static struct shared {
    uint32_t count;
    struct {
        char container[300], report[400];
        uint32_t pid, high;
    } spinners[SPINNERS];
} *shared;

static struct spinner spinners[SPINNERS];
static struct reported reported[SPINNERS]; /* in the reporter */
_Static_assert((int)SPINNERS <= (int)REPORTED_PROCESSES, "the reporter knows all spinners");
static struct sim_state truth = {.locks = -1};

void wait_ms(unsigned int ms) {
    struct timespec pause = {ms / 1000, (long)(ms % 1000) * 1000000};
    while (nanosleep(&pause, &pause) != 0) {
    }
}

uint64_t cores_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Every figure of a name in the configuration of the simulated cards. */
static void configure(const char *name, unsigned int value) {
    const char *path = text("%s/etc/partita-simulator/node.conf", scratch_folder());
    char line[256], all[8192] = "", word[64];
    FILE *conf = fopen(path, "re");
    CHECK(conf);
    while (fgets(line, sizeof line, conf)) {
        const char *kept =
            sscanf(line, "%63s", word) == 1 && strcmp(word, name) == 0 ? text("  %s %u\n", name, value) : line;
        CHECK(strlen(all) + strlen(kept) < sizeof all);
        strcat(all, kept);
    }
    fclose(conf);
    write_file(path, all, strlen(all));
}

static void open_truth(void) {
    static struct sim_node node;
    CHECK(sim_node_read(scratch_folder(), &node, NULL, 0));
    CHECK(sim_state_open(&truth, &node, true));
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
}

void cores_stage_sampled(unsigned int period_us, unsigned int delay_us) {
    stage_driver("h200x1");
    if (period_us) {
        configure("sample-period-us", period_us);
        configure("sample-delay-us", delay_us);
    }
    open_truth();
}

void cores_stage_sliced(void) {
    stage_driver("h200x1");
    configure("time-slice-us", 2000);
    configure("time-slice-change-us", 150);
    open_truth();
}

void cores_stage_of(const char *gpus) {
    stage_driver(gpus);
    open_truth();
}

void cores_stage(void) {
    cores_stage_of("h200x1");
}

const char *cores_container(const char *name, unsigned int cores, const char *core_limit, unsigned int priority) {
    const char *container = stage_container(name);
    cores_quota(container, cores, core_limit, priority);
    make_region(container, "share");
    return container;
}

void cores_quota(const char *container, unsigned int cores, const char *core_limit, unsigned int priority) {
    static uint64_t generation;
    const char *rules = text("cores %u\ncore-limit %s\npriority %u\n", cores, core_limit, priority);
    write_quota_with(container, "share", stage_gpu(0), 8 * GIB, ++generation, rules);
}

CUfunction spin_function(void) {
    CUmodule module;
    CUfunction function;
    CHECK_EQUAL(CUDA(cuModuleLoadData)(&module, "image"), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuModuleGetFunction)(&function, module, "partita_spin"), CUDA_SUCCESS);
    return function;
}

static __typeof__(&cuLaunchKernel) launch;

void spin(CUfunction function, uint64_t ns, CUstream stream) {
    void *parameters[] = {&ns};
    if (!launch)
        launch = CUDA(cuLaunchKernel);
    CHECK_EQUAL(launch(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL), CUDA_SUCCESS);
}

static struct spinner *self;

static void sleeps_within(void *nothing) {
    (void)nothing;
    nanosleep(&(struct timespec){0, (long)self->within_ns}, NULL);
}

CUDA_KERNEL_NODE_PARAMS_v2 kernel_of_one_thread(CUfunction function, void **parameters) {
    return (CUDA_KERNEL_NODE_PARAMS_v2){.func = function,
                                        .gridDimX = 1,
                                        .gridDimY = 1,
                                        .gridDimZ = 1,
                                        .blockDimX = 1,
                                        .blockDimY = 1,
                                        .blockDimZ = 1,
                                        .kernelParams = parameters};
}

static CUgraphExec kernel_and_function(CUfunction function, uint64_t ns) {
    void *parameters[] = {&ns};
    CUDA_KERNEL_NODE_PARAMS_v2 kernel = kernel_of_one_thread(function, parameters);
    CUDA_HOST_NODE_PARAMS host = {.fn = sleeps_within};
    CUgraph graph;
    CUgraphNode first, second;
    CUgraphExec exec;
    CHECK_EQUAL(CUDA(cuGraphCreate)(&graph, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuGraphAddKernelNode_v2)(&first, graph, NULL, 0, &kernel), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuGraphAddHostNode)(&second, graph, &first, 1, &host), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuGraphInstantiateWithFlags)(&exec, graph, 0), CUDA_SUCCESS);
    return exec;
}

static void work(void) {
    CUstream streams[64] = {NULL};
    cuda_start(self->container, 0);
    CUfunction function = spin_function();
    for (unsigned int i = 0; i < self->streams; i++)
        CHECK_EQUAL(CUDA(cuStreamCreate)(&streams[i], CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    __typeof__(&cuStreamSynchronize) wait = CUDA(cuStreamSynchronize);
    CUgraphExec graph = self->within_ns ? kernel_and_function(function, self->ns) : NULL;
    __typeof__(&cuGraphLaunch) launch_graph = CUDA(cuGraphLaunch);
    stage_ready();
    for (unsigned int i = 0;; i = self->streams ? (i + 1) % self->streams : 0) {
        if (graph)
            CHECK_EQUAL(launch_graph(graph, streams[i]), CUDA_SUCCESS);
        else
            spin(function, self->ns, streams[i]);
        if (self->waits)
            CHECK_EQUAL(wait(streams[i]), CUDA_SUCCESS);
        for (uint64_t until = self->gap_ns ? cores_now() + self->gap_ns : 0; until && cores_now() < until;) {
        }
        if (self->idle_ns) {
            struct timespec pause = {(time_t)(self->idle_ns / 1000000000), (long)(self->idle_ns % 1000000000)};
            nanosleep(&pause, NULL);
        }
    }
}

struct spinner *spinner_start(struct spinner wanted) {
    uint32_t index = shared->count;
    CHECK(index < SPINNERS);
    self = &spinners[index];
    *self = wanted;
    self->child = stage_child(work);
    self->pid = self->child.pid;
    snprintf(shared->spinners[index].container, sizeof shared->spinners[index].container, "%s", wanted.container);
    snprintf(shared->spinners[index].report, sizeof shared->spinners[index].report,
             "%s" PARTITA_SHARES_FOLDER "/share/" PARTITA_REPORT_NAME, wanted.container);
    shared->spinners[index].high = wanted.high;
    shared->spinners[index].pid = (uint32_t)self->pid;
    __atomic_store_n(&shared->count, index + 1, __ATOMIC_RELEASE);
    child_wait(&self->child);
    child_go(&self->child);
    return self;
}

void spinner_kill(struct spinner *spinner) {
    child_kill(&spinner->child);
    shared->spinners[spinner - spinners].pid = 0;
}

void spinners_forget(void) {
    __atomic_store_n(&shared->count, 0, __ATOMIC_RELEASE);
}

uint64_t cores_busy(pid_t pid) {
    static struct sim_process_use uses[64];
    unsigned count = sim_state_processes(&truth, 0, uses, 64);
    for (unsigned i = 0; i < count && i < 64; i++)
        if (uses[i].pid == (unsigned)pid)
            return uses[i].busy;
    return 0;
}

uint64_t cores_held(void) {
    static struct sim_process_use uses[64];
    unsigned count = sim_state_processes(&truth, 0, uses, 64);
    uint64_t held = 0;
    for (unsigned i = 0; i < count && i < 64; i++)
        held += uses[i].memory;
    return held;
}

void spinners_measure(struct spinner *const measured[], unsigned int count, unsigned int ms, double percent[]) {
    uint64_t before[SPINNERS], begin = cores_now();
    for (unsigned int i = 0; i < count; i++)
        before[i] = cores_busy(measured[i]->pid);
    wait_ms(ms);
    double passed = (double)(cores_now() - begin);
    for (unsigned int i = 0; i < count; i++)
        percent[i] = 100 * (double)(cores_busy(measured[i]->pid) - before[i]) / passed;
}

/* Into the process' slot, as the plugin does: for NVML in the container. */
static void write_sample(const struct reported *process, const nvmlProcessUtilizationSample_t *sample) {
    const char *container = shared->spinners[process - reported].container;
    int file = open(region_path(container, "share"), O_RDWR | O_CLOEXEC);
    CHECK(file >= 0);
    struct partita_region *region = mmap(NULL, PARTITA_USAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(region != MAP_FAILED);
    close(file);
    for (uint32_t slot = 0; slot < region->high_water; slot++)
        if (region->slots[slot].pid == sample->pid) {
            uint64_t engines =
                sample->smUtil | sample->memUtil << 8 | sample->encUtil << 16 | (uint64_t)sample->decUtil << 24;
            __atomic_store_n(&region->slots[slot].utilization, engines, __ATOMIC_RELAXED);
            __atomic_store_n(&region->slots[slot].sampled, sample->timeStamp, __ATOMIC_RELEASE);
        }
    munmap(region, PARTITA_USAGE_SIZE);
}

static void report(void) {
    static struct card_reports reports = {.period = 1000000, .sampled = write_sample};
    void *nvml = dlopen(text("%s/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1.2", scratch_folder()), RTLD_NOW);
    CHECK(nvml);
#define NVML(name) ((__typeof__(&name))dlsym(nvml, #name))
    CHECK_EQUAL(NVML(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NVML(nvmlDeviceGetHandleByIndex_v2)(0, &reports.device), NVML_SUCCESS);
    reports.ask = NVML(nvmlDeviceGetProcessUtilization);
    for (;;) {
        wait_ms(REPORT_PAUSE_MS);
        uint32_t count = __atomic_load_n(&shared->count, __ATOMIC_ACQUIRE);
        for (uint32_t i = 0; i < count; i++)
            reported[i] =
                (struct reported){shared->spinners[i].report, shared->spinners[i].pid, shared->spinners[i].high};
        card_reports_write(&reports, reported, count);
    }
}

void cores_reporter(void) {
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        report();
    }
}

const struct partita_region *cores_region(const char *container) {
    int file = open(region_path(container, "share"), O_RDONLY | O_CLOEXEC);
    CHECK(file >= 0);
    void *at = mmap(NULL, PARTITA_USAGE_SIZE, PROT_READ, MAP_SHARED, file, 0);
    CHECK(at != MAP_FAILED);
    close(file);
    return at;
}
