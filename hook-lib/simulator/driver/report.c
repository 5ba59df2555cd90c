/* SPDX-License-Identifier: Apache-2.0 */
/* The ground truth, and the switch that breaks a card. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../state/state.h"
#include "driver.h"

static bool read_node(const char *root, struct sim_node *node) {
    char error[PATH_MAX + 128];

    if (sim_node_read(root, node, error, sizeof error))
        return true;
    fprintf(stderr, "partita-sim-driver: %s\n", error);
    return false;
}

/* The processes of a card or of an instance. */
static void print_processes(const struct sim_state *state, unsigned unit) {
    static struct sim_process_use uses[SIM_MAX_PROCESSES];
    unsigned count = sim_state_processes(state, unit, uses, SIM_MAX_PROCESSES);

    printf("\"processes\": [");
    for (unsigned i = 0; i < count; i++)
        printf("%s\n    {\"pid\": %u, \"memoryBytes\": %" PRIu64 ", \"overheadBytes\": %" PRIu64
               ", \"contexts\": %" PRIu64 ", \"launches\": %" PRIu64 ", \"busyNs\": %" PRIu64
               ", \"pendingNs\": %" PRIu64 "}",
               i ? "," : "", uses[i].pid, uses[i].memory, uses[i].overhead, uses[i].contexts, uses[i].launches,
               uses[i].busy, uses[i].pending);
    printf("%s]", count ? "\n   " : "");
}

static void print_instances(const struct sim_card *card, const struct sim_state *state) {
    struct sim_mig_instance list[SIM_MIG_MAX];
    unsigned count = sim_mig_computes(state, card, list);

    printf("   \"mig\": %s, \"instances\": [", sim_mig_enabled(state, card->index) ? "true" : "false");
    for (unsigned i = 0; i < count; i++) {
        struct sim_card part;

        sim_mig_card(card, &list[i], &part);
        printf("%s\n   {\"uuid\": \"%s\", \"name\": \"%s\", \"gpuInstance\": %u, \"computeInstance\": %u, "
               "\"totalBytes\": %" PRIu64 ", \"busyNs\": %" PRIu64 ",\n   ",
               i ? "," : "", part.uuid, part.name, list[i].gpu_id, list[i].id, part.memory,
               sim_clock_read(state, part.unit).busy);
        printf(" \"usedBytes\": %" PRIu64 ", ", sim_state_used(state, part.unit));
        print_processes(state, part.unit);
        printf("}");
    }
    printf("],\n");
}

/* The memory limits of cgroups. */
static void print_limits(const struct sim_card *card, const struct sim_state *state) {
    bool first = true;

    printf("\"limits\": [");
    for (unsigned i = 0; i < state->region->limit_bound; i++) {
        const struct sim_limit *limit = &state->region->limits[i];
        struct sim_limit now;
        uint64_t used;

        if (!limit->in_use || limit->card != card->index ||
            !sim_limit_get(state, card->index, limit->cgroup, &now, &used))
            continue;
        printf("%s\n    {\"cgroup\": \"%s\", \"softBytes\": %" PRIu64 ", \"hardBytes\": %" PRIu64
               ", \"usedBytes\": %" PRIu64 "}",
               first ? "" : ",", limit->cgroup, now.soft, now.hard, used);
        first = false;
    }
    printf("%s],\n   ", first ? "" : "\n   ");
}

static void print_card(const struct sim_node *node, const struct sim_card *card, const struct sim_state *state) {
    struct sim_moment now = sim_clock_read(state, card->index);

    printf("  {\"index\": %u, \"uuid\": \"%s\", \"model\": \"%s\", \"health\": \"%s\",\n", card->index, card->uuid,
           card->model, sim_card_lost(node, card) ? "lost" : "ok");
    printf("   \"totalBytes\": %" PRIu64 ", \"reservedBytes\": %" PRIu64 ", \"usedBytes\": %" PRIu64 ",\n",
           card->memory, card->reserved, sim_card_used(state, card->index));
    printf("   \"clockNs\": %" PRIu64 ", \"busyNs\": %" PRIu64 ",\n", now.time, now.busy);
    if (card->mig_capable)
        print_instances(card, state);
    printf("   ");
    print_limits(card, state);
    print_processes(state, card->index);
    printf("}");
}

int report_state(const char *root) {
    struct sim_node node;
    struct sim_state state;

    if (!read_node(root, &node))
        return EXIT_FAILED;
    if (!sim_state_open(&state, &node, false)) {
        fprintf(stderr, "partita-sim-driver: %s/" SIM_STATE_DIR ": %s\n", root, strerror(errno));
        return EXIT_FAILED;
    }
    printf("{\"node\": \"%s\", \"driverVersion\": \"%s\", \"gpus\": [\n", node.name, node.driver_version);
    for (unsigned i = 0; i < node.card_count; i++) {
        print_card(&node, &node.cards[i], &state);
        printf("%s\n", i + 1 < node.card_count ? "," : "");
    }
    printf("]}\n");
    sim_state_close(&state);
    return EXIT_DONE;
}

int find_card(const struct sim_node *node, const char *gpu) {
    char *end;
    unsigned long index = strtoul(gpu, &end, 10);

    if (end == gpu || *end)
        for (index = 0; index < node->card_count && strcmp(node->cards[index].uuid, gpu) != 0;)
            index++;
    if (index < node->card_count)
        return (int)index;
    fprintf(stderr, "partita-sim-driver: --gpu: '%s' is none of the node's %u cards\n", gpu, node->card_count);
    return -1;
}

int set_lost(const char *root, const char *gpu, bool lost) {
    char path[2 * PATH_MAX];
    struct sim_node node;
    int fd, card;

    if (!read_node(root, &node))
        return EXIT_FAILED;
    card = find_card(&node, gpu);
    if (card < 0)
        return EXIT_USAGE;
    snprintf(path, sizeof path, "%s/" SIM_STATE_DIR "/lost-%d", root, card);
    if (!lost) /* a card that is back on the bus was reset on the way */
        return unlink(path) == 0 || errno == ENOENT ? reset_card(root, gpu, true) : EXIT_FAILED;
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        fprintf(stderr, "partita-sim-driver: %s: %s\n", path, strerror(errno));
        return EXIT_FAILED;
    }
    close(fd);
    return raise_xid(root, gpu, "79"); /* "GPU has fallen off the bus" */
}
