/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The card's memory as the share sees it: total is the quota, used what the ledger says of all the claim's processes
 * and what the quota file says that they take besides.
 */
#include <stdbool.h>
#include <stdint.h>

#include "common/lifetime.h"
#include "common/numbers.h"
#include "nvml/nvml_driver.h"
#include "share/cards.h"

struct view {
    unsigned long long total, free, used;
};

static struct view view_of_share(int card, struct view real) {
    struct card_view share = {0, 0, 0, false};
    if (card != CARD_REFUSED) {
        share = cards_view(card, false);
        uint64_t beyond = cards_charged_too_much(card);
        share.used -= smaller(beyond, share.used);
    }
    bool whole = share.oversubscribes || share.quota < real.total;
    struct view view = {whole ? share.quota : real.total, share.left, share.used};
    if (real.free < view.free && !share.oversubscribes)
        view.free = real.free; /* the card itself has less */
    return view;
}

static nvmlReturn_t narrowed(nvmlReturn_t result, nvmlDevice_t device, nvmlMemory_t *memory) {
    int card = result == NVML_SUCCESS && memory ? nvml_card_of(device) : CARD_UNLIMITED;
    if (card != CARD_UNLIMITED) {
        struct view view = view_of_share(card, (struct view){memory->total, memory->free, memory->used});
        *memory = (nvmlMemory_t){.total = view.total, .free = view.free, .used = view.used};
    }
    return result;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
    NEED(nvmlDeviceGetMemoryInfo);
    return narrowed(DRIVER(nvmlDeviceGetMemoryInfo)(device, memory), device, memory);
}

/* Where a card computes confidentially, all that CUDA allocates is protected; else there is none. */
nvmlReturn_t nvmlDeviceGetConfComputeProtectedMemoryUsage(nvmlDevice_t device, nvmlMemory_t *memory) {
    NEED(nvmlDeviceGetConfComputeProtectedMemoryUsage);
    nvmlReturn_t result = DRIVER(nvmlDeviceGetConfComputeProtectedMemoryUsage)(device, memory);
    bool none = result == NVML_SUCCESS && memory && memory->total == 0;
    return none ? result : narrowed(result, device, memory);
}

/* Limits of a cgroup, which the caller names: not the share's, and maybe not its own. */
nvmlReturn_t nvmlDeviceGetMemoryLimits_v1(nvmlDevice_t device, nvmlGetMemoryLimits_v1_t *limits) {
    NEED(nvmlDeviceGetMemoryLimits_v1);
    return nvml_card_of(device) == CARD_UNLIMITED ? DRIVER(nvmlDeviceGetMemoryLimits_v1)(device, limits)
                                                  : nvml_not_supported(device);
}

/* The driver's own share is not the container's: reserved is 0. */
nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
    NEED(nvmlDeviceGetMemoryInfo_v2);
    nvmlReturn_t result = DRIVER(nvmlDeviceGetMemoryInfo_v2)(device, memory);
    int card = result == NVML_SUCCESS && memory ? nvml_card_of(device) : CARD_UNLIMITED;
    if (card != CARD_UNLIMITED) {
        struct view view = view_of_share(card, (struct view){memory->total, memory->free, memory->used});
        memory->total = view.total;
        memory->reserved = 0;
        memory->free = view.free;
        memory->used = view.used;
    }
    return result;
}
