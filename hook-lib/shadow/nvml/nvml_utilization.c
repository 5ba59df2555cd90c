/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Utilisation as the share sees it: that of the container's own processes, and where the share has a core limit, in
 * percent of what that limit is. The memory controller and the codecs have no limit: their figures are percent of the
 * card.
 *
 * The driver's own samples of processes cannot be used in a container: they carry the host's pids there (seen with
 * 560.35.03, which translates the pids of its list of running processes, and those of its samples not). The node's
 * plugin sees both: it writes the newest sample of each process into the process' slot. The driver is asked first all
 * the same, for its errors: a bad handle, a lost card, a card in MIG mode, of which there are no samples.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "common/lifetime.h"
#include "nvml/nvml_driver.h"
#include "share/cards.h"

enum {
    OWN_MAX = 1024,
    /* a driver samples over up to a second and shows it some time later, and the plugin looks every second */
    RECENT_US = 3000000
};

/* The bytes of partita_slot.utilization. */
enum engine { SMS, MEMORY, ENCODER, DECODER, ENGINES };

struct own {
    unsigned int cores; /* percent of the card that the share's limit is; 0: none */
    size_t count;
    struct card_process all[OWN_MAX];
};

static uint64_t microseconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* The processes that have a sample of late, and a newer one than `since`. */
static void look(int card, uint64_t since, struct own *own) {
    size_t there = card >= 0 ? cards_processes(card, own->all, OWN_MAX) : 0;
    uint64_t now = microseconds_now();
    own->count = 0;
    for (size_t i = 0; i < there && i < OWN_MAX; i++) {
        uint64_t sampled = own->all[i].sampled;
        if (sampled > since && sampled > now - RECENT_US && sampled < now + RECENT_US)
            own->all[own->count++] = own->all[i];
    }
    own->cores = card >= 0 ? cards_core_rules(card).percent : 0;
}

static unsigned int at_most_100(unsigned int percent) {
    return percent < 100 ? percent : 100;
}

/* NVML's percent end at 100, also where a soft limit lends more than the share, or a sample is above a hard one. */
static unsigned int of_share(unsigned int percent, unsigned int cores) {
    percent = at_most_100(percent);
    return cores ? at_most_100((percent * 100 + cores / 2) / cores) : percent;
}

static unsigned int percent_of(const struct card_process *process, enum engine engine) {
    return at_most_100(process->utilization >> 8 * engine & 0xff);
}

struct sums {
    uint64_t newest; /* sample's time; 0: no sample of late */
    unsigned int percent[ENGINES];
};

/* What the whole card does is nobody's business: the sum of the own processes' latest samples. */
static struct sums sum_up(int card) {
    struct own own;
    struct sums sums = {0, {0}};
    look(card, 0, &own);
    for (size_t i = 0; i < own.count; i++) {
        sums.newest = own.all[i].sampled > sums.newest ? own.all[i].sampled : sums.newest;
        for (int engine = 0; engine < ENGINES; engine++)
            sums.percent[engine] = at_most_100(sums.percent[engine] + percent_of(&own.all[i], (enum engine)engine));
    }
    sums.percent[SMS] = of_share(sums.percent[SMS], own.cores);
    return sums;
}

