/* SPDX-License-Identifier: Apache-2.0 */
#include "mps.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "card.h"
#include "cuda_launch.h"

const char mps_usage[] = "memory BYTES | spin SECONDS NS ITERATIONS | processes";

static void memory(uint64_t most) {
    enum { CHUNKS = 4096, HELD = 4 };
    static const size_t CHUNK = 32 * MIB;
    static CUdeviceptr chunks[CHUNKS];
    size_t free, total, granted = 0;
    CUresult result = CUDA_SUCCESS;
    card_open();
    DO(CUDA(cuMemGetInfo_v2)(&free, &total));
    while (granted < CHUNKS && (granted + 1) * CHUNK <= most && result == CUDA_SUCCESS) {
        result = CUDA(cuMemAlloc_v2)(&chunks[granted], CHUNK);
        granted += result == CUDA_SUCCESS;
    }
    printf("pid %d\ntotal %zu\nfree %zu\ngranted %zu\nrefused %d\n", (int)getpid(), total, free, granted * CHUNK,
           (int)result);
    while (granted > HELD)
        DO(CUDA(cuMemFree_v2)(chunks[--granted]));
    puts("held");
    fflush(stdout);
    while (getchar() != EOF)
        ;
}

/*
 * Blocks of as many threads as there may be, so that a multiprocessor has two of them, and many more than fit on the
 * card at once: the time that all take goes with the multiprocessors that run them.
 */
static void spin(double seconds, uint64_t ns, uint64_t iterations) {
    enum { BLOCKS = 8192, THREADS = 1024, PARTS = 32, KERNELS = 4 };
    void *parameters[] = {&ns, &iterations};
    int multiprocessors;
    struct spin loaded;
    iterations = iterations > PARTS ? iterations / PARTS : 1;
    card_open();
    DO(CUDA(cuDeviceGetAttribute)(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    loaded = spin_load(ns, iterations);
    uint64_t begin = clock_ns(), warm = begin + (uint64_t)(seconds * 0.2e9), end = begin + (uint64_t)(seconds * 1e9);
    uint64_t from = 0, kernels = 0, now;
    for (; (now = clock_ns()) < end; kernels += KERNELS) {
        if (!from && now >= warm) {
            from = now;
            kernels = 0;
        }
        for (int i = 0; i < KERNELS; i++)
            DO(CUDA(cuLaunchKernel)(loaded.function, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL));
        DO(CUDA(cuCtxSynchronize)());
    }
    printf("%.3f %d\n", 1e6 * (double)(kernels * BLOCKS) / (double)(clock_ns() - (from ? from : begin)),
           multiprocessors);
}

typedef nvmlReturn_t (*lister)(nvmlDevice_t, unsigned int *, nvmlProcessInfo_t *);

static void list(const char *what, lister ask) {
    enum { MOST = 64 };
    static nvmlProcessInfo_t processes[MOST];
    unsigned int count = MOST;
    nvmlReturn_t result = ask ? ask(truth_device(), &count, processes) : NVML_ERROR_FUNCTION_NOT_FOUND;
    if (result != NVML_SUCCESS) {
        printf("%s: error %d", what, (int)result);
        return;
    }
    printf("%s: %u", what, count);
    for (unsigned int i = 0; i < count && i < MOST; i++)
        if (processes[i].usedGpuMemory == UINT64_MAX)
            printf(", process %u with memory that is not told", processes[i].pid);
        else
            printf(", process %u with %llu MiB", processes[i].pid, processes[i].usedGpuMemory / MIB);
}

static void processes(void) {
    void *nvml = dlopen(getenv("PARTITA_NVML"), RTLD_NOW); /* as truth_open has it */
    truth_open();
    list("clients of MPS", nvml ? (lister)dlsym(nvml, "nvmlDeviceGetMPSComputeRunningProcesses_v3") : NULL);
    fputs("; ", stdout);
    list("compute processes", nvml ? (lister)dlsym(nvml, "nvmlDeviceGetComputeRunningProcesses_v3") : NULL);
    puts("");
}

bool mps_client(char *const *arguments, int count) {
    if (count == 2 && strcmp(arguments[0], "memory") == 0)
        memory(strtoull(arguments[1], NULL, 10));
    else if (count == 4 && strcmp(arguments[0], "spin") == 0)
        spin(strtod(arguments[1], NULL), strtoull(arguments[2], NULL, 10), strtoull(arguments[3], NULL, 10));
    else if (count == 1 && strcmp(arguments[0], "processes") == 0)
        processes();
    else
        return false;
    return true;
}
