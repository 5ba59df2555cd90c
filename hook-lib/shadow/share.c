#include "share.h"

#include <string.h>

#include "credit.h"
#include "gate.h"
#include "share_inside.h"
#include "ticks.h"

enum { FEW_SLOTS = 4, OTHERS_US = 10 };
enum { RESIDENT_SHIFT = 32 };

static uint64_t held_of(uint64_t own) {
    return own & UINT32_MAX;
}

uint64_t share_held(const struct share *share) {
    return held_of(load(&share->own));
}

/* Takes units into the process' own count; how many. Managed memory is in `held` before it is in `paged`, and longer. */
static uint64_t count_in(struct share *share, enum share_memory memory, uint64_t units, bool part) {
    uint64_t own = load(&share->own), take;
    do {
        uint64_t limit = load(&share->limit), physical = load(&share->physical), held = held_of(own);
        uint64_t paged = load(&share->paged), resident = held > paged ? held - paged : 0;
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
    uint64_t own = load(count), take, less;
    do {
        take = smaller(units, both ? smaller(held_of(own), own >> RESIDENT_SHIFT) : held_of(own));
        less = both ? take | take << RESIDENT_SHIFT : take;
    } while (take > 0 && !__atomic_compare_exchange_n(count, &own, own - less, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return take;
}

/* Charges what the process has counted in, or as much of it as there is room for: *units. */
static enum ledger_answer charge(struct share *share, enum share_memory memory, uint64_t *units, bool part) {
    struct partita_region *region = share->file.region;
    struct ledger_bounds bounds = {load(&share->limit), LEDGER_UNBOUNDED, 0, part};
    if (memory == SHARE_RESIDENT)
        bounds.physical = load(&share->physical);
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
    else if (taken > 0 && !credit_deposit(share->file.region, share->seat, taken, load(&share->limit)) &&
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
    return load(&share->physical) != LEDGER_UNBOUNDED;
}

static uint64_t used_by_others(struct share *share, uint32_t slot) {
    const struct partita_region *region = share->file.region;
    uint64_t now = ticks_now() & UINT32_MAX, steps = ledger_steps(region), known = load(&share->others);
    uint64_t age = (now - (known >> 32)) & UINT32_MAX;
    if (known && steps == load(&share->others_steps) && age < OTHERS_US * ticks_in_a_microsecond())
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
