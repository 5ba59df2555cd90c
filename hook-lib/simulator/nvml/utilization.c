/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Utilisation, as the driver samples it: over periods that lie behind by a delay, in whole percent, with noise
 * (node.conf: sample-period-us, sample-delay-us, sample-noise, sample-seed). Memory traffic is not simulated: its
 * figure is 0.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "library.h"

#define RECENT 6       /* samples in which a process' activity is looked for */
#define WANTED_ROOM 72 /* entries that driver 580 wants room for with an H100, whatever it fills of them */

/* Microseconds between CLOCK_MONOTONIC and the time of day, the same for all samples that a process is shown. */
static unsigned long long epoch(void) {
    static _Atomic unsigned long long offset;
    struct timespec now;

    if (!offset) {
        unsigned long long none = 0;

        clock_gettime(CLOCK_REALTIME, &now);
        atomic_compare_exchange_strong(&offset, &none,
                                       (unsigned long long)now.tv_sec * 1000000 +
                                           (unsigned long long)now.tv_nsec / 1000 - sim_clock_time() / 1000);
    }
    return offset;
}

static unsigned long long stamp(const struct sim_card *card, uint64_t number) {
    return epoch() + number * card->sample_period;
}

/* The newest sample that the driver has by now. */
static uint64_t newest(const struct sim_card *card) {
    uint64_t now = sim_clock_time() / 1000;

    return now > card->sample_delay ? (now - card->sample_delay) / card->sample_period : 0;
}

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* Who is idle is so without noise. `who` is 0 for the card, else a process. */
static unsigned percent(const struct sim_card *card, uint64_t number, uint64_t who, uint64_t busy) {
    uint64_t range = 2 * (uint64_t)card->sample_noise + 1, hash;
    int64_t value = (int64_t)((busy * 100 + card->sample_period * 500) / (card->sample_period * 1000));

    if (busy == 0)
        return 0;
    hash = mix(mix(card->sample_seed + number * 0x9e3779b97f4a7c15u) + who);
    value += (int64_t)(hash % range) - (int64_t)card->sample_noise;
    return value < 0 ? 0 : value > 100 ? 100 : (unsigned)value;
}

/* What sample `number` shows of the card; false if it is not known any more. */
static bool card_sample(const struct sim_card *card, uint64_t number, unsigned *value) {
    struct sim_sampling begin, end;

    if (number == 0 || !sim_sampling_at(&library_state, card->index, number, &end) ||
        !sim_sampling_at(&library_state, card->index, number - 1, &begin))
        return false;
    *value = percent(card, number, 0, sim_sampled_card(&end) - sim_sampled_card(&begin));
    return true;
}

/* NVML has no utilisation of cards with MIG. */
static nvmlReturn_t device_without_mig(nvmlDevice_t device, const void *output) {
    nvmlReturn_t result = library_device(device, output);

    return result == NVML_SUCCESS && sim_mig_enabled(&library_state, device->card->index) ? NVML_ERROR_NOT_SUPPORTED
                                                                                          : result;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *utilization) {
    FAULT_POINT();
    nvmlReturn_t result = device_without_mig(device, utilization);

    if (result != NVML_SUCCESS)
        return result;
    *utilization = (nvmlUtilization_t){0};
    card_sample(device->card, newest(device->card), &utilization->gpu);
    return NVML_SUCCESS;
}

/* Card samples that are newer than the last one seen, oldest first. Without room: how many there may be. */
nvmlReturn_t nvmlDeviceGetSamples(nvmlDevice_t device, nvmlSamplingType_t type, unsigned long long lastSeenTimeStamp,
                                  nvmlValueType_t *valueType, unsigned int *count, nvmlSample_t *samples) {
    FAULT_POINT();
    nvmlReturn_t result = device_without_mig(device, count);
    uint64_t last, number;
    unsigned found = 0;

    if (result != NVML_SUCCESS)
        return result;
    if (!valueType || (samples && *count == 0))
        return NVML_ERROR_INVALID_ARGUMENT;
    if (type != NVML_GPU_UTILIZATION_SAMPLES && type != NVML_MEMORY_UTILIZATION_SAMPLES)
        return NVML_ERROR_NOT_SUPPORTED;
    *valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
    if (!samples) {
        *count = SIM_SAMPLES;
        return NVML_SUCCESS;
    }
    last = newest(device->card);
    number = last > SIM_SAMPLES ? last - SIM_SAMPLES : 0;
    if (*count < SIM_SAMPLES && number + *count < last)
        number = last - *count;
    while (++number <= last && found < *count) {
        unsigned value = 0;

        if (stamp(device->card, number) <= lastSeenTimeStamp || !card_sample(device->card, number, &value))
            continue;
        samples[found++] = (nvmlSample_t){
            .timeStamp = stamp(device->card, number),
            .sampleValue.uiVal = type == NVML_GPU_UTILIZATION_SAMPLES ? value : 0,
        };
    }
    *count = found;
    return found ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND;
}

