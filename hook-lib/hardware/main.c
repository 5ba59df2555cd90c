/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partita-hardware COMMAND: the parts of hardware/run. It loads libcuda.so.1 as any program does.
 *   describe                     card, UUID, driver, bytes
 *   memory                       rows about memory
 *   open HANDLE                  the rest of a row: memory of another process, opened by its handle
 *   calibrate NS                 iterations that take NS of the card's time, by itself
 *   spin SECONDS NS ITERATIONS WAY   percent of the time that its kernels ran
 *   report FILE PID...           card reports as the plugin writes them, until it is killed
 *   target                       what nvcc's -arch has to be, as sm_90
 *   mps ...                      a client of MPS: mps.h
 *   overhead                     name, ns a call
 *   readings NS ITERATIONS       rows: how this driver reads what NVIDIA's documentation leaves open
 */
#include <stdlib.h>
#include <string.h>

#include "card.h"
#include "conditional.h"
#include "cores.h"
#include "memory.h"
#include "mps.h"
#include "readings.h"

static void timed(const char *name, int calls, uint64_t begin) {
    printf("%s\t%.1f\n", name, (double)(clock_ns() - begin) / calls);
}

static void overhead(void) {
    enum { CALLS = 4000 };
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
        uint64_t before = truth_used();
        card_open();
        memory_check(before);
    } else if (strcmp(command, "open") == 0 && argc == 3) {
        truth_open();
        card_open();
        memory_open(argv[2]);
    } else if (strcmp(command, "calibrate") == 0 && argc == 3) {
        cores_calibrate(strtoull(argv[2], NULL, 10));
    } else if (strcmp(command, "spin") == 0 && argc == 6 &&
               cores_spin(strtod(argv[2], NULL), strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10), argv[5])) {
        return 0;
    } else if (strcmp(command, "report") == 0 && argc >= 4 && argc % 2 == 0) {
        cores_report(argv + 2, argc - 2);
    } else if (strcmp(command, "readings") == 0 && argc == 4) {
        readings_check(strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    } else if (strcmp(command, "target") == 0) {
        conditional_target();
    } else if (strcmp(command, "mps") == 0 && mps_client(argv + 2, argc - 2)) {
        return 0;
    } else if (strcmp(command, "overhead") == 0) {
        card_open();
        overhead();
    } else {
        fprintf(stderr,
                "usage: partita-hardware describe | memory | open HANDLE | calibrate NS |\n"
                "       spin SECONDS NS ITERATIONS (%s) | report FILE PID... | overhead | readings NS ITERATIONS |\n"
                "       target | mps (%s)\n",
                cores_ways, mps_usage);
        return 2;
    }
    return 0;
}
