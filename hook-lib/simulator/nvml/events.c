/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: XID errors, as somebody raised them (partita-sim-driver xid). A set sees those that come after its
 * registration.
 */
#include <stdlib.h>
#include <time.h>

#include "library.h"

#define NAP_NS 2000000

struct nvmlEventSet_st {
    pthread_mutex_t lock;
    uint64_t cards; /* a bit a card that wants XID errors */
    uint64_t seen;  /* events up to here */
};

nvmlReturn_t nvmlEventSetCreate(nvmlEventSet_t *set) {
    FAULT_POINT();
    nvmlReturn_t ready = library_ready();

    if (ready != NVML_SUCCESS)
        return ready;
    if (!set)
        return NVML_ERROR_INVALID_ARGUMENT;
    *set = calloc(1, sizeof **set);
    if (!*set)
        return NVML_ERROR_MEMORY;
    pthread_mutex_init(&(*set)->lock, NULL);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlEventSetFree(nvmlEventSet_t set) {
    FAULT_POINT();
    nvmlReturn_t ready = library_ready();

    if (ready != NVML_SUCCESS)
        return ready;
    if (!set)
        return NVML_ERROR_INVALID_ARGUMENT;
    pthread_mutex_destroy(&set->lock);
    free(set);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetSupportedEventTypes(nvmlDevice_t device, unsigned long long *types) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, types);

    if (result == NVML_SUCCESS)
        *types = nvmlEventTypeXidCriticalError;
    return result;
}

nvmlReturn_t nvmlDeviceRegisterEvents(nvmlDevice_t device, unsigned long long types, nvmlEventSet_t set) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, set);

    if (result != NVML_SUCCESS)
        return result;
    if (types & ~nvmlEventTypeXidCriticalError)
        return NVML_ERROR_NOT_SUPPORTED;
    pthread_mutex_lock(&set->lock);
    if (!set->cards)
        set->seen = library_state.region->event_count;
    if (types)
        set->cards |= UINT64_C(1) << device->card->index;
    pthread_mutex_unlock(&set->lock);
    return NVML_SUCCESS;
}

static nvmlDevice_t device_of(unsigned card) {
    for (unsigned i = 0; i < library_device_count; i++)
        if (library_devices[i].card->index == card)
            return &library_devices[i];
    return NULL;
}

/* The next event that the set wants. */
static bool next(nvmlEventSet_t set, nvmlEventData_t *data) {
    const struct sim_region *region = library_state.region;
    bool found = false;

    pthread_mutex_lock(&set->lock);
    if (region->event_count - set->seen > SIM_MAX_EVENTS)
        set->seen = region->event_count - SIM_MAX_EVENTS;
    while (!found && set->seen < region->event_count) {
        const struct sim_event *event = &region->events[set->seen++ % SIM_MAX_EVENTS];

        found = event->card < SIM_MAX_CARDS && set->cards >> event->card & 1 && device_of(event->card);
        if (found)
            *data = (nvmlEventData_t){.device = device_of(event->card),
                                      .eventType = nvmlEventTypeXidCriticalError,
                                      .eventData = event->xid,
                                      .gpuInstanceId = NVML_NO_INSTANCE,
                                      .computeInstanceId = NVML_NO_INSTANCE};
    }
    pthread_mutex_unlock(&set->lock);
    return found;
}

nvmlReturn_t nvmlEventSetWait_v2(nvmlEventSet_t set, nvmlEventData_t *data, unsigned int timeoutMs) {
    FAULT_POINT();
    nvmlReturn_t ready = library_ready();
    uint64_t end = sim_clock_time() + (uint64_t)timeoutMs * 1000000;

    if (ready != NVML_SUCCESS)
        return ready;
    if (!set || !data)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (;;) {
        if (next(set, data))
            return NVML_SUCCESS;
        if (sim_clock_time() >= end)
            return NVML_ERROR_TIMEOUT;
        nanosleep(&(struct timespec){0, NAP_NS}, NULL);
    }
}

/* The first version's data ends before the instances. */
nvmlReturn_t nvmlEventSetWait(nvmlEventSet_t set, nvmlEventData_v1_t *data, unsigned int timeoutMs) {
    FAULT_POINT();
    nvmlEventData_t wide;
    nvmlReturn_t result = nvmlEventSetWait_v2(set, data ? &wide : NULL, timeoutMs);

    if (result == NVML_SUCCESS)
        *data = (nvmlEventData_v1_t){wide.device, wide.eventType, wide.eventData};
    return result;
}
