/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the shadow adds to a call, against a driver of constant cost: with and without, in processes of their own, one
 * run. overhead_bench [rounds [processes at once [LIBCUDA [FIGURE]]]]; prints nanoseconds a call, microseconds a start,
 * KiB of memory, and the ratio. LIBCUDA: another build's shadow than the one beside this program. FIGURE: part of a
 * line's name; the others are left out. Every figure is the best of several runs, and calls are counted in the
 * processor time of their thread, so that a busy machine and more processes than processors do not show in it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"
#include "cuda_pages.h"
#include "scratch.h"

enum { RUNS = 7, CROWD = 8, LIVE = 100000, OTHERS = 64 };
enum figure {
    LAUNCH,
    LAUNCH_LIMITED,
    LAUNCH_STREAM,
    INFO,
    INFO_LIVE,
    INFO_DEAD,
    PAIR,
    PAIR_BIG,
    PAIR_LIVE,
    PAIR_RANDOM,
    PAIR_CROWD,
    PAIR_CROWD_LIVE,
    MAPPING,
    START,
    INIT,
    START_ONE,
    START_MANY,
    RESIDENT,
    FIGURES
};
static const char *const names[FIGURES] = {
    [LAUNCH] = "cuLaunchKernel, no core limit, ns",
    [LAUNCH_LIMITED] = "cuLaunchKernel, core limit, ns",
    [LAUNCH_STREAM] = "the same, into a stream of its own, ns",
    [INFO] = "cuMemGetInfo, ns",
    [INFO_LIVE] = "the same, 64 others alive, ns",
    [INFO_DEAD] = "the same, 64 others dead, ns",
    [PAIR] = "cuMemAlloc + cuMemFree, ns",
    [PAIR_BIG] = "the same, 64 MiB each, ns",
    [PAIR_LIVE] = "the same, 100,000 others live, ns",
    [PAIR_RANDOM] = "the same, a random one of 100,000, ns",
    [PAIR_CROWD] = "the same, 8 processes, ns",
    [PAIR_CROWD_LIVE] = "the same, 8 with 100,000 others live, ns",
    [MAPPING] = "cuMemMap + cuMemUnmap, 10,000 others, ns",
    [START] = "dlopen to first cuMemAlloc, us",
    [INIT] = "dlopen to cuInit, us",
    [START_ONE] = "dlopen to first cuMemAlloc, processor time, us",
    [START_MANY] = "the same, 300 processes at once, each, us",
    [RESIDENT] = "memory of its own, KiB",
};
static long rounds;

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *library;
static __typeof__(&cuMemAlloc_v2) alloc;
static __typeof__(&cuMemFree_v2) release;

static void open_library(const char *path) {
    library = dlopen(path, RTLD_NOW);
    CHECK(library);
}

static void open_and_allocate(const char *path) {
    CUdeviceptr pointer;
    open_library(path);
    *(void **)&alloc = dlsym(library, "cuMemAlloc_v2");
    *(void **)&release = dlsym(library, "cuMemFree_v2");
    CHECK_EQUAL(alloc(&pointer, 512), CUDA_SUCCESS);
    CHECK_EQUAL(release(pointer), CUDA_SUCCESS);
}

static void open_and_init(const char *path) {
    open_library(path);
    __typeof__(&cuInit) init = (__typeof__(&cuInit))dlsym(library, "cuInit");
    CHECK_EQUAL(init(0), CUDA_SUCCESS);
}

/* The best of several runs, in nanoseconds a round. */
#define BEST(rounds, statement)                                                                                        \
    ({                                                                                                                 \
        double best = 0;                                                                                               \
        for (int run = 0; run < RUNS; run++) {                                                                         \
            double begin = now(CLOCK_THREAD_CPUTIME_ID);                                                               \
            for (long i = 0; i < (rounds); i++)                                                                        \
                statement;                                                                                             \
            double each = (now(CLOCK_THREAD_CPUTIME_ID) - begin) / (double)(rounds);                                   \
            best = run == 0 || each < best ? each : best;                                                              \
        }                                                                                                              \
        best;                                                                                                          \
    })

static void pair(size_t bytes) {
    CUdeviceptr pointer;
    CHECK_EQUAL(alloc(&pointer, bytes), CUDA_SUCCESS);
    CHECK_EQUAL(release(pointer), CUDA_SUCCESS);
}

static CUdeviceptr live[LIVE];

static void fill(void) {
    for (int i = 0; i < LIVE; i++)
        CHECK_EQUAL(alloc(&live[i], 4096), CUDA_SUCCESS);
}

static void replace_one(void) {
    static uint32_t random = 1;
    random = random * 1103515245 + 12345;
    CUdeviceptr *one = &live[(random >> 8) % LIVE];
    CHECK_EQUAL(release(*one), CUDA_SUCCESS);
    CHECK_EQUAL(alloc(one, 4096), CUDA_SUCCESS);
}

