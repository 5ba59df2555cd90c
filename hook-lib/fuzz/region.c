/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that goes on charging and giving back while its usage region is scribbled in, as another process of the
 * container could. It must not crash or hang, never be granted more than the quota by its own count, and have the whole
 * quota again once the region is wiped. The input is a list of steps; see `step`.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cores/core_account.h"
#include "cores/core_reports.h"
#include "fuzz.h"
#include "share/credit.h"
#include "share/share.h"

enum { QUOTA_UNITS = 1 << 16, STEPS_MAX = 96 };

static char folder[] = "/tmp/partita-fuzz-XXXXXX";
static char quota_path[64], usage_path[64];
static int usage;
static uint64_t physical; /* units, as the quota file says */

static void remove_files(void) {
    unlink(quota_path);
    unlink(usage_path);
    rmdir(folder);
}

/* `units` of the quota may lie on the card; all of them: the file does not say so. */
static void write_quota(uint64_t units) {
    FILE *quota = fopen(quota_path, "we");
    EXPECT(quota);
    fprintf(quota, "partita-quota 1\ngeneration 1\ngpu GPU-1\nmemory %u\n", QUOTA_UNITS * PARTITA_UNIT);
    if (units < QUOTA_UNITS)
        fprintf(quota, "physical %llu\n", (unsigned long long)(units * PARTITA_UNIT));
    EXPECT(fprintf(quota, "end\n") > 0 && fclose(quota) == 0);
    physical = units;
}

static void prepare(void) {
    if (usage)
        return;
    EXPECT(mkdtemp(folder));
    snprintf(quota_path, sizeof quota_path, "%s/quota", folder);
    snprintf(usage_path, sizeof usage_path, "%s/usage", folder);
    atexit(remove_files);
    write_quota(QUOTA_UNITS);
    usage = open(usage_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    EXPECT(usage > 0);
}

struct input {
    const uint8_t *at, *end;
};

static uint64_t take(struct input *input, size_t bytes) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes && input->at < input->end; i++)
        value |= (uint64_t)*input->at++ << (8 * i);
    return value;
}

/* Writes some of the input's bytes where it says. */
static void scribble(struct input *input, unsigned char *region) {
    size_t kind = take(input, 1), place, length = take(input, 1) % 64;
    if (kind % 3 == 0) /* anywhere */
        place = take(input, 3) % PARTITA_USAGE_SIZE;
    else if (kind % 3 == 1) /* the first page */
        place = take(input, 2) % offsetof(struct partita_region, slots);
    else /* the first slots */
        place = offsetof(struct partita_region, slots) + take(input, 2) % (8 * sizeof(struct partita_slot));
    for (size_t i = 0; i < length && place + i < PARTITA_USAGE_SIZE && input->at < input->end; i++)
        region[place + i] = *input->at++;
}

static void account(struct input *input, struct partita_region *region) {
    /* a clock of the machine: not believed is only the account */
    uint64_t from = take(input, 8) >> 4, length = take(input, 5);
    uint64_t fresh = core_account_cover(&region->compute, from, from + length);
    EXPECT(fresh <= length);
    core_account_charge(&region->compute.account, from, length, core_reports_cost(&region->compute.account, fresh),
                        (unsigned int)take(input, 1) % 101, CORE_SHARED_DEBT_NS);
    EXPECT(core_account_due(&region->compute.account, from, CORE_SHARED_DEBT_NS) <= CORE_SHARED_DEBT_NS);
    core_account_reprice(&region->compute.account, from, (unsigned int)take(input, 1) % 101,
                         (unsigned int)take(input, 1) % 101, CORE_SHARED_DEBT_NS);
    EXPECT(core_account_due(&region->compute.account, from, CORE_SHARED_DEBT_NS) <= CORE_SHARED_DEBT_NS);
    struct card_report report = {take(input, 2), take(input, 5),     take(input, 8), (unsigned int)take(input, 1) % 101,
                                 false,          take(input, 8) >> 4};
    core_reports_take(&region->compute.account, &report, from, (unsigned int)take(input, 1) % 101);
}

static void look(const struct partita_region *region, struct share *share) {
    struct seat seat;
    struct owner owner;
    for (uint32_t slot = 0; slot < 16; slot++)
        if (seats_owner(region, slot, &seat, &owner))
            EXPECT(seat.slot == slot);
    (void)share_used(share);
    (void)credit_used(region);
}

/* Units that the process was granted and has not given back. */
struct held {
    uint64_t resident, paged;
};

