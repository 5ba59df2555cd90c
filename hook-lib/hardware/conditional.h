/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs with conditional nodes. The kernels that set a condition are those of conditional.cu, compiled, in the file
 * that PARTITA_CONDITIONAL names; on the simulated card any file has them.
 */
#ifndef PARTITA_HARDWARE_CONDITIONAL_H
#define PARTITA_HARDWARE_CONDITIONAL_H

#include "card.h"
#include "cuda_graphs.h"

/* Prints what nvcc's -arch has to be for this card, as sm_90. */
void conditional_target(void);

/* A WHILE node whose body runs the kernel, so many times. */
CUgraphExec conditional_while(const struct spin *spin, unsigned int rounds);

/* An IF node whose body runs the kernel so many times, and one whose condition does not hold, with as many. */
CUgraphExec conditional_if(const struct spin *spin, unsigned int kernels);

#endif
