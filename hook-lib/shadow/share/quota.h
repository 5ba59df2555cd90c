/* SPDX-License-Identifier: Apache-2.0 */
/* What a quota file says; format in partita/quota_file.h. */
#ifndef PARTITA_QUOTA_H
#define PARTITA_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum core_limit { CORE_LIMIT_NONE, CORE_LIMIT_SOFT, CORE_LIMIT_HARD };

struct quota {
    uint64_t generation; /* 0: not given */
    char gpu[96];        /* UUID with its prefix, "GPU-..." or "MIG-..." */
    uint64_t memory;     /* bytes, > 0 */
    uint64_t overhead;   /* bytes of memory that the ledger does not know of; may exceed it */
    uint64_t context;    /* bytes that a context takes; UINT64_MAX: not given */
    uint64_t physical;   /* bytes of the card that may be held; UINT64_MAX: not given, all of `memory` */
    unsigned int cores;  /* percent; 0: no limit */
    enum core_limit core_limit;
    unsigned int priority;
};

/* Parses the file's bytes; false if the file is unusable, and *quota is then undefined. */
bool quota_parse(const char *text, size_t length, struct quota *quota);

/*
 * UNUSABLE: the file breaks a rule, or is not in its folder any more. UNREACHABLE: what it says now cannot be known,
 * for want of a descriptor, or in a sandbox or chroot that came after the program's start.
 */
enum quota_answer { QUOTA_READ, QUOTA_UNUSABLE, QUOTA_UNREACHABLE };

/* Reads and parses; *quota is undefined but for QUOTA_READ. Leaves errno changed. */
enum quota_answer quota_read(const char *path, struct quota *quota);

#endif
