/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/graph_claims.h"

#include <stddef.h>
#include <string.h>

#include "common/owned_lock.h"

enum { DEVICES = 256 };

static struct account {
    uint64_t most, unshown, again; /* units */
    uint64_t reserved, used;       /* units, by the newest readings: */
    uint64_t heard, heard_used;    /* their numbers */
    uint64_t under_way;            /* units, of launches that the driver has not answered */
    uint64_t number;               /* grows whenever the account is opened, or what is used falls */
    uint64_t opened, fell;         /* the number when that was */
} accounts[DEVICES];
static struct owned_lock lock;
static uint64_t readings;

/* What is known of a graph: the account's number at its last launch, and whether it is in `again`. */
enum { AGAIN = 1, NOTE_SHIFT = 1 };

static struct account *account_of(CUdevice device) {
    return device >= 0 && device < DEVICES ? &accounts[device] : NULL;
}

static uint64_t least(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

uint64_t graph_reading_number(void) {
    return __atomic_add_fetch(&readings, 1, __ATOMIC_RELAXED);
}

/* What launches under way take may not be reserved yet. A graph that waits to run again has its memory still. */
static void open_anew(struct account *account, uint64_t reserved) {
    account->most = account->unshown = reserved + account->under_way;
    account->again = least(account->again, account->most);
    account->opened = account->fell = ++account->number;
}

static void see_used(struct account *account, uint64_t used) {
    if (used >= account->used) {
        account->unshown -= least(account->unshown, used - account->used);
    } else {
        account->unshown += account->again;
        account->again = 0;
        account->fell = ++account->number;
    }
    account->used = used;
}

/* An older reading than one that was heard says nothing. */
static void see(struct account *account, const struct graph_reading *reading) {
    if (reading->number > account->heard) {
        if (account->opened == 0 || reading->reserved < account->reserved)
            open_anew(account, reading->reserved);
        account->reserved = reading->reserved;
        account->heard = reading->number;
    }
    if (reading->uses_known && reading->number > account->heard_used) {
        see_used(account, reading->used);
        account->heard_used = reading->number;
    }
}

static void claim_in(struct account *account, struct graph_claim *claim) {
    uint64_t launched = claim->note >> NOTE_SHIFT;
    if (launched < account->opened)
        account->most += claim->most = claim->units;
    if (launched < account->fell) {
        account->unshown += claim->unshown = claim->units;
        claim->note = account->number << NOTE_SHIFT;
    } else if (!(claim->note & AGAIN)) {
        account->again += claim->again = claim->units;
        claim->note |= AGAIN;
    }
    account->under_way += claim->units;
    claim->opened = account->opened;
    claim->fell = account->fell;
}

bool graph_claim(CUdevice device, const struct graph_reading *reading, uint64_t units, uint64_t note,
                 struct graph_claim *claim, uint64_t *more) {
    *claim = (struct graph_claim){.note = note, .settled = true};
    *more = units;
    struct account *account = account_of(device);
    if (!account)
        return true;
    owned_lock_enter(&lock);
    see(account, reading);
    bool free = note >> NOTE_SHIFT >= account->opened && account->most <= account->reserved;
    bool claims = free || reading->uses_known;
    if (claims) {
        claim->units = units;
        claim->settled = free;
        claim_in(account, claim);
        uint64_t needed = least(account->used + account->unshown, account->reserved + account->under_way);
        needed = least(needed, account->most);
        *more = needed > account->reserved ? needed - account->reserved : 0;
    }
    owned_lock_leave(&lock);
    return claims;
}

void graph_claim_undo(CUdevice device, const struct graph_claim *claim) {
    struct account *account = account_of(device);
    if (!account || claim->units == 0)
        return;
    owned_lock_enter(&lock);
    account->under_way -= claim->units;
    if (claim->opened == account->opened) {
        account->most -= claim->most;
        account->unshown -= least(account->unshown, claim->unshown);
    }
    if (claim->fell == account->fell) /* else it is not in `again` any more */
        account->again -= claim->again;
    owned_lock_leave(&lock);
}

uint64_t graph_claim_launched(CUdevice device, const struct graph_claim *claim, const struct graph_reading *reading) {
    struct account *account = account_of(device);
    if (!account || claim->units == 0)
        return 0;
    uint64_t note = claim->note;
    owned_lock_enter(&lock);
    account->under_way -= claim->units;
    if (reading) {
        uint64_t before = account->number;
        see(account, reading);
        if (account->number != before)
            note = account->number << NOTE_SHIFT;
    }
    owned_lock_leave(&lock);
    return note;
}

void graph_claims_forget(void) {
    memset(accounts, 0, sizeof accounts);
    lock = (struct owned_lock){0};
}
