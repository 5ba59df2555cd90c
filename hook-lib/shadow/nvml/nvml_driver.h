/* SPDX-License-Identifier: Apache-2.0 */
/* The real NVML behind the shadow; what the loaded one does not have is NULL. */
#ifndef PARTITA_NVML_DRIVER_H
#define PARTITA_NVML_DRIVER_H

#include "nvml_api.h"
#include "nvml_mig.h"

/* The comments are those of hook-lib/INTERCEPTED.md (see cuda_driver.h). */
#define NVML_INTERCEPTED(X)                                                                                            \
    /* total = quota, used = ledger, reserved = 0 */                                                                   \
    X(nvmlDeviceGetMemoryInfo)                                                                                         \
    X(nvmlDeviceGetMemoryInfo_v2)                                                                                      \
    X(nvmlDeviceGetConfComputeProtectedMemoryUsage)                                                                    \
    /* processes of the container that use the share, own pids, bytes of the ledger */                                 \
    X(nvmlDeviceGetComputeRunningProcesses)                                                                            \
    X(nvmlDeviceGetComputeRunningProcesses_v2)                                                                         \
    X(nvmlDeviceGetComputeRunningProcesses_v3)                                                                         \
    /* none */                                                                                                         \
    X(nvmlDeviceGetGraphicsRunningProcesses)                                                                           \
    X(nvmlDeviceGetGraphicsRunningProcesses_v2)                                                                        \
    X(nvmlDeviceGetGraphicsRunningProcesses_v3)                                                                        \
    X(nvmlDeviceGetMPSComputeRunningProcesses)                                                                         \
    X(nvmlDeviceGetMPSComputeRunningProcesses_v2)                                                                      \
    X(nvmlDeviceGetMPSComputeRunningProcesses_v3)                                                                      \
    /* processes of the container that use the share, own pids, bytes of the ledger */                                 \
    X(nvmlDeviceGetRunningProcessDetailList)                                                                           \
    /* that of the container's own processes, of the SMs in percent of the share's core limit */                       \
    X(nvmlDeviceGetProcessUtilization)                                                                                 \
    X(nvmlDeviceGetProcessesUtilizationInfo)                                                                           \
    X(nvmlDeviceGetUtilizationRates)                                                                                   \
    X(nvmlDeviceGetSamples)                                                                                            \
    X(nvmlDeviceGetDynamicPstatesInfo)                                                                                 \
    X(nvmlDeviceGetEncoderUtilization)                                                                                 \
    X(nvmlDeviceGetDecoderUtilization)                                                                                 \
    /* 0: of the container's own processes it is not known */                                                          \
    X(nvmlDeviceGetJpgUtilization)                                                                                     \
    X(nvmlDeviceGetOfaUtilization)                                                                                     \
    /* none */                                                                                                         \
    X(nvmlDeviceGetEncoderStats)                                                                                       \
    X(nvmlDeviceGetEncoderSessions)                                                                                    \
    X(nvmlDeviceGetFBCStats)                                                                                           \
    X(nvmlDeviceGetFBCSessions)                                                                                        \
    X(nvmlDeviceGetAccountingPids)                                                                                     \
    X(nvmlDeviceGetAccountingStats)                                                                                    \
    X(nvmlDeviceGetAccountingStats_v2)                                                                                 \
    /* fields and policies that tell how busy the whole card is: not supported on a card with a share */               \
    X(nvmlDeviceGetFieldValues)                                                                                        \
    X(nvmlDeviceGetViolationStatus)                                                                                    \
    /* not supported on a card with a share: its counters are the whole card's */                                      \
    X(nvmlDeviceGetMemoryLimits_v1)                                                                                    \
    X(nvmlDevicePerfMetricsGetSamples_v1)                                                                              \
    X(nvmlGpmSampleGet)                                                                                                \
    X(nvmlGpmMigSampleGet)

#define NVML_CALLED(X)                                                                                                 \
    X(nvmlDeviceGetUUID)                                                                                               \
    X(nvmlDeviceGetDeviceHandleFromMigDeviceHandle)

enum nvml_function {
#define NVML_INDEX(name) NVML_##name,
    NVML_INTERCEPTED(NVML_INDEX) NVML_CALLED(NVML_INDEX) NVML_FUNCTION_COUNT
#undef NVML_INDEX
};

extern void *nvml_driver[NVML_FUNCTION_COUNT];

#define DRIVER(name) ((__typeof__(&name))nvml_driver[NVML_##name])

#define NEED(name)                                                                                                     \
    do {                                                                                                               \
        lifetime_enter();                                                                                              \
        if (!DRIVER(name))                                                                                             \
            return NVML_ERROR_FUNCTION_NOT_FOUND;                                                                      \
    } while (0)

/* The card of a device, or of a MIG instance of it: an index or one of cards.h's special values. */
int nvml_card_of(nvmlDevice_t device);

/* Of a device whose card has a share: not supported, or the error that the driver has of the device. */
nvmlReturn_t nvml_not_supported(nvmlDevice_t device);

#endif
