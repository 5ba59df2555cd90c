/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of partita-sim-driver. */
#ifndef PARTITA_SIM_DRIVER_TOOL_H
#define PARTITA_SIM_DRIVER_TOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "../node/node.h"
#include "profiles.h"

#define DEFAULT_DRIVER_VERSION "580.95.05"
#define LIBRARY_DIR "usr/lib/x86_64-linux-gnu"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct installation {
    const char *root, *node, *gpus, *driver_version;
    const char *libraries; /* NULL: beside the program */
    const char *contrary;  /* readings, or NULL: none */
};

/* Parses "h200x4,t4x1" into one profile a card; on bad input false, and one line on stderr. */
bool parse_gpus(const char *gpus, const struct profile *cards[SIM_MAX_CARDS], unsigned *count);

int install(const struct installation *wanted);

/* Text of node.conf; true if it fitted. */
bool format_node_conf(char *text, size_t size, const struct installation *wanted,
                      const struct profile *const cards[SIM_MAX_CARDS], unsigned count);

/* Both write temp file, fsync, rename; a file that already is as wanted is left alone. */
bool put_file(const char *path, const void *content, size_t size, unsigned mode);
bool copy_file(const char *source, const char *path, unsigned mode);
bool put_link(const char *target, const char *path);
bool make_directory(const char *root, const char *below, unsigned mode);

/* sys/bus/pci/devices below the root, for the PCIe root and NUMA node of each card. */
bool put_sysfs(const char *root, const struct sim_node *node);

/* The nodes by which MIG instances are opened, and the list of their numbers, for the cards that can do MIG. */
bool put_mig_capabilities(const char *root, const struct sim_node *node);

/* The index of the card that --gpu names, by index or UUID; else -1, and one line on stderr. */
int find_card(const struct sim_node *node, const char *gpu);

/* The options of `fault`; NULL: not given. */
struct fault_order {
    const char *function, *error, *delay_us, *from, *every, *times, *pid;
    bool clear, list;
};
int order_fault(const char *root, const struct fault_order *wanted);
int raise_xid(const char *root, const char *gpu, const char *xid);
/* `reset`: what an XID error has asked for is done. */
int reset_card(const char *root, const char *gpu, bool even_in_use);

/* `mig`; words: what stands behind the command. */
int change_mig(const char *root, const char *gpu, char **words, int count);

int report_state(const char *root);
int set_lost(const char *root, const char *gpu, bool lost);

#endif
