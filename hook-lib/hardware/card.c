/* SPDX-License-Identifier: Apache-2.0 */
#include "card.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void *libcuda, *nvml;
static nvmlDevice_t device;

/*
 * Iterations, not nanoseconds: a timer would go on while another process has the card. The store keeps the compiler
 * from dropping the loop.
 */
static const char ptx[] = ".version 6.0\n"
                          ".target sm_50\n"
                          ".address_size 64\n"
                          ".visible .entry partita_spin(.param .u64 ns, .param .u64 iterations) {\n"
                          "  .reg .u64 %n;\n"
                          "  .reg .u32 %value;\n"
                          "  .reg .pred %more;\n"
                          "  .shared .align 4 .u32 sink;\n"
                          "  ld.param.u64 %n, [iterations];\n"
                          "  mov.u32 %value, 1;\n"
                          "again:\n"
                          "  mad.lo.u32 %value, %value, 1664525, 1013904223;\n"
                          "  sub.u64 %n, %n, 1;\n"
                          "  setp.ne.u64 %more, %n, 0;\n"
                          "  @%more bra again;\n"
                          "  st.volatile.shared.u32 [sink], %value;\n"
                          "  ret;\n"
                          "}\n";

void *card_function(const char *name) {
    return dlsym(libcuda, name);
}

static void *library(const char *name) {
    void *found = dlopen(name, RTLD_NOW);
    if (!found) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return found;
}

void card_open(void) {
    CUcontext context;
    libcuda = library("libcuda.so.1");
    DO(CUDA(cuInit)(0));
    DO(CUDA(cuCtxCreate_v2)(&context, 0, 0));
}

#define NVML(name) ((__typeof__(&name))dlsym(nvml, #name))

void truth_open(void) {
    const char *path = getenv("PARTITA_NVML");
    nvml = library(path ? path : "libnvidia-ml.so.1");
    if (NVML(nvmlInit_v2)() != NVML_SUCCESS || NVML(nvmlDeviceGetHandleByIndex_v2)(0, &device) != NVML_SUCCESS) {
        fputs("NVML does not know a card 0\n", stderr);
        exit(1);
    }
}

uint64_t truth_used(void) {
    nvmlMemory_t memory;
    return NVML(nvmlDeviceGetMemoryInfo)(device, &memory) == NVML_SUCCESS ? memory.used : 0;
}

uint64_t truth_sample_period(void) {
    enum { SAMPLES = 256 };
    static nvmlSample_t samples[SAMPLES];
    unsigned int count = SAMPLES;
    nvmlValueType_t type;
    uint64_t period = 0;
    if (NVML(nvmlDeviceGetSamples)(device, NVML_GPU_UTILIZATION_SAMPLES, 0, &type, &count, samples) != NVML_SUCCESS)
        return 0;
    for (unsigned int i = 1; i < count && i < SAMPLES; i++) {
        uint64_t apart = samples[i].timeStamp - samples[i - 1].timeStamp;
        period = period == 0 || apart < period ? apart : period;
    }
    return period;
}

void *truth_function(const char *name) {
    return dlsym(nvml, name);
}

nvmlDevice_t truth_device(void) {
    return device;
}

__typeof__(&nvmlDeviceGetProcessUtilization) truth_sampler(void) {
    return NVML(nvmlDeviceGetProcessUtilization);
}

bool truth_samples_processes(void) {
    unsigned int count = 0;
    return truth_sampler()(device, NULL, &count, 0) != NVML_ERROR_NOT_SUPPORTED;
}

void truth_describe(void) {
    char name[96] = "", uuid[96] = "", driver[96] = "";
    nvmlMemory_t memory = {0};
    NVML(nvmlDeviceGetName)(device, name, sizeof name);
    NVML(nvmlDeviceGetUUID)(device, uuid, sizeof uuid);
    NVML(nvmlSystemGetDriverVersion)(driver, sizeof driver);
    NVML(nvmlDeviceGetMemoryInfo)(device, &memory);
    printf("card %s\nuuid %s\ndriver %s\nmemory %llu\nused %llu\n", name, uuid, driver, memory.total, memory.used);
}

struct spin spin_load(uint64_t ns, uint64_t iterations) {
    struct spin spin = {NULL, ns, iterations};
    CUmodule module;
    DO(CUDA(cuModuleLoadData)(&module, ptx));
    DO(CUDA(cuModuleGetFunction)(&spin.function, module, "partita_spin"));
    return spin;
}

void spin_launch(const struct spin *spin) {
    spin_launch_in(spin, NULL);
}

void spin_launch_in(const struct spin *spin, CUstream stream) {
    uint64_t ns = spin->ns, iterations = spin->iterations;
    void *parameters[] = {&ns, &iterations};
    DO(CUDA(cuLaunchKernel)(spin->function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL));
}

double batches_a_second(double seconds, void (*batch)(void)) {
    uint64_t begin = clock_ns(), warm = begin + (uint64_t)(seconds * 0.2e9), end = begin + (uint64_t)(seconds * 1e9);
    uint64_t from = 0, batches = 0, now;
    for (; (now = clock_ns()) < end; batches++) {
        if (!from && now >= warm) {
            from = now;
            batches = 0;
        }
        batch();
    }
    return 1e9 * (double)batches / (double)(clock_ns() - (from ? from : begin));
}

uint64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
