/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PARTITA_HARDWARE_READINGS_H
#define PARTITA_HARDWARE_READINGS_H

#include <stdint.h>

/*
 * Prints a row for each place where NVIDIA's documentation can be read in two ways (simulator/README.md, "Contrary
 * readings") and a program can tell: which one this card's driver follows. `iterations` of the kernel take `ns`. Each
 * is tried in a process of its own, which must not have a share.
 */
void readings_check(uint64_t ns, uint64_t iterations);

#endif
