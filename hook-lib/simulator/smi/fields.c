/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "fields.h"

#define MIB (1024ull * 1024)

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...) {
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text->bytes, sizeof text->bytes, format, arguments);
    va_end(arguments);
}

static void index_value(const struct row *row, struct text *text) {
    put(text, "%u", row->card->index);
}

static void name_value(const struct row *row, struct text *text) {
    put(text, "%s", row->card->name);
}

static void uuid_value(const struct row *row, struct text *text) {
    put(text, "%s", row->card->uuid);
}

static void bus_value(const struct row *row, struct text *text) {
    put(text, "%s", row->card->pci.busId);
}

static void pid_value(const struct row *row, struct text *text) {
    put(text, "%u", row->process->pid);
}

static void process_value(const struct row *row, struct text *text) {
    if (nvml.process_name(row->process->pid, text->bytes, sizeof text->bytes) != NVML_SUCCESS)
        put(text, "[Not Found]");
}

static void process_memory_value(const struct row *row, struct text *text) {
    put(text, "%llu", row->process->usedGpuMemory / MIB);
}

static void pstate_value(const struct row *row, struct text *text) {
    (void)row;
    put(text, "P0");
}

static void compute_mode_value(const struct row *row, struct text *text) {
    (void)row;
    put(text, "Default");
}

static void count_value(const struct row *row, struct text *text) {
    unsigned count = 0;

    (void)row;
    nvml.count(&count);
    put(text, "%u", count);
}

static void driver_value(const struct row *row, struct text *text) {
    (void)row;
    if (nvml.driver_version(text->bytes, sizeof text->bytes) != NVML_SUCCESS)
        put(text, "[N/A]");
}

static void time_value(const struct row *row, struct text *text) {
    time_t now = time(NULL);

    (void)row;
    strftime(text->bytes, sizeof text->bytes, "%Y/%m/%d %H:%M:%S.000", localtime(&now));
}

/* What the real one says of a figure that it has not. */
static const char *missing(nvmlReturn_t result) {
    return result == NVML_ERROR_NO_PERMISSION ? "[Insufficient Permissions]" : "[N/A]";
}

static void memory_value(const struct row *row, size_t member, struct text *text) {
    nvmlMemory_v2_t memory = {.version = nvmlMemory_v2};
    nvmlReturn_t result = nvml.memory(row->card->device, &memory);
    unsigned long long bytes;

    if (result != NVML_SUCCESS) {
        put(text, "%s", missing(result));
        return;
    }
    memcpy(&bytes, (char *)&memory + member, sizeof bytes);
    put(text, "%llu", bytes / MIB);
}

static void total_value(const struct row *row, struct text *text) {
    memory_value(row, offsetof(nvmlMemory_v2_t, total), text);
}

static void used_value(const struct row *row, struct text *text) {
    memory_value(row, offsetof(nvmlMemory_v2_t, used), text);
}

static void free_value(const struct row *row, struct text *text) {
    memory_value(row, offsetof(nvmlMemory_v2_t, free), text);
}

static void reserved_value(const struct row *row, struct text *text) {
    memory_value(row, offsetof(nvmlMemory_v2_t, reserved), text);
}

static void busy_value(const struct row *row, size_t member, struct text *text) {
    nvmlUtilization_t busy;
    nvmlReturn_t result = nvml.utilization(row->card->device, &busy);
    unsigned percent;

    if (result != NVML_SUCCESS) {
        put(text, "%s", missing(result));
        return;
    }
    memcpy(&percent, (char *)&busy + member, sizeof percent);
    put(text, "%u", percent);
}

static void gpu_busy_value(const struct row *row, struct text *text) {
    busy_value(row, offsetof(nvmlUtilization_t, gpu), text);
}

static void memory_busy_value(const struct row *row, struct text *text) {
    busy_value(row, offsetof(nvmlUtilization_t, memory), text);
}

static void temperature_value(const struct row *row, struct text *text) {
    unsigned celsius = 0;

    nvml.temperature(row->card->device, NVML_TEMPERATURE_GPU, &celsius);
    put(text, "%u", celsius);
}

static void power_value(const struct row *row, struct text *text) {
    unsigned milliwatts = 0;

    nvml.power(row->card->device, &milliwatts);
    put(text, "%.2f", milliwatts / 1000.0);
}

static void power_limit_value(const struct row *row, struct text *text) {
    unsigned milliwatts = 0;

    nvml.power_limit(row->card->device, &milliwatts);
    put(text, "%.2f", milliwatts / 1000.0);
}

static void persistence_value(const struct row *row, struct text *text) {
    nvmlEnableState_t mode = NVML_FEATURE_DISABLED;

    nvml.persistence(row->card->device, &mode);
    put(text, mode ? "Enabled" : "Disabled");
}

static void capability_value(const struct row *row, struct text *text) {
    int major = 0, minor = 0;

    nvml.compute_capability(row->card->device, &major, &minor);
    put(text, "%d.%d", major, minor);
}

static void mig_value(const struct row *row, struct text *text) {
    unsigned current, pending;

    if (nvml.mig_mode(row->card->device, &current, &pending) != NVML_SUCCESS)
        put(text, "[N/A]");
    else
        put(text, current ? "Enabled" : "Disabled");
}

const struct field gpu_fields[] = {
    {"timestamp", "timestamp", "", time_value},
    {"index", "index", "", index_value},
    {"count", "count", "", count_value},
    {"name", "name", "", name_value},
    {"gpu_name", "name", "", name_value},
    {"uuid", "uuid", "", uuid_value},
    {"gpu_uuid", "uuid", "", uuid_value},
    {"pci.bus_id", "pci.bus_id", "", bus_value},
    {"gpu_bus_id", "pci.bus_id", "", bus_value},
    {"driver_version", "driver_version", "", driver_value},
    {"pstate", "pstate", "", pstate_value},
    {"memory.total", "memory.total", "MiB", total_value},
    {"memory.used", "memory.used", "MiB", used_value},
    {"memory.free", "memory.free", "MiB", free_value},
    {"memory.reserved", "memory.reserved", "MiB", reserved_value},
    {"utilization.gpu", "utilization.gpu", "%", gpu_busy_value},
    {"utilization.memory", "utilization.memory", "%", memory_busy_value},
    {"temperature.gpu", "temperature.gpu", "", temperature_value},
    {"power.draw", "power.draw", "W", power_value},
    {"power.limit", "power.limit", "W", power_limit_value},
    {"persistence_mode", "persistence_mode", "", persistence_value},
    {"compute_mode", "compute_mode", "", compute_mode_value},
    {"compute_cap", "compute_cap", "", capability_value},
    {"mig.mode.current", "mig.mode.current", "", mig_value},
    {"mig.mode.pending", "mig.mode.pending", "", mig_value},
    {NULL, NULL, NULL, NULL},
};

const struct field process_fields[] = {
    {"timestamp", "timestamp", "", time_value},
    {"gpu_name", "gpu_name", "", name_value},
    {"gpu_bus_id", "gpu_bus_id", "", bus_value},
    {"gpu_uuid", "gpu_uuid", "", uuid_value},
    {"pid", "pid", "", pid_value},
    {"process_name", "process_name", "", process_value},
    {"name", "process_name", "", process_value},
    {"used_gpu_memory", "used_gpu_memory", "MiB", process_memory_value},
    {"used_memory", "used_gpu_memory", "MiB", process_memory_value},
    {NULL, NULL, NULL, NULL},
};
