/* SPDX-License-Identifier: Apache-2.0 */
#include "share/cards.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "common/atomics.h"
#include "common/interruptions.h"
#include "common/numbers.h"
#include "share/credit.h"
#include "share/places.h"

enum { SHARES_MAX = CARDS_MAX };

static struct share shares[SHARES_MAX];
static size_t share_count; /* 0: none was found yet; once some were, neither they nor `too_many` change any more */
static bool too_many;      /* more shares than there is room for: cards that are not found are refused */

/* Of who looks for the shares: one thread at a time, and none once some were found. */
static const void *library;
static size_t found_count;
static uint32_t looking;

static void add_share(const char *quota_path, const char *usage_path) {
    if (found_count == SHARES_MAX) {
        too_many = true;
        return;
    }
    struct share *share = &shares[found_count++];
    *share = (struct share){0};
    strcpy(share->quota_path, quota_path); /* places_each promises the length */
    strcpy(share->usage_path, usage_path);
    share_open(share);
}

static void look_for_shares(void) {
    found_count = 0;
    too_many = false;
    places_each_share(library, add_share, &too_many);
    store_release(&share_count, found_count);
}

/* A child of a fork in the middle of this begins anew. */
void cards_open(const void *self) {
    int error = errno;
    library = self;
    share_count = 0;
    look_for_shares();
    errno = error;
}

/* How many there are. There may have been no free descriptor when they were looked for. */
static size_t shares_there(void) {
    if (load_acquire(&share_count) == 0) {
        struct interruptions interruptions;
        interruptions_off(&interruptions);
        while (__atomic_exchange_n(&looking, 1, __ATOMIC_ACQUIRE))
            sched_yield();
        if (load_relaxed(&share_count) == 0)
            look_for_shares();
        store_release(&looking, 0);
        interruptions_back(&interruptions);
    }
    return load_acquire(&share_count);
}

/* A card is known by its first share. */
int cards_find(const char *gpu) {
    int error = errno;
    size_t count = shares_there();
    bool unreadable = count == 0 || too_many;
    int found = CARD_UNLIMITED;
    for (size_t i = 0; i < count && found < 0; i++) {
        if (!*share_gpu(&shares[i]))
            share_tend(&shares[i], SHARE_IF_DUE, false); /* it may be readable by now */
        const char *its = share_gpu(&shares[i]);
        if (!*its)
            unreadable = true;
        else if (strcmp(its, gpu) == 0)
            found = (int)i;
    }
    errno = error;
    return found < 0 && unreadable ? CARD_REFUSED : found;
}

static bool of_card(size_t i, int card) {
    return i == (size_t)card || (i > (size_t)card && strcmp(share_gpu(&shares[i]), share_gpu(&shares[card])) == 0);
}

static size_t last_share(int card) {
    size_t last = (size_t)card;
    for (size_t i = last + 1; i < share_count; i++)
        if (of_card(i, card))
            last = i;
    return last;
}

/* All but the last share give what they have, the last one the rest or nothing. */
static bool charge_shares(int card, size_t last, enum share_memory memory, uint64_t units) {
    uint64_t rest = units;
    for (size_t i = (size_t)card; i <= last && rest > 0; i++)
        if (of_card(i, card))
            rest -= share_charge(&shares[i], memory, rest, i != last);
    if (rest == 0)
        return true;
    cards_release(card, memory, units - rest);
    return false;
}

static bool charge_shares_or_call_in(int card, size_t last, enum share_memory memory, uint64_t units) {
    if (charge_shares(card, last, memory, units))
        return true;
    for (size_t i = (size_t)card; i <= last; i++)
        if (of_card(i, card))
            share_call_in(&shares[i]);
    return charge_shares(card, last, memory, units);
}

bool cards_charge(int card, enum share_memory memory, uint64_t units) {
    if (units > PARTITA_UNITS_MAX)
        return false;
    size_t last = last_share(card);
    if (charge_shares_or_call_in(card, last, memory, units))
        return true;
    for (size_t i = (size_t)card; i <= last; i++)
        if (of_card(i, card))
            share_tend(&shares[i], SHARE_NOW, true); /* the quota may have grown, somebody may have died */
    return charge_shares_or_call_in(card, last, memory, units);
}

uint64_t cards_charge_part(int card, enum share_memory memory, uint64_t units) {
    uint64_t charged = 0;
    for (size_t i = (size_t)card, last = last_share(card); i <= last && charged < units; i++)
        if (of_card(i, card))
            charged += share_charge(&shares[i], memory, units - charged, true);
    return charged;
}

