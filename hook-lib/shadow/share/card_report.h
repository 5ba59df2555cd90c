/* SPDX-License-Identifier: Apache-2.0 */
/* What a card report says; format in partita/card_report.h. */
#ifndef PARTITA_SHADOW_CARD_REPORT_H
#define PARTITA_SHADOW_CARD_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "partita/card_report.h"

struct card_report {
    uint64_t number;
    uint64_t at, busy;   /* ns */
    unsigned int others; /* percent */
    bool wanted;
    uint64_t sampled; /* ns, CLOCK_MONOTONIC; 0: unknown */
};

/* Parses the file's bytes; false if it is no whole report, and *report is then undefined. */
bool card_report_parse(const char *text, size_t length, struct card_report *report);

/* Leaves errno changed. */
bool card_report_read(const char *path, struct card_report *report);

#endif