/* NVML's protocol: none is "not found", too little room tells how much is needed. */
static nvmlReturn_t fits(size_t there, unsigned int *count, bool has_room) {
    unsigned int room = has_room ? *count : 0;
    *count = (unsigned int)there;
    return there == 0 ? NVML_ERROR_NOT_FOUND : there > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

/* Whether the driver refuses for another reason than what its own list holds. */
static bool refuses(nvmlReturn_t result) {
    return result != NVML_SUCCESS && result != NVML_ERROR_INSUFFICIENT_SIZE && result != NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t *utilization,
                                             unsigned int *count, unsigned long long since) {
    NEED(nvmlDeviceGetProcessUtilization);
    int card = count ? nvml_card_of(device) : CARD_UNLIMITED;
    if (card == CARD_UNLIMITED)
        return DRIVER(nvmlDeviceGetProcessUtilization)(device, utilization, count, since);
    unsigned int room = 0;
    nvmlReturn_t result = DRIVER(nvmlDeviceGetProcessUtilization)(device, NULL, &room, since);
    if (refuses(result))
        return result;
    struct own own;
    look(card, since, &own);
    result = fits(own.count, count, utilization != NULL);
    for (size_t i = 0; i < own.count && result == NVML_SUCCESS; i++)
        utilization[i] = (nvmlProcessUtilizationSample_t){
            own.all[i].pid,
            own.all[i].sampled,
            of_share(percent_of(&own.all[i], SMS), own.cores),
            percent_of(&own.all[i], MEMORY),
            percent_of(&own.all[i], ENCODER),
            percent_of(&own.all[i], DECODER),
        };
    return result;
}

nvmlReturn_t nvmlDeviceGetProcessesUtilizationInfo(nvmlDevice_t device, nvmlProcessesUtilizationInfo_t *processes) {
    NEED(nvmlDeviceGetProcessesUtilizationInfo);
    int card = processes ? nvml_card_of(device) : CARD_UNLIMITED;
    if (card == CARD_UNLIMITED)
        return DRIVER(nvmlDeviceGetProcessesUtilizationInfo)(device, processes);
    if (processes->version != nvmlProcessesUtilizationInfo_v1) /* a layout that is not known here */
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlProcessesUtilizationInfo_t none = {processes->version, 0, processes->lastSeenTimeStamp, NULL};
    nvmlReturn_t result = DRIVER(nvmlDeviceGetProcessesUtilizationInfo)(device, &none);
    if (refuses(result))
        return result;
    struct own own;
    look(card, processes->lastSeenTimeStamp, &own);
    result = fits(own.count, &processes->processSamplesCount, processes->procUtilArray != NULL);
    for (size_t i = 0; i < own.count && result == NVML_SUCCESS; i++)
        processes->procUtilArray[i] = (nvmlProcessUtilizationInfo_v1_t){
            .timeStamp = own.all[i].sampled,
            .pid = own.all[i].pid,
            .smUtil = of_share(percent_of(&own.all[i], SMS), own.cores),
            .memUtil = percent_of(&own.all[i], MEMORY),
            .encUtil = percent_of(&own.all[i], ENCODER),
            .decUtil = percent_of(&own.all[i], DECODER),
        };
    return result;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization) {
    NEED(nvmlDeviceGetUtilizationRates);
    nvmlReturn_t result = DRIVER(nvmlDeviceGetUtilizationRates)(device, utilization);
    int card = result == NVML_SUCCESS && utilization ? nvml_card_of(device) : CARD_UNLIMITED;
    if (card != CARD_UNLIMITED) {
        struct sums sums = sum_up(card);
        *utilization = (nvmlUtilization_t){.gpu = sums.percent[SMS], .memory = sums.percent[MEMORY]};
    }
    return result;
}

/* The engine of these samples; ENGINES: the plugin does not tell of it; negative: they are no utilisation. */
static int engine_of(nvmlSamplingType_t type) {
    switch (type) {
    case NVML_GPU_UTILIZATION_SAMPLES:
        return SMS;
    case NVML_MEMORY_UTILIZATION_SAMPLES:
        return MEMORY;
    case NVML_ENC_UTILIZATION_SAMPLES:
        return ENCODER;
    case NVML_DEC_UTILIZATION_SAMPLES:
        return DECODER;
    case NVML_JPG_UTILIZATION_SAMPLES:
    case NVML_OFA_UTILIZATION_SAMPLES:
        return ENGINES;
    default:
        return -1;
    }
}

/* Of the driver's many samples of the card there is one of the share: the newest. */
nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t device, nvmlSamplingType_t type, unsigned long long since,
                                  nvmlValueType_t *valueType, unsigned int *count, nvmlSample_t *samples) {
    NEED(nvmlDeviceGetSamples);
    int engine = engine_of(type), card = count && engine >= 0 ? nvml_card_of(device) : CARD_UNLIMITED;
    if (card == CARD_UNLIMITED)
        return DRIVER(nvmlDeviceGetSamples)(device, type, since, valueType, count, samples);
    unsigned int room = *count;
    nvmlReturn_t result = DRIVER(nvmlDeviceGetSamples)(device, type, since, valueType, &(unsigned int){0}, NULL);
    if (refuses(result))
        return result;
    struct sums sums = sum_up(card);
    bool there = engine < ENGINES && sums.newest > since;
    *count = samples ? there : 1;
    if (!samples)
        return NVML_SUCCESS;
    if (!there || room == 0)
        return there ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_ERROR_NOT_FOUND;
    if (valueType)
        *valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
    samples[0] = (nvmlSample_t){sums.newest, {.uiVal = sums.percent[engine]}};
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetDynamicPstatesInfo(nvmlDevice_t device, nvmlGpuDynamicPstatesInfo_t *info) {
    NEED(nvmlDeviceGetDynamicPstatesInfo);
    nvmlReturn_t result = DRIVER(nvmlDeviceGetDynamicPstatesInfo)(device, info);
    int card = result == NVML_SUCCESS && info ? nvml_card_of(device) : CARD_UNLIMITED;
    if (card == CARD_UNLIMITED)
        return result;
    struct sums sums = sum_up(card);
    for (int i = 0; i < NVML_MAX_GPU_UTILIZATIONS; i++)
        info->utilization[i].percentage = 0;
    info->utilization[NVML_GPU_UTILIZATION_DOMAIN_GPU].percentage = sums.percent[SMS];
    info->utilization[NVML_GPU_UTILIZATION_DOMAIN_FB].percentage = sums.percent[MEMORY];
    info->utilization[NVML_GPU_UTILIZATION_DOMAIN_VID].percentage =
        at_most_100(sums.percent[ENCODER] + sums.percent[DECODER]);
    return result;
}

#define CODEC_UTILIZATION(name, percent)                                                                               \
    nvmlReturn_t name(nvmlDevice_t device, unsigned int *utilization, unsigned int *samplingPeriodUs) {                \
        NEED(name);                                                                                                    \
        nvmlReturn_t result = DRIVER(name)(device, utilization, samplingPeriodUs);                                     \
        int card = result == NVML_SUCCESS && utilization ? nvml_card_of(device) : CARD_UNLIMITED;                      \
        if (card != CARD_UNLIMITED)                                                                                    \
            *utilization = (percent);                                                                                  \
        return result;                                                                                                 \
    }

CODEC_UTILIZATION(nvmlDeviceGetEncoderUtilization, sum_up(card).percent[ENCODER])
CODEC_UTILIZATION(nvmlDeviceGetDecoderUtilization, sum_up(card).percent[DECODER])
CODEC_UTILIZATION(nvmlDeviceGetJpgUtilization, 0)
CODEC_UTILIZATION(nvmlDeviceGetOfaUtilization, 0)

/* Counters of the whole card. */
nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t sample) {
    NEED(nvmlGpmSampleGet);
    return nvml_card_of(device) == CARD_UNLIMITED ? DRIVER(nvmlGpmSampleGet)(device, sample)
                                                  : nvml_not_supported(device);
}

