/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/*
 * Name, kind, id, compute and memory slices, count, SMs, MiB, copy engines, decoders, JPEG, OFA, placements. The order
 * of placements is that of the numbers which `nvidia-smi mig -cgi` prints for one instance after the other. Memory of
 * h200 is published for 1g.18gb (16.0 GiB) and 3g.71gb (69.8 GiB); of its other profiles it follows the same
 * proportions.
 */
static const struct sim_mig_profile h200[] = {
    {"1g.18gb", 0, 19, 1, 1, 7, 16, 16384, 1, 1, 1, 0, "6450123"},
    {"1g.18gb+me", 7, 20, 1, 1, 1, 16, 16384, 1, 1, 1, 1, "6450123"},
    {"1g.35gb", 9, 15, 1, 2, 4, 26, 33280, 1, 1, 1, 0, "6402"},
    {"2g.35gb", 1, 14, 2, 2, 3, 32, 33280, 2, 2, 2, 0, "402"},
    {"3g.71gb", 2, 9, 3, 4, 2, 60, 71424, 3, 3, 3, 0, "40"},
    {"4g.71gb", 3, 5, 4, 4, 1, 64, 71424, 4, 4, 4, 0, "0"},
    {"7g.141gb", 4, 0, 7, 8, 1, 132, 143360, 8, 7, 7, 1, "0"},
};
static const struct sim_mig_profile h100[] = {
    {"1g.10gb", 0, 19, 1, 1, 7, 16, 9984, 1, 1, 1, 0, "6450123"},
    {"1g.10gb+me", 7, 20, 1, 1, 1, 16, 9984, 1, 1, 1, 1, "6450123"},
    {"1g.20gb", 9, 15, 1, 2, 4, 26, 20096, 1, 1, 1, 0, "6402"},
    {"2g.20gb", 1, 14, 2, 2, 3, 32, 20096, 2, 2, 2, 0, "402"},
    {"3g.40gb", 2, 9, 3, 4, 2, 60, 40448, 3, 3, 3, 0, "40"},
    {"4g.40gb", 3, 5, 4, 4, 1, 64, 40448, 4, 4, 4, 0, "0"},
    {"7g.80gb", 4, 0, 7, 8, 1, 132, 81152, 8, 7, 7, 1, "0"},
};
static const struct sim_mig_profile a100[] = {
    {"1g.10gb", 0, 19, 1, 1, 7, 14, 9728, 1, 0, 0, 0, "6450123"},
    {"1g.10gb+me", 7, 20, 1, 1, 1, 14, 9728, 1, 1, 1, 1, "6450123"},
    {"1g.20gb", 9, 15, 1, 2, 4, 14, 19968, 1, 1, 0, 0, "6402"},
    {"2g.20gb", 1, 14, 2, 2, 3, 28, 19968, 2, 1, 0, 0, "402"},
    {"3g.40gb", 2, 9, 3, 4, 2, 42, 40192, 3, 2, 0, 0, "40"},
    {"4g.40gb", 3, 5, 4, 4, 1, 56, 40192, 4, 2, 0, 0, "0"},
    {"7g.80gb", 4, 0, 7, 8, 1, 98, 80896, 7, 5, 1, 1, "0"},
};
static const struct sim_mig_profile a100_40gb[] = {
    {"1g.5gb", 0, 19, 1, 1, 7, 14, 4864, 1, 0, 0, 0, "6450123"},
    {"1g.5gb+me", 7, 20, 1, 1, 1, 14, 4864, 1, 1, 1, 1, "6450123"},
    {"1g.10gb", 9, 15, 1, 2, 4, 14, 9856, 1, 1, 0, 0, "6402"},
    {"2g.10gb", 1, 14, 2, 2, 3, 28, 9856, 2, 1, 0, 0, "402"},
    {"3g.20gb", 2, 9, 3, 4, 2, 42, 19968, 3, 2, 0, 0, "40"},
    {"4g.20gb", 3, 5, 4, 4, 1, 56, 19968, 4, 2, 0, 0, "0"},
    {"7g.40gb", 4, 0, 7, 8, 1, 98, 40192, 7, 5, 1, 1, "0"},
};

static const struct {
    const char *model;
    const struct sim_mig_profile *profiles;
    unsigned count;
} models[] = {{"h200", h200, COUNT(h200)},
              {"h100", h100, COUNT(h100)},
              {"a100", a100, COUNT(a100)},
              {"a100-40gb", a100_40gb, COUNT(a100_40gb)}};

/* Compute instances of 1, 2, 3, 4 and 7 slices; a GPU instance of 4 has none of 3. */
static const struct sim_mig_compute_profile compute[] = {
    {0, 1, "0123456"}, {1, 2, "024"}, {2, 3, "04"}, {3, 4, "0"}, {4, 7, "0"}};

const struct sim_mig_profile *sim_mig_profiles(const struct sim_card *card, unsigned *count) {
    for (size_t i = 0; card->mig_capable && i < COUNT(models); i++)
        if (strcmp(card->model, models[i].model) == 0) {
            *count = models[i].count;
            return models[i].profiles;
        }
    *count = 0;
    return NULL;
}

