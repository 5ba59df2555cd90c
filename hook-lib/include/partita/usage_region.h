/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The usage region: who holds how much of one share. A file that every process of the claim maps.
 *
 * <usage>/<share key>/usage below PARTITA_USAGE_FOLDER; PARTITA_USAGE_SIZE bytes. The plugin makes it, all zero, and
 * never truncates or replaces it while the claim is prepared. A region of zeros is a valid empty ledger; the first
 * process writes the magic. Numbers are in the machine's byte order (little-endian on x86-64 and aarch64).
 *
 * Memory is counted in units of PARTITA_UNIT bytes. A reader outside (the plugin) may read without any lock:
 *   used by slot i    = the low 32 bits of slots[i].account, while the slot's phase is not FREE;
 *   used by the share = the sum of these over the slots below `high_water`.
 * What a slot holds of the limit is that and its credit, which it took ahead and gives back when another needs it:
 *   held by the share = the low 32 bits of `total.low`;
 *   held by slot i    = the high 32 bits of `total.low` if i is `total.high`'s slot, else slots[i].held.
 * Of what is used, `paged` (the same way: paged.low, slots[i].paged) is managed memory, which need not be on the card.
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

#define PARTITA_UNIT 512u            /* bytes; CUDA's own smallest step */
#define PARTITA_SLOTS 4096u          /* processes that can hold memory of one share at a time */
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
    uint64_t state; /* owners so far << 2 | phase */
    uint64_t start; /* the process' start in clock ticks since boot, /proc/<pid>/stat field 22 */
    struct partita_held held;
    uint64_t pid_namespace; /* inode of the pid namespace in which pid counts; 0: unknown */
    uint32_t pid;
    /*
     * bits 0-30: of the units used, those that are no allocations of the process': what contexts are charged, and
     * exported memory that it has let go of and others may hold; PARTITA_CONTEXT_BEGUN: that is just growing
     */
    uint32_t contexts;
    /*
     * units that contexts and modules take, which the plugin measures and writes; 0: not measured since `contexts` has
     * grown. What is charged there beyond it is given back.
     */
    uint64_t overhead;
    uint64_t image; /* tells programs apart that one process ran one after the other (exec) */
    /* bits 0-7: whether the core limit holds for this process, PARTITA_COMPUTE_...; 8-15: why not */
    uint32_t compute;
    uint32_t reserved1;
    uint64_t busy_ns;          /* GPU time of this process, as far as its launches were timed */
    struct partita_held paged; /* of what is held: managed memory */
    /* bits 0-31: units used; 32-53: units of credit; 54-63: steps of the owner that are under way */
    uint64_t account;
    /* end of the newest sample that NVML had of the process, microseconds since 1970; the plugin writes it; 0: none */
    uint64_t sampled;
    /* of that sample, percent of the card: bits 0-7 SMs, 8-15 memory, 16-23 encoder, 24-31 decoder */
    uint64_t utilization;
    /*
     * windows of launches under a core limit that the card has not done yet: bits 0-15 those that the limit allowed,
     * 16-31 those that followed others' of the first kind, 32-47 those that followed these, 48-63 those that followed
     * these
     */
    uint64_t windows;
};

#define PARTITA_CONTEXT_BEGUN (UINT32_C(1) << 31)

#define PARTITA_TURNS 4u /* kinds of windows */

/* partita_slot.compute, bits 0-7 */
#define PARTITA_COMPUTE_UNUSED 0u /* nothing was launched under a core limit */
#define PARTITA_COMPUTE_ENFORCED 1u
/* some or all of what the process launched is not limited; the reason is the first that came up */
#define PARTITA_COMPUTE_UNENFORCED 2u

/* partita_slot.compute, bits 8-15 */
#define PARTITA_COMPUTE_NO_EVENTS 1u    /* the driver lacks what GPU time is measured with */
#define PARTITA_COMPUTE_EVENT_FAILED 2u /* an event could not be made, recorded or read */
#define PARTITA_COMPUTE_TOO_MANY 3u     /* more contexts or streams at a time than are kept account of */

/*
 * Wall time is cut into stretches of this length; of each, at most its length is charged, however many processes ran in
 * it.
 */
#define PARTITA_STRETCH_BITS 18u /* 262 microseconds */
#define PARTITA_STRETCHES 832u   /* 218 ms */

/* Of longer stretches it is kept how much was used in each, over two seconds. */
#define PARTITA_MARK_BITS 26u /* 67 milliseconds */
#define PARTITA_MARKS 32u

/*
 * NVML's samples come up to a second late: where reports do not say up to when they go, one is compared with what was
 * timed at most so many before.
 */
