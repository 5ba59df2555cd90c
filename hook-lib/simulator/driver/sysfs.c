/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of sysfs that tells where a card sits: sys/bus/pci/devices/<address> is a link into the tree below a PCIe
 * root, and numa_node stands there. Cards of one PCIe switch share a root.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

static bool put_device(const char *root, const struct sim_card *card) {
    char address[32], below[128], path[2 * PATH_MAX], text[160];

    sim_pci_bus_id(card, 4, address, sizeof address);
    for (char *c = address; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    snprintf(below, sizeof below, "sys/devices/pci%04x:%02x/%s", card->pci_domain, 0x1a + 28 * card->pcie_switch,
             address);
    snprintf(path, sizeof path, "%s/%s/numa_node", root, below);
    snprintf(text, sizeof text, "%d\n", card->numa_node);
    if (!make_directory(root, below, 0755) || !put_file(path, text, strlen(text), 0644))
        return false;
    snprintf(path, sizeof path, "%s/sys/bus/pci/devices/%s", root, address);
    snprintf(text, sizeof text, "../../../%s", below + strlen("sys/"));
    return put_link(text, path);
}

bool put_sysfs(const char *root, const struct sim_node *node) {
    if (!make_directory(root, "sys/bus/pci/devices", 0755))
        return false;
    for (unsigned i = 0; i < node->card_count; i++)
        if (!put_device(root, &node->cards[i]))
            return false;
    return true;
}
