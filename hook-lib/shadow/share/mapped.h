/* SPDX-License-Identifier: Apache-2.0 */
/* Whether other processes have a file mapped. */
#ifndef PARTITA_MAPPED_H
#define PARTITA_MAPPED_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether it is known that a process of this pid namespace does not map the file that this process has mapped at the
 * address. Not known of other users' processes, nor of one that is about to end. Takes a system call for every 4 KiB of
 * /proc/PID/maps, and no memory. Leaves errno changed.
 */
bool mapped_not_by(uint32_t pid, const volatile void *at);

#endif
