/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPU performance monitoring (GPM), of cards from Hopper on: how busy parts of a card were between two samples.
 * Simulated kernels compute nothing, so no tensor core works.
 */
#include <stdlib.h>

#include "library.h"

struct nvmlGpmSample_st {
    nvmlDevice_t device; /* NULL until it is taken */
    nvmlUtilization_t busy;
};

nvmlReturn_t nvmlGpmSampleAlloc(nvmlGpmSample_t *gpmSample) {
    FAULT_POINT();
    nvmlReturn_t result = library_ready();

    if (result != NVML_SUCCESS)
        return result;
    if (!gpmSample)
        return NVML_ERROR_INVALID_ARGUMENT;
    *gpmSample = calloc(1, sizeof **gpmSample);
    return *gpmSample ? NVML_SUCCESS : NVML_ERROR_MEMORY;
}

nvmlReturn_t nvmlGpmSampleFree(nvmlGpmSample_t gpmSample) {
    FAULT_POINT();
    if (!gpmSample)
        return NVML_ERROR_INVALID_ARGUMENT;
    free(gpmSample);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlGpmSampleGet(nvmlDevice_t device, nvmlGpmSample_t gpmSample) {
    FAULT_POINT();
    nvmlReturn_t result = library_device(device, gpmSample);

    if (result != NVML_SUCCESS)
        return result;
    if (device->card->architecture < NVML_DEVICE_ARCH_HOPPER)
        return NVML_ERROR_NOT_SUPPORTED;
    result = nvmlDeviceGetUtilizationRates(device, &gpmSample->busy);
    gpmSample->device = result == NVML_SUCCESS ? device : NULL;
    return result;
}

static nvmlReturn_t metric_of(const struct nvmlGpmSample_st *sample, nvmlGpmMetric_t *metric) {
    switch (metric->metricId) {
    case NVML_GPM_METRIC_GRAPHICS_UTIL:
        metric->value = sample->busy.gpu;
        return NVML_SUCCESS;
    case NVML_GPM_METRIC_ANY_TENSOR_UTIL:
        metric->value = 0;
        return NVML_SUCCESS;
    case NVML_GPM_METRIC_DRAM_BW_UTIL:
        metric->value = sample->busy.memory;
        return NVML_SUCCESS;
    default:
        return NVML_ERROR_NOT_SUPPORTED;
    }
}

nvmlReturn_t nvmlGpmMetricsGet(nvmlGpmMetricsGet_t *metricsGet) {
    FAULT_POINT();
    nvmlReturn_t result = library_ready();

    if (result != NVML_SUCCESS)
        return result;
    if (!metricsGet || metricsGet->version != NVML_GPM_METRICS_GET_VERSION ||
        metricsGet->numMetrics > NVML_GPM_METRIC_MAX || !metricsGet->sample1 || !metricsGet->sample2 ||
        !metricsGet->sample1->device || metricsGet->sample1->device != metricsGet->sample2->device)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (unsigned i = 0; i < metricsGet->numMetrics; i++)
        metricsGet->metrics[i].nvmlReturn = metric_of(metricsGet->sample2, &metricsGet->metrics[i]);
    return NVML_SUCCESS;
}
