/* SPDX-License-Identifier: Apache-2.0 */
/* `mig`: what `nvidia-smi -mig` and `nvidia-smi mig` do on a real node, with the driver's refusals. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../state/state.h"
#include "driver.h"

#define USAGE "enable, disable, create PROFILE[:START], destroy ID or list"

__attribute__((format(printf, 2, 3))) static int refuse(int status, const char *format, ...) {
    va_list arguments;

    fputs("partita-sim-driver: mig: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return status;
}

static int list(const struct sim_state *state, const struct sim_card *card) {
    struct sim_mig_instance instances[SIM_MIG_MAX];
    unsigned count = sim_mig_gpus(state, card, instances), profiles;
    const struct sim_mig_profile *known = sim_mig_profiles(card, &profiles);
    bool enabled = sim_mig_enabled(state, card->index);

    printf("GPU %u: MIG %s%s\n", card->index, enabled ? "enabled" : "disabled",
           state->region->migs[card->index].pending == (uint32_t)enabled ? "" : ", a change is pending");
    for (unsigned i = 0; i < count; i++)
        printf("  GPU instance %u: %s at %u:%u\n", instances[i].gpu_id, known[instances[i].profile].name,
               instances[i].start, known[instances[i].profile].size);
    count = sim_mig_computes(state, card, instances);
    for (unsigned i = 0; i < count; i++) {
        struct sim_card part;

        sim_mig_card(card, &instances[i], &part);
        printf("  MIG device %u: %s, GPU instance %u, compute instance %u, %s\n", i, part.name, instances[i].gpu_id,
               instances[i].id, part.uuid);
    }
    for (unsigned i = 0; enabled && i < profiles; i++)
        printf("  room for %u of %u %s\n", sim_mig_gpu_room(state, card, i), known[i].count, known[i].name);
    return EXIT_DONE;
}

static int set_mode(struct sim_state *state, const struct sim_card *card, bool enabled) {
    if (sim_mig_switch(state, card->index, enabled) == SIM_MIG_DONE)
        return EXIT_DONE;
    return refuse(EXIT_FAILED, "GPU %u is in use by a process; the change is pending: end the processes and %s again",
                  card->index, enabled ? "enable" : "disable");
}

/* "0, 2, 4" */
static const char *starts_of(const struct sim_mig_profile *profile, char text[64]) {
    char *at = text;

    for (unsigned start = 0; start < 8; start++)
        if (sim_mig_may_start(profile->starts, start))
            at += sprintf(at, at == text ? "%u" : ", %u", start);
    return text;
}

static int create(struct sim_state *state, const struct sim_card *card, const char *wanted) {
    unsigned count, slot, compute;
    const struct sim_mig_profile *profiles = sim_mig_profiles(card, &count), *profile;
    char name[64], *colon, *end;
    enum sim_mig_result result;
    int number, start = -1;

    snprintf(name, sizeof name, "%s", wanted);
    colon = strchr(name, ':');
    if (colon) {
        *colon++ = '\0';
        start = (int)strtol(colon, &end, 10);
        if (end == colon || *end || start < 0 || start > 7)
            return refuse(EXIT_USAGE, "'%s': behind the colon stands the first memory slice, 0 to 7", wanted);
    }
    number = sim_mig_profile_named(card, name);
    if (number < 0) {
        char known[256] = "";

        for (unsigned i = 0; i < count; i++)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", i ? ", " : "", profiles[i].name);
        return refuse(EXIT_USAGE, "'%s' is no profile of GPU %u; they are %s", name, card->index, known);
    }
    profile = &profiles[number];
    if (start >= 0 && !sim_mig_may_start(profile->starts, (unsigned)start))
        return refuse(EXIT_USAGE, "%s cannot begin at memory slice %d, only at one of %s", profile->name, start,
                      starts_of(profile, name));
    result = sim_mig_make_gpu(state, card, (unsigned)number, start, &slot);
    if (result == SIM_MIG_OFF)
        return refuse(EXIT_FAILED, "MIG is not enabled on GPU %u; enable it first", card->index);
    if (result == SIM_MIG_NO_ROOM)
        return refuse(EXIT_FAILED, "no room for %s on GPU %u: the placement is occupied; list shows by what", wanted,
                      card->index);
    result = sim_mig_make_compute(state, card, slot, state->region->migs[card->index].gpu[slot].serial,
                                  sim_mig_compute_whole(profile)->kind, 0, &compute);
    return result == SIM_MIG_DONE ? list(state, card) : refuse(EXIT_FAILED, "the new instance was changed meanwhile");
}

static int destroy(struct sim_state *state, const struct sim_card *card, const char *wanted) {
    struct sim_mig_instance instances[SIM_MIG_MAX];
    unsigned count = sim_mig_gpus(state, card, instances);
    char *end;
    unsigned long id = strtoul(wanted, &end, 10);

    for (unsigned i = 0; end != wanted && !*end && i < count; i++)
        if (instances[i].gpu_id == id) {
            if (sim_mig_end_gpu(state, card->index, instances[i].gpu, instances[i].gpu_serial, true) == SIM_MIG_IN_USE)
                return refuse(EXIT_FAILED, "GPU instance %lu of GPU %u is in use by a process; end it first", id,
                              card->index);
            return EXIT_DONE;
        }
    return refuse(EXIT_USAGE, "GPU %u has no GPU instance '%s'; list shows them", card->index, wanted);
}

static int act(struct sim_state *state, const struct sim_card *card, char **words, int count) {
    unsigned profiles;

    if (!sim_mig_profiles(card, &profiles))
        return refuse(EXIT_FAILED, "GPU %u (%s) cannot do MIG", card->index, card->name);
    if (count == 1 && strcmp(words[0], "list") == 0)
        return list(state, card);
    if (count == 1 && strcmp(words[0], "enable") == 0)
        return set_mode(state, card, true);
    if (count == 1 && strcmp(words[0], "disable") == 0)
        return set_mode(state, card, false);
    if (count == 2 && strcmp(words[0], "create") == 0)
        return create(state, card, words[1]);
    if (count == 2 && strcmp(words[0], "destroy") == 0)
        return destroy(state, card, words[1]);
    return refuse(EXIT_USAGE, USAGE " is wanted");
}

int change_mig(const char *root, const char *gpu, char **words, int count) {
    static struct sim_node node;
    struct sim_state state;
    int card, status = EXIT_USAGE;
    char error[PATH_MAX + 128];

    if (!sim_node_read(root, &node, error, sizeof error)) {
        fprintf(stderr, "partita-sim-driver: %s\n", error);
        return EXIT_FAILED;
    }
    card = find_card(&node, gpu);
    if (card < 0)
        return EXIT_USAGE;
    if (!sim_state_open(&state, &node, true) || !sim_state_join(&state)) {
        fprintf(stderr, "partita-sim-driver: %s/" SIM_STATE_DIR ": %s\n", root, strerror(errno));
        return EXIT_FAILED;
    }
    status = act(&state, &node.cards[card], words, count);
    sim_state_close(&state);
    return status;
}
