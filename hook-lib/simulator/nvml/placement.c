/* SPDX-License-Identifier: Apache-2.0 */
/* Where a device is: NUMA node, PCIe switch, NVLink. */
#include <string.h>

#include "library.h"

/* Address of the first NVSwitch, as DGX and HGX boards of eight have it; a node's links all end there. */
static const struct sim_card nvswitch = {.pci_bus = 0xc4, .pci_device_id = 0x22a310de};

/* "This only applies to platforms where the GPUs are NUMA nodes" (nvml.h), such as GH200: none of the models is one. */
nvmlReturn_t nvmlDeviceGetNumaNodeId(nvmlDevice_t device, unsigned int *node) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, node);

    return result == NVML_SUCCESS ? NVML_ERROR_NOT_SUPPORTED : result;
}

nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t device, unsigned int nodeSetSize, unsigned long *nodeSet,
                                         nvmlAffinityScope_t scope) {
    FAULT_POINT();
    const unsigned bits = 8 * sizeof *nodeSet;
    nvmlReturn_t result = library_device(device, nodeSet);
    unsigned node;

    if (result != NVML_SUCCESS)
        return result;
    if (nodeSetSize == 0 || scope > NVML_AFFINITY_SCOPE_SOCKET)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (device->card->numa_node < 0)
        return NVML_ERROR_NOT_SUPPORTED;
    node = (unsigned)device->card->numa_node;
    memset(nodeSet, 0, nodeSetSize * sizeof *nodeSet);
    if (node / bits < nodeSetSize)
        nodeSet[node / bits] |= 1ul << node % bits;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t first, nvmlDevice_t second,
                                                 nvmlGpuTopologyLevel_t *level) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(first, level);

    if (result == NVML_SUCCESS)
        result = library_device(second, level);
    if (result != NVML_SUCCESS)
        return result;
    if (first == second)
        *level = NVML_TOPOLOGY_INTERNAL;
    else if (first->card->pcie_switch == second->card->pcie_switch)
        *level = NVML_TOPOLOGY_SINGLE;
    else if (first->card->numa_node == second->card->numa_node)
        *level = NVML_TOPOLOGY_NODE;
    else
        *level = NVML_TOPOLOGY_SYSTEM;
    return NVML_SUCCESS;
}

/* What a link leads to: an NVSwitch, another card, or nothing. */
static const struct sim_card *end_of(const struct sim_card *card, unsigned link, struct sim_card *a_switch) {
    unsigned before = card->nvlink_domain < 0 ? 0 : card->nvlinks;

    if (link < before) {
        *a_switch = nvswitch;
        a_switch->pci_bus += (unsigned)card->nvlink_domain;
        return a_switch;
    }
    for (unsigned i = 0; i < library_node.card_count; i++) {
        if (link - before < card->nvlinks_to[i])
            return &library_node.cards[i];
        before += card->nvlinks_to[i];
    }
    return NULL;
}

static nvmlReturn_t link_of(nvmlDevice_t device, unsigned link, const void *output) {
    nvmlReturn_t result = library_device(device, output);
    struct sim_card a_switch;

    if (result != NVML_SUCCESS)
        return result;
    if (!end_of(device->card, 0, &a_switch))
        return NVML_ERROR_NOT_SUPPORTED;
    return end_of(device->card, link, &a_switch) ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned int link, nvmlEnableState_t *active) {
    FAULT_POINT();
    nvmlReturn_t result = link_of(device, link, active);

    if (result == NVML_SUCCESS)
        *active = NVML_FEATURE_ENABLED;
    return result;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned int link, nvmlPciInfo_t *pci) {
    FAULT_POINT();
    nvmlReturn_t result = link_of(device, link, pci);
    struct sim_card a_switch;

    if (result == NVML_SUCCESS)
        library_pci(end_of(device->card, link, &a_switch), pci);
    return result;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned int link, nvmlPciInfo_v2_t *pci) {
    FAULT_POINT();
    nvmlReturn_t result = link_of(device, link, pci);
    struct sim_card a_switch;

    if (result == NVML_SUCCESS)
        library_pci_v2(end_of(device->card, link, &a_switch), pci);
    return result;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned int link,
                                                 nvmlIntNvLinkDeviceType_t *type) {
    FAULT_POINT();
    nvmlReturn_t result = link_of(device, link, type);
    struct sim_card a_switch;

    if (result == NVML_SUCCESS)
        *type = end_of(device->card, link, &a_switch) == &a_switch ? NVML_NVLINK_DEVICE_TYPE_SWITCH
                                                                   : NVML_NVLINK_DEVICE_TYPE_GPU;
    return result;
}
