/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for the plugin: card reports from shares' usage regions and NVML's samples (partita/card_report.h). */
#ifndef PARTITA_CARD_REPORTS_H
#define PARTITA_CARD_REPORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "divided_time.h"
#include "nvml_api.h"

enum { REPORTED_PROCESSES = 8, REPORT_PAUSE_MS = 75 };

/* A process that uses the card, and the file of its share's report; `high`: of the higher priority. */
struct reported {
    const char *file;
    uint32_t pid;
    bool high;
};

struct card_reports {
    nvmlDevice_t device;
    __typeof__(&nvmlDeviceGetProcessUtilization) ask;
    /* Told of each sample of one of the processes; may be NULL. */
    void (*sampled)(const struct reported *process, const nvmlProcessUtilizationSample_t *sample);
    uint64_t number;
    uint64_t time, period; /* microseconds: of the newest sample, and from one to the next; begin with a second */
    uint64_t seen;         /* ns: when it was new */
    unsigned int card;     /* percent of the card that all used in that sample */
    struct named {
        uint32_t pid;
        uint64_t last;        /* ns: when a sample named it */
        unsigned int percent; /* decaying mean of its samples */
    } named[REPORTED_PROCESSES];
    struct divided_time divided;
    struct divided_share shares[DIVIDED_SHARES];
    char files[DIVIDED_SHARES][400]; /* of the reports of these shares */
    uint32_t shares_count;
};

/* Asks NVML once, and writes the reports of the processes' shares; none where it does not tell. */
void card_reports_write(struct card_reports *reports, const struct reported processes[], uint32_t count);

#endif
