/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/cuda_driver.h"

#include <string.h>

#include "common/atomics.h"
#include "common/lifetime.h"
#include "common/loaded_object.h"
#include "cuda/cuda_charge.h"
#include "cuda/cuda_contexts.h"
#include "cuda/cuda_timing.h"
#include "cuda/page_refs.h"
#include "cuda/pools.h"
#include "cuda/sparse.h"
#include "share/cards.h"

static const char *const cuda_names[CUDA_FUNCTION_COUNT] = {
#define CUDA_NAME(name) [CUDA_##name] = #name,
    CUDA_INTERCEPTED(CUDA_NAME) CUDA_CALLED(CUDA_NAME)
#undef CUDA_NAME
};

static void *const wrappers[CUDA_INTERCEPTED_COUNT] = {
#define CUDA_WRAPPER(name) [CUDA_##name] = (void *)&name,
    CUDA_INTERCEPTED(CUDA_WRAPPER)
#undef CUDA_WRAPPER
};

void *cuda_driver[CUDA_FUNCTION_COUNT];

enum { DEVICES_MAX = 128, CARD_BIAS = 3 };
static int8_t cards_of_devices[DEVICES_MAX]; /* card + CARD_BIAS; 0: not asked yet */

void lifetime_opened(void) {
    loaded_object_symbols("libcuda-real.so.1", cuda_names, cuda_driver, CUDA_FUNCTION_COUNT);
    cards_open((const void *)&cuda_driver);
}

void lifetime_forked(void) {
    cards_forked();
    cuda_contexts_forget();
    charge_forget();
    page_refs_forget();
    sparse_forget();
    pools_forget();
    timing_forget();
}

static bool ends_with(const char *name, size_t length, const char *ending) {
    size_t of_ending = strlen(ending);
    return length > of_ending && memcmp(name + length - of_ending, ending, of_ending) == 0;
}

static bool is_per_thread(const char *name) {
    size_t length = strlen(name);
    return ends_with(name, length, "_ptsz") || ends_with(name, length, "_ptds");
}

/* Of the name without what tells versions and variants apart: cuMemcpyHtoD_v2_ptds is a cuMemcpyHtoD. */
static size_t base_length(const char *name) {
    size_t length = strlen(name);
    if (is_per_thread(name))
        length -= strlen("_ptsz");
    if (length > 3 && name[length - 3] == '_' && name[length - 2] == 'v' && name[length - 1] >= '1' &&
        name[length - 1] <= '9')
        length -= strlen("_v2");
    return length;
}

static bool same_base(const char *a, const char *b) {
    size_t length = base_length(a);
    return length == base_length(b) && memcmp(a, b, length) == 0;
}

/* Of several versions at one address the newest: its arguments are the widest. */
void *cuda_wrapper_of(void *function, const char *symbol, bool per_thread) {
    void *wrapper = function;
    bool exact = false;
    for (int i = 0; function && symbol && i < CUDA_INTERCEPTED_COUNT; i++) {
        if (cuda_driver[i] != function || !same_base(cuda_names[i], symbol))
            continue;
        bool agrees = is_per_thread(cuda_names[i]) == per_thread;
        if (agrees || !exact)
            wrapper = wrappers[i];
        exact |= agrees;
    }
    return wrapper;
}

/* "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", as quotas name cards; instances begin with "MIG-". */
static void write_uuid(const char prefix[4], const unsigned char bytes[16], char text[41]) {
    static const char digits[] = "0123456789abcdef";
    char *to = text;
    memcpy(to, prefix, 4);
    to += 4;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            *to++ = '-';
        *to++ = digits[bytes[i] >> 4];
        *to++ = digits[bytes[i] & 15];
    }
    *to = 0;
}

static int card_by(CUresult (*uuid_of)(CUuuid *, CUdevice), CUdevice device, const char prefix[4]) {
    CUuuid uuid;
    char text[41];
    if (!uuid_of || uuid_of(&uuid, device) != CUDA_SUCCESS)
        return CARD_REFUSED;
    write_uuid(prefix, (const unsigned char *)uuid.bytes, text);
    return cards_find(text);
}

/* What is found of both; a share that cannot be read may be either's. */
static int either(int card, int other) {
    return card >= 0 ? card : other >= 0 ? other : card == CARD_REFUSED ? card : other;
}

/*
 * Of a MIG instance the second version gives the instance's own UUID, the first one that of its card; of a card both
 * give its own. A quota that names the instance holds before one that names its card.
 */
static int find_card(CUdevice device) {
    __typeof__(&cuDeviceGetUuid_v2) own = DRIVER(cuDeviceGetUuid_v2);
    int card = own ? either(card_by(own, device, "MIG-"), card_by(own, device, "GPU-")) : CARD_UNLIMITED;
    if (card == CARD_UNLIMITED && (DRIVER(cuDeviceGetUuid) || !own))
        card = card_by(DRIVER(cuDeviceGetUuid), device, "GPU-");
    return card;
}

int cuda_card_of(CUdevice device) {
    bool cached = device >= 0 && device < DEVICES_MAX;
    int8_t known = cached ? load_acquire(&cards_of_devices[device]) : 0;
    if (known)
        return known - CARD_BIAS;
    int card = find_card(device);
    if (cached && card != CARD_REFUSED) /* a refusal may end when a quota becomes readable */
        store_release(&cards_of_devices[device], (int8_t)(card + CARD_BIAS));
    return card;
}

bool cuda_is_device(CUdevice device) {
    __typeof__(&cuDeviceGetUuid) uuid_of =
        DRIVER(cuDeviceGetUuid_v2) ? DRIVER(cuDeviceGetUuid_v2) : DRIVER(cuDeviceGetUuid);
    CUuuid uuid;
    return !uuid_of || uuid_of(&uuid, device) == CUDA_SUCCESS;
}

CUresult cuda_current_card(int *card) {
    CUdevice device;
    *card = CARD_UNLIMITED;
    if (!DRIVER(cuCtxGetDevice))
        return CUDA_ERROR_NOT_SUPPORTED;
    CUresult result = DRIVER(cuCtxGetDevice)(&device);
    if (result == CUDA_SUCCESS)
        *card = cuda_card_of(device);
    return result;
}

/* What is new since is taken for memory of the card: never too little is counted. */
int cuda_device_of_memory(int type, const CUmemLocation *location) {
    CUdevice device;
    /* moves to the card when that uses it, wherever it is at home */
    bool managed = type == CU_MEM_ALLOCATION_TYPE_MANAGED;
    switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
        return location->id;
    case CU_MEM_LOCATION_TYPE_DEVICE_LOCALITY_DOMAIN: /* the device in the low byte, the domain above it */
        return location->id & 0xff;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
        if (!managed)
            return -1;
        break;
    default:
        break;
    }
    return DRIVER(cuCtxGetDevice) && DRIVER(cuCtxGetDevice)(&device) == CUDA_SUCCESS ? device : 0;
}
