/* SPDX-License-Identifier: Apache-2.0 */
/* Which devices there are, and what they are. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "library.h"

/* Begins what looks for devices: by `wanted`, to be told by `output`. */
static nvmlReturn_t search(const void *wanted, const void *output) {
    if (library_ready() != NVML_SUCCESS)
        return NVML_ERROR_UNINITIALIZED;
    return wanted && output ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *count) {
    FAULT_POINT();
    nvmlReturn_t result = search(count, count);

    if (result == NVML_SUCCESS)
        *count = library_device_count;
    return result;
}

nvmlReturn_t nvmlDeviceGetCount(unsigned int *count) {
    FAULT_POINT();
    return nvmlDeviceGetCount_v2(count);
}

static nvmlReturn_t hand_out(unsigned index, nvmlDevice_t *device) {
    nvmlReturn_t result = library_device(&library_devices[index], device);

    if (result == NVML_SUCCESS)
        *device = &library_devices[index];
    return result;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvmlDevice_t *device) {
    FAULT_POINT();
    if (library_ready() != NVML_SUCCESS)
        return NVML_ERROR_UNINITIALIZED;
    return index < library_device_count ? hand_out(index, device) : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned int index, nvmlDevice_t *device) {
    FAULT_POINT();
    return nvmlDeviceGetHandleByIndex_v2(index, device);
}

static nvmlReturn_t hand_out_instance(const char *uuid, nvmlDevice_t *device) {
    struct sim_mig_instance list[SIM_MIG_MAX];
    struct sim_card part;

    for (unsigned i = 0; i < library_device_count; i++) {
        const struct sim_card *card = library_devices[i].card;
        unsigned count = sim_mig_enabled(&library_state, card->index)
                             ? sim_mig_visible_computes(&library_state, &library_node, card, list)
                             : 0;

        for (unsigned j = 0; j < count; j++) {
            sim_mig_card(card, &list[j], &part);
            if (strcasecmp(part.uuid, uuid) == 0) {
                *device = library_mig_device(&library_devices[i], &list[j]);
                return library_any_device(*device, device);
            }
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
    FAULT_POINT();
    nvmlReturn_t result = search(uuid, device);

    if (result != NVML_SUCCESS)
        return result;
    for (unsigned i = 0; i < library_device_count; i++)
        if (strcasecmp(library_devices[i].card->uuid, uuid) == 0)
            return hand_out(i, device);
    return strncasecmp(uuid, "MIG-", 4) == 0 ? hand_out_instance(uuid, device) : NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *busId, nvmlDevice_t *device) {
    FAULT_POINT();
    nvmlReturn_t result = search(busId, device);

    if (result != NVML_SUCCESS)
        return result;
    for (unsigned i = 0; i < library_device_count; i++)
        if (sim_pci_bus_id_matches(library_devices[i].card, busId))
            return hand_out(i, device);
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *busId, nvmlDevice_t *device) {
    FAULT_POINT();
    return nvmlDeviceGetHandleByPciBusId_v2(busId, device);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned int length) {
    FAULT_POINT();
    nvmlReturn_t result = library_any_device(device, name);

    return result == NVML_SUCCESS ? library_text(name, length, device->card->name) : result;
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned int length) {
    FAULT_POINT();
    nvmlReturn_t result = library_any_device(device, uuid);

    return result == NVML_SUCCESS ? library_text(uuid, length, device->card->uuid) : result;
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned int *index) {
    FAULT_POINT();
    nvmlReturn_t result = library_any_device(device, index);

    if (result == NVML_SUCCESS)
        *index = library_is_mig_device(device) ? library_mig_index(device) : device->index;
    return result;
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned int *minor) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, minor);

    if (result == NVML_SUCCESS)
        *minor = device->card->index;
    return result;
}

void library_pci(const struct sim_card *card, nvmlPciInfo_t *pci) {
    *pci = (nvmlPciInfo_t){
        .domain = card->pci_domain,
        .bus = card->pci_bus,
        .device = card->pci_device,
        .pciDeviceId = card->pci_device_id,
        .pciSubSystemId = card->pci_subsystem_id,
    };
    sim_pci_bus_id(card, 4, pci->busIdLegacy, sizeof pci->busIdLegacy);
    sim_pci_bus_id(card, 8, pci->busId, sizeof pci->busId);
}

void library_pci_v2(const struct sim_card *card, nvmlPciInfo_v2_t *pci) {
    *pci = (nvmlPciInfo_v2_t){
        .domain = card->pci_domain,
        .bus = card->pci_bus,
        .device = card->pci_device,
        .pciDeviceId = card->pci_device_id,
        .pciSubSystemId = card->pci_subsystem_id,
    };
    sim_pci_bus_id(card, 4, pci->busId, sizeof pci->busId);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, pci);

    if (result == NVML_SUCCESS)
        library_pci(device->card, pci);
    return result;
}

nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_v2_t *pci) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, pci);

    if (result == NVML_SUCCESS)
        library_pci_v2(device->card, pci);
    return result;
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_v2_t *pci) {
    FAULT_POINT();
    return nvmlDeviceGetPciInfo_v2(device, pci);
}

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t *brand) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, brand);

    if (result == NVML_SUCCESS)
        *brand = device->card->brand;
    return result;
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t *architecture) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, architecture);

    if (result == NVML_SUCCESS)
        *architecture = device->card->architecture;
    return result;
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, major && minor ? major : NULL);

    if (result == NVML_SUCCESS) {
        *major = device->card->cc_major;
        *minor = device->card->cc_minor;
    }
    return result;
}

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t *mode) {
    FAULT_POINT();
    nvmlReturn_t result = library_any_device(device, mode);

    if (result == NVML_SUCCESS)
        *mode = NVML_COMPUTEMODE_DEFAULT;
    return result;
}

nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t *mode) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, mode);

    if (result == NVML_SUCCESS)
        *mode = NVML_FEATURE_ENABLED;
    return result;
}
