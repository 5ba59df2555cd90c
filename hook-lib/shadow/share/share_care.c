/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking after a share: its quota, the process' seat in its region, what the dead left, and what was wiped or forged.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "common/atomics.h"
#include "common/interruptions.h"
#include "common/now.h"
#include "common/numbers.h"
#include "share/credit.h"
#include "share/gate.h"
#include "share/share.h"

enum { LOOK_EVERY_MS = 100, REAP_EVERY_MS = 1000, ACCOUNT_ATTEMPTS = 20 };
/* longer than a thread that lost its processor is away */
static const uint64_t PATIENCE_NS = 250000000, PATIENCE_IF_DUE_NS = 20000000;

enum { CORES_SOFT = 1 << 8, CORES_YIELDS = 1 << 9, CORES_KNOWN = 1 << 10 };

/* A quota that became unusable leaves the core limit as it was. */
static void keep_core_rules(struct share *share, const struct quota *quota) {
    struct core_rules rules = core_rules_of(quota->cores, quota->core_limit, quota->priority);
    uint32_t cores = CORES_KNOWN | rules.percent | (rules.soft ? CORES_SOFT : 0u) | (rules.yields ? CORES_YIELDS : 0u);
    store_relaxed(&share->cores, cores);
}

struct core_rules share_core_rules(const struct share *share) {
    uint32_t cores = load_relaxed(&share->cores);
    return (struct core_rules){cores & 0xff, (cores & CORES_SOFT) != 0, (cores & CORES_YIELDS) != 0};
}

/* What share_gpu tells; its first character last. */
static void set_gpu(struct share *share, const struct quota *quota) {
    memcpy(share->gpu + 1, quota->gpu + 1, sizeof share->gpu - 1);
    store_release(&share->gpu[0], quota->gpu[0]);
}

/*
 * A share keeps the card that it was first seen with: a quota that names another is unusable. What was read last holds
 * while the file cannot be reached.
 */
static void read_quota(struct share *share) {
    struct quota quota;
    uint64_t all = 0, overhead = 0, physical = LEDGER_UNBOUNDED, context = SHARE_CONTEXT_UNKNOWN;
    enum quota_answer answer = quota_read(share->quota_path, &quota);
    if (answer == QUOTA_UNREACHABLE && share->gpu[0])
        return;
    if (answer == QUOTA_READ) {
        if (!share->gpu[0])
            set_gpu(share, &quota);
        if (strcmp(share->gpu, quota.gpu) == 0) {
            all = smaller(quota.memory / PARTITA_UNIT, PARTITA_UNITS_MAX);
            keep_core_rules(share, &quota);
        }
        overhead = smaller(quota.overhead / PARTITA_UNIT + (quota.overhead % PARTITA_UNIT != 0), all);
        if (quota.context != UINT64_MAX)
            context = smaller(quota.context / PARTITA_UNIT + (quota.context % PARTITA_UNIT != 0), PARTITA_UNITS_MAX);
        if (quota.physical < quota.memory) {
            physical = quota.physical / PARTITA_UNIT;
            physical -= smaller(overhead, physical);
        }
    }
    store_relaxed(&share->quota, all);
    store_relaxed(&share->overhead, overhead);
    store_relaxed(&share->limit, all - overhead);
    store_relaxed(&share->physical, physical);
    store_relaxed(&share->context, context);
}

void share_open(struct share *share) {
    read_quota(share);
    share->grantable = share->limit;
}

static bool open_region(struct share *share) {
    if (!share->file.region && !region_file_open(&share->file, share->usage_path))
        return false;
    uint64_t magic = 0;
    if (!__atomic_compare_exchange_n(&share->file.region->magic, &magic, PARTITA_USAGE_MAGIC, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE) &&
        magic != PARTITA_USAGE_MAGIC) {
        store_release(&share->file.region->magic, PARTITA_USAGE_MAGIC);
        share->suspect = 1;
    }
    return true;
}

/* Makes the region agree with the process' own count; alone in the gate, so that no step is half counted. */
static bool settle_seat(struct share *share) {
    return credit_settle(share->file.region, share->seat, share_held(share)) == LEDGER_DONE &&
           ledger_settle(share->file.region, LEDGER_PAGED, share->seat, share->paged) == LEDGER_DONE;
}

/* A seat that was lost with the region is still the process' where nobody has taken it meanwhile. */
static bool has_seat(const struct share *share) {
    return share->seat.state && seats_mine(share->file.region, share->seat) &&
           (share->seated || region_file_lock(&share->file, share->seat.slot));
}