static void charge(struct share *share, struct held *held, enum share_memory memory, uint64_t units, bool part) {
    uint64_t granted = share_charge(share, memory, units, part);
    EXPECT(granted <= units && (part || granted == 0 || granted == units));
    *(memory == SHARE_PAGED ? &held->paged : &held->resident) += granted;
    if (memory == SHARE_RESIDENT && granted > 0)
        EXPECT(held->resident <= physical);
}

static void release(struct share *share, struct held *held, enum share_memory memory, uint64_t units) {
    uint64_t *holds = memory == SHARE_PAGED ? &held->paged : &held->resident;
    uint64_t wanted = units < *holds ? units : *holds;
    EXPECT(share_release(share, memory, units) == wanted);
    *holds -= wanted;
}

/* Codes below 8 mean what they meant before there were others: the corpus has them. */
static void step(struct input *input, struct share *share, struct held *held, unsigned char *region) {
    uint64_t units;
    switch (take(input, 1) % 12) {
    case 0:
        units = take(input, 2);
        charge(share, held, SHARE_RESIDENT, units, take(input, 1) & 1);
        break;
    case 1:
        units = take(input, 4);
        charge(share, held, SHARE_RESIDENT, units, take(input, 1) & 1);
        break;
    case 2:
        release(share, held, SHARE_RESIDENT, take(input, 2));
        break;
    case 3:
        share_call_in(share);
        break;
    case 4:
        share_tend(share, SHARE_NOW, take(input, 1) & 1);
        break;
    case 5:
        if (share->file.region)
            account(input, share->file.region);
        break;
    case 6:
        if (share->file.region)
            look(share->file.region, share);
        break;
    case 7:
        scribble(input, region);
        break;
    case 8:
        units = take(input, 2);
        charge(share, held, SHARE_PAGED, units, take(input, 1) & 1);
        break;
    case 9:
        release(share, held, SHARE_PAGED, take(input, 2));
        break;
    case 10:
        write_quota(take(input, 2) + 1);
        share_tend(share, SHARE_NOW, true);
        break;
    default:
        EXPECT(share_oversubscribes(share) == (physical < QUOTA_UNITS));
        units = take(input, 4);
        charge(share, held, SHARE_PAGED, units, take(input, 1) & 1);
    }
}

/* After a wipe of the region every unit can be had again, each kind as far as the quota says. */
static void expect_all(struct share *share, struct held *held) {
    EXPECT(share_release(share, SHARE_PAGED, QUOTA_UNITS) == held->paged);
    EXPECT(share_release(share, SHARE_RESIDENT, QUOTA_UNITS) == held->resident);
    EXPECT(share_held(share) == 0 && share->paged == 0);
    share_call_in(share);
    if (physical < QUOTA_UNITS) {
        EXPECT(share_charge(share, SHARE_RESIDENT, physical + 1, false) == 0);
        EXPECT(share_charge(share, SHARE_RESIDENT, physical, false) == physical);
        EXPECT(share_charge(share, SHARE_RESIDENT, 1, true) == 0);
        EXPECT(share_charge(share, SHARE_PAGED, QUOTA_UNITS, true) == QUOTA_UNITS - physical);
    } else {
        EXPECT(share_charge(share, SHARE_RESIDENT, QUOTA_UNITS, false) == QUOTA_UNITS);
    }
    EXPECT(share_charge(share, SHARE_PAGED, 1, true) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct share share;
    struct input input = {data, data + size};
    struct held held = {0, 0};
    prepare();
    if (physical < QUOTA_UNITS)
        write_quota(QUOTA_UNITS);
    EXPECT(ftruncate(usage, 0) == 0 && ftruncate(usage, PARTITA_USAGE_SIZE) == 0);
    unsigned char *region = mmap(NULL, PARTITA_USAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, usage, 0);
    EXPECT(region != MAP_FAILED);
    memset(&share, 0, sizeof share);
    strcpy(share.quota_path, quota_path);
    strcpy(share.usage_path, usage_path);
    share_open(&share);
    share_tend(&share, SHARE_NOW, true);
    for (int i = 0; i < STEPS_MAX && input.at < input.end; i++) {
        step(&input, &share, &held, region);
        EXPECT(held.resident + held.paged <= QUOTA_UNITS);
        EXPECT(held.resident + held.paged == share_held(&share) && held.paged == share.paged);
    }
    memset(region, 0, PARTITA_USAGE_SIZE);
    share_tend(&share, SHARE_NOW, true);
    expect_all(&share, &held);
    munmap(region, PARTITA_USAGE_SIZE);
    if (share.file.region) { /* never closed in life: here it is another process each time */
        munmap(share.file.region, PARTITA_USAGE_SIZE);
        close(share.file.descriptor);
    }
    return 0;
}
