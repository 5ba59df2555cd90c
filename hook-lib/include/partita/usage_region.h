/*
 * The usage region: who holds how much of one share. A file that every process of the claim maps.
 *
 * <usage>/<share key>/usage below PARTITA_USAGE_FOLDER; PARTITA_USAGE_SIZE bytes. The plugin makes it, all zero, and never
 * truncates or replaces it while the claim is prepared. A region of zeros is a valid empty ledger; the first process
 * writes the magic. Numbers are in the machine's byte order (little-endian on x86-64 and aarch64).
 *
 * Memory is counted in units of PARTITA_UNIT bytes. A reader outside (the plugin) may read without any lock:
 *   total held by the share = the low 32 bits of `total.low`;
 *   held by slot i          = the high 32 bits of `total.low` if i is `total.high`'s slot, else slots[i].held.
 * To read both of one moment: read total.high, total.low and the slots, then total.high again; if it changed, once more.
 * A container can write all of this: believe none of it, compare it with NVML.
 *
 * A process owns a slot while its state is LIVE and it holds a POSIX write lock on the first byte of that slot in this
 * file. Whoever opens and closes the file drops its own locks on it: a process that owns a slot never closes it.
 */
#ifndef PARTITA_USAGE_REGION_H
#define PARTITA_USAGE_REGION_H

#include <stdint.h>

#define PARTITA_USAGE_FOLDER "/run/partita/shares"
#define PARTITA_USAGE_NAME "usage"
#define PARTITA_USAGE_MAGIC UINT64_C(0x3141544954524150) /* "PARTITA1" in memory order */

#define PARTITA_UNIT 512u      /* bytes; CUDA's own smallest step */
#define PARTITA_SLOTS 4096u    /* processes that can hold memory of one share at a time */
#define PARTITA_UNITS_MAX UINT32_MAX /* 2 TiB less one unit: the most that one share can count */

/* Low two bits of a slot's state; the bits above count the owners that the slot has had. */
#define PARTITA_SLOT_FREE 0u
#define PARTITA_SLOT_LIVE 1u    /* owned; pid, start and pid_namespace are valid */
#define PARTITA_SLOT_REAPING 2u /* the owner is dead; what it holds is being given back */
#define PARTITA_SLOT_PHASE 3u

/* The last step that was taken: changed only as a whole, by a 16-byte compare-and-swap. */
struct partita_total {
    uint64_t low;  /* bits 0-31: units held by all slots; bits 32-63: units held by the slot of this step */
    uint64_t high; /* bits 0-15: the slot of this step; bits 16-63: number of this step */
} __attribute__((aligned(16)));

/* What a slot held after its last step that another slot's step has carried over: also changed as a whole. */
struct partita_held {
    uint64_t units;
    uint64_t step; /* the number of that step */
} __attribute__((aligned(16)));

struct partita_slot {
    uint64_t state;         /* owners so far << 2 | phase */
    uint64_t start;         /* the process' start in clock ticks since boot, /proc/<pid>/stat field 22 */
    struct partita_held held;
    uint64_t pid_namespace; /* inode of the pid namespace in which pid counts; 0: unknown */
    uint32_t pid;
    uint32_t reserved0;
    uint64_t overhead;      /* units that contexts and modules take, seen by NVML only; informational, 0: not measured */
    uint64_t image;         /* tells programs apart that one process ran one after the other (exec) */
    uint64_t reserved[8];
};

struct partita_region {
    uint64_t magic;      /* 0: nobody has used the region yet */
    uint64_t reserved0[7];
    struct partita_total total; /* a cache line of its own */
    uint64_t reserved1[6];
    uint32_t high_water; /* slots with this index or above have never been used */
    uint32_t reserved2;
    uint64_t refused;    /* allocations refused because of the quota */
    uint64_t repairs;    /* times that the total was found wrong and derived anew from the slots */
    uint64_t reserved3[493];
    struct partita_slot slots[PARTITA_SLOTS];
};

#define PARTITA_USAGE_SIZE sizeof(struct partita_region) /* 528384 bytes */

_Static_assert(sizeof(struct partita_slot) == 128, "a slot is two cache lines");
_Static_assert(__builtin_offsetof(struct partita_region, slots) == 4096, "the slots begin at the second page");
_Static_assert(sizeof(struct partita_region) == 528384, "the plugin makes a file of this size");

#endif
