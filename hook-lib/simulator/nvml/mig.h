/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the fake libnvidia-ml: MIG. */
#ifndef PARTITA_SIM_NVML_MIG_H
#define PARTITA_SIM_NVML_MIG_H

#include "library.h"
#include "nvml_mig.h"

/* A handle names the instance that had this serial number; one that is gone makes it invalid. */
struct nvmlGpuInstance_st {
    nvmlDevice_t device;
    struct sim_mig_instance instance;
};
struct nvmlComputeInstance_st {
    nvmlDevice_t device;
    struct sim_mig_instance instance;
};

/*
 * Whether this process may ask for all of a card with MIG: if it may write node.conf, so that a container that has it
 * read-only may not.
 */
nvmlReturn_t library_privileged(void);

/* As library_privileged, for changes; takes a place in the state. */
nvmlReturn_t library_may_change(void);

nvmlReturn_t library_mig_result(enum sim_mig_result result);

/*
 * Whether a handle is one of all those of its kind, each of `size` bytes, and its device can be asked, which is read
 * only then.
 */
nvmlReturn_t library_instance(const void *handle, const void *handles, size_t size, const nvmlDevice_t *device,
                              const void *output);

/* Checks a handle that must name a GPU instance which is there, and gives what it is now. */
nvmlReturn_t library_gpu_instance(nvmlGpuInstance_t handle, const void *output, struct sim_mig_instance *now);

nvmlGpuInstance_t library_gpu_handle(nvmlDevice_t device, const struct sim_mig_instance *instance);

#endif
