/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partita-hardware COMMAND: the parts of hardware/run. It loads libcuda.so.1 as any program does.
 *   describe                     card, UUID, driver, bytes
 *   memory                       rows about memory
 *   open HANDLE                  the rest of a row: memory of another process, opened by its handle
 *   calibrate NS                 iterations that take NS of the card's time, by itself
 *   spin SECONDS NS ITERATIONS   percent of the time that its kernels ran
 *   overhead                     name, ns a call
 *   readings NS ITERATIONS       rows: how this driver reads what NVIDIA's documentation leaves open
 */
#include <stdlib.h>
#include <string.h>

#include "card.h"
#include "memory.h"
#include "readings.h"

static void calibrate(uint64_t ns) {
    uint64_t iterations = 100000, took = 0;
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

/* The first fifth is not counted: a limit lets some time pass at once after idling. */
static void run_spin(double seconds, uint64_t ns, uint64_t iterations) {
    struct spin spin = spin_load(ns, iterations);
    uint64_t begin = clock_ns(), warm = begin + (uint64_t)(seconds * 0.2e9), end = begin + (uint64_t)(seconds * 1e9);
    uint64_t from = 0, kernels = 0, now;
    while ((now = clock_ns()) < end) {
        if (!from && now >= warm) {
            from = now;
            kernels = 0;
        }
        for (int i = 0; i < 4; i++, kernels++)
            spin_launch(&spin);
        DO(CUDA(cuStreamSynchronize)(NULL));
    }
    printf("%.2f\n", 100.0 * (double)(kernels * ns) / (double)(clock_ns() - (from ? from : begin)));
}

static void timed(const char *name, int calls, uint64_t begin) {
    printf("%s\t%.1f\n", name, (double)(clock_ns() - begin) / calls);
}

static void overhead(void) {
    enum { CALLS = 20000 };
    CUdeviceptr pointer;
    size_t free, total;
    struct spin spin = spin_load(0, 1);
    spin_launch(&spin);
    DO(CUDA(cuCtxSynchronize)());
    uint64_t begin = clock_ns();
    for (int i = 0; i < CALLS; i++) {
        DO(CUDA(cuMemAlloc_v2)(&pointer, 4096));
        DO(CUDA(cuMemFree_v2)(pointer));
    }
    timed("cuMemAlloc + cuMemFree of 4 KiB", CALLS, begin);
    begin = clock_ns();
    for (int i = 0; i < CALLS; i++)
        DO(CUDA(cuMemGetInfo_v2)(&free, &total));
    timed("cuMemGetInfo", CALLS, begin);
    begin = clock_ns();
    for (int i = 0; i < CALLS; i++) {
        spin_launch(&spin);
        if (i % 256 == 255)
            DO(CUDA(cuStreamSynchronize)(NULL));
    }
    DO(CUDA(cuStreamSynchronize)(NULL));
    timed("cuLaunchKernel of an empty kernel", CALLS, begin);
}

int main(int argc, char **argv) {
    const char *command = argc > 1 ? argv[1] : "";
    if (strcmp(command, "describe") == 0) {
        truth_open();
        truth_describe();
    } else if (strcmp(command, "memory") == 0) {
        truth_open();
        card_open();
        memory_check();
    } else if (strcmp(command, "open") == 0 && argc == 3) {
        truth_open();
        card_open();
        memory_open(argv[2]);
    } else if (strcmp(command, "calibrate") == 0 && argc == 3) {
        card_open();
        calibrate(strtoull(argv[2], NULL, 10));
    } else if (strcmp(command, "spin") == 0 && argc == 5) {
        card_open();
        run_spin(strtod(argv[2], NULL), strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
    } else if (strcmp(command, "readings") == 0 && argc == 4) {
        readings_check(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    } else if (strcmp(command, "overhead") == 0) {
        card_open();
        overhead();
    } else {
        fputs("usage: partita-hardware describe | memory | open HANDLE | calibrate NS | spin SECONDS NS ITERATIONS | "
              "overhead | readings NS ITERATIONS\n",
              stderr);
        return 2;
    }
    return 0;
}
