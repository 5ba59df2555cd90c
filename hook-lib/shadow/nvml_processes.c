/*
 * The card's processes as the container sees them: those of its own pid namespace that hold a slot of its shares, under their own
 * pids. NVML's own list has the host's pids and other tenants' processes. Its buffer protocol: *count is the room; too small gives
 * NVML_ERROR_INSUFFICIENT_SIZE and the count; room 0 with processes is that same question.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include "cards.h"
#include "lifetime.h"
#include "nvml_driver.h"

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
 * The real function is asked for its count first, so that a bad device, a lost card or an unsupported call gets the driver's own
 * answer; so do NULL outputs, and cards without a share.
 */
#define RUNNING_PROCESSES(name, type, compute, fill)                                                                  \
    nvmlReturn_t name(nvmlDevice_t device, unsigned int *count, type *processes) {                                    \
        NEED(name);                                                                                                   \
        if (!count || (*count > 0 && !processes))                                                                     \
            return DRIVER(name)(device, count, processes);                                                            \
        int card = nvml_card_of(device);                                                                              \
        if (card == CARD_UNLIMITED)                                                                                   \
            return DRIVER(name)(device, count, processes);                                                            \
        unsigned int real = 0;                                                                                        \
        nvmlReturn_t result = DRIVER(name)(device, &real, NULL);                                                      \
        if (result != NVML_SUCCESS && result != NVML_ERROR_INSUFFICIENT_SIZE)                                         \
            return result;                                                                                            \
        return list(card, compute, count, processes, fill);                                                           \
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