static bool sit(struct share *share) {
    if (has_seat(share)) {
        if (credit_agrees(share->file.region, share->seat, share_held(share)) &&
            ledger_held(share->file.region, LEDGER_PAGED, share->seat.slot) == share->paged) {
            credit_tidy(share->file.region, share->seat);
            return true;
        }
        share->suspect = 1;
        return settle_seat(share);
    }
    struct seat lost = share->seat;
    share->suspect = 1; /* wiped, evicted, or here for the first time */
    share->self = owner_self();
    if (!seats_take(&share->file, &share->self, &share->seat))
        return false;
    if (lost.state && lost.slot != share->seat.slot) /* its lock would speak for an owner that is not there */
        seats_unlock(&share->file, &share->self, lost.slot);
    return share_held(share) == 0 || settle_seat(share);
}

/* What contexts are to be charged: no more than was measured; what was left behind is others' by then. */
static uint64_t due_for_contexts(const struct share *share, uint64_t charged) {
    uint64_t measured = load_relaxed(&share->file.region->slots[share->seat.slot].overhead);
    uint64_t left = load_relaxed(&share->left_behind);
    if (measured > 0)
        return smaller(measured, charged);
    return left > 0 && now_ms() >= load_relaxed(&share->left_until) ? charged - smaller(left, charged) : charged;
}

/*
 * Contexts are charged by what others took, or by a guess: once the plugin has measured what this process' take, what
 * is charged beyond that is given back. Alone in the gate, so that nothing else changes what the process has counted.
 */
static bool give_back_of_contexts(struct share *share) {
    uint64_t charged = load_relaxed(&share->contexts), measured = due_for_contexts(share, charged);
    if (load_acquire(&share->contexts_begun) > 0 || measured >= charged)
        return true;
    if (!__atomic_compare_exchange_n(&share->contexts, &charged, measured, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return true; /* a context has just ended */
    store_relaxed(&share->left_behind, 0);
    uint64_t beyond = smaller(charged - measured, share_held_on_card(load_relaxed(&share->own.units)));
    __atomic_fetch_sub(&share->own.units, beyond << RESIDENT_SHIFT | beyond, __ATOMIC_RELAXED);
    return settle_seat(share);
}

static void account(struct share *share) {
    for (int i = 0; share->suspect && i < ACCOUNT_ATTEMPTS; i++) {
        if (i > 0) {
            /* Somebody may be between taking the lock and taking the slot. */
            const struct timespec pause = {0, 1000000};
            nanosleep(&pause, NULL);
        }
        if (seats_all_accounted(&share->file))
            share->suspect = 0;
    }
}

/*
 * With many processes a thorough search takes long; a program that fails all the time spends at most a fifth of it so.
 */
static void reap_dead(struct share *share, const struct seat *mine) {
    uint64_t begin = now_ns();
    enum reaping how = begin >= share->next_thorough ? REAP_THOROUGHLY : REAP_QUICKLY;
    seats_reap(&share->file, &share->self, mine, how);
    if (how == REAP_THOROUGHLY) {
        uint64_t end = now_ns();
        share->next_thorough = end + 4 * (end - begin);
    }
}

static void tend_alone(struct share *share, bool reap, bool join) {
    bool seated = false, usable = false;
    read_quota(share);
    if (open_region(share) && region_file_keep(&share->file, share->usage_path)) {
        usable = true;
        if (share->seated) /* lost with a descriptor, ours or one of the process' other library */
            region_file_lock(&share->file, share->seat.slot);
        if (join || share->seated)
            seated = sit(share) && give_back_of_contexts(share);
        else if (share->self.pid == 0)
            share->self = owner_self();
        if (reap) {
            reap_dead(share, seated ? &share->seat : NULL);
            ledger_audit(share->file.region);
        }
        credit_relax(share->file.region, now_ms());
        if (seated)
            account(share);
        if (join || share->seated)
            usable = seated && !share->suspect;
    }
    store_relaxed(&share->grantable, usable ? share->limit : 0);
    store_release(&share->seated, seated);
    share_show_contexts(share);
    store_relaxed(&share->others, 0); /* before the ticks in it come round */
}

void share_tend(struct share *share, enum share_care care, bool join) {
    uint64_t now = now_ms(), due = load_relaxed(&share->next_look);
    if (care == SHARE_IF_DUE && due != 0) {
        if (now < due || !__atomic_compare_exchange_n(&share->next_look, &due, now + LOOK_EVERY_MS, false,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return;
    }
    int error = errno;
    struct interruptions interruptions;
    interruptions_off(&interruptions);
    bool reap = care == SHARE_NOW || now >= load_relaxed(&share->next_reap);
    if (gate_enter_alone(&share->own.gate, care == SHARE_NOW ? PATIENCE_NS : PATIENCE_IF_DUE_NS)) {
        tend_alone(share, reap, join);
        if (reap)
            store_relaxed(&share->next_reap, now + REAP_EVERY_MS);
        store_relaxed(&share->next_look, now_ms() + LOOK_EVERY_MS);
        gate_leave_alone(&share->own.gate);
    }
    interruptions_back(&interruptions);
    errno = error;
}