/* ns of the SMs that the process had between two samples. */
static uint64_t had_between(const struct sim_sampling *later, const struct sim_sampling *earlier,
                            const struct sim_process_use *use) {
    uint64_t before = sim_sampled_process(earlier, use->slot), after = sim_sampled_process(later, use->slot);

    return after > before ? after - before : 0;
}

/*
 * All of the card's use, with the changes between time slices, for the one that had the card at some moment between the
 * samples, and nothing for the others: who has it longer is named more often.
 */
static uint64_t had_of_all(const struct sim_card *card, const struct sim_sampling *later,
                           const struct sim_sampling *earlier, const struct sim_process_use *use,
                           const struct sim_process_use *uses, unsigned processes) {
    uint64_t sum = 0, before = 0, moment;

    for (unsigned i = 0; i < processes; i++) {
        if (uses[i].slot == use->slot)
            before = sum;
        sum += had_between(later, earlier, &uses[i]);
    }
    if (sum == 0)
        return 0;
    moment = mix(mix(card->sample_seed + later->number * 0x9e3779b97f4a7c15u)) % sum;
    return moment >= before && moment - before < had_between(later, earlier, use)
               ? sim_sampled_card(later) - sim_sampled_card(earlier)
               : 0;
}

/* The newest sample in which the process had the SMs, among the `pairs` of samples; false: it had not. */
static bool process_sample(const struct sim_card *card, const struct sim_sampling *samplings, unsigned pairs,
                           const struct sim_process_use *use, const struct sim_process_use *uses, unsigned processes,
                           nvmlProcessUtilizationSample_t *sample) {
    for (unsigned i = 0; i < pairs; i++) {
        uint64_t had = sim_contrary(&library_node, SIM_SAMPLES_NAME_ONE)
                           ? had_of_all(card, &samplings[i], &samplings[i + 1], use, uses, processes)
                           : had_between(&samplings[i], &samplings[i + 1], use);

        if (had == 0)
            continue;
        *sample = (nvmlProcessUtilizationSample_t){
            .pid = library_pid(use),
            .timeStamp = stamp(card, samplings[i].number),
            .smUtil = percent(card, samplings[i].number, use->slot + 1, had),
        };
        return true;
    }
    return false;
}

/* One sample a process that was active lately, if it is newer than the last one seen. */
nvmlReturn_t nvmlDeviceGetProcessUtilization(nvmlDevice_t device, nvmlProcessUtilizationSample_t *samples,
                                             unsigned int *count, unsigned long long lastSeenTimeStamp) {
    FAULT_POINT();
    nvmlReturn_t result = device_without_mig(device, count);
    struct sim_sampling samplings[RECENT + 1];
    struct sim_process_use *uses;
    unsigned known = 0, processes, found = 0, room;
    uint64_t last;

    if (result == NVML_SUCCESS && sim_contrary(&library_node, SIM_NO_PROCESS_SAMPLES))
        result = NVML_ERROR_NOT_SUPPORTED;
    if (result != NVML_SUCCESS)
        return result;
    room = samples ? *count : 0;
    if (sim_contrary(&library_node, SIM_SAMPLES_NAME_ONE) && room < WANTED_ROOM) {
        *count = WANTED_ROOM;
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    uses = calloc(SIM_MAX_PROCESSES, sizeof *uses);
    if (!uses)
        return NVML_ERROR_MEMORY;
    last = newest(device->card);
    while (known <= RECENT && last > known &&
           (known == 0 || stamp(device->card, last - known + 1) > lastSeenTimeStamp) &&
           sim_sampling_at(&library_state, device->card->index, last - known, &samplings[known]))
        known++;
    processes = sim_state_processes(&library_state, device->card->index, uses, SIM_MAX_PROCESSES);
    processes = processes < SIM_MAX_PROCESSES ? processes : SIM_MAX_PROCESSES;
    for (unsigned i = 0; i < processes && known > 1; i++) {
        nvmlProcessUtilizationSample_t sample;

        if (!library_pid(&uses[i]) ||
            !process_sample(device->card, samplings, known - 1, &uses[i], uses, processes, &sample))
            continue;
        if (found < room)
            samples[found] = sample;
        found++;
    }
    free(uses);
    *count = found;
    return found == 0 ? NVML_ERROR_NOT_FOUND : found > room ? NVML_ERROR_INSUFFICIENT_SIZE : NVML_SUCCESS;
}
