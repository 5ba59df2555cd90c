/* The real NVML behind the shadow; what the loaded one does not have is NULL. */
#ifndef PARTITA_NVML_DRIVER_H
#define PARTITA_NVML_DRIVER_H

#include "nvml_api.h"

#define NVML_INTERCEPTED(X)                                                                                           \
    X(nvmlDeviceGetMemoryInfo)                                                                                        \
    X(nvmlDeviceGetMemoryInfo_v2)                                                                                     \
    X(nvmlDeviceGetComputeRunningProcesses)                                                                           \
    X(nvmlDeviceGetComputeRunningProcesses_v2)                                                                        \
    X(nvmlDeviceGetComputeRunningProcesses_v3)                                                                        \
    X(nvmlDeviceGetGraphicsRunningProcesses)                                                                          \
    X(nvmlDeviceGetGraphicsRunningProcesses_v2)                                                                       \
    X(nvmlDeviceGetGraphicsRunningProcesses_v3)                                                                       \
    X(nvmlDeviceGetMPSComputeRunningProcesses)                                                                        \
    X(nvmlDeviceGetMPSComputeRunningProcesses_v2)                                                                     \
    X(nvmlDeviceGetMPSComputeRunningProcesses_v3)

#define NVML_CALLED(X) X(nvmlDeviceGetUUID)

enum nvml_function {
#define NVML_INDEX(name) NVML_##name,
    NVML_INTERCEPTED(NVML_INDEX) NVML_CALLED(NVML_INDEX) NVML_FUNCTION_COUNT
#undef NVML_INDEX
};

extern void *nvml_driver[NVML_FUNCTION_COUNT];

#define DRIVER(name) ((__typeof__(&name))nvml_driver[NVML_##name])

#define NEED(name)                                                                                                    \
    do {                                                                                                              \
        lifetime_enter();                                                                                             \
        if (!DRIVER(name))                                                                                            \
            return NVML_ERROR_FUNCTION_NOT_FOUND;                                                                     \
    } while (0)

/* The card of a device: an index or one of cards.h's special values. */
int nvml_card_of(nvmlDevice_t device);

#endif
