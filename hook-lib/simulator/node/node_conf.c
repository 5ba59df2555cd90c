/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node.conf: lines of "key value". The first line is "partita-simulator 1"; keys after "gpu <index>" belong to that
 * card. An unknown key is an error: the file is ours, and a misspelt knob that does nothing would make a test lie.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node.h"

#define FIRST_DRIVER_WITH_MEMORY_LIMITS 615
#define FIRST_DRIVER_WITH_RECOVERY_ACTION 565
#define SLOW_SAMPLE_US 1000000
#define TIME_SLICE_US 2000 /* as an H100 has it with driver 580 */
#define SLICE_CHANGE_US 150

enum kind { TEXT, BYTES, NUMBER, SWITCH };

struct key {
    const char *name;
    enum kind kind;
    size_t offset, size;
};

#define FIELD(name, kind, member)                                                                                      \
    {name, kind, offsetof(struct sim_card, member), sizeof(((struct sim_card *)0)->member)}

static const struct key card_keys[] = {
    FIELD("uuid", TEXT, uuid),
    FIELD("model", TEXT, model),
    FIELD("name", TEXT, name),
    FIELD("brand", NUMBER, brand),
    FIELD("architecture", NUMBER, architecture),
    FIELD("memory", BYTES, memory),
    FIELD("reserved", BYTES, reserved),
    FIELD("context-overhead", BYTES, context_overhead),
    FIELD("kernel-time", BYTES, kernel_time),
    FIELD("sample-period-us", BYTES, sample_period),
    FIELD("sample-delay-us", BYTES, sample_delay),
    FIELD("time-slice-us", BYTES, time_slice),
    FIELD("time-slice-change-us", BYTES, slice_change),
    FIELD("sample-noise", NUMBER, sample_noise),
    FIELD("sample-seed", BYTES, sample_seed),
    FIELD("sm-count", NUMBER, sm_count),
    FIELD("clock-mhz", NUMBER, clock_mhz),
    FIELD("memory-clock-mhz", NUMBER, memory_clock_mhz),
    FIELD("bus-width-bits", NUMBER, bus_width_bits),
    FIELD("l2-bytes", NUMBER, l2_bytes),
    FIELD("pci-device-id", NUMBER, pci_device_id),
    FIELD("pci-subsystem-id", NUMBER, pci_subsystem_id),
    FIELD("numa", NUMBER, numa_node),
    FIELD("pcie-switch", NUMBER, pcie_switch),
    FIELD("nvlinks", NUMBER, nvlinks),
    FIELD("nvlink-domain", NUMBER, nvlink_domain),
    FIELD("power-limit-mw", NUMBER, power_limit),
    FIELD("mig-capable", SWITCH, mig_capable),
    FIELD("ecc-dram", NUMBER, signs.ecc_dram),
    FIELD("ecc-sram", NUMBER, signs.ecc_sram),
    FIELD("nvlink-crc-flit", NUMBER, signs.nvlink_crc_flit),
    FIELD("nvlink-crc-data", NUMBER, signs.nvlink_crc_data),
    FIELD("nvlink-replay", NUMBER, signs.nvlink_replay),
    FIELD("nvlink-recovery", NUMBER, signs.nvlink_recovery),
};

static bool put_text(char *target, size_t size, const char *value) {
    if (strlen(value) >= size)
        return false;
    memcpy(target, value, strlen(value) + 1);
    return true;
}

static bool put(struct sim_card *card, const struct key *key, const char *value) {
    char *target = (char *)card + key->offset, *end;

    if (key->kind == TEXT)
        return put_text(target, key->size, value);
    errno = 0;
    if (key->kind == BYTES) {
        uint64_t number = strtoull(value, &end, 10);

        if (*value == '-') /* strtoull takes it for a large number */
            return false;
        memcpy(target, &number, sizeof number);
    } else if (key->kind == SWITCH) {
        bool on = strcmp(value, "yes") == 0;

        memcpy(target, &on, sizeof on);
        return on || strcmp(value, "no") == 0;
    } else {
        long long number = strtoll(value, &end, 0);
        int narrow = (int)number;

        if (number < INT_MIN || number > UINT_MAX)
            return false;
        memcpy(target, &narrow, sizeof narrow);
    }
    return errno == 0 && end != value && *end == '\0' && card->sample_period > 0;
}

/* "1:2 3:1": two links to card 1, one to card 3. */
static bool nvlinks_to(struct sim_card *card, const char *value) {
    int length;

    for (unsigned peer, links; *value; value += length) {
        if (sscanf(value, "%u:%u %n", &peer, &links, &length) != 2 || peer >= SIM_MAX_CARDS || peer == card->index)
            return false;
        card->nvlinks_to[peer] = links;
    }
    return true;
}

/* The number of a value in a list that ends with NULL. */
static bool choose(unsigned *chosen, const char *const *values, const char *value) {
    for (*chosen = 0; values[*chosen]; ++*chosen)
        if (strcmp(values[*chosen], value) == 0)
            return true;
    return false;
}

static bool sign_line(struct sim_signs *signs, const char *key, const char *value) {
    static const char *const rows[] = {"good", "pending", "failed", NULL};
    static const char *const fabric[] = {"none", "not-started", "in-progress", "completed", "failed", NULL};
    static const char *const brakes[] = {"none", "thermal", "power", NULL};
    static const char *const recovery[] = {"none", "reset", "reboot", "drain-p2p", "drain-and-reset", NULL};

    if (strcmp(key, "row-remapping") == 0)
        return choose(&signs->rows, rows, value);
    if (strcmp(key, "fabric") == 0)
        return choose(&signs->fabric, fabric, value);
    if (strcmp(key, "recovery") == 0)
        return choose(&signs->recovery, recovery, value);
    return strcmp(key, "brake") == 0 && choose(&signs->brake, brakes, value);
}

