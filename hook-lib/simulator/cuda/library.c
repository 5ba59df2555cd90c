/* SPDX-License-Identifier: Apache-2.0 */
/* cuInit: the node, the cards that this process may open, CUDA's order of them, the process' place in the state. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "driver.h"

struct sim_node driver_node;
struct sim_state driver_state;
struct device driver_devices[SIM_MAX_CARDS];
int driver_device_count;
pthread_mutex_t driver_lock;

enum { FRESH, READY, FORKED };
static _Atomic int phase;
static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;

CUresult driver_ready(void) {
    return atomic_load_explicit(&phase, memory_order_acquire) == READY ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

CUresult driver_device(CUdevice ordinal, struct device **device) {
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (ordinal < 0 || ordinal >= driver_device_count)
        return CUDA_ERROR_INVALID_DEVICE;
    *device = &driver_devices[ordinal];
    return CUDA_SUCCESS;
}

/* Recursive; musl has no initializer for that. */
__attribute__((constructor)) static void make_driver_lock(void) {
    pthread_mutexattr_t recursive;

    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&driver_lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
}

/* As the driver: contexts do not survive a fork, and the child cannot initialise again. */
static void in_forked_child(void) {
    if (phase != READY)
        return;
    phase = FORKED;
    sim_state_forget_after_fork(&driver_state);
    make_driver_lock();
    init_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* CUDA_DEVICE_ORDER's default is the fastest first. */
static void put_in_order(const struct sim_card **cards, int count) {
    const char *order = getenv("CUDA_DEVICE_ORDER");

    if (order && strcmp(order, "PCI_BUS_ID") == 0)
        return;
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0; j--) {
            const struct sim_card *left = cards[j - 1], *right = cards[j];

            if ((int64_t)left->sm_count * left->clock_mhz >= (int64_t)right->sm_count * right->clock_mhz)
                break;
            cards[j - 1] = right;
            cards[j] = left;
        }
}

/* One entry of CUDA_VISIBLE_DEVICES: an ordinal, or the beginning of a UUID that only one card has. -1: neither. */
static int visible_entry(const char *entry, const struct sim_card **cards, int count) {
    size_t length = strlen(entry);
    char *end;
    long ordinal;
    int found = -1;

    if (strncasecmp(entry, "GPU-", 4) == 0) {
        for (int i = 0; i < count; i++)
            if (strncasecmp(cards[i]->uuid, entry, length) == 0) {
                if (found >= 0)
                    return -1;
                found = i;
            }
        return found;
    }
    ordinal = strtol(entry, &end, 10);
    return end != entry && *end == '\0' && ordinal >= 0 && ordinal < count ? (int)ordinal : -1;
}

/* Keeps what CUDA_VISIBLE_DEVICES names, up to the first entry that names nothing; a card named twice hides all. */
static int keep_visible(const struct sim_card **cards, int count) {
    const char *names = getenv("CUDA_VISIBLE_DEVICES");
    const struct sim_card *kept[SIM_MAX_CARDS];
    char copy[1024], *rest = copy, *entry;
    int keep = 0;

    if (!names)
        return count;
    if (strlen(names) >= sizeof copy)
        return 0;
    memcpy(copy, names, strlen(names) + 1);
    while ((entry = strsep(&rest, ","))) {
        int card;

        entry += strspn(entry, " \t");
        entry[strcspn(entry, " \t")] = '\0';
        card = visible_entry(entry, cards, count);
        if (card < 0)
            break;
        for (int i = 0; i < keep; i++)
            if (kept[i] == cards[card])
                return 0;
        kept[keep++] = cards[card];
    }
    memcpy(cards, kept, sizeof *cards * (size_t)keep);
    return keep;
}

/*
 * As NVIDIA's MIG user guide has it: CUDA sees one compute instance only, the first, and where it sees one no whole
 * card; a card with MIG and no instance is not seen at all.
 */
static struct sim_card part;

static int take_instance(const struct sim_card *card, const struct sim_mig_instance *instance) {
    sim_mig_card(card, instance, &part);
    driver_devices[0] = (struct device){.card = &part, .whole = card, .instance = *instance};
    return 1;
}

static int take_devices(const struct sim_card **cards, int count) {
    struct sim_mig_instance list[SIM_MIG_MAX];
    int taken = 0;

    for (int i = 0; i < count; i++)
        if (sim_mig_enabled(&driver_state, cards[i]->index) &&
            sim_mig_visible_computes(&driver_state, &driver_node, cards[i], list) > 0)
            return take_instance(cards[i], &list[0]);
    for (int i = 0; i < count; i++)
        if (!sim_mig_enabled(&driver_state, cards[i]->index))
            driver_devices[taken++] = (struct device){.card = cards[i], .whole = cards[i]};
    return taken;
}

