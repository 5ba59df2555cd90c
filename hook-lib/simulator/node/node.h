/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated node: which cards it has, as the file etc/partita-simulator/node.conf below the driver root says.
 */
#ifndef PARTITA_SIM_NODE_H
#define PARTITA_SIM_NODE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "contrary.h"
#include "mig.h"

#define SIM_MAX_CARDS 16
#define SIM_CONF_PATH "etc/partita-simulator/node.conf"
#define SIM_STATE_DIR "run/partita-simulator"

/* What NVML says of a card's health. */
struct sim_signs {
    unsigned ecc_dram, ecc_sram; /* uncorrectable errors since the last reset */
    unsigned rows;               /* enum sim_rows */
    unsigned fabric;             /* enum sim_fabric */
    unsigned brake;              /* enum sim_brake */
    unsigned recovery;           /* enum sim_recovery */
    /* errors of all its NVLinks together since the last reset */
    unsigned nvlink_crc_flit, nvlink_crc_data, nvlink_replay, nvlink_recovery;
};
enum sim_fabric { /* to SIM_FABRIC_COMPLETED as NVML_GPU_FABRIC_STATE_* */
                  SIM_FABRIC_NONE,
                  SIM_FABRIC_NOT_STARTED,
                  SIM_FABRIC_IN_PROGRESS,
                  SIM_FABRIC_COMPLETED,
                  SIM_FABRIC_FAILED /* completed, with an error for this card */
};
enum sim_rows { SIM_ROWS_GOOD, SIM_ROWS_PENDING, SIM_ROWS_FAILED };
enum sim_brake { SIM_BRAKE_NONE, SIM_BRAKE_THERMAL, SIM_BRAKE_POWER };
enum sim_recovery { /* as NVML_GPU_RECOVERY_ACTION_* */
                    SIM_RECOVERY_NONE,
                    SIM_RECOVERY_RESET,
                    SIM_RECOVERY_REBOOT,
                    SIM_RECOVERY_DRAIN_P2P,
                    SIM_RECOVERY_DRAIN_AND_RESET
};

/* One card. Sizes are bytes, clocks MHz, power milliwatts. */
struct sim_card {
    unsigned index; /* also its minor number */
    unsigned unit;  /* its number in the state: the index, or that of an instance (state.h) */
    char uuid[48];  /* "GPU-" and a UUID in lower case */
    unsigned char uuid_bytes[16];
    char model[32]; /* short: h200 */
    char name[96];  /* NVIDIA H200 */
    unsigned brand; /* nvmlBrandType_t */
    unsigned architecture;
    int cc_major, cc_minor;
    uint64_t memory;                      /* as NVML counts it */
    uint64_t reserved;                    /* of it, for the driver and firmware: CUDA never sees it */
    uint64_t context_overhead;            /* what a context costs; only NVML shows it */
    uint64_t kernel_time;                 /* ns that a kernel takes, other than partita_spin */
    uint64_t sample_period, sample_delay; /* of NVML's utilisation, microseconds */
    uint64_t time_slice, slice_change;    /* microseconds; time_slice 0: n processes have 1/n each at any time */
    unsigned sample_noise;                /* percentage points up and down, at most */
    uint64_t sample_seed;                 /* of the noise */
    int sm_count, clock_mhz, memory_clock_mhz, bus_width_bits, l2_bytes;
    unsigned pci_domain, pci_bus, pci_device, pci_device_id, pci_subsystem_id;
    int numa_node;
    unsigned pcie_switch;               /* cards with the same number share a PCIe switch */
    unsigned nvlinks;                   /* active links, all to an NVSwitch where nvlink_domain is set */
    int nvlink_domain;                  /* -1: no NVLink */
    unsigned nvlinks_to[SIM_MAX_CARDS]; /* active links to other cards, which come after those to an NVSwitch */
    unsigned power_limit;
    bool mig_capable;
    struct sim_mig_layout mig; /* as node.conf has it */
    bool lost;                 /* "health lost" */
    struct sim_signs signs;
};

struct sim_node {
    char root[PATH_MAX]; /* without a slash at the end; "" is / */
    char name[256];
    char driver_version[32];
    int cuda_version;    /* 1000 * major + 10 * minor */
    bool memory_limits;  /* NVML limits the memory of cgroups: "memory-limits", else by the driver's version */
    bool tells_recovery; /* NVML has the field of the recovery action: by the driver's version */
    unsigned contrary;   /* a bit a reading: "contrary" */
    unsigned card_count;
    struct sim_card cards[SIM_MAX_CARDS];
};

/* Finds the driver root above the file that holds `address`; false if no folder above it has a node.conf. */
bool sim_root_of(const void *address, char root[PATH_MAX]);

/*
 * Reads <root>/etc/partita-simulator/node.conf. On failure false, and `error` (if not NULL) says what is wrong where.
 */
bool sim_node_read(const char *root, struct sim_node *node, char *error, unsigned error_size);

/* Whether the node plays the contrary reading. */
static inline bool sim_contrary(const struct sim_node *node, enum sim_reading reading) {
    return node->contrary >> reading & 1;
}

/* Whether this process can open the card's device node below the root, as the driver's libraries would. */
bool sim_card_visible(const struct sim_node *node, const struct sim_card *card);

/*
 * Minor number of the node /dev/nvidia-caps/nvidia-cap<n> that gives access to a GPU instance, or to a compute instance
 * of it (`compute` < 0: to the GPU instance). Numbered as the driver numbers them in
 * /proc/driver/nvidia-caps/mig-minors.
 */
unsigned sim_mig_capability(unsigned card, unsigned gpu_instance, int compute);
#define SIM_MIG_GPU_IDS 15    /* numbers that GPU instances of a card can have */
#define SIM_MIG_COMPUTE_IDS 8 /* and compute instances of one */

/* Whether this process can open both nodes, as the driver's libraries must to use an instance. */
bool sim_mig_visible(const struct sim_node *node, const struct sim_card *card, unsigned gpu_instance,
                     unsigned compute_instance);

/* Whether the card is broken: by node.conf, or by the file run/partita-simulator/lost-<index>, now. */
bool sim_card_lost(const struct sim_node *node, const struct sim_card *card);

/* Reads node.conf once more, so that a change of a card's signs counts at once. False: it cannot be read now. */
bool sim_card_signs(const struct sim_node *node, const struct sim_card *card, struct sim_signs *signs);

/* The text form of a card's address: 4 digits of domain (as CUDA and sysfs have it) or 8 (as NVML has it). */
void sim_pci_bus_id(const struct sim_card *card, int domain_digits, char *text, unsigned size);

/* Whether `text` (any number of domain digits, or no domain, any case) is the card's address. */
bool sim_pci_bus_id_matches(const struct sim_card *card, const char *text);

/* Parses "GPU-xxxxxxxx-xxxx-…" into 16 bytes. */
bool sim_uuid_parse(const char *text, unsigned char bytes[16]);

#endif
