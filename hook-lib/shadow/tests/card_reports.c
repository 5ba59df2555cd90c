/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "card_reports.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "partita/card_report.h"

static uint64_t clock_now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The same moment by CLOCK_MONOTONIC, in ns; 0 for none. */
static uint64_t monotonic(uint64_t epoch_us) {
    return epoch_us ? clock_now(CLOCK_MONOTONIC) - (clock_now(CLOCK_REALTIME) - epoch_us * 1000) : 0;
}

/* Samples that are further apart were not made one after the other: the card was idle in between. */
static uint64_t begin_of(uint64_t time, uint64_t before, uint64_t period) {
    return time - before > 3 * period ? time - period : before;
}

/* Between two samples there is no news, and what was told before still holds. */
static void take_samples(struct card_reports *reports, const nvmlProcessUtilizationSample_t *samples,
                         unsigned int samples_count, const struct reported processes[], uint32_t count) {
    uint64_t before = reports->time, now = clock_now(CLOCK_MONOTONIC);
    for (unsigned int i = 0; i < samples_count; i++)
        reports->time = samples[i].timeStamp > reports->time ? samples[i].timeStamp : reports->time;
    if (reports->time == before && now - reports->seen < 2 * reports->period * 1000)
        return;
    if (reports->time > before && before > 0 && reports->time - before < reports->period)
        reports->period = reports->time - before;
    reports->at += reports->time > before && before
                       ? (reports->time - begin_of(reports->time, before, reports->period)) * 1000
                       : now - reports->seen;
    reports->seen = now;
    for (uint32_t i = 0; i < count; i++) {
        struct told *told = &reports->told[i];
        if (told->pid != processes[i].pid) /* another program's turn */
            *told = (struct told){processes[i].pid, 0, 0};
        told->percent = 0;
        for (unsigned int j = 0; j < samples_count; j++) {
            uint64_t time = samples[j].timeStamp;
            if (samples[j].pid != told->pid || time <= before)
                continue;
            if (before > 0)
                told->busy += samples[j].smUtil * (time - begin_of(time, before, reports->period)) * 10;
            if (reports->sampled)
                reports->sampled(&processes[i], &samples[j]);
            told->percent = time + 100000 < reports->time ? 0 : samples[j].smUtil;
        }
    }
}

static void write_one(const struct card_reports *reports, const char *file, uint64_t busy, unsigned int others,
                      bool wanted, uint64_t sampled) {
    char words[PARTITA_REPORT_LIMIT];
    int length =
        snprintf(words, sizeof words,
                 PARTITA_REPORT_MAGIC
                 "\nreport %020llu\nat %020llu\nbusy %020llu\nothers %03u\nwanted %d\nsampled %020llu\nend %020llu\n",
                 (unsigned long long)reports->number, (unsigned long long)reports->at, (unsigned long long)busy,
                 others < 100 ? others : 100, wanted, (unsigned long long)sampled, (unsigned long long)reports->number);
    int out = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK(out >= 0 && pwrite(out, words, (size_t)length, 0) == length && close(out) == 0);
}

void card_reports_write(struct card_reports *reports, const struct reported processes[], uint32_t count) {
    /* Drivers want more room than there are processes: 580 with an H100 wants it for 72. */
    enum { ROOM = 1024 };
    static nvmlProcessUtilizationSample_t samples[ROOM];
    unsigned int samples_count = ROOM;
    nvmlReturn_t result = reports->ask(reports->device, samples, &samples_count, reports->time);
    if (result != NVML_SUCCESS && result != NVML_ERROR_NOT_FOUND)
        return;
    take_samples(reports, samples, result == NVML_SUCCESS ? samples_count : 0, processes, count);
    uint64_t sampled = monotonic(reports->time);
    reports->number++;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t own = 0;
        unsigned int others = 0;
        bool wanted = false;
        for (uint32_t j = 0; j < count; j++)
            if (strcmp(processes[i].file, processes[j].file) == 0) {
                own += reports->told[j].busy;
            } else {
                others += reports->told[j].percent;
                wanted |= reports->told[j].percent > 0 && processes[j].high && !processes[i].high;
            }
        write_one(reports, processes[i].file, own, others, wanted, sampled);
    }
}
