/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "card_reports.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "partita/card_report.h"
#include "partita/quota_file.h"

static const uint64_t OF_LATE_NS = 1000000000;

static uint64_t clock_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The usage region of the share whose report the file is. */
static const struct partita_region *region_of(const char *report) {
    const char *folder = strstr(report, PARTITA_SHARES_FOLDER), *name = strrchr(report, '/');
    char path[500];
    CHECK(folder && name);
    const char *key = folder + strlen(PARTITA_SHARES_FOLDER);
    snprintf(path, sizeof path, "%.*s" PARTITA_USAGE_FOLDER "%.*s/" PARTITA_USAGE_NAME, (int)(folder - report), report,
             (int)(name - key), key);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(file >= 0);
    void *at = mmap(NULL, PARTITA_USAGE_SIZE, PROT_READ, MAP_SHARED, file, 0);
    CHECK(at != MAP_FAILED && close(file) == 0);
    return at;
}

/* Those that no process is of any more. */
static void forget_shares(struct card_reports *reports, const struct reported processes[], uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < reports->shares_count; i++) {
        uint32_t j = 0;
        while (j < count && strcmp(reports->files[i], processes[j].file) != 0)
            j++;
        if (j == count) {
            munmap((void *)reports->shares[i].region, PARTITA_USAGE_SIZE);
        } else if (kept++ < i) {
            reports->shares[kept - 1] = reports->shares[i];
            memcpy(reports->files[kept - 1], reports->files[i], sizeof reports->files[i]);
        }
    }
    reports->shares_count = kept;
}

static uint32_t share_of(struct card_reports *reports, const char *file) {
    uint32_t i = 0;
    while (i < reports->shares_count && strcmp(reports->files[i], file) != 0)
        i++;
    if (i == reports->shares_count) {
        CHECK(i < DIVIDED_SHARES && strlen(file) < sizeof reports->files[i]);
        strcpy(reports->files[i], file);
        reports->shares[i] = (struct divided_share){.region = region_of(file)};
        reports->shares_count++;
    }
    return i;
}

/* Its launches are: it has a core limit. */
static bool is_timed(const struct divided_share *share) {
    return share->busy > 0;
}

/* Whom they name, and what they come to: the same on drivers that name one process and on those that name each. */
static void take_samples(struct card_reports *reports, const nvmlProcessUtilizationSample_t *samples,
                         unsigned int samples_count, const struct reported processes[], uint32_t count, uint64_t now) {
    uint64_t before = reports->time;
    for (unsigned int i = 0; i < samples_count; i++)
        reports->time = samples[i].timeStamp > reports->time ? samples[i].timeStamp : reports->time;
    bool news = reports->time > before;
    if (!news && now - reports->seen < 2 * reports->period * 1000)
        return;
    if (news && before > 0 && reports->time - before < reports->period)
        reports->period = reports->time - before;
    reports->seen = now;
    reports->card = 0;
    for (unsigned int j = 0; j < samples_count; j++)
        if (samples[j].timeStamp > before && samples[j].timeStamp + reports->period / 2 >= reports->time)
            reports->card += samples[j].smUtil;
    reports->card = reports->card < 100 ? reports->card : 100;
    for (uint32_t i = 0; i < count; i++) {
        struct named *named = &reports->named[i];
        if (named->pid != processes[i].pid) /* another program's turn */
            *named = (struct named){.pid = processes[i].pid};
        unsigned int percent = 0;
        for (unsigned int j = 0; j < samples_count; j++)
            if (samples[j].pid == named->pid && samples[j].timeStamp > before) {
                if (reports->sampled)
                    reports->sampled(&processes[i], &samples[j]);
                percent = samples[j].smUtil;
                named->last = now;
            }
        named->percent = (3 * named->percent + percent) / 4;
    }
}

static void write_one(const struct card_reports *reports, const char *file, uint64_t busy, unsigned int others,
                      bool wanted) {
    char words[PARTITA_REPORT_LIMIT];
    uint64_t until = reports->divided.stretch << PARTITA_STRETCH_BITS;
    int length = snprintf(
        words, sizeof words,
        PARTITA_REPORT_MAGIC
        "\nreport %020llu\nat %020llu\nbusy %020llu\nothers %03u\nwanted %d\nsampled %020llu\nend %020llu\n",
        (unsigned long long)reports->number, (unsigned long long)reports->divided.passed, (unsigned long long)busy,
        others < 100 ? others : 100, wanted, (unsigned long long)until, (unsigned long long)reports->number);
    int out = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK(out >= 0 && pwrite(out, words, (size_t)length, 0) == length && close(out) == 0);
}

/* Of the time gone through in the last call; of one that is not timed what samples give it. */
static unsigned int percent_of(const struct card_reports *reports, const struct divided_share *share,
                               uint32_t process) {
    uint64_t passed = reports->divided.passed_now;
    return !is_timed(share) ? reports->named[process].percent
           : passed         ? (unsigned int)(share->had_now * 100 / passed)
                            : 0;
}

void card_reports_write(struct card_reports *reports, const struct reported processes[], uint32_t count) {
    /* Drivers want more room than there are processes: 580 with an H100 wants it for 72. */
    enum { ROOM = 1024 };
    static nvmlProcessUtilizationSample_t samples[ROOM];
    unsigned int samples_count = ROOM, untimed = 0, percent[REPORTED_PROCESSES];
    uint32_t share[REPORTED_PROCESSES];
    nvmlReturn_t result = reports->ask(reports->device, samples, &samples_count, reports->time);
    uint64_t now = clock_now();
    if (result != NVML_SUCCESS && result != NVML_ERROR_NOT_FOUND)
        return;
    take_samples(reports, samples, result == NVML_SUCCESS ? samples_count : 0, processes, count, now);
    forget_shares(reports, processes, count);
    for (uint32_t i = 0; i < count; i++) {
        share[i] = share_of(reports, processes[i].file);
        untimed += !is_timed(&reports->shares[share[i]]) && reports->named[i].last + OF_LATE_NS > now;
    }
    divided_time_take(&reports->divided, reports->shares, reports->shares_count, reports->card, untimed, now);
    reports->number++;
    for (uint32_t i = 0; i < count; i++)
        percent[i] = percent_of(reports, &reports->shares[share[i]], i);
    for (uint32_t i = 0; i < count; i++) {
        bool wanted = false;
        for (uint32_t j = 0; j < count; j++)
            wanted |= share[j] != share[i] && percent[j] > 0 && processes[j].high && !processes[i].high;
        unsigned int others = reports->card > percent[i] ? reports->card - percent[i] : 0;
        write_one(reports, processes[i].file, reports->shares[share[i]].had, others, wanted);
    }
}
