/* SPDX-License-Identifier: Apache-2.0 */
/* Temperature, power, clocks, and what simulated cards have none of: fans, a PCIe link with traffic, codecs at work. */
#include "library.h"

#include <time.h>

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor, unsigned int *celsius) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, celsius);

    if (result == NVML_SUCCESS && sensor != NVML_TEMPERATURE_GPU)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS)
        *celsius = 31;
    return result;
}

/* An idle card draws about a tenth of its limit, a busy one about nine tenths. */
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned int *milliwatts) {
    FAULT_POINT();
    nvmlUtilization_t busy;
    nvmlReturn_t result = milliwatts ? nvmlDeviceGetUtilizationRates(device, &busy) : library_device(device, NULL);

    if (result == NVML_ERROR_NOT_SUPPORTED && (result = library_device(device, milliwatts)) == NVML_SUCCESS)
        busy.gpu = 0; /* with MIG there is no figure: as if idle */
    if (result == NVML_SUCCESS)
        *milliwatts = device->card->power_limit / 10 + device->card->power_limit / 125 * busy.gpu;
    return result;
}

/* As if it had been idle since the machine started: what it drew at each moment nobody adds up. */
nvmlReturn_t nvmlDeviceGetTotalEnergyConsumption(nvmlDevice_t device, unsigned long long *millijoules) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, millijoules);
    struct timespec since;

    if (result == NVML_SUCCESS && clock_gettime(CLOCK_BOOTTIME, &since) != 0)
        return NVML_ERROR_UNKNOWN;
    if (result == NVML_SUCCESS)
        *millijoules = device->card->power_limit / 10 * (unsigned long long)since.tv_sec;
    return result;
}

nvmlReturn_t nvmlDeviceGetPcieReplayCounter(nvmlDevice_t device, unsigned int *count) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, count);

    if (result == NVML_SUCCESS)
        *count = 0;
    return result;
}

nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned int *milliwatts) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, milliwatts);

    if (result == NVML_SUCCESS)
        *milliwatts = device->card->power_limit;
    return result;
}

/* Nobody has lowered it. */
nvmlReturn_t nvmlDeviceGetPowerManagementLimit(nvmlDevice_t device, unsigned int *milliwatts) {
    FAULT_POINT();
    return nvmlDeviceGetEnforcedPowerLimit(device, milliwatts);
}

/* What it is at, at any load: clocks are not simulated. */
static nvmlReturn_t clock_of(nvmlDevice_t device, nvmlClockType_t type, unsigned int *mhz) {
    nvmlReturn_t result = library_device(device, mhz);

    if (result != NVML_SUCCESS)
        return result;
    switch (type) {
    case NVML_CLOCK_GRAPHICS:
    case NVML_CLOCK_SM:
        *mhz = (unsigned)device->card->clock_mhz;
        return NVML_SUCCESS;
    case NVML_CLOCK_MEM:
        *mhz = (unsigned)device->card->memory_clock_mhz;
        return NVML_SUCCESS;
    default:
        return NVML_ERROR_NOT_SUPPORTED;
    }
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *mhz) {
    FAULT_POINT();
    return clock_of(device, type, mhz);
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned int *mhz) {
    FAULT_POINT();
    return clock_of(device, type, mhz);
}

#define NOT_SUPPORTED(name, parameters, output)                                                                        \
    nvmlReturn_t name parameters {                                                                                     \
        FAULT_POINT();                                                                                                 \
        nvmlReturn_t result = library_device(device, output);                                                          \
                                                                                                                       \
        return result == NVML_SUCCESS ? NVML_ERROR_NOT_SUPPORTED : result;                                             \
    }

NOT_SUPPORTED(nvmlDeviceGetFanSpeed, (nvmlDevice_t device, unsigned int *percent), percent)
NOT_SUPPORTED(nvmlDeviceGetCurrPcieLinkGeneration, (nvmlDevice_t device, unsigned int *generation), generation)
NOT_SUPPORTED(nvmlDeviceGetMaxPcieLinkGeneration, (nvmlDevice_t device, unsigned int *generation), generation)
NOT_SUPPORTED(nvmlDeviceGetCurrPcieLinkWidth, (nvmlDevice_t device, unsigned int *width), width)
NOT_SUPPORTED(nvmlDeviceGetMaxPcieLinkWidth, (nvmlDevice_t device, unsigned int *width), width)

nvmlReturn_t nvmlDeviceGetTemperatureThreshold(nvmlDevice_t device, nvmlTemperatureThresholds_t threshold,
                                               unsigned int *celsius) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, celsius);

    (void)threshold;
    return result == NVML_SUCCESS ? NVML_ERROR_NOT_SUPPORTED : result;
}

nvmlReturn_t nvmlDeviceGetPcieThroughput(nvmlDevice_t device, nvmlPcieUtilCounter_t counter, unsigned int *kib) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, kib);

    (void)counter;
    return result == NVML_SUCCESS ? NVML_ERROR_NOT_SUPPORTED : result;
}

/* Nothing encodes or decodes on a simulated card. */
static nvmlReturn_t idle_codec(nvmlDevice_t device, unsigned int *utilization, unsigned int *samplingPeriodUs) {
    nvmlReturn_t result = library_device(device, utilization);

    if (result == NVML_SUCCESS && !samplingPeriodUs)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (result == NVML_SUCCESS) {
        *utilization = 0;
        *samplingPeriodUs = (unsigned)device->card->sample_period;
    }
    return result;
}

nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t device, unsigned int *utilization,
                                             unsigned int *samplingPeriodUs) {
    FAULT_POINT();
    return idle_codec(device, utilization, samplingPeriodUs);
}

nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t device, unsigned int *utilization,
                                             unsigned int *samplingPeriodUs) {
    FAULT_POINT();
    return idle_codec(device, utilization, samplingPeriodUs);
}
