/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "nvml.h"

struct nvml nvml;

int nvml_open(void) {
    const struct {
        const char *name;
        void *target;
    } functions[] = {
#define FUNCTION(field, symbol) {#symbol, &nvml.field},
        NVML_FUNCTIONS(FUNCTION)
#undef FUNCTION
    };
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    nvmlReturn_t result;

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = library ? dlsym(library, functions[i].name) : NULL;

        if (!function) {
            puts("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system. Please make sure that the NVIDIA "
                 "Display Driver is properly installed and present in your system.");
            return SMI_NO_LIBRARY;
        }
        memcpy(functions[i].target, &function, sizeof function);
    }
    result = nvml.init();
    if (result == NVML_ERROR_DRIVER_NOT_LOADED)
        puts("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest "
             "NVIDIA driver is installed and running.\n");
    else if (result != NVML_SUCCESS)
        printf("Failed to initialize NVML: %s\n", nvml.error_string(result));
    return (int)result;
}

static bool is_named(const struct smi_card *card, const char *only) {
    char *end;
    unsigned long index;

    if (!only)
        return true;
    index = strtoul(only, &end, 10);
    return (end != only && *end == '\0' && index == card->index) || strcasecmp(only, card->uuid) == 0 ||
           strcasecmp(only, card->pci.busId) == 0;
}

int each_card(const char *only, void (*visit)(const struct smi_card *card, void *context), void *context) {
    unsigned count = 0, visited = 0;
    int status = SMI_DONE;

    nvml.count(&count);
    for (unsigned i = 0; i < count; i++) {
        struct smi_card card = {.index = i};
        nvmlReturn_t result = nvml.by_index(i, &card.device);

        if (result == NVML_SUCCESS)
            result = nvml.name(card.device, card.name, sizeof card.name);
        if (result == NVML_SUCCESS)
            result = nvml.uuid(card.device, card.uuid, sizeof card.uuid);
        if (result == NVML_SUCCESS)
            result = nvml.pci(card.device, &card.pci);
        if (result != NVML_SUCCESS) {
            printf("Unable to determine the device handle for GPU%u: %s\n", i, nvml.error_string(result));
            status = (int)result;
        } else if (is_named(&card, only)) {
            visit(&card, context);
            visited++;
        }
    }
    if (visited == 0 && status == SMI_DONE) {
        puts("No devices were found");
        return SMI_NO_DEVICE;
    }
    return only && visited > 0 ? SMI_DONE : status; /* of a card that was not asked for nothing follows */
}

nvmlProcessInfo_t *card_processes(const struct smi_card *card, unsigned *count) {
    nvmlProcessInfo_t *processes = NULL;
    nvmlReturn_t result;

    *count = 0;
    do {
        nvmlProcessInfo_t *grown;

        *count += 16; /* some may start between two calls */
        grown = realloc(processes, *count * sizeof *processes);
        if (!grown)
            break;
        processes = grown;
        result = nvml.processes(card->device, count, processes);
    } while (result == NVML_ERROR_INSUFFICIENT_SIZE);
    if (!processes || result != NVML_SUCCESS)
        *count = 0;
    return processes;
}
