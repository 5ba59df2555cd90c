/* SPDX-License-Identifier: Apache-2.0 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

#define CUDA_VERSION 12000 /* the version whose ABI driver.h declares */

typedef CUresult get_proc_address(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

static get_proc_address *find_lookup(void *library) {
    get_proc_address *lookup;
    void *symbol = dlsym(library, "cuGetProcAddress_v2");

    memcpy(&lookup, &symbol, sizeof lookup);
    return lookup;
}

bool driver_load(struct driver *driver) {
    const struct {
        const char *name;
        void *target;
    } functions[] = {
        {"cuInit", &driver->init},
        {"cuDeviceGet", &driver->device_get},
        {"cuDeviceGetCount", &driver->device_get_count},
        {"cuDeviceGetName", &driver->device_get_name},
        {"cuDeviceGetUuid", &driver->device_get_uuid},
        {"cuDeviceTotalMem", &driver->device_total_mem},
        {"cuDevicePrimaryCtxRetain", &driver->primary_retain},
        {"cuDevicePrimaryCtxRelease", &driver->primary_release},
        {"cuCtxSetCurrent", &driver->set_current},
        {"cuMemGetInfo", &driver->mem_get_info},
        {"cuMemAlloc", &driver->mem_alloc},
        {"cuMemFree", &driver->mem_free},
        {"cuModuleLoadData", &driver->module_load_data},
        {"cuModuleGetFunction", &driver->module_get_function},
        {"cuLaunchKernel", &driver->launch_kernel},
        {"cuCtxSynchronize", &driver->synchronize},
        {"cuGetErrorName", &driver->error_name},
    };
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    get_proc_address *lookup = library ? find_lookup(library) : NULL;

    if (!lookup) {
        fprintf(stderr, "partita-probe: no CUDA driver: %s\n", dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        CUdriverProcAddressQueryResult status;
        void *function = NULL;

        if (lookup(functions[i].name, &function, CUDA_VERSION, CU_GET_PROC_ADDRESS_DEFAULT, &status) != CUDA_SUCCESS ||
            !function) {
            fprintf(stderr, "partita-probe: the CUDA driver has no %s\n", functions[i].name);
            return false;
        }
        memcpy(functions[i].target, &function, sizeof function);
    }
    return true;
}
