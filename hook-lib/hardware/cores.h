/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PARTITA_HARDWARE_CORES_H
#define PARTITA_HARDWARE_CORES_H

#include <stdbool.h>
#include <stdint.h>

/* Prints how many iterations of the kernel take so long, when it has the card by itself. */
void cores_calibrate(uint64_t ns);

/*
 * Launches kernels of that length for so long, in the way of that name, and prints what part of the time they ran, in
 * percent. False: there is no such way.
 */
bool cores_spin(double seconds, uint64_t ns, uint64_t iterations, const char *way);

/* Names of the ways, for people. */
extern const char cores_ways[];

/*
 * Writes card reports as the plugin does, until it is killed: pairs of a report's file and the process that has that
 * share.
 */
void cores_report(char *const *pairs, int count);

#endif
