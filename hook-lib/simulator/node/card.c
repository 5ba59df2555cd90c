/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "node.h"

bool sim_card_visible(const struct sim_node *node, const struct sim_card *card) {
    char path[PATH_MAX + 32];
    int fd;

    snprintf(path, sizeof path, "%s/dev/nvidia%u", node->root, card->index);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    close(fd);
    return true;
}

unsigned sim_mig_capability(unsigned card, unsigned gpu_instance, int compute) {
    return 3 + (card * SIM_MIG_GPU_IDS + gpu_instance) * (1 + SIM_MIG_COMPUTE_IDS) + (unsigned)(compute + 1);
}

static bool may_open(const struct sim_node *node, unsigned capability) {
    char path[PATH_MAX + 64];
    int fd;

    snprintf(path, sizeof path, "%s/dev/nvidia-caps/nvidia-cap%u", node->root, capability);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    close(fd);
    return true;
}

bool sim_mig_visible(const struct sim_node *node, const struct sim_card *card, unsigned gpu_instance,
                     unsigned compute_instance) {
    return may_open(node, sim_mig_capability(card->index, gpu_instance, -1)) &&
           may_open(node, sim_mig_capability(card->index, gpu_instance, (int)compute_instance));
}

bool sim_card_lost(const struct sim_node *node, const struct sim_card *card) {
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/" SIM_STATE_DIR "/lost-%u", node->root, card->index);
    return card->lost || access(path, F_OK) == 0;
}

void sim_pci_bus_id(const struct sim_card *card, int domain_digits, char *text, unsigned size) {
    snprintf(text, size, "%0*X:%02X:%02X.0", domain_digits, card->pci_domain, card->pci_bus, card->pci_device);
}

bool sim_pci_bus_id_matches(const struct sim_card *card, const char *text) {
    unsigned domain = 0, bus, device, function = 0;
    int end = 0;

    if (sscanf(text, "%x:%x:%x.%x%n", &domain, &bus, &device, &function, &end) < 4) {
        domain = function = 0;
        end = 0;
        if (sscanf(text, "%x:%x:%x%n", &domain, &bus, &device, &end) < 3) {
            domain = 0;
            end = 0;
            if (sscanf(text, "%x:%x.%x%n", &bus, &device, &function, &end) < 3)
                return false;
        }
    }
    return text[end] == '\0' && domain == card->pci_domain && bus == card->pci_bus && device == card->pci_device &&
           function == 0;
}

bool sim_uuid_parse(const char *text, unsigned char bytes[16]) {
    static const int dash_before[] = {4, 6, 8, 10};
    unsigned dashes = 0;

    if (strncmp(text, "GPU-", 4) != 0)
        return false;
    text += 4;
    for (int i = 0; i < 16; i++) {
        unsigned byte;

        if (dashes < 4 && dash_before[dashes] == i) {
            if (*text++ != '-')
                return false;
            dashes++;
        }
        if (!isxdigit((unsigned char)text[0]) || !isxdigit((unsigned char)text[1]) || sscanf(text, "%2x", &byte) != 1)
            return false;
        bytes[i] = (unsigned char)byte;
        text += 2;
    }
    return *text == '\0';
}
