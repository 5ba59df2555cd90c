/* Inside of the fake libnvidia-ml. It only reads the state; one mutex guards initialisation. */
#ifndef PARTITA_SIM_NVML_LIBRARY_H
#define PARTITA_SIM_NVML_LIBRARY_H

#include <stdbool.h>

#include "nvml_api.h"
#include "../node/node.h"
#include "../state/state.h"

struct nvmlDevice_st {
    unsigned index; /* NVML's: only cards that this process may open, in PCI order */
    const struct sim_card *card;
};

extern struct sim_node library_node;
extern struct sim_state library_state;
extern struct nvmlDevice_st library_devices[SIM_MAX_CARDS];
extern unsigned library_device_count;

/* NVML_ERROR_UNINITIALIZED outside nvmlInit and nvmlShutdown. */
nvmlReturn_t library_ready(void);

/* Also checks the handle and an output pointer, and that the card is not lost. */
nvmlReturn_t library_device(nvmlDevice_t device, const void *output);

/* Copies a text with its end, or NVML_ERROR_INSUFFICIENT_SIZE. */
nvmlReturn_t library_text(char *target, unsigned length, const char *text);

void library_pci(const struct sim_card *card, nvmlPciInfo_t *pci);
void library_pci_v2(const struct sim_card *card, nvmlPciInfo_v2_t *pci);

#endif
