/* The ground truth, and the switch that breaks a card. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver.h"
#include "../state/state.h"

static bool read_node(const char *root, struct sim_node *node)
{
    char error[PATH_MAX + 128];

    if (sim_node_read(root, node, error, sizeof error))
        return true;
    fprintf(stderr, "partita-sim-driver: %s\n", error);
    return false;
}

static void print_card(const struct sim_node *node, const struct sim_card *card, const struct sim_state *state)
{
    static struct sim_process_use uses[SIM_MAX_PROCESSES];
    unsigned count = sim_state_processes(state, card->index, uses, SIM_MAX_PROCESSES);
    uint64_t used = 0;

    for (unsigned i = 0; i < count; i++)
        used += uses[i].memory + uses[i].overhead;
    printf("  {\"index\": %u, \"uuid\": \"%s\", \"model\": \"%s\", \"health\": \"%s\",\n", card->index, card->uuid,
           card->model, sim_card_lost(node, card) ? "lost" : "ok");
    printf("   \"totalBytes\": %" PRIu64 ", \"reservedBytes\": %" PRIu64 ", \"usedBytes\": %" PRIu64 ",\n", card->memory,
           card->reserved, used);
    printf("   \"processes\": [");
    for (unsigned i = 0; i < count; i++)
        printf("%s\n    {\"pid\": %u, \"memoryBytes\": %" PRIu64 ", \"overheadBytes\": %" PRIu64 ", \"contexts\": %" PRIu64
               ", \"launches\": %" PRIu64 "}",
               i ? "," : "", uses[i].pid, uses[i].memory, uses[i].overhead, uses[i].contexts, uses[i].launches);
    printf("%s]}", count ? "\n   " : "");
}

int report_state(const char *root)
{
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

int set_lost(const char *root, const char *gpu, bool lost)
{
    char path[2 * PATH_MAX];
    struct sim_node node;
    char *end;
    unsigned long index = strtoul(gpu, &end, 10);
    int fd;

    if (!read_node(root, &node))
        return EXIT_FAILED;
    if (end == gpu || *end)
        for (index = 0; index < node.card_count && strcmp(node.cards[index].uuid, gpu) != 0;)
            index++;
    if (index >= node.card_count) {
        fprintf(stderr, "partita-sim-driver: --gpu: '%s' is none of the node's %u cards\n", gpu, node.card_count);
        return EXIT_USAGE;
    }
    snprintf(path, sizeof path, "%s/" SIM_STATE_DIR "/lost-%lu", root, index);
    if (!lost)
        return unlink(path) == 0 || errno == ENOENT ? EXIT_DONE : EXIT_FAILED;
    fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) {
        fprintf(stderr, "partita-sim-driver: %s: %s\n", path, strerror(errno));
        return EXIT_FAILED;
    }
    close(fd);
    return EXIT_DONE;
}
