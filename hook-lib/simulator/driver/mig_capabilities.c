/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the driver has a node for each MIG instance that there could be, /dev/nvidia-caps/nvidia-cap<minor>, and
 * /proc/driver/nvidia-caps/mig-minors, which says which minor is whose ("gpu0/gi7/ci0/access 67").
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../node/node.h"
#include "driver.h"

#define LINE 40
#define NODES (SIM_MIG_GPU_IDS * (1 + SIM_MIG_COMPUTE_IDS)) /* of a card */

static bool put_capability(const char *root, unsigned capability) {
    char path[2 * PATH_MAX];

    snprintf(path, sizeof path, "%s/dev/nvidia-caps/nvidia-cap%u", root, capability);
    return put_link("/dev/null", path);
}

static bool put_nodes(const char *root, unsigned card, char *list, size_t size) {
    for (unsigned gpu = 0; gpu < SIM_MIG_GPU_IDS; gpu++)
        for (int compute = -1; compute < SIM_MIG_COMPUTE_IDS; compute++) {
            unsigned capability = sim_mig_capability(card, gpu, compute);
            char part[16] = "";
            size_t used = strlen(list);

            if (compute >= 0)
                snprintf(part, sizeof part, "/ci%d", compute);
            snprintf(list + used, size - used, "gpu%u/gi%u%s/access %u\n", card, gpu, part, capability);
            if (!put_capability(root, capability))
                return false;
        }
    return true;
}

/* Nodes that an earlier installation had: of a card that is no more, or cannot do MIG. */
static void remove_nodes(const char *root, unsigned card) {
    char path[2 * PATH_MAX];

    for (unsigned gpu = 0; gpu < SIM_MIG_GPU_IDS; gpu++)
        for (int compute = -1; compute < SIM_MIG_COMPUTE_IDS; compute++) {
            snprintf(path, sizeof path, "%s/dev/nvidia-caps/nvidia-cap%u", root,
                     sim_mig_capability(card, gpu, compute));
            if (unlink(path) != 0 && errno == ENOENT)
                return; /* they come and go together */
        }
}

bool put_mig_capabilities(const char *root, const struct sim_node *node) {
    size_t size = LINE * (2 + SIM_MAX_CARDS * NODES);
    char *list = malloc(size), path[2 * PATH_MAX];
    unsigned profiles;
    bool done =
        list && make_directory(root, "dev/nvidia-caps", 0755) && make_directory(root, "proc/driver/nvidia-caps", 0755);

    if (done)
        snprintf(list, size, "config 1\nmonitor 2\n");
    for (unsigned card = 0; done && card < SIM_MAX_CARDS; card++) {
        if (card < node->card_count && sim_mig_profiles(&node->cards[card], &profiles))
            done = put_nodes(root, card, list, size);
        else
            remove_nodes(root, card);
    }
    snprintf(path, sizeof path, "%s/proc/driver/nvidia-caps/mig-minors", root);
    done = done && put_file(path, list, strlen(list), 0444);
    free(list);
    return done;
}