#define PARTITA_LATE_REPORTS 7u

/* An account of GPU time, in nanoseconds. */
struct partita_account {
    /* CLOCK_MONOTONIC: at this time the limit has paid for what was used; launches wait until then */
    uint64_t paid_until;
    uint64_t busy_ns;      /* GPU time that launches were timed at */
    uint64_t charged_ns;   /* of it charged: less, where other shares had the card in that time */
    uint64_t throttled_ns; /* time that launches waited, over all threads */
    uint64_t report;       /* number of the last card report (card_report.h) that was taken into account */
    uint64_t reported_busy_ns, busy_at_report_ns; /* busy by that report, and by events at that time */
    /*
     * of the last seconds: what the share really had of the card, and was timed at; a timed nanosecond is charged their
     * ratio
     */
    uint64_t recent_fair_ns, recent_busy_ns;
    /* busy_ns at the time of report n, at n % (PARTITA_LATE_REPORTS + 1): of the last ones */
    uint64_t busy_at[PARTITA_LATE_REPORTS + 1];
    /*
     * bits 0-7: so many reports late; 8: that is known, since they have shown what was timed; 9: the last one said up
     * to when its figures go
     */
    uint64_t late;
    /* of that report: the time up to which its figures go, and percent of the card that others used */
    uint64_t reported_at, others;
    /* up to so much of busy_ns reports were compared with it, and so much of it the share really had */
    uint64_t compared_ns, fair_ns;
    uint64_t ahead_ns; /* signed: reports were ahead of what they were compared with by so much */
    uint64_t owed_ns;  /* signed: so much was charged too much, and is taken off what is charged next */
    /* mark n at n % PARTITA_MARKS: n / PARTITA_MARKS << 20 | units of 64 ns that were timed in it */
    uint32_t marks[PARTITA_MARKS];
};

/*
 * The share's GPU time, of all its processes so far. Not believed: a process also counts for itself, and waits for the
 * later of both.
 */
struct partita_compute {
    struct partita_account account;
    /* stretch n at n % PARTITA_STRETCHES: n / PARTITA_STRETCHES << BITS | charged ns */
    uint32_t stretches[PARTITA_STRETCHES];
};

/* How often launches of the share's processes began; 0: nobody looked. */
struct partita_begins {
    uint64_t times;  /* that a process had some pending after it had none */
    uint64_t waited; /* of these: the card began only a while after they were launched */
};

struct partita_region {
    uint64_t magic; /* 0: nobody has used the region yet */
    uint64_t reserved0[7];
    struct partita_total total; /* a cache line of its own */
    uint64_t reserved1[6];
    uint32_t high_water; /* slots with this index or above have never been used */
    uint32_t priced;     /* percent of the card at which compute.account.paid_until was reckoned last; 0: nobody said */
    uint64_t refused;    /* allocations refused because of the quota */
    uint64_t repairs;    /* times that a total was found wrong and derived anew from the slots */
    uint64_t scarce;     /* nobody keeps credit until this moment: ms, CLOCK_MONOTONIC; 0: everybody may */
    struct partita_begins begins;
    uint64_t reserved3[2];
    struct partita_compute compute; /* from a cache line of its own */
    struct partita_total paged;     /* a cache line of its own; as `total`, of managed memory */
    uint64_t reserved5[6];
    uint64_t reserved4[24];
    struct partita_slot slots[PARTITA_SLOTS];
};

#define PARTITA_USAGE_SIZE sizeof(struct partita_region) /* 528384 bytes */

_Static_assert(sizeof(struct partita_slot) == 128, "a slot is two cache lines");
_Static_assert(__builtin_offsetof(struct partita_slot, contexts) == 44, "known to readers outside");
_Static_assert(__builtin_offsetof(struct partita_slot, compute) == 64, "known to readers outside");
_Static_assert(__builtin_offsetof(struct partita_slot, paged) == 80, "known to readers outside");
_Static_assert(__builtin_offsetof(struct partita_region, paged) == 3840, "known to readers outside");
_Static_assert(__builtin_offsetof(struct partita_slot, sampled) == 104, "known to the writer outside");
_Static_assert(__builtin_offsetof(struct partita_region, begins) == 160, "known to readers outside");
_Static_assert(__builtin_offsetof(struct partita_region, compute) == 192, "a cache line of its own");
_Static_assert(__builtin_offsetof(struct partita_region, slots) == 4096, "the slots begin at the second page");
_Static_assert(sizeof(struct partita_region) == 528384, "the plugin makes a file of this size");

#endif
