/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The card under test: its driver by dlopen, as programs find it (LD_LIBRARY_PATH chooses the shadow or not), and
 * NVML's truth beside it.
 */
#ifndef PARTITA_HARDWARE_CARD_H
#define PARTITA_HARDWARE_CARD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cuda_api.h"
#include "nvml_api.h"

#define MIB (UINT64_C(1) << 20)

/* The libcuda's function of that name, typed; NULL where the driver lacks it. */
#define CUDA(name) ((__typeof__(&name))card_function(#name))

void *card_function(const char *name);

/*
 * Loads libcuda.so.1, initialises it and makes a context on device 0. Ends the program with a line on stderr where that
 * fails.
 */
void card_open(void);

/* NVML by the path in PARTITA_NVML: the driver's own, which knows nothing of shares. */
void truth_open(void);
uint64_t truth_used(void);          /* bytes of the card, of all processes */
void truth_describe(void);          /* prints name, memory, driver */
uint64_t truth_sample_period(void); /* microseconds between NVML's samples of the card's use; 0: it has none */
bool truth_samples_processes(void); /* false: NVML says that this card or driver does not */

/* A kernel that takes the time `ns` on the simulated card, and on a real one that of its iterations. */
struct spin {
    CUfunction function;
    uint64_t ns, iterations;
};
struct spin spin_load(uint64_t ns, uint64_t iterations);
void spin_launch(const struct spin *spin); /* in the legacy stream */
void spin_launch_in(const struct spin *spin, CUstream stream);

nvmlDevice_t truth_device(void);
void *truth_function(const char *name); /* NULL where NVML lacks it */
__typeof__(&nvmlDeviceGetProcessUtilization) truth_sampler(void);

/*
 * Batches a second that are done within `seconds`. The first fifth is not counted: a limit lets some time pass at once
 * after idling.
 */
double batches_a_second(double seconds, void (*batch)(void));

uint64_t clock_ns(void);

/* Ends the program where the call failed. */
#define DO(call)                                                                                                       \
    do {                                                                                                               \
        CUresult result_ = (call);                                                                                     \
        if (result_ != CUDA_SUCCESS) {                                                                                 \
            fprintf(stderr, "%s: error %d\n", #call, (int)result_);                                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
