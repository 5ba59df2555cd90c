/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program is told about the card: the smaller of its share and the card itself, or an oversubscribed share as it
 * is.
 */
#include <limits.h>

#include "common/lifetime.h"
#include "common/numbers.h"
#include "cuda/cuda_driver.h"
#include "share/cards.h"

/* Narrows the driver's figures to what the card's shares leave. */
static void narrow_to_share(int card, uint64_t *free, uint64_t *total) {
    struct card_view view = {0, 0, 0, false};
    if (card == CARD_UNLIMITED)
        return;
    if (card != CARD_REFUSED)
        view = cards_view(card, true);
    *total = view.oversubscribes ? view.quota : smaller(*total, view.quota);
    *free = view.oversubscribes ? view.left : smaller(*free, view.left);
}

static int current_card(void) {
    int card;
    return cuda_current_card(&card) == CUDA_SUCCESS ? card : CARD_REFUSED;
}

/* Either output may be NULL, where the driver allows that. */
CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    NEED(cuMemGetInfo_v2);
    CUresult result = DRIVER(cuMemGetInfo_v2)(free, total);
    if (result != CUDA_SUCCESS)
        return result;
    uint64_t f = free ? *free : 0, t = total ? *total : 0;
    narrow_to_share(current_card(), &f, &t);
    if (free)
        *free = f;
    if (total)
        *total = t;
    return result;
}

CUresult cuMemGetInfo(unsigned int *free, unsigned int *total) {
    NEED(cuMemGetInfo);
    CUresult result = DRIVER(cuMemGetInfo)(free, total);
    if (result != CUDA_SUCCESS)
        return result;
    uint64_t f = free ? *free : 0, t = total ? *total : 0;
    narrow_to_share(current_card(), &f, &t);
    if (free)
        *free = (unsigned int)smaller(f, UINT_MAX);
    if (total)
        *total = (unsigned int)smaller(t, UINT_MAX);
    return result;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
    NEED(cuDeviceTotalMem_v2);
    CUresult result = DRIVER(cuDeviceTotalMem_v2)(bytes, device);
    if (result != CUDA_SUCCESS || !bytes)
        return result;
    uint64_t free = 0, total = *bytes;
    narrow_to_share(cuda_card_of(device), &free, &total);
    *bytes = total;
    return result;
}

CUresult cuDeviceTotalMem(unsigned int *bytes, CUdevice device) {
    NEED(cuDeviceTotalMem);
    CUresult result = DRIVER(cuDeviceTotalMem)(bytes, device);
    if (result != CUDA_SUCCESS || !bytes)
        return result;
    uint64_t free = 0, total = *bytes;
    narrow_to_share(cuda_card_of(device), &free, &total);
    *bytes = (unsigned int)smaller(total, UINT_MAX);
    return result;
}
