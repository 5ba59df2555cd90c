/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PARTITA_SIM_PROFILES_H
#define PARTITA_SIM_PROFILES_H

#include <stddef.h>
#include <stdint.h>

/* A model of card. Sizes in MiB, clocks in MHz, power in W. */
struct profile {
    const char *model, *name;
    unsigned brand, architecture;
    int cc_major, cc_minor;
    unsigned memory, reserved;
    int sm_count, clock, memory_clock, bus_width, l2;
    unsigned device_id, subsystem_id;
    unsigned nvlinks; /* 0: none */
    unsigned power;
    int mig;
};

extern const struct profile profiles[];
extern const size_t profile_count;

const struct profile *profile_find(const char *model, size_t length);

#endif