bool cards_refuse(int card) {
    struct partita_region *region = share_region(&shares[last_share(card)]);
    if (region)
        __atomic_fetch_add(&region->refused, 1, __ATOMIC_RELAXED);
    return false;
}

/* Which share an allocation was charged to need not be known: what all of them hold is the sum of what is allocated. */
void cards_release(int card, enum share_memory memory, uint64_t units) {
    for (size_t i = last_share(card) + 1; i-- > (size_t)card && units > 0;)
        if (of_card(i, card))
            units -= share_release(&shares[i], memory, units);
}

uint64_t cards_context(int card) {
    size_t last = last_share(card);
    for (size_t i = (size_t)card; i <= last; i++)
        if (of_card(i, card)) {
            share_tend(&shares[i], SHARE_IF_DUE, true);
            uint64_t units = load_relaxed(&shares[i].context);
            if (units != SHARE_CONTEXT_UNKNOWN)
                return units;
        }
    return SHARE_CONTEXT_UNKNOWN;
}

void cards_context_begins(int card) {
    size_t last = last_share(card);
    for (size_t i = (size_t)card; i <= last; i++)
        if (of_card(i, card))
            share_context_begins(&shares[i]);
}

void cards_context_begun(int card, bool made) {
    size_t last = last_share(card);
    for (size_t i = (size_t)card; i <= last; i++)
        if (of_card(i, card))
            share_context_begun(&shares[i], made);
}

void cards_context_gone(int card) {
    size_t last = last_share(card);
    for (size_t i = (size_t)card; i <= last; i++)
        if (of_card(i, card))
            share_context_gone(&shares[i]);
}

void cards_leave_behind(int card, uint64_t units) {
    for (size_t i = last_share(card) + 1; i-- > (size_t)card && units > 0;)
        if (of_card(i, card))
            units -= share_leave_behind(&shares[i], units);
}

bool cards_oversubscribe(int card) {
    size_t last = last_share(card);
    for (size_t i = (size_t)card; i <= last; i++)
        if (of_card(i, card) && share_oversubscribes(&shares[i]))
            return true;
    return false;
}

uint64_t cards_physical(int card) {
    uint64_t units = 0;
    for (size_t i = (size_t)card, last = last_share(card); i <= last; i++)
        if (of_card(i, card))
            units += share_physical(&shares[i]);
    return units;
}

struct card_view cards_view(int card, bool join) {
    uint64_t quota = 0, used = 0, left = 0;
    bool oversubscribes = false;
    size_t last = last_share(card);
    for (size_t i = (size_t)card; i <= last; i++) {
        struct share *share = &shares[i];
        if (!of_card(i, card))
            continue;
        share_tend(share, SHARE_IF_DUE, join);
        uint64_t by_share = share_used(share);
        quota += load_relaxed(&share->quota);
        used += by_share + load_relaxed(&share->overhead);
        left += share_left(share, by_share);
        oversubscribes |= share_oversubscribes(share);
    }
    return (struct card_view){quota * PARTITA_UNIT, used * PARTITA_UNIT, left * PARTITA_UNIT, oversubscribes};
}

/* A process that uses several shares of a card has a slot in each, and the same samples in all. */
static void add_process(struct card_process *processes, size_t room, size_t *count,
                        const struct card_process *process) {
    for (size_t i = 0; i < *count && i < room; i++)
        if (processes[i].pid == process->pid) {
            processes[i].bytes += process->bytes;
            if (process->sampled > processes[i].sampled) {
                processes[i].sampled = process->sampled;
                processes[i].utilization = process->utilization;
            }
            return;
        }
    if (*count < room)
        processes[*count] = *process;
    ++*count;
}

static uint64_t contexts_of(const struct partita_slot *slot) {
    return load_relaxed(&slot->contexts) & (PARTITA_CONTEXT_BEGUN - 1);
}

/*
 * What the plugin says that the process takes beside its allocations, or what its contexts are charged while nobody has
 * measured it; the container can write it, so it is bounded.
 */
static uint64_t overhead_of(const struct partita_slot *slot) {
    uint64_t units = load_relaxed(&slot->overhead);
    return units > 0 && units <= PARTITA_UNITS_MAX ? units : contexts_of(slot);
}