/*
 * Runs `work` in `count` processes that begin together, and gives the mean of what each returned; ready: before they
 * begin.
 */
static double together(int count, const char *path, void (*ready)(const char *), double (*work)(const char *)) {
    struct {
        int ready, go;
        double results[];
    } *shared = mmap(NULL, sizeof(int[2]) + sizeof(double) * (size_t)count, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t *pids = calloc((size_t)count, sizeof *pids);
    double sum = 0;
    for (int i = 0; i < count; i++) {
        pids[i] = fork();
        CHECK(pids[i] >= 0);
        if (pids[i] == 0) {
            ready(path);
            __atomic_fetch_add(&shared->ready, 1, __ATOMIC_ACQ_REL);
            while (!__atomic_load_n(&shared->go, __ATOMIC_ACQUIRE))
                usleep(200);
            shared->results[i] = work(path);
            _exit(0);
        }
    }
    while (__atomic_load_n(&shared->ready, __ATOMIC_ACQUIRE) < count)
        usleep(200);
    __atomic_store_n(&shared->go, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < count; i++) {
        reap_well(pids[i]);
        sum += shared->results[i];
    }
    free(pids);
    return sum / count;
}

static void nothing(const char *path) {
    (void)path;
}

static double crowd_pairs(const char *path) {
    (void)path;
    return BEST(rounds / RUNS + 1, pair(4096));
}

static double crowd_pairs_live(const char *path) {
    fill();
    return crowd_pairs(path);
}

/* Processor time of a start: with more processes than processors the time on the clock is mostly waiting for one. */
static double start(const char *path) {
    double begin = now(CLOCK_PROCESS_CPUTIME_ID);
    open_and_init(path);
    open_and_allocate(path);
    return (now(CLOCK_PROCESS_CPUTIME_ID) - begin) / 1000;
}

static double init(const char *path) {
    double begin = now(CLOCK_MONOTONIC);
    open_and_init(path);
    return (now(CLOCK_MONOTONIC) - begin) / 1000;
}

static double start_clock(const char *path) {
    double begin = now(CLOCK_MONOTONIC);
    open_and_allocate(path);
    return (now(CLOCK_MONOTONIC) - begin) / 1000;
}

/* Resident, without the C library: how many of its pages the kernel maps around one that is touched is chance. */
static double own_memory(void) {
    char line[512];
    double total = 0, kib;
    bool counts = true;
    FILE *smaps = fopen("/proc/self/smaps", "re");
    CHECK(smaps);
    while (fgets(line, sizeof line, smaps)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            counts = !strstr(line, "/libc.so") && !strstr(line, "/ld-");
        else if (counts && sscanf(line, "Rss: %lf", &kib) == 1)
            total += kib;
    }
    fclose(smaps);
    return total;
}

static double resident(const char *path) {
    double before = own_memory();
    open_and_init(path);
    open_and_allocate(path);
    CUdeviceptr pointer;
    for (int i = 0; i < 1000; i++)
        CHECK_EQUAL(alloc(&pointer, 4096), CUDA_SUCCESS);
    return own_memory() - before;
}

static double best_of(const char *path, double (*work)(const char *)) {
    double best = 0;
    for (int run = 0; run < RUNS; run++) {
        double once = together(1, path, nothing, work);
        best = run == 0 || once < best ? once : best;
    }
    return best;
}

static double mappings(void) {
    enum { MAPPED = 10000 };
    const uint64_t page = 2 << 20, first = UINT64_C(1) << 42;
    const CUmemAllocationProp on_card = {.type = 1, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    __typeof__(&cuMemCreate) create = (__typeof__(&cuMemCreate))dlsym(library, "cuMemCreate");
    __typeof__(&cuMemMap) map = (__typeof__(&cuMemMap))dlsym(library, "cuMemMap");
    __typeof__(&cuMemUnmap) unmap = (__typeof__(&cuMemUnmap))dlsym(library, "cuMemUnmap");
    CUmemGenericAllocationHandle handle;
    for (uint64_t i = 0; i < MAPPED; i++) {
        CHECK_EQUAL(create(&handle, page, &on_card, 0), CUDA_SUCCESS);
        CHECK_EQUAL(map(first + 2 * i * page, page, 0, handle, 0), CUDA_SUCCESS);
    }
    return BEST(rounds, ({
                    CUdeviceptr address = first + (2 * ((uint64_t)i * 7919 % MAPPED) + 1) * page;
                    map(address, page, 0, handle, 0);
                    unmap(address, page);
                }));
}

/* Processes that use the card, and live on until the pipe that is given back is closed, or have ended: then -1. */
static int others(const char *path, int count, bool live) {
    int ready[2], end[2];
    char byte = 0;
    CHECK(pipe(ready) == 0 && pipe(end) == 0);
    for (int i = 0; i < count; i++) {
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            close(end[1]);
            open_and_allocate(path);
            CHECK(write(ready[1], &byte, 1) == 1);
            CHECK(read(end[0], &byte, 1) == 0);
            _exit(0);
        }
    }
    for (int i = 0; i < count; i++)
        CHECK(read(ready[0], &byte, 1) == 1);
    close(end[0]);
    if (!live) {
        close(end[1]);
        while (wait(NULL) > 0) {
        }
    }
    return live ? end[1] : -1;
}

static double calls(const char *path, enum figure figure, int starts) {
    int alive = -1;
    if (figure == INFO_LIVE || figure == INFO_DEAD)
        alive = others(path, starts < OTHERS ? starts : OTHERS, figure == INFO_LIVE);
    open_and_allocate(path);
    __typeof__(&cuLaunchKernel) launch = (__typeof__(&cuLaunchKernel))dlsym(library, "cuLaunchKernel");
    __typeof__(&cuMemGetInfo_v2) info = (__typeof__(&cuMemGetInfo_v2))dlsym(library, "cuMemGetInfo_v2");
    size_t free, total;
    switch (figure) {
    case LAUNCH_STREAM:
        return BEST(rounds, launch(NULL, 1, 1, 1, 1, 1, 1, 0, (CUstream)(void *)live, NULL, NULL));
    case LAUNCH:
    case LAUNCH_LIMITED:
        return BEST(rounds, launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    case INFO:
    case INFO_LIVE:
    case INFO_DEAD: {
        double best = BEST(rounds, info(&free, &total));
        if (alive >= 0)
            close(alive);
        return best;
    }
    case PAIR_BIG:
        return BEST(rounds, pair((size_t)64 << 20));
    case PAIR_LIVE:
        fill();
        return BEST(rounds, pair(4096));
    case MAPPING:
        return mappings();
    case PAIR_RANDOM:
        fill();
        return BEST(rounds, replace_one());
    default:
        return BEST(rounds, pair(4096));
    }
}

static double measure(const char *path, enum figure figure, int starts) {
    switch (figure) {
    case START:
        return best_of(path, start_clock);
    case INIT:
        return best_of(path, init);
    case START_ONE:
        return best_of(path, start);
    case START_MANY:
        return together(starts, path, nothing, start);
    case RESIDENT:
        return best_of(path, resident);
    case PAIR_CROWD:
        return together(CROWD, path, open_and_allocate, crowd_pairs);
    case PAIR_CROWD_LIVE:
        return together(CROWD, path, open_and_allocate, crowd_pairs_live);
    default:
        return calls(path, figure, starts);
    }
}

/* A share of its own for every figure, so that none finds another's processes in it. */
static const char *prepare(enum figure figure, const char *shadow) {
    const char *box = text("%s/%d", scratch_folder(), (int)figure);
    make_folders(text("%s/lib/partita", box));
    copy_file(shadow, text("%s/lib/libcuda.so.1", box));
    copy_file(BENCH_DRIVER, text("%s/lib/partita/libcuda-real.so.1", box));
    bool limited = figure == LAUNCH_LIMITED || figure == LAUNCH_STREAM;
    write_quota_with(box, "share", "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", UINT64_C(1) << 38, 1,
                     limited ? "cores 50\n" : "cores 0\n");
    make_region(box, "share");
    return box;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atol(argv[1]) : 300000;
    int starts = argc > 2 ? atoi(argv[2]) : 300;
    const char *shadow_built = argc > 3 && argv[3][0] ? argv[3] : shadow_cuda(), *only = argc > 4 ? argv[4] : "";
    CHECK(rounds > 0 && starts > 0);
    printf("%-48s %10s %10s %10s %10s\n", "", "without", "with", "added", "ratio");
    for (int i = 0; i < FIGURES; i++) {
        if (!strstr(names[i], only))
            continue;
        char box[512];
        double *figures = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        snprintf(box, sizeof box, "%s", prepare((enum figure)i, shadow_built));
        for (int shadow = 0; shadow < 2; shadow++) {
            pid_t pid = fork();
            if (pid == 0) {
                const char *real = shadow ? "%s/lib/libcuda.so.1" : "%s/lib/partita/libcuda-real.so.1";
                char path[600];
                snprintf(path, sizeof path, "%s", text(real, box));
                figures[shadow] = measure(path, (enum figure)i, starts);
                _exit(0);
            }
            reap_well(pid);
        }
        printf("%-48s %10.1f %10.1f %10.1f %10.2f\n", names[i], figures[0], figures[1], figures[1] - figures[0],
               figures[1] / figures[0]);
        fflush(stdout);
    }
    return 0;
}
