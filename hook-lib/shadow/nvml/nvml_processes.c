/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The card's processes as the container sees them: those of its own pid namespace that hold a slot of its shares, under
 * their own pids. NVML's own list has the host's pids and other tenants' processes. Its buffer protocol: *count is the
 * room; too small gives NVML_ERROR_INSUFFICIENT_SIZE and the count; room 0 with processes is that same question.
 *
 * Of other kinds of processes - those that draw, encode, or stand in the card's accounting - the ledger does not know
 * which are the container's own: none is shown.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/lifetime.h"
#include "nvml/nvml_driver.h"
#include "share/cards.h"

enum { LISTED_MAX = 1024 };

/* What the container's own list says; `fill` writes the i-th entry in the caller's layout. */
static nvmlReturn_t list(int card, bool compute, unsigned int *count, void *into,
                         void (*fill)(void *into, size_t i, struct card_process process)) {
    struct card_process processes[LISTED_MAX];
    size_t there = 0;
    if (compute && card >= 0)
        there = cards_processes(card, processes, LISTED_MAX);
    if (there > LISTED_MAX)
        there = LISTED_MAX;
    unsigned int room = *count;
    *count = (unsigned int)there;
    if (there > room)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    for (size_t i = 0; i < there; i++)
        fill(into, i, processes[i]);
    return NVML_SUCCESS;
}

static void fill_v1(void *into, size_t i, struct card_process process) {
    ((nvmlProcessInfo_v1_t *)into)[i] = (nvmlProcessInfo_v1_t){process.pid, process.bytes};
}

static void fill_v2(void *into, size_t i, struct card_process process) {
    ((nvmlProcessInfo_t *)into)[i] =
        (nvmlProcessInfo_t){process.pid, process.bytes, NVML_NO_INSTANCE, NVML_NO_INSTANCE};
}

/*
 * The real function is asked for its count first, so that a bad device, a lost card or an unsupported call gets the
 * driver's own answer; so do NULL outputs, and cards without a share.
 */
#define RUNNING_PROCESSES(name, type, compute, fill)                                                                   \
    nvmlReturn_t name(nvmlDevice_t device, unsigned int *count, type *processes) {                                     \
        NEED(name);                                                                                                    \
        if (!count || (*count > 0 && !processes))                                                                      \
            return DRIVER(name)(device, count, processes);                                                             \
        int card = nvml_card_of(device);                                                                               \
        if (card == CARD_UNLIMITED)                                                                                    \
            return DRIVER(name)(device, count, processes);                                                             \
        unsigned int real = 0;                                                                                         \
        nvmlReturn_t result = DRIVER(name)(device, &real, NULL);                                                       \
        if (result != NVML_SUCCESS && result != NVML_ERROR_INSUFFICIENT_SIZE)                                          \
            return result;                                                                                             \
        return list(card, compute, count, processes, fill);                                                            \
    }

RUNNING_PROCESSES(nvmlDeviceGetComputeRunningProcesses, nvmlProcessInfo_v1_t, true, fill_v1)
RUNNING_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2, nvmlProcessInfo_v2_t, true, fill_v2)
RUNNING_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3, nvmlProcessInfo_t, true, fill_v2)
RUNNING_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses, nvmlProcessInfo_v1_t, false, fill_v1)
RUNNING_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlProcessInfo_v2_t, false, fill_v2)
RUNNING_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlProcessInfo_t, false, fill_v2)
RUNNING_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses, nvmlProcessInfo_v1_t, false, fill_v1)
RUNNING_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v2, nvmlProcessInfo_v2_t, false, fill_v2)
RUNNING_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3, nvmlProcessInfo_t, false, fill_v2)

static void fill_detail(void *into, size_t i, struct card_process process) {
    ((nvmlProcessDetail_v1_t *)into)[i] = (nvmlProcessDetail_v1_t){.pid = process.pid,
                                                                   .usedGpuMemory = process.bytes,
                                                                   .gpuInstanceId = NVML_NO_INSTANCE,
                                                                   .computeInstanceId = NVML_NO_INSTANCE};
}

