/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a client of NVIDIA's Multi-Process Service sees. A program becomes one by its environment: mps.sh.
 *   memory BYTES                    what it is granted, at most so much; then it holds 128 MiB until its input ends
 *   spin SECONDS NS ITERATIONS      blocks a millisecond of kernels that fill the card, and the multiprocessors it sees
 *   processes                       what NVML says of the card's clients; no client itself
 */
#ifndef PARTITA_HARDWARE_MPS_H
#define PARTITA_HARDWARE_MPS_H

#include <stdbool.h>

extern const char mps_usage[];

/* False: there is no such command. */
bool mps_client(char *const *arguments, int count);

#endif
