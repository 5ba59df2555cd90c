/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of a driver root. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../state/state.h"
#include "driver.h"

/* The folder of the fake libraries: beside the program, or where an installed program has them. */
static bool find_libraries(const struct installation *wanted, char folder[PATH_MAX]) {
    static const char *const places[] = {"../simulator", "."};
    char program[PATH_MAX], file[2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);

    if (wanted->libraries) {
        snprintf(folder, PATH_MAX, "%s", wanted->libraries);
        return true;
    }
    if (length > 0) {
        program[length] = '\0';
        *strrchr(program, '/') = '\0';
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            snprintf(file, sizeof file, "%s/%s/libcuda.so", program, places[i]);
            if (access(file, R_OK) == 0) {
                *strrchr(file, '/') = '\0';
                return realpath(file, folder) != NULL;
            }
        }
    }
    fprintf(stderr, "partita-sim-driver: no libcuda.so beside the program; say where with --libraries DIR\n");
    return false;
}

static bool valid_version(const char *version) {
    for (const char *c = version; *c; c++)
        if (!isdigit((unsigned char)*c) && *c != '.')
            return false;
    return isdigit((unsigned char)*version) && strlen(version) < 24;
}

static bool valid_node(const char *node) {
    for (const char *c = node; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '.' && *c != '_')
            return false;
    return strlen(node) <= 253;
}

static bool valid_contrary(const char *contrary) {
    unsigned readings;

    if (!contrary || sim_contrary_parse(contrary, &readings))
        return true;
    fprintf(stderr, "partita-sim-driver: --contrary: '%s' names a reading that there is not; there are: all", contrary);
    for (unsigned i = 0; sim_reading_names[i]; i++)
        fprintf(stderr, ", %s", sim_reading_names[i]);
    fprintf(stderr, "; with a hyphen before it: not that one\n");
    return false;
}

static bool put_library(const struct installation *wanted, const char *folder, const char *name,
                        bool development_link) {
    char source[2 * PATH_MAX], path[2 * PATH_MAX], versioned[96];

    snprintf(source, sizeof source, "%s/%s.so", folder, name);
    snprintf(versioned, sizeof versioned, "%s.so.%s", name, wanted->driver_version);
    snprintf(path, sizeof path, "%s/" LIBRARY_DIR "/%s", wanted->root, versioned);
    if (!copy_file(source, path, 0755))
        return false;
    snprintf(path, sizeof path, "%s/" LIBRARY_DIR "/%s.so.1", wanted->root, name);
    if (!put_link(versioned, path))
        return false;
    snprintf(path, sizeof path, "%s/" LIBRARY_DIR "/%s.so", wanted->root, name);
    snprintf(versioned, sizeof versioned, "%s.so.1", name);
    return !development_link || put_link(versioned, path);
}

/* Device nodes of cards that an earlier installation had and this one has not. */
static void remove_other_cards(const char *root, unsigned count) {
    char path[2 * PATH_MAX];

    for (unsigned i = count; i < SIM_MAX_CARDS; i++) {
        snprintf(path, sizeof path, "%s/dev/nvidia%u", root, i);
        unlink(path);
    }
}

static bool put_devices(const char *root, unsigned count) {
    static const char *const controls[] = {"nvidiactl", "nvidia-uvm", "nvidia-uvm-tools"};
    char path[2 * PATH_MAX];

    for (unsigned i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/dev/nvidia%u", root, i);
        if (!put_link("/dev/null", path))
            return false;
    }
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
        snprintf(path, sizeof path, "%s/dev/%s", root, controls[i]);
        if (!put_link("/dev/null", path))
            return false;
    }
    remove_other_cards(root, count);
    return true;
}

/* What follows from the node.conf that now lies there. */
static bool put_state(const char *root) {
    static struct sim_node node;
    struct sim_state state;
    char error[PATH_MAX + 128], path[2 * PATH_MAX];
    bool opened;

    if (!sim_node_read(root, &node, error, sizeof error)) {
        fprintf(stderr, "partita-sim-driver: %s\n", error);
        return false;
    }
    if (!put_sysfs(root, &node) || !put_mig_capabilities(root, &node))
        return false;
    opened = sim_state_open(&state, &node, true);
    if (!opened && errno == EINVAL) { /* of an earlier version */
        snprintf(path, sizeof path, "%s/" SIM_STATE_DIR "/state", root);
        unlink(path);
        opened = sim_state_open(&state, &node, true);
    }
    if (!opened) {
        fprintf(stderr, "partita-sim-driver: %s/" SIM_STATE_DIR ": %s\n", root, strerror(errno));
        return false;
    }
    sim_state_close(&state);
    return true;
}

static bool put_programs(const struct installation *wanted, const char *folder) {
    static const char *const programs[] = {"nvidia-smi", "nvidia-cuda-mps-control", "nvidia-cuda-mps-server"};
    char source[2 * PATH_MAX], path[2 * PATH_MAX];

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        snprintf(source, sizeof source, "%s/%s", folder, programs[i]);
        snprintf(path, sizeof path, "%s/usr/bin/%s", wanted->root, programs[i]);
        if (!copy_file(source, path, 0755))
            return false;
    }
    return true;
}

int install(const struct installation *wanted) {
    const struct profile *cards[SIM_MAX_CARDS];
    char libraries[PATH_MAX], path[2 * PATH_MAX], conf[SIM_MAX_CARDS * 1024 + 1024];
    unsigned count;

    if (!parse_gpus(wanted->gpus, cards, &count))
        return EXIT_USAGE;
    if (!valid_version(wanted->driver_version)) {
        fprintf(stderr, "partita-sim-driver: --driver-version: '%s' is no version like %s\n", wanted->driver_version,
                DEFAULT_DRIVER_VERSION);
        return EXIT_USAGE;
    }
    if (!valid_node(wanted->node)) {
        fprintf(stderr, "partita-sim-driver: --node: '%s' is no node name\n", wanted->node);
        return EXIT_USAGE;
    }
    if (!valid_contrary(wanted->contrary))
        return EXIT_USAGE;
    if (!find_libraries(wanted, libraries) || !format_node_conf(conf, sizeof conf, wanted, cards, count))
        return EXIT_FAILED;
    if (!make_directory(wanted->root, LIBRARY_DIR, 0755) || !make_directory(wanted->root, "usr/bin", 0755) ||
        !make_directory(wanted->root, "dev", 0755) || !make_directory(wanted->root, "etc/partita-simulator", 0755) ||
        !make_directory(wanted->root, SIM_STATE_DIR, 0777))
        return EXIT_FAILED;
    if (!put_library(wanted, libraries, "libcuda", true) || !put_library(wanted, libraries, "libnvidia-ml", false))
        return EXIT_FAILED;
    if (!put_programs(wanted, libraries) || !put_devices(wanted->root, count))
        return EXIT_FAILED;
    snprintf(path, sizeof path, "%s/" SIM_CONF_PATH, wanted->root);
    return put_file(path, conf, strlen(conf), 0644) && put_state(wanted->root) ? EXIT_DONE : EXIT_FAILED;
}
