/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisation (counted), the system's texts, and the checks that every call begins with. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "library.h"

struct sim_node library_node;
struct sim_state library_state = {.locks = -1, .slot = -1};
struct nvmlDevice_st library_devices[SIM_MAX_CARDS];
unsigned library_device_count;

static pthread_mutex_t init_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned initialised;

nvmlReturn_t library_ready(void) {
    return initialised ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

nvmlReturn_t library_device(nvmlDevice_t device, const void *output) {
    if (!initialised)
        return NVML_ERROR_UNINITIALIZED;
    if (!output)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < library_device_count; i++)
        if (device == &library_devices[i])
            return sim_card_lost(&library_node, device->card) ? NVML_ERROR_GPU_IS_LOST : NVML_SUCCESS;
    return library_is_mig_device(device) ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_INVALID_ARGUMENT;
}

/* The driver translates pids for who asks, or tells each as its own container has it. */
unsigned library_pid(const struct sim_process_use *use) {
    return sim_contrary(&library_node, SIM_CONTAINER_PIDS) ? library_state.region->processes[use->slot].pid : use->pid;
}

nvmlReturn_t library_text(char *target, unsigned length, const char *text) {
    if (strlen(text) >= length)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    memcpy(target, text, strlen(text) + 1);
    return NVML_SUCCESS;
}

static bool control_node_opens(void) {
    char path[PATH_MAX + 32];
    int fd;

    snprintf(path, sizeof path, "%s/dev/nvidiactl", library_node.root);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return false;
    close(fd);
    return true;
}

static nvmlReturn_t initialise(void) {
    char root[PATH_MAX];

    /*
     * The state stays mapped over nvmlShutdown: closing its descriptors would end locks that libcuda holds in this
     * process.
     */
    if (!library_state.region) {
        if (!sim_root_of((const void *)&library_node, root) || !sim_node_read(root, &library_node, NULL, 0) ||
            !control_node_opens())
            return NVML_ERROR_DRIVER_NOT_LOADED;
        if (!sim_state_open(&library_state, &library_node, true) &&
            !sim_state_open(&library_state, &library_node, false))
            return NVML_ERROR_OPERATING_SYSTEM;
    }
    library_device_count = 0;
    for (unsigned i = 0; i < library_node.card_count; i++)
        if (sim_card_visible(&library_node, &library_node.cards[i])) {
            library_devices[library_device_count] =
                (struct nvmlDevice_st){.index = library_device_count, .card = &library_node.cards[i]};
            library_device_count++;
        }
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlInitWithFlags(unsigned int flags) {
    FAULT_POINT();
    nvmlReturn_t result = NVML_SUCCESS;

    if (flags & ~(unsigned)(NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH))
        return NVML_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&init_lock);
    if (initialised == 0)
        result = initialise();
    if (result == NVML_SUCCESS)
        initialised++;
    pthread_mutex_unlock(&init_lock);
    return result;
}

nvmlReturn_t nvmlInit_v2(void) {
    FAULT_POINT();
    return nvmlInitWithFlags(0);
}

nvmlReturn_t nvmlInit(void) {
    FAULT_POINT();
    return nvmlInitWithFlags(0);
}

nvmlReturn_t nvmlShutdown(void) {
    FAULT_POINT();
    nvmlReturn_t result = NVML_SUCCESS;

    pthread_mutex_lock(&init_lock);
    if (initialised == 0)
        result = NVML_ERROR_UNINITIALIZED;
    else
        initialised--;
    pthread_mutex_unlock(&init_lock);
    return result;
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length) {
    FAULT_POINT();
    if (!initialised)
        return NVML_ERROR_UNINITIALIZED;
    return version ? library_text(version, length, library_node.driver_version) : NVML_ERROR_INVALID_ARGUMENT;
}

/* NVML's version is the CUDA version's major number and the driver's version: 13.580.95.05. */
nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length) {
    FAULT_POINT();
    char text[64];

    if (!initialised)
        return NVML_ERROR_UNINITIALIZED;
    if (!version)
        return NVML_ERROR_INVALID_ARGUMENT;
    snprintf(text, sizeof text, "%d.%s", library_node.cuda_version / 1000, library_node.driver_version);
    return library_text(version, length, text);
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version) {
    FAULT_POINT();
    if (!initialised)
        return NVML_ERROR_UNINITIALIZED;
    if (!version)
        return NVML_ERROR_INVALID_ARGUMENT;
    *version = library_node.cuda_version;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version) {
    FAULT_POINT();
    return nvmlSystemGetCudaDriverVersion(version);
}

nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char *name, unsigned int length) {
    FAULT_POINT();
    char path[64], text[4096];
    FILE *file;
    size_t read;

    if (!initialised)
        return NVML_ERROR_UNINITIALIZED;
    if (!name || length == 0)
        return NVML_ERROR_INVALID_ARGUMENT;
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    file = fopen(path, "re");
    if (!file)
        return NVML_ERROR_NOT_FOUND;
    read = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[read] = '\0';
    snprintf(name, length, "%s", text);
    return NVML_SUCCESS;
}

const char *nvmlErrorString(nvmlReturn_t result) {
    switch (result) {
    case NVML_SUCCESS:
        return "Success";
    case NVML_ERROR_UNINITIALIZED:
        return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT:
        return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED:
        return "Not Supported";
    case NVML_ERROR_NO_PERMISSION:
        return "Insufficient Permissions";
    case NVML_ERROR_ALREADY_INITIALIZED:
        return "Already Initialized";
    case NVML_ERROR_NOT_FOUND:
        return "Not Found";
    case NVML_ERROR_INSUFFICIENT_SIZE:
        return "Insufficient Size";
    case NVML_ERROR_INSUFFICIENT_POWER:
        return "Insufficient External Power";
    case NVML_ERROR_DRIVER_NOT_LOADED:
        return "Driver Not Loaded";
    case NVML_ERROR_TIMEOUT:
        return "Timeout";
    case NVML_ERROR_IRQ_ISSUE:
        return "Interrupt Request Issue";
    case NVML_ERROR_LIBRARY_NOT_FOUND:
        return "NVML Shared Library Not Found";
    case NVML_ERROR_FUNCTION_NOT_FOUND:
        return "Function Not Found";
    case NVML_ERROR_CORRUPTED_INFOROM:
        return "Corrupted infoROM";
    case NVML_ERROR_GPU_IS_LOST:
        return "GPU is lost";
    case NVML_ERROR_RESET_REQUIRED:
        return "GPU requires reset";
    case NVML_ERROR_OPERATING_SYSTEM:
        return "GPU access blocked by the operating system";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
        return "Driver/library version mismatch";
    case NVML_ERROR_IN_USE:
        return "In use by another client";
    case NVML_ERROR_MEMORY:
        return "Insufficient Memory";
    case NVML_ERROR_NO_DATA:
        return "No data";
    case NVML_ERROR_INSUFFICIENT_RESOURCES:
        return "Insufficient Resources";
    case NVML_ERROR_ARGUMENT_VERSION_MISMATCH:
        return "Argument Version Mismatch";
    default:
        return "Unknown Error";
    }
}
