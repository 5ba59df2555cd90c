/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PARTITA_HARDWARE_MEMORY_H
#define PARTITA_HARDWARE_MEMORY_H

#include <stdint.h>

/*
 * Prints a row for each kind of memory: group, what, pass|FAIL|not run, figures; with tabs between. In a context of a
 * limited share.
 *
 * used_before: bytes of the card that were in use before the context was made
 */
void memory_check(uint64_t used_before);

/*
 * In another process of the share: opens what cuIpcGetMemHandle gave, in hexadecimal, and prints the rest of the row.
 */
void memory_open(const char *handle);

#endif
