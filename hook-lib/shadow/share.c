#include "share.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "gate.h"
#include "ledger.h"

enum { LOOK_EVERY_MS = 100, REAP_EVERY_MS = 1000, ACCOUNT_ATTEMPTS = 20 };

static uint64_t now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t load64(const uint64_t *at) {
    return __atomic_load_n(at, __ATOMIC_RELAXED);
}

/* A share keeps the card that it was first seen with: a quota that names another is unusable. */
static void read_quota(struct share *share) {
    struct quota quota;
    uint64_t limit = 0;
    if (quota_read(share->quota_path, &quota)) {
        if (!share->gpu[0])
            memcpy(share->gpu, quota.gpu, sizeof quota.gpu);
        if (strcmp(share->gpu, quota.gpu) == 0)
            limit = quota.memory / PARTITA_UNIT;
        if (limit > PARTITA_UNITS_MAX)
            limit = PARTITA_UNITS_MAX;
    }
    __atomic_store_n(&share->limit, limit, __ATOMIC_RELAXED);
}

void share_open(struct share *share) {
    read_quota(share);
}

static bool open_region(struct share *share) {
    if (!share->file.region && !region_file_open(&share->file, share->usage_path))
        return false;
    uint64_t magic = 0;
    if (!__atomic_compare_exchange_n(&share->file.region->magic, &magic, PARTITA_USAGE_MAGIC, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE) &&
        magic != PARTITA_USAGE_MAGIC) {
        __atomic_store_n(&share->file.region->magic, PARTITA_USAGE_MAGIC, __ATOMIC_RELEASE);
        share->suspect = 1;
    }
    return true;
}

/* Makes the region agree with the process' own count; alone in the gate, so that no step is half counted. */
static bool settle(struct share *share) {
    return ledger_settle(share->file.region, share->seat, share->held) == LEDGER_DONE;
}

static bool sit(struct share *share) {
    if (share->seated && seats_mine(share->file.region, share->seat)) {
        if (ledger_held(share->file.region, share->seat.slot) == share->held)
            return true;
        share->suspect = 1;
        return settle(share);
    }
    struct seat lost = share->seat;
    share->suspect = 1; /* wiped, evicted, or here for the first time */
    share->self = owner_self();
    if (!seats_take(&share->file, &share->self, &share->seat))
        return false;
    if (lost.state && lost.slot != share->seat.slot) /* its lock would speak for an owner that is not there */
        region_file_unlock(&share->file, lost.slot);
    return share->held == 0 || settle(share);
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

/* With many processes a thorough search takes long; a program that fails all the time spends at most a fifth of it so. */
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
    bool renewed = false, seated = false;
    read_quota(share);
    if (open_region(share) && region_file_keep(&share->file, share->usage_path, &renewed)) {
        if (renewed && share->seated)
            region_file_lock(&share->file, share->seat.slot);
        if (join || share->seated)
            seated = sit(share);
        else if (share->self.pid == 0)
            share->self = owner_self();
        if (reap) {
            reap_dead(share, seated ? &share->seat : NULL);
            ledger_audit(share->file.region);
        }
        if (seated)
            account(share);
    }
    __atomic_store_n(&share->seated, seated, __ATOMIC_RELEASE);
}

void share_tend(struct share *share, enum share_care care, bool join) {
    uint64_t now = now_ms(), due = load64(&share->next_look);
    if (care == SHARE_IF_DUE && due != 0) {
        if (now < due || !__atomic_compare_exchange_n(&share->next_look, &due, now + LOOK_EVERY_MS, false,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return;
    }
    int error = errno;
    gate_enter_alone(&share->gate);
    bool reap = care == SHARE_NOW || now >= load64(&share->next_reap);
    tend_alone(share, reap, join);
    if (reap)
        __atomic_store_n(&share->next_reap, now + REAP_EVERY_MS, __ATOMIC_RELAXED);
    __atomic_store_n(&share->next_look, now_ms() + LOOK_EVERY_MS, __ATOMIC_RELAXED);
    gate_leave_alone(&share->gate);
    errno = error;
}

/* Takes units into the process' own count; how many. */
static uint64_t count_in(struct share *share, uint64_t units, bool part) {
    uint64_t held = load64(&share->held), take;
    do {
        uint64_t limit = load64(&share->limit);
        uint64_t room = limit > held ? limit - held : 0;
        take = units < room ? units : room;
        if (take < units && !part)
            take = 0;
        if (take == 0)
            return 0;
    } while (!__atomic_compare_exchange_n(&share->held, &held, held + take, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return take;
}

static uint64_t count_out(struct share *share, uint64_t units) {
    uint64_t held = load64(&share->held), take;
    do {
        take = units < held ? units : held;
    } while (take > 0 && !__atomic_compare_exchange_n(&share->held, &held, held - take, true, __ATOMIC_RELAXED,
                                                      __ATOMIC_RELAXED));
    return take;
}

uint64_t share_charge(struct share *share, uint64_t units, bool part) {
    share_tend(share, SHARE_IF_DUE, true);
    for (int attempt = 0; attempt < 3; attempt++) {
        gate_enter(&share->gate);
        enum ledger_answer answer = LEDGER_EVICTED;
        if (__atomic_load_n(&share->seated, __ATOMIC_ACQUIRE) && !share->suspect) {
            uint64_t take = count_in(share, units, part), taken = take;
            answer = LEDGER_FULL;
            if (take > 0) {
                uint64_t limit = load64(&share->limit);
                answer = part ? ledger_charge_part(share->file.region, share->seat, take, limit, &taken)
                              : ledger_charge(share->file.region, share->seat, take, limit);
                if (answer != LEDGER_DONE)
                    taken = 0;
                count_out(share, take - taken);
            }
            if (answer == LEDGER_DONE) {
                gate_leave(&share->gate);
                return taken;
            }
        }
        gate_leave(&share->gate);
        if (answer == LEDGER_FULL)
            return 0;
        share_tend(share, SHARE_NOW, true);
    }
    return 0;
}

uint64_t share_release(struct share *share, uint64_t units) {
    gate_enter(&share->gate);
    uint64_t taken = count_out(share, units);
    enum ledger_answer answer = LEDGER_DONE;
    if (taken > 0)
        answer = share->seated ? ledger_release(share->file.region, share->seat, taken) : LEDGER_EVICTED;
    gate_leave(&share->gate);
    if (answer != LEDGER_DONE)
        share_tend(share, SHARE_NOW, true); /* settles to the process' own count */
    return taken;
}

uint64_t share_used(struct share *share) {
    return share->file.region ? ledger_total(share->file.region) : 0;
}

void share_forked(struct share *share) {
    share->held = 0;
    share->gate = 0;
    share->seated = 0;
    share->suspect = 0;
    share->seat = (struct seat){0, 0};
    share->next_look = share->next_reap = share->next_thorough = 0;
    memset(&share->self, 0, sizeof share->self);
}
