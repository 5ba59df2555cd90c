/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/greens.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/atomics.h"

enum { GREENS = 256 };

static struct green {
    CUcontext context; /* NULL: free; BUSY: being filled */
    CUdevice device;
} greens[GREENS];
static uint32_t used; /* none at or above it */

#define BUSY ((CUcontext)1)

static CUcontext context_at(uint32_t i) {
    return load_acquire(&greens[i].context);
}

static CUdevice device_at(uint32_t i) {
    return load_relaxed(&greens[i].device);
}

static bool take_place(uint32_t i) {
    CUcontext none = NULL;
    return __atomic_compare_exchange_n(&greens[i].context, &none, BUSY, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void raise_used(uint32_t to) {
    uint32_t seen = load_relaxed(&used);
    while (seen < to && !__atomic_compare_exchange_n(&used, &seen, to, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
}

void greens_add(CUcontext context, CUdevice device) {
    for (uint32_t i = 0; i < GREENS; i++)
        if (take_place(i)) {
            raise_used(i + 1);
            store_relaxed(&greens[i].device, device);
            store_release(&greens[i].context, context);
            return;
        }
}

/* The number of the place; as many as are used: there is none. */
static uint32_t find(CUcontext context, uint32_t count) {
    uint32_t i = 0;
    while (i < count && context_at(i) != context)
        i++;
    return i;
}

CUdevice greens_device(CUcontext context) {
    uint32_t count = load_acquire(&used), i = context ? find(context, count) : count;
    return i < count ? device_at(i) : -1;
}

void greens_drop(CUcontext context) {
    uint32_t count = load_acquire(&used), i = context ? find(context, count) : count;
    if (i < count)
        store_release(&greens[i].context, NULL);
}

void greens_drop_of(CUdevice device) {
    uint32_t count = load_acquire(&used);
    for (uint32_t i = 0; i < count; i++) {
        CUcontext context = context_at(i);
        if (context && context != BUSY && device_at(i) == device)
            store_release(&greens[i].context, NULL);
    }
}
