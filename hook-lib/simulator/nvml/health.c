/* SPDX-License-Identifier: Apache-2.0 */
/* What NVML says of a card's health, as node.conf has it at the moment of the call. */
#include <string.h>
#include <time.h>

#include "library.h"

static nvmlReturn_t signs_of(nvmlDevice_t device, const void *output, struct sim_signs *signs) {
    nvmlReturn_t result = library_device(device, output);

    if (result != NVML_SUCCESS)
        return result;
    return sim_card_signs(&library_node, device->card, signs) ? NVML_SUCCESS : NVML_ERROR_UNKNOWN;
}

/*
 * Of corrected errors, and of earlier boots, there are none. "Querying volatile errors using device handles" of cards
 * with MIG "is currently not supported" (nvml.h).
 */
nvmlReturn_t nvmlDeviceGetMemoryErrorCounter(nvmlDevice_t device, nvmlMemoryErrorType_t type,
                                             nvmlEccCounterType_t counter, nvmlMemoryLocation_t location,
                                             unsigned long long *count) {
    FAULT_POINT();
    struct sim_signs signs;
    nvmlReturn_t result = signs_of(device, count, &signs);

    if (result != NVML_SUCCESS)
        return result;
    if (type > NVML_MEMORY_ERROR_TYPE_UNCORRECTED || counter > NVML_AGGREGATE_ECC)
        return NVML_ERROR_INVALID_ARGUMENT;
    if ((location != NVML_MEMORY_LOCATION_DRAM && location != NVML_MEMORY_LOCATION_SRAM) ||
        (counter == NVML_VOLATILE_ECC && sim_mig_enabled(&library_state, device->card->index)))
        return NVML_ERROR_NOT_SUPPORTED;
    *count = location == NVML_MEMORY_LOCATION_DRAM ? signs.ecc_dram : signs.ecc_sram;
    if (type != NVML_MEMORY_ERROR_TYPE_UNCORRECTED || counter != NVML_VOLATILE_ECC)
        *count = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t type, nvmlEccCounterType_t counter,
                                         unsigned long long *count) {
    FAULT_POINT();
    unsigned long long sram = 0;
    nvmlReturn_t result = nvmlDeviceGetMemoryErrorCounter(device, type, counter, NVML_MEMORY_LOCATION_DRAM, count);

    if (result == NVML_SUCCESS)
        result = nvmlDeviceGetMemoryErrorCounter(device, type, counter, NVML_MEMORY_LOCATION_SRAM, &sram);
    if (result == NVML_SUCCESS)
        *count += sram;
    return result;
}

nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t device, unsigned int *correctable, unsigned int *uncorrectable,
                                       unsigned int *pending, unsigned int *failed) {
    FAULT_POINT();
    struct sim_signs signs;
    nvmlReturn_t result = signs_of(device, uncorrectable && pending && failed ? correctable : NULL, &signs);

    if (result != NVML_SUCCESS)
        return result;
    if (device->card->architecture < NVML_DEVICE_ARCH_AMPERE || sim_mig_enabled(&library_state, device->card->index))
        return NVML_ERROR_NOT_SUPPORTED;
    *correctable = 0;
    *uncorrectable = signs.rows != SIM_ROWS_GOOD;
    *pending = signs.rows == SIM_ROWS_PENDING;
    *failed = signs.rows == SIM_ROWS_FAILED;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t *fabric) {
    FAULT_POINT();
    struct sim_signs signs;
    nvmlReturn_t result = signs_of(device, fabric, &signs);

    if (result == NVML_SUCCESS && !signs.fabric)
        return NVML_ERROR_NOT_SUPPORTED;
    if (result == NVML_SUCCESS) {
        memset(fabric, 0, sizeof *fabric);
        fabric->state = (unsigned char)(signs.fabric == SIM_FABRIC_FAILED ? SIM_FABRIC_COMPLETED : signs.fabric);
        fabric->status = signs.fabric == SIM_FABRIC_FAILED ? NVML_ERROR_UNKNOWN : NVML_SUCCESS;
    }
    return result;
}

/* node.conf goes before what an XID error has asked for. */
static nvmlReturn_t recovery_of(nvmlDevice_t device, const struct sim_signs *signs, nvmlFieldValue_t *field) {
    if (!library_node.tells_recovery)
        return NVML_ERROR_NOT_SUPPORTED;
    field->valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
    field->value.uiVal = signs->recovery ? signs->recovery : library_state.region->recovery[device->card->index];
    return NVML_SUCCESS;
}

/* A field that it has none of is not supported, and so are those of links on a card without any. */
static nvmlReturn_t field_of(nvmlDevice_t device, const struct sim_signs *signs, nvmlFieldValue_t *field) {
    nvmlEnableState_t active;

    if (field->fieldId == NVML_FI_DEV_GET_GPU_RECOVERY_ACTION)
        return recovery_of(device, signs, field);
    if (field->fieldId == NVML_FI_DEV_MEMORY_TEMP) {
        field->valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
        field->value.uiVal = 38;
        return device->card->architecture < NVML_DEVICE_ARCH_AMPERE ? NVML_ERROR_NOT_SUPPORTED : NVML_SUCCESS;
    }
    if (nvmlDeviceGetNvLinkState(device, 0, &active) != NVML_SUCCESS)
        return NVML_ERROR_NOT_SUPPORTED;
    switch (field->fieldId) {
    case NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL:
        field->value.ullVal = signs->nvlink_crc_flit;
        return NVML_SUCCESS;
    case NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL:
        field->value.ullVal = signs->nvlink_crc_data;
        return NVML_SUCCESS;
    case NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL:
        field->value.ullVal = signs->nvlink_replay;
        return NVML_SUCCESS;
    case NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL:
        field->value.ullVal = signs->nvlink_recovery;
        return NVML_SUCCESS;
    default:
        return NVML_ERROR_NOT_SUPPORTED;
    }
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values) {
    FAULT_POINT();
    struct sim_signs signs;
    nvmlReturn_t result = signs_of(device, values, &signs);
    struct timespec now;

    if (result != NVML_SUCCESS)
        return result;
    clock_gettime(CLOCK_REALTIME, &now);
    for (int i = 0; i < count; i++) {
        values[i].timestamp = (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
        values[i].latencyUsec = 0;
        values[i].value.ullVal = 0;
        values[i].valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
        values[i].nvmlReturn = field_of(device, &signs, &values[i]);
    }
    return NVML_SUCCESS;
}

static nvmlReturn_t slowdown(nvmlDevice_t device, unsigned long long *reasons) {
    static const unsigned long long bits[] = {
        0, nvmlClocksEventReasonHwSlowdown | nvmlClocksThrottleReasonHwThermalSlowdown,
        nvmlClocksEventReasonHwSlowdown | nvmlClocksThrottleReasonHwPowerBrakeSlowdown};
    struct sim_signs signs;
    nvmlReturn_t result = signs_of(device, reasons, &signs);

    if (result == NVML_SUCCESS)
        *reasons = bits[signs.brake];
    return result;
}

nvmlReturn_t nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_t device, unsigned long long *reasons) {
    FAULT_POINT();
    return slowdown(device, reasons);
}

nvmlReturn_t nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_t device, unsigned long long *reasons) {
    FAULT_POINT();
    return slowdown(device, reasons);
}
