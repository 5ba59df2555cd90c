/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Multi-Instance GPU (MIG) can make of a card: the profiles of GPU instances with their placements, as NVIDIA's
 * MIG user guide and `nvidia-smi mig -lgip` of these models show them, and those of the compute instances inside.
 *
 * A card has 8 memory slices and 7 compute slices. A GPU instance takes memory slices that follow each other (its
 * placement); a compute instance takes compute slices of a GPU instance and shares that one's memory with the others in
 * it.
 */
#ifndef PARTITA_SIM_MIG_H
#define PARTITA_SIM_MIG_H

#include <stdbool.h>
#include <stdint.h>

#define SIM_MIG_MAX 7 /* instances of a card */

struct sim_card;

/* A profile of GPU instances. */
struct sim_mig_profile {
    const char *name;
    unsigned kind, id; /* NVML's NVML_GPU_INSTANCE_PROFILE_…, and its id on the device */
    unsigned slices;   /* compute slices */
    unsigned size;     /* memory slices */
    unsigned count;    /* how many there can be at once */
    unsigned sm_count, memory_mib;
    unsigned copy_engines, decoders, jpegs, ofas;
    const char *starts; /* the placements, a digit each, in the order in which the driver tries them */
};

/* A profile of compute instances; `kind` is its id, too. */
struct sim_mig_compute_profile {
    unsigned kind, slices;
    const char *starts;
};

/* The profiles of a card's model, `count` of them; NULL if it cannot do MIG. */
const struct sim_mig_profile *sim_mig_profiles(const struct sim_card *card, unsigned *count);

/* Number of the profile that has this name, with "MIG " before it or not; -1: none. */
int sim_mig_profile_named(const struct sim_card *card, const char *name);

/* Whether a profile may begin at that memory slice. */
bool sim_mig_may_start(const char *starts, unsigned start);

/* The memory slices of an instance, a bit each. */
unsigned sim_mig_slices(unsigned start, unsigned size);

/* The driver's number for a GPU instance, which follows from where it lies. */
unsigned sim_mig_instance_id(unsigned start, unsigned size);

/* The n-th profile of compute instances that fits into a GPU instance of that profile; NULL after the last. */
const struct sim_mig_compute_profile *sim_mig_compute_profile(const struct sim_mig_profile *profile, unsigned n);
/* The one that is the whole GPU instance. */
const struct sim_mig_compute_profile *sim_mig_compute_whole(const struct sim_mig_profile *profile);
/* By kind; NULL: it does not fit there. */
const struct sim_mig_compute_profile *sim_mig_compute_kind(const struct sim_mig_profile *profile, unsigned kind);
unsigned sim_mig_compute_sm_count(const struct sim_card *card, const struct sim_mig_profile *profile,
                                  const struct sim_mig_compute_profile *compute);
/* 3g.71gb, or 1c.3g.71gb where the compute instance has only a part. */
void sim_mig_compute_name(const struct sim_mig_profile *profile, const struct sim_mig_compute_profile *compute,
                          char *text, unsigned size);

/* "MIG-…": follows from the card's UUID and the numbers of both instances. */
void sim_mig_uuid(const struct sim_card *card, unsigned gpu_instance, unsigned compute_instance, char text[48],
                  unsigned char bytes[16]);

/* The layout that node.conf gives a card. */
struct sim_mig_layout {
    bool enabled;
    unsigned count;
    struct {
        unsigned profile, start;
    } instances[SIM_MIG_MAX];
};

/* Parses "enabled [PROFILE:START …]" or "disabled"; false: no such profile or placement, or they overlap. */
bool sim_mig_parse(const struct sim_card *card, const char *text, struct sim_mig_layout *layout);

/* A number that tells layouts apart; 0: disabled. */
uint64_t sim_mig_layout_id(const struct sim_mig_layout *layout);

#endif