uint64_t cards_charged_too_much(int card) {
    uint64_t units = 0;
    for (size_t i = (size_t)card, last = last_share(card); i <= last; i++) {
        const struct partita_region *region = of_card(i, card) ? share_region(&shares[i]) : NULL;
        for (uint32_t slot = 0; region && slot < region->high_water && slot < PARTITA_SLOTS; slot++) {
            const struct partita_slot *at = &region->slots[slot];
            uint64_t charged = smaller(contexts_of(at), credit_used_by(region, slot)), takes = overhead_of(at);
            if ((load_relaxed(&at->state) & PARTITA_SLOT_PHASE) == PARTITA_SLOT_LIVE && charged > takes)
                units += charged - takes;
        }
    }
    return units * PARTITA_UNIT;
}

size_t cards_processes(int card, struct card_process *processes, size_t room) {
    int error = errno;
    size_t count = 0, last = last_share(card);
    struct owner self = owner_self();
    for (size_t i = (size_t)card; i <= last; i++) {
        if (!of_card(i, card))
            continue;
        share_tend(&shares[i], SHARE_NOW, false);
        struct partita_region *region = share_region(&shares[i]);
        for (uint32_t slot = 0; region && slot < region->high_water && slot < PARTITA_SLOTS; slot++) {
            const struct partita_slot *at = &region->slots[slot];
            struct seat seat;
            struct owner owner;
            if (!seats_owner(region, slot, &seat, &owner) || owner.pid_namespace != self.pid_namespace)
                continue;
            uint64_t used = credit_used_by(region, slot), allocated = used - smaller(contexts_of(at), used);
            const struct card_process process = {owner.pid, (allocated + overhead_of(at)) * PARTITA_UNIT,
                                                 load_relaxed(&at->sampled), load_relaxed(&at->utilization)};
            add_process(processes, room, &count, &process);
        }
    }
    errno = error;
    return count;
}

struct core_rules cards_core_rules(int card) {
    struct core_rules rules = share_core_rules(&shares[card]);
    for (size_t i = (size_t)card + 1; i < share_count; i++)
        if (of_card(i, card))
            rules = core_rules_sum(rules, share_core_rules(&shares[i]));
    return rules;
}

void cards_tend(int card) {
    for (size_t i = (size_t)card; i < share_count; i++)
        if (of_card(i, card))
            share_tend(&shares[i], SHARE_IF_DUE, true);
}

bool cards_report(int card, struct card_report *report) {
    char path[sizeof shares->quota_path];
    strcpy(path, shares[card].quota_path);
    char *name = strrchr(path, '/');
    if (!name || (size_t)(path + sizeof path - name) < sizeof "/" PARTITA_REPORT_NAME)
        return false;
    strcpy(name + 1, PARTITA_REPORT_NAME);
    int error = errno;
    bool read = card_report_read(path, report);
    errno = error;
    return read;
}

/* A region stays mapped once it is, and `seated` is set after. */
struct partita_compute *cards_compute(int card) {
    return load_acquire(&shares[card].seated) ? &shares[card].file.region->compute : NULL;
}

uint32_t *cards_priced(int card) {
    return load_acquire(&shares[card].seated) ? &shares[card].file.region->priced : NULL;
}

struct partita_begins *cards_begins(int card) {
    return load_acquire(&shares[card].seated) ? &shares[card].file.region->begins : NULL;
}

struct partita_slot *cards_slot(int card) {
    return load_acquire(&shares[card].seated) ? &shares[card].file.region->slots[shares[card].seat.slot % PARTITA_SLOTS]
                                              : NULL;
}

uint64_t cards_windows(int card) {
    uint64_t windows = 0;
    if (!load_acquire(&shares[card].seated))
        return 0;
    const struct partita_region *region = shares[card].file.region;
    uint32_t slots = load_relaxed(&region->high_water);
    for (uint32_t i = 0; i < slots && i < PARTITA_SLOTS; i++)
        if ((load_relaxed(&region->slots[i].state) & PARTITA_SLOT_PHASE) == PARTITA_SLOT_LIVE)
            windows |= load_relaxed(&region->slots[i].windows);
    return windows;
}

void cards_each(void (*visit)(int card, void *context), void *context) {
    size_t count = load_acquire(&share_count);
    for (size_t i = 0; i < count; i++) {
        const char *gpu = share_gpu(&shares[i]);
        bool first = *gpu != 0;
        for (size_t j = 0; j < i && first; j++)
            first = strcmp(gpu, share_gpu(&shares[j])) != 0;
        if (first)
            visit((int)i, context);
    }
}

void cards_forked(void) {
    looking = 0;
    for (size_t i = 0; i < share_count; i++)
        share_forked(&shares[i]);
}