/* The one instance whose UUID begins like the first entry. */
static int take_named_instance(const char *names, const struct sim_card **cards, int count) {
    size_t length = strcspn(names, ", \t");
    struct sim_mig_instance list[SIM_MIG_MAX], found;
    const struct sim_card *card = NULL;

    for (int i = 0; i < count; i++) {
        unsigned instances = sim_mig_enabled(&driver_state, cards[i]->index)
                                 ? sim_mig_visible_computes(&driver_state, &driver_node, cards[i], list)
                                 : 0;

        for (unsigned j = 0; j < instances; j++) {
            sim_mig_card(cards[i], &list[j], &part);
            if (strncasecmp(part.uuid, names, length) != 0)
                continue;
            if (card)
                return 0;
            card = cards[i];
            found = list[j];
        }
    }
    return card ? take_instance(card, &found) : 0;
}

static bool names_instance(const char *names) {
    return names && strncasecmp(names, "MIG-", 4) == 0;
}

static CUresult open_state(const struct sim_card **cards, int count) {
    const char *names = getenv("CUDA_VISIBLE_DEVICES");
    int fault;

    if (!sim_state_open(&driver_state, &driver_node, true))
        return CUDA_ERROR_OPERATING_SYSTEM;
    driver_device_count = names_instance(names) ? take_named_instance(names, cards, count) : take_devices(cards, count);
    if (driver_device_count == 0)
        return CUDA_ERROR_NO_DEVICE;
    if (!sim_state_join(&driver_state))
        return CUDA_ERROR_OPERATING_SYSTEM;
    fault = driver_state.region->fault_count ? sim_fault_met(driver_state.region, "cuInit") : 0;
    return (CUresult)fault;
}

/* Whether every card that is part of an NVSwitch fabric can be used: else CUDA does not begin. */
static bool is_fabric_ready(const struct sim_card **cards, int count) {
    for (int i = 0; i < count; i++)
        if (cards[i]->signs.fabric != SIM_FABRIC_NONE && cards[i]->signs.fabric != SIM_FABRIC_COMPLETED)
            return false;
    return true;
}

static CUresult initialise(void) {
    const struct sim_card *cards[SIM_MAX_CARDS];
    char root[PATH_MAX];
    int count = 0;
    CUresult result;

    if (!sim_root_of((const void *)&driver_node, root) || !sim_node_read(root, &driver_node, NULL, 0))
        return CUDA_ERROR_NO_DEVICE;
    for (unsigned i = 0; i < driver_node.card_count; i++)
        if (sim_card_visible(&driver_node, &driver_node.cards[i]))
            cards[count++] = &driver_node.cards[i];
    put_in_order(cards, count);
    if (!names_instance(getenv("CUDA_VISIBLE_DEVICES")))
        count = keep_visible(cards, count);
    if (count == 0)
        return CUDA_ERROR_NO_DEVICE;
    if (!is_fabric_ready(cards, count))
        return CUDA_ERROR_SYSTEM_NOT_READY;
    result = open_state(cards, count);
    if (result == CUDA_SUCCESS)
        result = driver_join_mps();
    if (result == CUDA_SUCCESS) {
        pthread_atfork(NULL, NULL, in_forked_child);
    } else {
        driver_device_count = 0;
        sim_state_close(&driver_state);
    }
    return result;
}

CUresult cuInit(unsigned int flags) {
    CUresult result = CUDA_SUCCESS;

    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&init_lock);
    if (phase == FORKED)
        result = CUDA_ERROR_NOT_INITIALIZED;
    else if (phase == FRESH && (result = initialise()) == CUDA_SUCCESS)
        phase = READY;
    pthread_mutex_unlock(&init_lock);
    return result;
}

/* Works before cuInit; the version is the configured node's, or the default's where there is none. */
CUresult cuDriverGetVersion(int *version) {
    FAULT_POINT();
    static struct sim_node node;
    char root[PATH_MAX];

    if (!version)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&init_lock);
    if (!node.cuda_version && (!sim_root_of((const void *)&driver_node, root) || !sim_node_read(root, &node, NULL, 0)))
        node.cuda_version = 13000;
    *version = node.cuda_version;
    pthread_mutex_unlock(&init_lock);
    return CUDA_SUCCESS;
}

/* The private tables are not simulated: every one is unknown, which the driver answers with this error and no table. */
CUresult cuGetExportTable(const void **table, const CUuuid *id) {
    FAULT_POINT();
    (void)id;
    if (table)
        *table = NULL;
    return CUDA_ERROR_INVALID_VALUE;
}
