/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the fake libnvidia-ml. Of the state it writes how often faults were met, and MIG; one mutex guards
 * initialisation.
 */
#ifndef PARTITA_SIM_NVML_LIBRARY_H
#define PARTITA_SIM_NVML_LIBRARY_H

#include <stdbool.h>

#include "../node/node.h"
#include "../state/state.h"
#include "nvml_api.h"

struct nvmlDevice_st {
    unsigned index; /* NVML's: only cards that this process may open, in PCI order */
    const struct sim_card *card;
    nvmlDevice_t parent; /* of a MIG device, whose `card` is a part of the parent's; else NULL */
    struct sim_mig_instance instance;
};

extern struct sim_node library_node;
extern struct sim_state library_state;
extern struct nvmlDevice_st library_devices[SIM_MAX_CARDS];
extern unsigned library_device_count;

/* Begins every function: does what an ordered fault says (partita-sim-driver fault). */
#define FAULT_POINT()                                                                                                  \
    do {                                                                                                               \
        if (library_state.region && library_state.writable && library_state.region->fault_count) {                     \
            int fault = sim_fault_met(library_state.region, __func__);                                                 \
                                                                                                                       \
            if (fault)                                                                                                 \
                return (nvmlReturn_t)fault;                                                                            \
        }                                                                                                              \
    } while (0)

/* NVML_ERROR_UNINITIALIZED outside nvmlInit and nvmlShutdown. */
nvmlReturn_t library_ready(void);

/*
 * Also checks the handle and an output pointer, and that the card is not lost. A MIG device: NVML_ERROR_NOT_SUPPORTED.
 */
nvmlReturn_t library_device(nvmlDevice_t device, const void *output);

/* As library_device, for functions that know MIG devices, too. */
nvmlReturn_t library_any_device(nvmlDevice_t device, const void *output);

/* As library_any_device, for what instances hold: only the privileged are told the sum of a card with MIG (nvml.h). */
nvmlReturn_t library_aggregate(nvmlDevice_t device, const void *output);
bool library_is_mig_device(nvmlDevice_t device);
nvmlDevice_t library_mig_device(nvmlDevice_t parent, const struct sim_mig_instance *instance);
unsigned library_mig_index(nvmlDevice_t device); /* on its card */

/* As NVML names a process: 0: this pid namespace cannot see it. */
unsigned library_pid(const struct sim_process_use *use);

/* Copies a text with its end, or NVML_ERROR_INSUFFICIENT_SIZE. */
nvmlReturn_t library_text(char *target, unsigned length, const char *text);

void library_pci(const struct sim_card *card, nvmlPciInfo_t *pci);
void library_pci_v2(const struct sim_card *card, nvmlPciInfo_v2_t *pci);

#endif
