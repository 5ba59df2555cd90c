/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/cuda_charge.h"

#include <errno.h>

#include "common/table.h"
#include "cuda/cuda_contexts.h"
#include "cuda/cuda_driver.h"
#include "cuda/cuda_units.h"
#include "cuda/pools.h"
#include "cuda/sparse.h"
#include "cuda/timing_calls.h"
#include "share/cards.h"

/* address -> bits 0-31 units, 32-39 card + 1, 40-62 number of the context, 63 managed memory */
static struct table allocations;

#define PAGED (UINT64_C(1) << 63)

static uint64_t packed(const struct charge *charge) {
    return (charge->memory == SHARE_PAGED ? PAGED : 0) | (uint64_t)charge->context << 40 |
           (uint64_t)(charge->card + 1) << 32 | charge->units;
}

bool charge_is_paged(uint64_t taken) {
    return (taken & PAGED) != 0;
}

static void release_charge(uint64_t value) {
    cards_release((int)(value >> 32 & 0xff) - 1, value & PAGED ? SHARE_PAGED : SHARE_RESIDENT, value & UINT32_MAX);
}

static bool keep_charge(uint64_t address, uint64_t value) {
    uint64_t former;
    int error = errno;
    bool kept = table_put(&allocations, address, value, &former);
    if (former) /* freed in a way that we did not see */
        release_charge(former);
    errno = error;
    return kept;
}

bool charge_try(int card, enum share_memory memory, uint64_t units) {
    return cards_charge(card, memory, units) || (pools_trim(card) && cards_charge(card, memory, units));
}

bool charge_card(int card, enum share_memory memory, uint64_t units) {
    return charge_try(card, memory, units) || cards_refuse(card);
}

static bool could_page(int card) {
    return DRIVER(cuMemAllocManaged) && cards_oversubscribe(card);
}

static CUresult charge_current_card(struct charge *charge, uint64_t bytes, enum share_memory memory, bool movable) {
    uint64_t units = memory == SHARE_PAGED ? units_of_pages(bytes) : units_of(bytes);
    int card;
    *charge = CHARGE_NOTHING;
    if (__builtin_expect(cuda_current_card(&card) != CUDA_SUCCESS, 0)) {
        charge->card = CHARGE_UNKNOWN;
        return CUDA_SUCCESS;
    }
    if (card == CARD_UNLIMITED)
        return CUDA_SUCCESS;
    if (card == CARD_REFUSED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    bool charged = movable ? charge_try(card, memory, units) : charge_card(card, memory, units);
    if (!charged && movable) { /* asked only now: the quota was read anew before the refusal */
        bool page = could_page(card);
        memory = page ? SHARE_PAGED : SHARE_RESIDENT;
        units = page ? units_of_pages(bytes) : units;
        charged = page ? charge_card(card, memory, units) : cards_refuse(card);
    }
    if (!charged)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *charge = (struct charge){card, memory, units, 0};
    return CUDA_SUCCESS;
}

static CUresult in_context(struct charge *charge, CUresult result) {
    CUcontext context = NULL;
    if (charge->card >= 0 && DRIVER(cuCtxGetCurrent) && DRIVER(cuCtxGetCurrent)(&context) == CUDA_SUCCESS)
        charge->context = cuda_context_number(context);
    return result;
}

CUresult charge_begin(struct charge *charge, uint64_t bytes) {
    return charge_current_card(charge, bytes, SHARE_RESIDENT, false);
}

CUresult charge_begin_in_context(struct charge *charge, uint64_t bytes) {
    return in_context(charge, charge_begin(charge, bytes));
}

CUresult charge_begin_movable(struct charge *charge, uint64_t bytes) {
    return in_context(charge, charge_current_card(charge, bytes, SHARE_RESIDENT, true));
}

CUresult charge_begin_managed(struct charge *charge, uint64_t bytes) {
    return in_context(charge, charge_current_card(charge, bytes, SHARE_PAGED, false));
}

bool charge_change(struct charge *charge, uint64_t bytes) {
    if (charge->card < 0)
        return true;
    uint64_t units = charge->memory == SHARE_PAGED ? units_of_pages(bytes) : units_of(bytes);
    if (units > charge->units && !charge_card(charge->card, charge->memory, units - charge->units))
        return false;
    if (units < charge->units)
        cards_release(charge->card, charge->memory, charge->units - units);
    charge->units = units;
    return true;
}

void charge_drop(const struct charge *charge) {
    if (charge->card >= 0)
        cards_release(charge->card, charge->memory, charge->units);
}

bool charge_end(const struct charge *charge, CUresult result, uint64_t address) {
    if (charge->card < 0)
        return charge->card != CHARGE_UNKNOWN || result != CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        return keep_charge(address, packed(charge));
    charge_drop(charge);
    return true;
}

CUresult charge_undo(const struct charge *charge, CUresult freed) {
    if (freed == CUDA_SUCCESS)
        charge_drop(charge);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult charge_end_linear(const struct charge *charge, CUresult result, CUdeviceptr *pointer, CUdeviceptr former) {
    if (charge_end(charge, result, *pointer))
        return result;
    result = charge_undo(charge, DRIVER(cuMemFree_v2) ? DRIVER(cuMemFree_v2)(*pointer) : CUDA_ERROR_NOT_SUPPORTED);
    *pointer = former;
    return result;
}

uint64_t charge_take(uint64_t address) {
    return table_take(&allocations, address);
}

CUresult charge_return(uint64_t taken, CUresult result, uint64_t address) {
    if (taken) {
        if (result == CUDA_SUCCESS)
            release_charge(taken);
        else
            keep_charge(address, taken); /* in the place that it has just left */
    }
    return result;
}

CUresult charge_return_in_order(uint64_t taken, CUresult result, uint64_t address, CUstream stream, bool per_thread) {
    if (!taken || result != CUDA_SUCCESS)
        return charge_return(taken, result, address);
    int mode = timing_calls_begin();
    uint64_t owner = sparse_new_owner();
    bool kept = keep_charge(owner, taken);
    if (kept && sparse_watch(owner, stream, per_thread)) {
        timing_calls_end(mode);
        return result;
    }
    sparse_wait(stream, per_thread);
    timing_calls_end(mode);
    return charge_return(kept ? charge_take(owner) : taken, result, owner);
}

static bool of_context(uint64_t value, void *context) {
    return cuda_context_ended_with((uint32_t)((value & ~PAGED) >> 40), *(const uint32_t *)context);
}

static void release_swept(uint64_t value, void *context) {
    (void)context;
    release_charge(value);
}

void charge_context_gone(uint32_t context) {
    if (context)
        table_sweep(&allocations, of_context, release_swept, &context);
}

void charge_forget(void) {
    table_clear(&allocations);
}
