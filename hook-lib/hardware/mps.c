/* SPDX-License-Identifier: Apache-2.0 */
#include "mps.h"

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
enum { BLOCKS = 8192, THREADS = 1024, PARTS = 32, KERNELS = 4 };

static struct spin kernel;

static void launch_batch(void) {
    void *parameters[] = {&kernel.ns, &kernel.iterations};
    for (int i = 0; i < KERNELS; i++)
        DO(CUDA(cuLaunchKernel)(kernel.function, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, parameters, NULL));
    DO(CUDA(cuCtxSynchronize)());
}

static void spin(double seconds, uint64_t ns, uint64_t iterations) {
    int multiprocessors;
    card_open();
    DO(CUDA(cuDeviceGetAttribute)(&multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    kernel = spin_load(ns, iterations > PARTS ? iterations / PARTS : 1);
    printf("%.3f %d\n", batches_a_second(seconds, launch_batch) * KERNELS * BLOCKS / 1e3, multiprocessors);
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
    truth_open();
    list("clients of MPS", (lister)truth_function("nvmlDeviceGetMPSComputeRunningProcesses_v3"));
    fputs("; ", stdout);
    list("compute processes", (lister)truth_function("nvmlDeviceGetComputeRunningProcesses_v3"));
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
