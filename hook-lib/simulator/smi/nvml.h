/* SPDX-License-Identifier: Apache-2.0 */
/* NVML as nvidia-smi finds it: libnvidia-ml.so.1 by name, public functions only. */
#ifndef PARTITA_SIM_SMI_NVML_H
#define PARTITA_SIM_SMI_NVML_H

#include <stdbool.h>

#include "nvml_mig.h"

#define NVML_FUNCTIONS(F)                                                                                              \
    F(init, nvmlInit_v2)                                                                                               \
    F(error_string, nvmlErrorString)                                                                                   \
    F(driver_version, nvmlSystemGetDriverVersion)                                                                      \
    F(cuda_version, nvmlSystemGetCudaDriverVersion)                                                                    \
    F(process_name, nvmlSystemGetProcessName)                                                                          \
    F(count, nvmlDeviceGetCount_v2)                                                                                    \
    F(by_index, nvmlDeviceGetHandleByIndex_v2)                                                                         \
    F(name, nvmlDeviceGetName)                                                                                         \
    F(uuid, nvmlDeviceGetUUID)                                                                                         \
    F(pci, nvmlDeviceGetPciInfo_v3)                                                                                    \
    F(memory, nvmlDeviceGetMemoryInfo_v2)                                                                              \
    F(processes, nvmlDeviceGetComputeRunningProcesses_v3)                                                              \
    F(utilization, nvmlDeviceGetUtilizationRates)                                                                      \
    F(temperature, nvmlDeviceGetTemperature)                                                                           \
    F(power, nvmlDeviceGetPowerUsage)                                                                                  \
    F(power_limit, nvmlDeviceGetEnforcedPowerLimit)                                                                    \
    F(persistence, nvmlDeviceGetPersistenceMode)                                                                       \
    F(compute_capability, nvmlDeviceGetCudaComputeCapability)                                                          \
    F(mig_mode, nvmlDeviceGetMigMode)                                                                                  \
    F(mig_count, nvmlDeviceGetMaxMigDeviceCount)                                                                       \
    F(mig_device, nvmlDeviceGetMigDeviceHandleByIndex)

struct nvml {
#define FUNCTION(field, symbol) __typeof__(symbol) *field;
    NVML_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

extern struct nvml nvml;

/* Exit statuses of nvidia-smi are NVML's own numbers. */
enum {
    SMI_DONE = 0,
    SMI_USAGE = 2,
    SMI_NO_PERMISSION = 4,
    SMI_NO_DEVICE = 6,
    SMI_NO_DRIVER = 9,
    SMI_NO_LIBRARY = 12,
    SMI_UNKNOWN = 255 /* as an exit status; NVML_ERROR_UNKNOWN is 999 */
};

/* Loads and initialises; on failure an exit status, and the words of nvidia-smi on stdout. */
int nvml_open(void);

/* One card, if `only` (an index, a UUID or a bus id; NULL for all) names it. */
struct smi_card {
    unsigned index;
    nvmlDevice_t device;
    char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE], uuid[NVML_DEVICE_UUID_V2_BUFFER_SIZE];
    nvmlPciInfo_t pci;
};

/* Calls `visit` for each card that answers; a lost one is named on stdout and makes the exit status 15. */
int each_card(const char *only, void (*visit)(const struct smi_card *card, void *context), void *context);

/* The processes of a card; free() them. */
nvmlProcessInfo_t *card_processes(const struct smi_card *card, unsigned *count);

int print_list(const char *only);
int print_table(const char *only);

/* csv: what stands after --format=. */
int print_query(const char *only, const char *fields, const char *csv);
int print_process_query(const char *only, const char *fields, const char *csv);

/* What stands after nvidia-smi compute-policy, which is argv[0] here. */
int compute_policy(int argc, char **argv);

#endif