nvmlReturn_t nvmlDeviceGetRunningProcessDetailList(nvmlDevice_t device, nvmlProcessDetailList_t *all) {
    NEED(nvmlDeviceGetRunningProcessDetailList);
    int card = all && (all->procArray || all->numProcArrayEntries == 0) ? nvml_card_of(device) : CARD_UNLIMITED;
    if (card == CARD_UNLIMITED)
        return DRIVER(nvmlDeviceGetRunningProcessDetailList)(device, all);
    if (all->version != NVML_STRUCT_VERSION(nvmlProcessDetailList_t, 1)) /* a layout that is not known here */
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    nvmlProcessDetailList_t none = {all->version, all->mode, 0, NULL};
    nvmlReturn_t result = DRIVER(nvmlDeviceGetRunningProcessDetailList)(device, &none);
    if (result != NVML_SUCCESS && result != NVML_ERROR_INSUFFICIENT_SIZE)
        return result;
    bool compute = all->mode == NVML_PROCESS_MODE_COMPUTE || all->mode == NVML_PROCESS_MODE_ALL;
    return list(card, compute, &all->numProcArrayEntries, all->procArray, fill_detail);
}

/* Lists with a count of their own kinds of entries: none, where the driver has one. */
#define NO_LIST(name, type)                                                                                            \
    nvmlReturn_t name(nvmlDevice_t device, unsigned int *count, type *entries) {                                       \
        NEED(name);                                                                                                    \
        int card = count ? nvml_card_of(device) : CARD_UNLIMITED;                                                      \
        if (card == CARD_UNLIMITED)                                                                                    \
            return DRIVER(name)(device, count, entries);                                                               \
        unsigned int real = 0;                                                                                         \
        nvmlReturn_t result = DRIVER(name)(device, &real, NULL);                                                       \
        if (result != NVML_SUCCESS && result != NVML_ERROR_INSUFFICIENT_SIZE)                                          \
            return result;                                                                                             \
        *count = 0;                                                                                                    \
        return NVML_SUCCESS;                                                                                           \
    }

NO_LIST(nvmlDeviceGetEncoderSessions, void)
NO_LIST(nvmlDeviceGetFBCSessions, void)
NO_LIST(nvmlDeviceGetAccountingPids, unsigned int)

nvmlReturn_t nvmlDeviceGetEncoderStats(nvmlDevice_t device, unsigned int *sessions, unsigned int *fps,
                                       unsigned int *latency) {
    NEED(nvmlDeviceGetEncoderStats);
    nvmlReturn_t result = DRIVER(nvmlDeviceGetEncoderStats)(device, sessions, fps, latency);
    if (result == NVML_SUCCESS && sessions && fps && latency && nvml_card_of(device) != CARD_UNLIMITED)
        *sessions = *fps = *latency = 0;
    return result;
}

nvmlReturn_t nvmlDeviceGetFBCStats(nvmlDevice_t device, nvmlFBCStats_t *stats) {
    NEED(nvmlDeviceGetFBCStats);
    nvmlReturn_t result = DRIVER(nvmlDeviceGetFBCStats)(device, stats);
    if (result == NVML_SUCCESS && stats && nvml_card_of(device) != CARD_UNLIMITED)
        *stats = (nvmlFBCStats_t){0, 0, 0};
    return result;
}

/* The driver would answer for any number that is a process of the host's. */
nvmlReturn_t nvmlDeviceGetAccountingStats(nvmlDevice_t device, unsigned int pid, nvmlAccountingStats_t *stats) {
    NEED(nvmlDeviceGetAccountingStats);
    nvmlAccountingStats_t real;
    if (!stats || nvml_card_of(device) == CARD_UNLIMITED)
        return DRIVER(nvmlDeviceGetAccountingStats)(device, pid, stats);
    nvmlReturn_t result = DRIVER(nvmlDeviceGetAccountingStats)(device, pid, &real);
    return result == NVML_SUCCESS ? NVML_ERROR_NOT_FOUND : result;
}

nvmlReturn_t nvmlDeviceGetAccountingStats_v2(nvmlDevice_t device, nvmlAccountingStats_v2_t *stats) {
    NEED(nvmlDeviceGetAccountingStats_v2);
    if (!stats || nvml_card_of(device) == CARD_UNLIMITED)
        return DRIVER(nvmlDeviceGetAccountingStats_v2)(device, stats);
    nvmlAccountingStats_v2_t real = {.pid = stats->pid};
    nvmlReturn_t result = DRIVER(nvmlDeviceGetAccountingStats_v2)(device, &real);
    return result == NVML_SUCCESS ? NVML_ERROR_NOT_FOUND : result;
}
