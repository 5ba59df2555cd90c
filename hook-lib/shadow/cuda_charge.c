#include "cuda_charge.h"

#include <errno.h>

#include "cards.h"
#include "cuda_contexts.h"
#include "cuda_driver.h"
#include "pools.h"
#include "table.h"

/* address -> bits 0-31 units, 32-39 card + 1, 40-63 number of the context */
static struct table allocations;

static uint64_t packed(const struct charge *charge) {
    return (uint64_t)charge->context << 40 | (uint64_t)(charge->card + 1) << 32 | charge->units;
}

static void release(uint64_t value) {
    cards_release((int)(value >> 32 & 0xff) - 1, value & UINT32_MAX);
}

static void keep(uint64_t address, uint64_t value) {
    uint64_t former;
    int error = errno;
    /* Without memory for the entry the charge stays for the life of the process: never too little is counted. */
    table_put(&allocations, address, value, &former);
    if (former) /* freed in a way that we did not see */
        release(former);
    errno = error;
}

bool charge_card(int card, uint64_t units) {
    return cards_charge(card, units) || (pools_trim(card) && cards_charge(card, units));
}

CUresult charge_begin(struct charge *charge, uint64_t bytes) {
    *charge = CHARGE_NOTHING;
    int card;
    CUresult result = cuda_current_card(&card);
    if (result != CUDA_SUCCESS || card == CARD_UNLIMITED)
        return result;
    uint64_t units = units_of(bytes);
    if (card == CARD_REFUSED || !charge_card(card, units))
        return CUDA_ERROR_OUT_OF_MEMORY;
    charge->card = card;
    charge->units = units;
    return CUDA_SUCCESS;
}

CUresult charge_begin_in_context(struct charge *charge, uint64_t bytes) {
    CUresult result = charge_begin(charge, bytes);
    CUcontext context = NULL;
    if (charge->card >= 0 && DRIVER(cuCtxGetCurrent) && DRIVER(cuCtxGetCurrent)(&context) == CUDA_SUCCESS)
        charge->context = cuda_context_number(context);
    return result;
}

bool charge_change(struct charge *charge, uint64_t bytes) {
    if (charge->card < 0)
        return true;
    uint64_t units = units_of(bytes);
    if (units > charge->units && !charge_card(charge->card, units - charge->units))
        return false;
    if (units < charge->units)
        cards_release(charge->card, charge->units - units);
    charge->units = units;
    return true;
}

void charge_drop(const struct charge *charge) {
    if (charge->card >= 0)
        cards_release(charge->card, charge->units);
}

CUresult charge_end(const struct charge *charge, CUresult result, uint64_t address) {
    if (charge->card >= 0) {
        if (result == CUDA_SUCCESS)
            keep(address, packed(charge));
        else
            charge_drop(charge);
    }
    return result;
}

uint64_t charge_take(uint64_t address) {
    return table_take(&allocations, address);
}

CUresult charge_return(uint64_t taken, CUresult result, uint64_t address) {
    if (taken) {
        if (result == CUDA_SUCCESS)
            release(taken);
        else
            keep(address, taken);
    }
    return result;
}

static bool of_context(uint64_t value, void *context) {
    return value >> 40 == *(const uint32_t *)context;
}

static void release_swept(uint64_t value, void *context) {
    (void)context;
    release(value);
}

void charge_context_gone(uint32_t context) {
    if (context)
        table_sweep(&allocations, of_context, release_swept, &context);
}

void charge_forget(void) {
    table_clear(&allocations);
}
