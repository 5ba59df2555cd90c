/* SPDX-License-Identifier: Apache-2.0 */
/* Who a process is, so that another process can tell later whether it still lives. */
#ifndef PARTITA_OWNER_H
#define PARTITA_OWNER_H

#include <stdbool.h>
#include <stdint.h>

struct owner {
    uint32_t pid;
    uint64_t start;         /* clock ticks since boot; 0: unknown */
    uint64_t pid_namespace; /* inode; 0: unknown */
    uint64_t image;         /* differs after exec */
};

enum life { ALIVE, DEAD, UNKNOWN };

/* The calling process. Leaves errno changed. */
struct owner owner_self(void);

/*
 * Whether the owner lives, as far as /proc tells a process of the pid namespace `mine`: UNKNOWN for an owner of another
 * namespace or where /proc does not tell. A process whose threads have all ended is dead, though not yet waited for;
 * one whose first thread has ended is not. Leaves errno changed.
 */
enum life owner_life(const struct owner *owner, uint64_t mine);

/* Whether there is no process of that number any more, which one system call tells. False where it does not. */
bool owner_is_gone(const struct owner *owner, uint64_t mine);

#endif
