#include "cuda_charge.h"

#include <errno.h>

#include "cards.h"
#include "cuda_driver.h"
#include "table.h"

static struct table allocations; /* address -> card + 1 << 32 | units */

static uint64_t packed(int card, uint64_t units) {
    return (uint64_t)(card + 1) << 32 | units;
}

static void keep(uint64_t address, uint64_t value) {
    uint64_t former;
    int error = errno;
    /* Without memory for the entry the charge stays for the life of the process: never too little is counted. */
    table_put(&allocations, address, value, &former);
    if (former) /* freed in a way that we did not see */
        cards_release((int)(former >> 32) - 1, former & UINT32_MAX);
    errno = error;
}

CUresult charge_begin(struct charge *charge, uint64_t bytes) {
    charge->card = CARD_UNLIMITED;
    charge->units = 0;
    int card;
    CUresult result = cuda_current_card(&card);
    if (result != CUDA_SUCCESS || card == CARD_UNLIMITED)
        return result;
    uint64_t units = units_of(bytes);
    if (card == CARD_REFUSED || !cards_charge(card, units))
        return CUDA_ERROR_OUT_OF_MEMORY;
    charge->card = card;
    charge->units = units;
    return CUDA_SUCCESS;
}

bool charge_change(struct charge *charge, uint64_t bytes) {
    if (charge->card < 0)
        return true;
    uint64_t units = units_of(bytes);
    if (units > charge->units && !cards_charge(charge->card, units - charge->units))
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
            keep(address, packed(charge->card, charge->units));
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
            cards_release((int)(taken >> 32) - 1, taken & UINT32_MAX);
        else
            keep(address, taken);
    }
    return result;
}

void charge_forget(void) {
    table_clear(&allocations);
}
