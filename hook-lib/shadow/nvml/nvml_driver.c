/* SPDX-License-Identifier: Apache-2.0 */
#include "nvml/nvml_driver.h"

#include <string.h>

#include "common/lifetime.h"
#include "common/loaded_object.h"
#include "share/cards.h"

static const char *const nvml_names[NVML_FUNCTION_COUNT] = {
#define NVML_NAME(name) [NVML_##name] = #name,
    NVML_INTERCEPTED(NVML_NAME) NVML_CALLED(NVML_NAME)
#undef NVML_NAME
};

void *nvml_driver[NVML_FUNCTION_COUNT];

void lifetime_opened(void) {
    loaded_object_symbols("libnvidia-ml-real.so.1", nvml_names, nvml_driver, NVML_FUNCTION_COUNT);
    cards_open((const void *)&nvml_driver);
}

void lifetime_forked(void) {
    cards_forked();
}

static int card_by_uuid(nvmlDevice_t device, bool *instance) {
    char uuid[NVML_DEVICE_UUID_V2_BUFFER_SIZE];
    *instance = false;
    if (!DRIVER(nvmlDeviceGetUUID) || DRIVER(nvmlDeviceGetUUID)(device, uuid, sizeof uuid) != NVML_SUCCESS)
        return CARD_REFUSED;
    *instance = strncmp(uuid, "MIG-", 4) == 0;
    return cards_find(uuid);
}

nvmlReturn_t nvml_not_supported(nvmlDevice_t device) {
    char uuid[NVML_DEVICE_UUID_V2_BUFFER_SIZE];
    nvmlReturn_t result =
        DRIVER(nvmlDeviceGetUUID) ? DRIVER(nvmlDeviceGetUUID)(device, uuid, sizeof uuid) : NVML_SUCCESS;
    return result != NVML_SUCCESS ? result : NVML_ERROR_NOT_SUPPORTED;
}

int nvml_card_of(nvmlDevice_t device) {
    bool instance;
    nvmlDevice_t whole;
    int card = card_by_uuid(device, &instance);
    if (card != CARD_UNLIMITED || !instance)
        return card;
    if (!DRIVER(nvmlDeviceGetDeviceHandleFromMigDeviceHandle) ||
        DRIVER(nvmlDeviceGetDeviceHandleFromMigDeviceHandle)(device, &whole) != NVML_SUCCESS)
        return CARD_REFUSED;
    return card_by_uuid(whole, &instance); /* its quota may name the card */
}
