/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the simulated libcuda: the functions that cuGetProcAddress knows. */
#ifndef PARTITA_SIM_PROC_VARIANTS_H
#define PARTITA_SIM_PROC_VARIANTS_H

#include "driver.h"

/* What a base name stands for from a version of CUDA on. */
struct variant {
    const char *name;
    int since;
    void *function, *per_thread; /* per_thread: NULL where the function has no default stream */
};

extern const struct variant proc_variants[];
extern const size_t proc_variant_count;

#endif
