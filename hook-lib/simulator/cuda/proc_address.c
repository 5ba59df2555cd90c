/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuGetProcAddress: a base name, a CUDA version and a choice of default stream name one function. The newest variant
 * that is not newer than the asked version wins. Of a function that has variants for the per-thread default stream only
 * those count when that is asked for. Unknown names and too old versions are a status in _v2, which succeeds with no
 * function, and CUDA_ERROR_NOT_FOUND in the first version, which leaves its output alone. Versions and behaviour are
 * those of NVIDIA's libcuda 535.261.03 and 550.163.01, compared for every name here.
 */
#include <string.h>

#include "driver.h"
#include "proc_variants.h"

/* Identical code has one address where the linker folds it: of these the versions do the same. */
static const struct variant *folded(const struct variant *variant) {
    static const char *const alike[] = {"cuCtxDestroy",    "cuCtxPushCurrent",        "cuCtxPopCurrent",
                                        "cuEventDestroy",  "cuEventElapsedTime",      "cuStreamDestroy",
                                        "cuDeviceGetUuid", "cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxRelease"};

    for (size_t i = 0; i < sizeof alike / sizeof *alike; i++)
        if (strcmp(variant->name, alike[i]) == 0)
            for (size_t j = 0; j < proc_variant_count; j++)
                if (strcmp(proc_variants[j].name, variant->name) == 0 && proc_variants[j].since > variant->since)
                    variant = &proc_variants[j];
    return variant;
}

static CUdriverProcAddressQueryResult look_up(const char *symbol, int version, bool per_thread, void **function) {
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const struct variant *best = NULL;
    bool has_per_thread = false;

    for (size_t i = 0; i < proc_variant_count; i++)
        has_per_thread |= proc_variants[i].per_thread && strcmp(proc_variants[i].name, symbol) == 0;
    for (size_t i = 0; i < proc_variant_count; i++) {
        const struct variant *variant = &proc_variants[i];

        if (strcmp(variant->name, symbol) != 0)
            continue;
        status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
        if (per_thread && has_per_thread && !variant->per_thread)
            continue;
        if (variant->since <= version && (!best || variant->since >= best->since))
            best = variant;
    }
    if (!best)
        return status;
    if (sim_contrary(&driver_node, SIM_FOLDED_STUBS))
        best = folded(best);
    *function = per_thread && best->per_thread ? best->per_thread : best->function;
    return CU_GET_PROC_ADDRESS_SUCCESS;
}

static bool valid_flags(cuuint64_t flags) {
    return flags <= (CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
}

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *symbolStatus) {
    FAULT_POINT();
    CUdriverProcAddressQueryResult status;

    if (!symbol || !function || !valid_flags(flags))
        return CUDA_ERROR_INVALID_VALUE;
    *function = NULL;
    status = look_up(symbol, cudaVersion, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, function);
    if (symbolStatus)
        *symbolStatus = status;
    return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *symbol, void **function, int cudaVersion, cuuint64_t flags) {
    FAULT_POINT();
    if (!symbol || !function || !valid_flags(flags))
        return CUDA_ERROR_INVALID_VALUE;
    return look_up(symbol, cudaVersion, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, function) ==
                   CU_GET_PROC_ADDRESS_SUCCESS
               ? CUDA_SUCCESS
               : CUDA_ERROR_NOT_FOUND;
}
