/* SPDX-License-Identifier: Apache-2.0 */
/* Memory limits of cgroups, as NVML 615 (CUDA 13.4) has them. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "mig.h"

/* By node.conf as it is now; read again only when it has changed, for a program may ask often. */
static bool are_known(void) {
    static pthread_mutex_t reading = PTHREAD_MUTEX_INITIALIZER;
    static struct timespec changed;
    static bool known;
    char path[PATH_MAX + 64];
    struct stat status;
    struct sim_node *now;
    bool answer;

    snprintf(path, sizeof path, "%s/" SIM_CONF_PATH, library_node.root);
    pthread_mutex_lock(&reading);
    if (stat(path, &status) == 0 &&
        (status.st_mtim.tv_sec != changed.tv_sec || status.st_mtim.tv_nsec != changed.tv_nsec)) {
        now = malloc(sizeof *now);
        if (now && sim_node_read(library_node.root, now, NULL, 0)) {
            known = now->memory_limits;
            changed = status.st_mtim;
        }
        free(now);
    }
    answer = known;
    pthread_mutex_unlock(&reading);
    return answer;
}

/* A card that has them, and a folder that is there: of any hierarchy, since a test's machine may have no second one. */
static nvmlReturn_t limited(nvmlDevice_t device, const void *limits, const char *cgroup) {
    nvmlReturn_t result = library_device(device, limits);
    struct stat status;

    if (result != NVML_SUCCESS)
        return result;
    if (!are_known() || sim_mig_enabled(&library_state, device->card->index))
        return NVML_ERROR_NOT_SUPPORTED;
    if (!cgroup)
        return NVML_ERROR_INVALID_ARGUMENT;
    return stat(cgroup, &status) == 0 && S_ISDIR(status.st_mode) ? NVML_SUCCESS : NVML_ERROR_OPERATING_SYSTEM;
}

nvmlReturn_t nvmlDeviceSetMemoryLimits_v1(nvmlDevice_t device, nvmlSetMemoryLimits_v1_t *limits) {
    FAULT_POINT();
    nvmlReturn_t result = limited(device, limits, limits ? limits->nameSpace : NULL);
    bool none;

    if (result == NVML_SUCCESS)
        result = library_may_change();
    if (result != NVML_SUCCESS)
        return result;
    none = limits->hardLimit == NVML_DEVICE_MEMORY_LIMIT_MAX;
    if (limits->softLimit > limits->hardLimit || limits->softLimit > device->card->memory ||
        (!none && limits->hardLimit > device->card->memory))
        return NVML_ERROR_INVALID_ARGUMENT;
    return sim_limit_set(&library_state, device->card->index, limits->nameSpace, limits->softLimit, limits->hardLimit)
               ? NVML_SUCCESS
               : NVML_ERROR_UNKNOWN;
}

nvmlReturn_t nvmlDeviceGetMemoryLimits_v1(nvmlDevice_t device, nvmlGetMemoryLimits_v1_t *limits) {
    FAULT_POINT();
    nvmlReturn_t result = limited(device, limits, limits ? limits->nameSpace : NULL);
    struct sim_limit limit;
    uint64_t used;

    if (result != NVML_SUCCESS)
        return result;
    if (!sim_limit_get(&library_state, device->card->index, limits->nameSpace, &limit, &used))
        return NVML_ERROR_NOT_FOUND;
    limits->softLimit = limit.soft;
    limits->hardLimit = limit.hard;
    limits->currentUsed = used;
    return NVML_SUCCESS;
}
