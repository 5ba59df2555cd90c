/* SPDX-License-Identifier: Apache-2.0 */
/* A stand-in for the plugin: card reports from what NVML samples of processes (partita/card_report.h). */
#ifndef PARTITA_CARD_REPORTS_H
#define PARTITA_CARD_REPORTS_H

#include <stdbool.h>
#include <stdint.h>

#include "nvml_api.h"

enum { REPORTED_PROCESSES = 8, REPORT_PAUSE_MS = 150 };

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
    uint64_t seen, at;     /* ns: when it was new, and the reports' own count of time */
    struct told {
        uint32_t pid;
        uint64_t busy; /* ns */
        unsigned int percent;
    } told[REPORTED_PROCESSES];
};

/* Asks NVML once, and writes the reports of the processes' shares; none where it does not tell. */
void card_reports_write(struct card_reports *reports, const struct reported processes[], uint32_t count);

#endif
