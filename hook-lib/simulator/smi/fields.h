/* SPDX-License-Identifier: Apache-2.0 */
/* What nvidia-smi can be asked for, field by field. */
#ifndef PARTITA_SIM_SMI_FIELDS_H
#define PARTITA_SIM_SMI_FIELDS_H

#include "nvml.h"

struct row {
    const struct smi_card *card;
    const nvmlProcessInfo_t *process; /* NULL in a query of cards */
};

struct text {
    char bytes[256];
};

struct field {
    const char *name;  /* as asked for */
    const char *title; /* as printed */
    const char *unit;  /* "" if it has none */
    void (*value)(const struct row *row, struct text *text);
};

/* Both end with a field without a name. */
extern const struct field gpu_fields[], process_fields[];

#endif
