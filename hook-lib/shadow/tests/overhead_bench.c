/*
 * What the shadow adds to a call, against a driver of constant cost: one run with and one without, in processes of their own.
 * overhead_bench [rounds]; prints nanoseconds a call, microseconds a start.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#include "check.h"
#include "cuda_api.h"
#include "scratch.h"

enum { FIGURES = 6 };
static const char *const names[FIGURES] = {"cuLaunchKernel",           "cuMemGetInfo",
                                           "cuMemAlloc + cuMemFree",   "the same, 100,000 others live",
                                           "the same, 8 processes",    "dlopen to first cuMemAlloc, us"};
static long rounds;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static __typeof__(&cuMemAlloc_v2) alloc;
static __typeof__(&cuMemFree_v2) release;

static double pairs(void) {
    double begin = now();
    for (long i = 0; i < rounds; i++) {
        CUdeviceptr pointer;
        CHECK_EQUAL(alloc(&pointer, 4096), CUDA_SUCCESS);
        CHECK_EQUAL(release(pointer), CUDA_SUCCESS);
    }
    return (now() - begin) / (double)rounds;
}

static void open_library(const char *library) {
    CUdeviceptr pointer;
    void *handle = dlopen(library, RTLD_NOW);
    CHECK(handle);
    *(void **)&alloc = dlsym(handle, "cuMemAlloc_v2");
    *(void **)&release = dlsym(handle, "cuMemFree_v2");
    CHECK_EQUAL(alloc(&pointer, 512), CUDA_SUCCESS);
    CHECK_EQUAL(release(pointer), CUDA_SUCCESS);
}

static void measure(const char *library, double figures[FIGURES]) {
    pid_t others[8];
    double *each = mmap(NULL, sizeof(double) * 8, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 8; i++) {
        others[i] = fork();
        if (others[i] == 0) {
            open_library(library);
            each[i] = pairs();
            _exit(0);
        }
    }
    figures[4] = 0;
    for (int i = 0; i < 8; i++) {
        reap_well(others[i]);
        figures[4] += each[i] / 8;
    }

    double begin = now();
    open_library(library);
    figures[5] = (now() - begin) / 1000;
    void *handle = dlopen(library, RTLD_NOW);
    __typeof__(&cuLaunchKernel) launch = (__typeof__(&cuLaunchKernel))dlsym(handle, "cuLaunchKernel");
    __typeof__(&cuMemGetInfo_v2) info = (__typeof__(&cuMemGetInfo_v2))dlsym(handle, "cuMemGetInfo_v2");
    begin = now();
    for (long i = 0; i < rounds; i++)
        launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    figures[0] = (now() - begin) / (double)rounds;
    size_t free, total;
    begin = now();
    for (long i = 0; i < rounds; i++)
        info(&free, &total);
    figures[1] = (now() - begin) / (double)rounds;
    figures[2] = pairs();
    for (int i = 0; i < 100000; i++) {
        CUdeviceptr pointer;
        CHECK_EQUAL(alloc(&pointer, 4096), CUDA_SUCCESS);
    }
    figures[3] = pairs();
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atol(argv[1]) : 1000000;
    CHECK(rounds > 0);
    const char *box = scratch_folder();
    make_folders(text("%s/lib/partita", box));
    copy_file(SHADOW_CUDA, text("%s/lib/libcuda.so.1", box));
    copy_file(BENCH_DRIVER, text("%s/lib/partita/libcuda-real.so.1", box));
    write_quota(box, "share", "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", UINT64_C(1) << 36, 1);
    make_region(box, "share");
    double(*figures)[FIGURES] =
        mmap(NULL, sizeof(double[2][FIGURES]), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int shadow = 0; shadow < 2; shadow++) {
        pid_t pid = fork();
        if (pid == 0) {
            measure(text(shadow ? "%s/lib/libcuda.so.1" : "%s/lib/partita/libcuda-real.so.1", box), figures[shadow]);
            _exit(0);
        }
        reap_well(pid);
    }
    printf("%-32s %10s %10s %10s\n", "", "without", "with", "added");
    for (int i = 0; i < FIGURES; i++)
        printf("%-32s %10.1f %10.1f %10.1f\n", names[i], figures[0][i], figures[1][i], figures[1][i] - figures[0][i]);
    return 0;
}