nvmlReturn_t nvmlGpmMigSampleGet(nvmlDevice_t device, unsigned int instance, nvmlGpmSample_t sample) {
    NEED(nvmlGpmMigSampleGet);
    return nvml_card_of(device) == CARD_UNLIMITED ? DRIVER(nvmlGpmMigSampleGet)(device, instance, sample)
                                                  : nvml_not_supported(device);
}

nvmlReturn_t nvmlDevicePerfMetricsGetSamples_v1(nvmlDevice_t device, void *samples) {
    NEED(nvmlDevicePerfMetricsGetSamples_v1);
    return nvml_card_of(device) == CARD_UNLIMITED ? DRIVER(nvmlDevicePerfMetricsGetSamples_v1)(device, samples)
                                                  : nvml_not_supported(device);
}

static bool tells_of_use(unsigned int field) {
    return field == NVML_FI_DEV_PERF_POLICY_LOW_UTILIZATION || field == NVML_FI_DEV_POWER_SYNC_BALANCING_AF ||
           field == NVML_FI_DEV_MMA_STALL_PERCENT;
}

/* All other fields are the card as it is: errors, links, clocks, power, settings. */
nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values) {
    NEED(nvmlDeviceGetFieldValues);
    nvmlReturn_t result = DRIVER(nvmlDeviceGetFieldValues)(device, count, values);
    if (result != NVML_SUCCESS || !values || nvml_card_of(device) == CARD_UNLIMITED)
        return result;
    for (int i = 0; i < count; i++)
        if (values[i].nvmlReturn == NVML_SUCCESS && tells_of_use(values[i].fieldId)) {
            values[i].nvmlReturn = NVML_ERROR_NOT_SUPPORTED;
            values[i].value.ullVal = 0;
        }
    return result;
}

nvmlReturn_t nvmlDeviceGetViolationStatus(nvmlDevice_t device, nvmlPerfPolicyType_t policy, nvmlViolationTime_t *time) {
    NEED(nvmlDeviceGetViolationStatus);
    if (policy == NVML_PERF_POLICY_LOW_UTILIZATION && nvml_card_of(device) != CARD_UNLIMITED)
        return nvml_not_supported(device);
    return DRIVER(nvmlDeviceGetViolationStatus)(device, policy, time);
}