static bool card_line(struct sim_card *card, const char *key, const char *value) {
    if (strcmp(key, "compute-capability") == 0)
        return sscanf(value, "%d.%d", &card->cc_major, &card->cc_minor) == 2;
    if (strcmp(key, "pci-bus-id") == 0)
        return sscanf(value, "%x:%x:%x.0", &card->pci_domain, &card->pci_bus, &card->pci_device) == 3;
    if (strcmp(key, "health") == 0) {
        card->lost = strcmp(value, "lost") == 0;
        return card->lost || strcmp(value, "ok") == 0;
    }
    if (strcmp(key, "nvlinks-to") == 0)
        return nvlinks_to(card, value);
    if (strcmp(key, "mig") == 0)
        return sim_mig_parse(card, value, &card->mig);
    for (size_t i = 0; i < sizeof card_keys / sizeof *card_keys; i++)
        if (strcmp(key, card_keys[i].name) == 0)
            return put(card, &card_keys[i], value) &&
                   (strcmp(key, "uuid") != 0 || sim_uuid_parse(card->uuid, card->uuid_bytes));
    return sign_line(&card->signs, key, value);
}

static bool node_line(struct sim_node *node, const char *key, const char *value) {
    if (strcmp(key, "node") == 0)
        return put_text(node->name, sizeof node->name, value);
    if (strcmp(key, "driver-version") == 0) {
        node->memory_limits = atoi(value) >= FIRST_DRIVER_WITH_MEMORY_LIMITS;
        node->tells_recovery = atoi(value) >= FIRST_DRIVER_WITH_RECOVERY_ACTION;
        return put_text(node->driver_version, sizeof node->driver_version, value);
    }
    if (strcmp(key, "memory-limits") == 0) {
        node->memory_limits = strcmp(value, "yes") == 0;
        return node->memory_limits || strcmp(value, "no") == 0;
    }
    if (strcmp(key, "cuda-version") == 0)
        return (node->cuda_version = atoi(value)) > 0;
    if (strcmp(key, "contrary") == 0)
        return sim_contrary_parse(value, &node->contrary);
    return false;
}

static bool begin_card(struct sim_node *node, const char *value) {
    struct sim_card *card = &node->cards[node->card_count];
    char number[16];

    snprintf(number, sizeof number, "%u", node->card_count);
    if (node->card_count == SIM_MAX_CARDS || strcmp(value, number) != 0)
        return false;
    card->index = card->unit = node->card_count++;
    card->nvlink_domain = -1;
    card->sample_period = 166667;
    return true;
}

static bool parse(FILE *file, struct sim_node *node, unsigned *line_number) {
    char line[512];

    for (*line_number = 1; fgets(line, sizeof line, file); ++*line_number) {
        char *key = line + strspn(line, " \t"), *value;

        key[strcspn(key, "\n")] = '\0';
        if (*key == '\0' || *key == '#')
            continue;
        value = key + strcspn(key, " \t");
        if (*value)
            *value++ = '\0';
        value += strspn(value, " \t");
        if (*line_number == 1) {
            if (strcmp(key, "partita-simulator") != 0 || strcmp(value, "1") != 0)
                return false;
        } else if (strcmp(key, "gpu") == 0) {
            if (!begin_card(node, value))
                return false;
        } else if (!(node->card_count ? card_line(&node->cards[node->card_count - 1], key, value)
                                      : node_line(node, key, value))) {
            return false;
        }
    }
    return *line_number > 1;
}

/* NVML's periods are between 1/6 s and 1 s, by the product; how late its samples come is said nowhere. */
static void sample_slowly(struct sim_node *node) {
    for (unsigned i = 0; i < node->card_count; i++)
        node->cards[i].sample_period = node->cards[i].sample_delay = SLOW_SAMPLE_US;
}

static void slice_time(struct sim_node *node) {
    for (unsigned i = 0; i < node->card_count; i++)
        if (node->cards[i].time_slice == 0) {
            node->cards[i].time_slice = TIME_SLICE_US;
            node->cards[i].slice_change = SLICE_CHANGE_US;
        }
}

bool sim_node_read(const char *root, struct sim_node *node, char *error, unsigned error_size) {
    char path[PATH_MAX + 64];
    unsigned line = 0;
    FILE *file;
    bool good;

    memset(node, 0, sizeof *node);
    snprintf(node->root, sizeof node->root, "%s", root);
    snprintf(path, sizeof path, "%s/" SIM_CONF_PATH, root);
    file = fopen(path, "re");
    if (!file) {
        if (error)
            snprintf(error, error_size, "cannot read %s: %s", path, strerror(errno));
        return false;
    }
    good = parse(file, node, &line);
    fclose(file);
    if (sim_contrary(node, SIM_SLOW_SAMPLES))
        sample_slowly(node);
    if (sim_contrary(node, SIM_TIME_SLICES))
        slice_time(node);
    if (!good && error)
        snprintf(error, error_size, "%s: line %u is not understood", path, line);
    return good;
}

bool sim_card_signs(const struct sim_node *node, const struct sim_card *card, struct sim_signs *signs) {
    struct sim_node *now = malloc(sizeof *now);
    bool good = now && sim_node_read(node->root, now, NULL, 0) && card->index < now->card_count;

    if (good)
        *signs = now->cards[card->index].signs;
    free(now);
    return good;
}
