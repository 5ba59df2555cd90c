/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvidia-smi compute-policy: how long a program has a card before another one has its turn. NVML has no public function
 * for it, so this program writes it down itself. The simulated card's time is not cut otherwise for it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nvml.h"

#include "../node/node.h"

static const char help[] = "nvidia-smi compute-policy [options]\n"
                           "\n"
                           "    -i, --id=ID              only this card: its index, UUID or PCI bus id\n"
                           "    -l, --list               the policies of each card\n"
                           "        --set-timeslice=N    0=DEFAULT, 1=SHORT, 2=MEDIUM, 3=LONG; for root alone\n"
                           "    -h, --help\n";

static const char *const names[] = {"DEFAULT", "SHORT", "MEDIUM", "LONG"};
enum { SLICES = sizeof names / sizeof *names };

struct policy {
    char root[PATH_MAX];
    int slice; /* -1: only list */
    int status;
};

/* By the UUID: a container that sees fewer cards numbers them otherwise. */
static void path_of(const struct policy *policy, const struct smi_card *card, char path[2 * PATH_MAX]) {
    snprintf(path, 2 * PATH_MAX, "%s/" SIM_STATE_DIR "/timeslice-%s", policy->root, card->uuid);
}

static void list(const struct smi_card *card, void *context) {
    const struct policy *policy = context;
    char path[2 * PATH_MAX];
    unsigned slice = 0;
    FILE *file;

    path_of(policy, card, path);
    file = fopen(path, "re");
    if (file) {
        if (fscanf(file, "%u", &slice) != 1 || slice >= SLICES)
            slice = 0;
        fclose(file);
    }
    printf("GPU %s: timeslice %s\n", card->pci.busId, names[slice]);
}

static void set(const struct smi_card *card, void *context) {
    struct policy *policy = context;
    char path[2 * PATH_MAX];
    FILE *file;

    path_of(policy, card, path);
    file = fopen(path, "we");
    if (!file || fprintf(file, "%d\n", policy->slice) < 0 || fclose(file) != 0) {
        printf("Failed to set timeslice for GPU %s: %s\n", card->pci.busId, strerror(errno));
        policy->status = SMI_UNKNOWN;
        return;
    }
    printf("Timeslice of GPU %s set to %s.\n", card->pci.busId, names[policy->slice]);
}

/* What may change cards needs write access to node.conf, as in the simulated NVML: containers have it read-only. */
static bool is_privileged(const struct policy *policy) {
    char path[PATH_MAX + sizeof "/" SIM_CONF_PATH];

    snprintf(path, sizeof path, "%s/" SIM_CONF_PATH, policy->root);
    return access(path, W_OK) == 0;
}

int compute_policy(int argc, char **argv) {
    static const struct option options[] = {
        {"id", required_argument, NULL, 'i'},
        {"list", no_argument, NULL, 'l'},
        {"set-timeslice", required_argument, NULL, 's'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct policy policy = {.slice = -1};
    const char *only = NULL;
    char *end = "";
    bool listed = false;
    int option, status;

    while ((option = getopt_long(argc, argv, "i:lh", options, NULL)) != -1)
        switch (option) {
        case 'i':
            only = optarg;
            break;
        case 'l':
            listed = true;
            break;
        case 's':
            policy.slice = (int)strtoul(optarg, &end, 10);
            if (end == optarg || *end || policy.slice < 0 || policy.slice >= SLICES) {
                printf("Invalid timeslice \"%s\".\n", optarg);
                return SMI_USAGE;
            }
            break;
        case 'h':
            fputs(help, stdout);
            return SMI_DONE;
        default:
            return SMI_USAGE;
        }
    if (optind < argc || listed == (policy.slice >= 0)) {
        fputs(help, stdout);
        return SMI_USAGE;
    }
    status = nvml_open();
    if (status != SMI_DONE)
        return status;
    if (!sim_root_of((const void *)nvml.init, policy.root)) {
        puts("Failed to find the simulated node.");
        return SMI_UNKNOWN;
    }
    if (!listed && !is_privileged(&policy)) {
        puts("Insufficient permissions to set the timeslice.");
        return SMI_NO_PERMISSION;
    }
    status = each_card(only, listed ? list : set, &policy);
    return status == SMI_DONE ? policy.status : status;
}