int sim_mig_profile_named(const struct sim_card *card, const char *name) {
    unsigned count;
    const struct sim_mig_profile *profiles = sim_mig_profiles(card, &count);

    if (strncmp(name, "MIG ", 4) == 0)
        name += 4;
    for (unsigned i = 0; i < count; i++)
        if (strcmp(profiles[i].name, name) == 0)
            return (int)i;
    return -1;
}

bool sim_mig_may_start(const char *starts, unsigned start) {
    return start < 8 && strchr(starts, (char)('0' + start)) != NULL;
}

unsigned sim_mig_slices(unsigned start, unsigned size) {
    return ((1u << size) - 1) << start;
}

unsigned sim_mig_instance_id(unsigned start, unsigned size) {
    return 8 / size - 1 + start / size; /* as in a heap: the whole, the halves, the quarters, the eighths */
}

static bool fits(const struct sim_mig_profile *profile, const struct sim_mig_compute_profile *part) {
    return part->slices == profile->slices ||
           (part->slices < profile->slices && !(profile->slices == 4 && part->slices == 3));
}

const struct sim_mig_compute_profile *sim_mig_compute_profile(const struct sim_mig_profile *profile, unsigned n) {
    for (size_t i = 0; i < COUNT(compute); i++)
        if (fits(profile, &compute[i]) && n-- == 0)
            return &compute[i];
    return NULL;
}

const struct sim_mig_compute_profile *sim_mig_compute_whole(const struct sim_mig_profile *profile) {
    const struct sim_mig_compute_profile *whole = compute;

    while (whole->slices != profile->slices)
        whole++;
    return whole;
}

const struct sim_mig_compute_profile *sim_mig_compute_kind(const struct sim_mig_profile *profile, unsigned kind) {
    return kind < COUNT(compute) && fits(profile, &compute[kind]) ? &compute[kind] : NULL;
}

unsigned sim_mig_compute_sm_count(const struct sim_card *card, const struct sim_mig_profile *profile,
                                  const struct sim_mig_compute_profile *part) {
    unsigned count;

    return part->slices == profile->slices ? profile->sm_count
                                           : part->slices * sim_mig_profiles(card, &count)[0].sm_count;
}

void sim_mig_compute_name(const struct sim_mig_profile *profile, const struct sim_mig_compute_profile *part, char *text,
                          unsigned size) {
    if (part->slices == profile->slices)
        snprintf(text, size, "%s", profile->name);
    else
        snprintf(text, size, "%uc.%s", part->slices, profile->name);
}

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

void sim_mig_uuid(const struct sim_card *card, unsigned gpu_instance, unsigned compute_instance, char text[48],
                  unsigned char bytes[16]) {
    uint64_t half[2], hash;

    memcpy(half, card->uuid_bytes, sizeof half);
    hash = mix(half[0] ^ mix(half[1] + gpu_instance * 64 + compute_instance + 1));
    for (int i = 0; i < 16; i++, hash = mix(hash + 0x9e3779b97f4a7c15u))
        bytes[i] = (unsigned char)hash;
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x50);
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    text += sprintf(text, "MIG-");
    for (int i = 0; i < 16; i++)
        text += sprintf(text, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", bytes[i]);
}

static bool add_instance(const struct sim_card *card, char *word, struct sim_mig_layout *layout, unsigned *taken) {
    unsigned count, slices;
    const struct sim_mig_profile *profiles = sim_mig_profiles(card, &count);
    char *colon = strrchr(word, ':'), *end;
    unsigned long start;
    int profile;

    if (!colon || colon[1] < '0' || colon[1] > '9' || layout->count == SIM_MIG_MAX)
        return false;
    *colon = '\0';
    start = strtoul(colon + 1, &end, 10);
    profile = sim_mig_profile_named(card, word);
    if (*end || profile < 0 || start > 7 || !sim_mig_may_start(profiles[profile].starts, (unsigned)start))
        return false;
    slices = sim_mig_slices((unsigned)start, profiles[profile].size);
    count = 0;
    for (unsigned i = 0; i < layout->count; i++)
        count += layout->instances[i].profile == (unsigned)profile;
    if (*taken & slices || count == profiles[profile].count)
        return false;
    *taken |= slices;
    layout->instances[layout->count].profile = (unsigned)profile;
    layout->instances[layout->count].start = (unsigned)start;
    layout->count++;
    return true;
}

bool sim_mig_parse(const struct sim_card *card, const char *text, struct sim_mig_layout *layout) {
    char copy[256], *rest = copy, *word;
    unsigned taken = 0, count;

    *layout = (struct sim_mig_layout){0};
    if (strlen(text) >= sizeof copy)
        return false;
    memcpy(copy, text, strlen(text) + 1);
    word = strsep(&rest, " \t");
    if (strcmp(word, "disabled") == 0)
        return !rest;
    if (strcmp(word, "enabled") != 0 || !sim_mig_profiles(card, &count))
        return false;
    layout->enabled = true;
    while ((word = strsep(&rest, " \t")))
        if (*word && !add_instance(card, word, layout, &taken))
            return false;
    return true;
}

uint64_t sim_mig_layout_id(const struct sim_mig_layout *layout) {
    uint64_t id = layout->enabled;

    for (unsigned i = 0; i < layout->count; i++)
        id = id * 128 + 8 * (layout->instances[i].profile + 1) + layout->instances[i].start;
    return id;
}
