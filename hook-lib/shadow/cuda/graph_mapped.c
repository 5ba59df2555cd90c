/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/graph_mapped.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "common/owned_lock.h"

enum { DEVICES = 128 };

static struct account {
    uint64_t others, known; /* units */
    uint32_t number;
} accounts[DEVICES];
static struct owned_lock lock;

static struct account *account_of(CUdevice device) {
    return device >= 0 && device < DEVICES ? &accounts[device] : NULL;
}

static void open_anew(struct account *account, uint64_t used) {
    account->others = used;
    account->known = 0;
    account->number = account->number % ((1u << GRAPH_MAPPED_BITS) - 1) + 1;
}

/* False: something was given up. What is there besides is somebody else's. */
static bool agrees(struct account *account, uint64_t used) {
    if (account->number == 0 || used < account->others + account->known) {
        open_anew(account, used);
        return false;
    }
    return true;
}

uint32_t graph_mapped_before(CUdevice device, uint64_t used) {
    struct account *account = account_of(device);
    if (!account)
        return 0;
    owned_lock_enter(&lock);
    if (agrees(account, used))
        account->others = used - account->known;
    uint32_t number = account->number;
    owned_lock_leave(&lock);
    return number;
}

/* What a launch has shown of a graph that is not among the known ones. False: that cannot be told. */
static bool learn(struct account *account, uint64_t more, uint64_t units) {
    if (more >= units) { /* it was mapped now */
        account->known += units;
        account->others += more - units;
        return true;
    }
    if (more == 0 && account->others >= units) { /* it was mapped before */
        account->known += units;
        account->others -= units;
        return true;
    }
    return false;
}

uint32_t graph_mapped_after(CUdevice device, uint64_t used, uint64_t units, uint32_t noted) {
    struct account *account = account_of(device);
    if (!account)
        return 0;
    uint32_t number = 0;
    owned_lock_enter(&lock);
    if (agrees(account, used)) {
        uint64_t more = used - account->others - account->known;
        if (units == 0 || noted == account->number) {
            account->others += more;
            number = noted;
        } else if (learn(account, more, units)) {
            number = account->number;
        } else {
            open_anew(account, used);
        }
    }
    owned_lock_leave(&lock);
    return number;
}

void graph_mapped_destroyed(CUdevice device, uint64_t units, uint32_t noted) {
    struct account *account = account_of(device);
    if (!account)
        return;
    owned_lock_enter(&lock);
    if (noted != 0 && noted == account->number && units <= account->known) {
        account->known -= units;
        account->others += units;
    }
    owned_lock_leave(&lock);
}

void graph_mapped_forget(void) {
    memset(accounts, 0, sizeof accounts);
    lock = (struct owned_lock){0};
}
