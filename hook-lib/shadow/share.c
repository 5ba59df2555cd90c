#include "share.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "cancelling.h"
#include "credit.h"
#include "gate.h"
#include "ticks.h"

enum { LOOK_EVERY_MS = 100, REAP_EVERY_MS = 1000, ACCOUNT_ATTEMPTS = 20 };
enum { FEW_SLOTS = 4, OTHERS_US = 10 };

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

static uint64_t smaller(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

enum { RESIDENT_SHIFT = 32 };

static uint64_t held_of(uint64_t own) {
    return own & UINT32_MAX;
}

uint64_t share_held(const struct share *share) {
    return held_of(load64(&share->own));
}

enum { CORES_SOFT = 1 << 8, CORES_YIELDS = 1 << 9, CORES_KNOWN = 1 << 10 };

/* A quota that became unusable leaves the core limit as it was. */
static void keep_core_rules(struct share *share, const struct quota *quota) {
    struct core_rules rules = core_rules_of(quota->cores, quota->core_limit, quota->priority);
    uint32_t cores = CORES_KNOWN | rules.percent | (rules.soft ? CORES_SOFT : 0u) | (rules.yields ? CORES_YIELDS : 0u);
    __atomic_store_n(&share->cores, cores, __ATOMIC_RELAXED);
}

struct core_rules share_core_rules(const struct share *share) {
    uint32_t cores = __atomic_load_n(&share->cores, __ATOMIC_RELAXED);
    return (struct core_rules){cores & 0xff, (cores & CORES_SOFT) != 0, (cores & CORES_YIELDS) != 0};
}

/* A share keeps the card that it was first seen with: a quota that names another is unusable. */
static void read_quota(struct share *share) {
    struct quota quota;
    uint64_t all = 0, overhead = 0, physical = LEDGER_UNBOUNDED;
    if (quota_read(share->quota_path, &quota)) {
        if (!share->gpu[0])
            memcpy(share->gpu, quota.gpu, sizeof quota.gpu);
        if (strcmp(share->gpu, quota.gpu) == 0) {
            all = smaller(quota.memory / PARTITA_UNIT, PARTITA_UNITS_MAX);
            keep_core_rules(share, &quota);
        }
        overhead = smaller(quota.overhead / PARTITA_UNIT + (quota.overhead % PARTITA_UNIT != 0), all);
        if (quota.physical < quota.memory) {
            physical = quota.physical / PARTITA_UNIT;
            physical -= smaller(overhead, physical);
        }
    }
    __atomic_store_n(&share->quota, all, __ATOMIC_RELAXED);
    __atomic_store_n(&share->overhead, overhead, __ATOMIC_RELAXED);
    __atomic_store_n(&share->limit, all - overhead, __ATOMIC_RELAXED);
    __atomic_store_n(&share->physical, physical, __ATOMIC_RELAXED);
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
    return credit_settle(share->file.region, share->seat, share_held(share)) == LEDGER_DONE &&
           ledger_settle(share->file.region, LEDGER_PAGED, share->seat, share->paged) == LEDGER_DONE;
}

static bool sit(struct share *share) {
    if (share->seated && seats_mine(share->file.region, share->seat)) {
        if (credit_agrees(share->file.region, share->seat, share_held(share)) &&
            ledger_held(share->file.region, LEDGER_PAGED, share->seat.slot) == share->paged) {
            credit_tidy(share->file.region, share->seat);
            return true;
        }
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
    return share_held(share) == 0 || settle(share);
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
        credit_relax(share->file.region, now_ms());
        if (seated)
            account(share);
    }
    __atomic_store_n(&share->seated, seated, __ATOMIC_RELEASE);
    __atomic_store_n(&share->others, 0, __ATOMIC_RELAXED); /* before the ticks in it come round */
}

void share_tend(struct share *share, enum share_care care, bool join) {
    uint64_t now = now_ms(), due = load64(&share->next_look);
    if (care == SHARE_IF_DUE && due != 0) {
        if (now < due || !__atomic_compare_exchange_n(&share->next_look, &due, now + LOOK_EVERY_MS, false,
                                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return;
    }
    int error = errno, cancelling = cancelling_off();
    gate_enter_alone(&share->gate);
    bool reap = care == SHARE_NOW || now >= load64(&share->next_reap);
    tend_alone(share, reap, join);
    if (reap)
        __atomic_store_n(&share->next_reap, now + REAP_EVERY_MS, __ATOMIC_RELAXED);
    __atomic_store_n(&share->next_look, now_ms() + LOOK_EVERY_MS, __ATOMIC_RELAXED);
    gate_leave_alone(&share->gate);
    cancelling_back(cancelling);
    errno = error;
}

/* Takes units into the process' own count; how many. Managed memory is in `held` before it is in `paged`, and longer. */
static uint64_t count_in(struct share *share, enum share_memory memory, uint64_t units, bool part) {
    uint64_t own = load64(&share->own), take;
    do {
        uint64_t limit = load64(&share->limit), physical = load64(&share->physical), held = held_of(own);
        uint64_t paged = load64(&share->paged), resident = held > paged ? held - paged : 0;
        uint64_t room = limit > held ? limit - held : 0;
        if (memory == SHARE_RESIDENT)
            room = smaller(room, physical > resident ? physical - resident : 0);
        take = smaller(units, room);
        if (take < units && !part)
            take = 0;
        if (take == 0)
            return 0;
    } while (!__atomic_compare_exchange_n(&share->own, &own, own + take, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return take;
}

/* Takes at most what is counted there off the low half, and in the same step off the high half if `both`; how many. */
static uint64_t count_out(uint64_t *count, uint64_t units, bool both) {
    uint64_t own = load64(count), take, less;
    do {
        take = smaller(units, both ? smaller(held_of(own), own >> RESIDENT_SHIFT) : held_of(own));
        less = both ? take | take << RESIDENT_SHIFT : take;
    } while (take > 0 && !__atomic_compare_exchange_n(count, &own, own - less, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return take;
}

/* Charges what the process has counted in, or as much of it as there is room for: *units. */
static enum ledger_answer charge(struct share *share, enum share_memory memory, uint64_t *units, bool part) {
    struct partita_region *region = share->file.region;
    struct ledger_bounds bounds = {load64(&share->limit), LEDGER_UNBOUNDED, 0, part};
    if (memory == SHARE_RESIDENT)
        bounds.physical = load64(&share->physical);
    enum ledger_answer answer = LEDGER_DONE;
    if (bounds.physical != LEDGER_UNBOUNDED || !credit_draw(region, share->seat, *units, bounds.limit))
        answer = credit_charge(region, share->seat, &bounds, units);
    if (answer == LEDGER_DONE && memory == SHARE_PAGED) {
        __atomic_fetch_add(&share->paged, *units, __ATOMIC_RELAXED);
        if (ledger_add(region, LEDGER_PAGED, share->seat, *units) != LEDGER_DONE)
            __atomic_store_n(&share->next_look, 0, __ATOMIC_RELAXED); /* settled to the process' count soon */
    }
    if (answer == LEDGER_DONE && memory == SHARE_RESIDENT)
        __atomic_fetch_add(&share->own, *units << RESIDENT_SHIFT, __ATOMIC_RELAXED);
    return answer;
}

uint64_t share_charge(struct share *share, enum share_memory memory, uint64_t units, bool part) {
    share_tend(share, SHARE_IF_DUE, true);
    for (int attempt = 0; attempt < 3; attempt++) {
        gate_enter(&share->gate);
        enum ledger_answer answer = LEDGER_EVICTED;
        if (__atomic_load_n(&share->seated, __ATOMIC_ACQUIRE) && !share->suspect) {
            uint64_t counted = count_in(share, memory, units, part), taken = counted;
            answer = LEDGER_FULL;
            if (counted > 0) {
                answer = charge(share, memory, &taken, part);
                if (answer != LEDGER_DONE)
                    taken = 0;
                if (taken < counted)
                    count_out(&share->own, counted - taken, false);
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

uint64_t share_release(struct share *share, enum share_memory memory, uint64_t units) {
    gate_enter(&share->gate);
    enum ledger_answer answer = LEDGER_DONE;
    bool seated = __atomic_load_n(&share->seated, __ATOMIC_ACQUIRE);
    if (memory == SHARE_PAGED) {
        units = count_out(&share->paged, units, false);
        if (units > 0 && seated)
            answer = ledger_release(share->file.region, LEDGER_PAGED, share->seat, units);
    }
    uint64_t taken = count_out(&share->own, units, memory == SHARE_RESIDENT);
    if (taken > 0 && !seated)
        answer = LEDGER_EVICTED;
    else if (taken > 0 && !credit_deposit(share->file.region, share->seat, taken, load64(&share->limit)) &&
             credit_release(share->file.region, share->seat, taken) != LEDGER_DONE)
        answer = LEDGER_EVICTED;
    gate_leave(&share->gate);
    if (answer != LEDGER_DONE)
        share_tend(share, SHARE_NOW, true); /* settles to the process' own count */
    return taken;
}

void share_call_in(struct share *share) {
    gate_enter(&share->gate);
    if (__atomic_load_n(&share->seated, __ATOMIC_ACQUIRE))
        credit_recall(share->file.region, share->seat, now_ms());
    gate_leave(&share->gate);
}

bool share_oversubscribes(const struct share *share) {
    return load64(&share->physical) != LEDGER_UNBOUNDED;
}

static uint64_t used_by_others(struct share *share, uint32_t slot) {
    const struct partita_region *region = share->file.region;
    uint64_t now = ticks_now() & UINT32_MAX, steps = ledger_steps(region), known = load64(&share->others);
    uint64_t age = (now - (known >> 32)) & UINT32_MAX;
    if (known && steps == load64(&share->others_steps) && age < OTHERS_US * ticks_in_a_microsecond())
        return known & UINT32_MAX;
    uint64_t used = credit_used_but_by(region, slot);
    __atomic_store_n(&share->others_steps, steps, __ATOMIC_RELAXED);
    __atomic_store_n(&share->others, now << 32 | used, __ATOMIC_RELAXED);
    return used;
}

uint64_t share_used(struct share *share) {
    const struct partita_region *region = share->file.region;
    if (!region)
        return 0;
    bool seated = __atomic_load_n(&share->seated, __ATOMIC_ACQUIRE);
    if (!seated || __atomic_load_n(&region->high_water, __ATOMIC_RELAXED) <= FEW_SLOTS)
        return credit_used(region);
    return smaller(credit_used_by(region, share->seat.slot) + used_by_others(share, share->seat.slot), PARTITA_UNITS_MAX);
}

void share_forked(struct share *share) {
    share->own = share->paged = 0;
    share->gate = 0;
    share->seated = 0;
    share->suspect = 0;
    share->seat = (struct seat){0, 0};
    share->next_look = share->next_reap = share->next_thorough = share->others = 0;
    memset(&share->self, 0, sizeof share->self);
}
