/* SPDX-License-Identifier: Apache-2.0 */
/* Writes node.conf. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

#define MIB (1024ull * 1024)

/* NVML's figure for a first context with CUDA 12 or 13 on these cards is 250 to 550 MiB, by how much code is loaded. */
#define CONTEXT_OVERHEAD_MIB 300ull

/* The CUDA version that came with a driver branch (CUDA toolkit release notes). */
static int cuda_version(const char *driver_version) {
    static const struct {
        int branch, version;
    } branches[] = {{615, 13040}, {590, 13010}, {580, 13000}, {575, 12090}, {570, 12080}, {565, 12070}, {560, 12060},
                    {555, 12050}, {550, 12040}, {545, 12030}, {535, 12020}, {530, 12010}, {525, 12000}};

    for (size_t i = 0; i < sizeof branches / sizeof *branches; i++)
        if (atoi(driver_version) >= branches[i].branch)
            return branches[i].version;
    return 11080;
}

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* A UUID that depends on the node's name and the card's index only, so that an installation repeats itself. */
static void uuid(const char *node, unsigned index, char text[48]) {
    uint64_t hash = 0xcbf29ce484222325u, high, low;

    for (const char *c = node; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 0x100000001b3u;
    high = mix(hash + 2 * index + 1);
    low = mix(high + hash);
    high = (high & ~0xf000ull) | 0x4000;
    low = (low & ~(3ull << 62)) | 2ull << 62;
    snprintf(text, 48, "GPU-%08x-%04x-%04x-%04x-%012llx", (unsigned)(high >> 32), (unsigned)(high >> 16) & 0xffff,
             (unsigned)high & 0xffff, (unsigned)(low >> 48), (unsigned long long)low & 0xffffffffffffull);
}

struct text {
    char *at;
    size_t room;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...) {
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(text->at, text->room, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= text->room) {
        text->room = 0;
        return;
    }
    text->at += length;
    text->room -= (size_t)length;
}

static void add_card(struct text *text, const char *node, const struct profile *profile, unsigned index,
                     unsigned count) {
    char id[48];

    uuid(node, index, id);
    add(text, "\ngpu %u\n", index);
    add(text, "  uuid %s\n  model %s\n  name %s\n", id, profile->model, profile->name);
    add(text, "  brand %u\n  architecture %u\n", profile->brand, profile->architecture);
    add(text, "  compute-capability %d.%d\n", profile->cc_major, profile->cc_minor);
    add(text, "  memory %llu\n  reserved %llu\n  context-overhead %llu\n", profile->memory * MIB,
        profile->reserved * MIB, CONTEXT_OVERHEAD_MIB * MIB);
    add(text, "  kernel-time 0\n");
    add(text, "  sample-period-us 166667\n  sample-delay-us 50000\n  sample-noise 3\n  sample-seed %u\n", index + 1);
    add(text, "  time-slice-us 0\n  time-slice-change-us 0\n");
    add(text, "  sm-count %d\n  clock-mhz %d\n  memory-clock-mhz %d\n", profile->sm_count, profile->clock,
        profile->memory_clock);
    add(text, "  bus-width-bits %d\n  l2-bytes %llu\n", profile->bus_width, (unsigned long long)profile->l2 * MIB);
    add(text, "  pci-bus-id 00000000:%02X:00.0\n", 0x1bu + 14 * index);
    add(text, "  pci-device-id 0x%08x\n  pci-subsystem-id 0x%08x\n", profile->device_id, profile->subsystem_id);
    add(text, "  numa %d\n  pcie-switch %u\n", count > 1 && index >= (count + 1) / 2, index / 2);
    if (profile->nvlinks)
        add(text, "  nvlinks %u\n  nvlink-domain 0\n", profile->nvlinks);
    add(text, "  power-limit-mw %u\n  mig-capable %s\n  health ok\n", profile->power * 1000,
        profile->mig ? "yes" : "no");
    if (profile->mig)
        add(text, "  mig disabled\n");
}

bool format_node_conf(char *buffer, size_t size, const struct installation *wanted,
                      const struct profile *const cards[SIM_MAX_CARDS], unsigned count) {
    struct text text = {buffer, size};

    add(&text, "partita-simulator 1\nnode %s\ndriver-version %s\ncuda-version %d\n", wanted->node,
        wanted->driver_version, cuda_version(wanted->driver_version));
    if (wanted->contrary)
        add(&text, "contrary %s\n", wanted->contrary);
    for (unsigned i = 0; i < count; i++)
        add_card(&text, wanted->node, cards[i], i, count);
    return text.room > 0;
}
