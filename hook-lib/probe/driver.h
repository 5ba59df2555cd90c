/* SPDX-License-Identifier: Apache-2.0 */
/* The driver API as a CUDA runtime takes it: libcuda.so.1 by name, its functions by cuGetProcAddress. */
#ifndef PARTITA_PROBE_DRIVER_H
#define PARTITA_PROBE_DRIVER_H

#include <stdbool.h>

#include "cuda_api.h"

struct driver {
    CUresult (*init)(unsigned int);
    CUresult (*device_get)(CUdevice *, int);
    CUresult (*device_get_count)(int *);
    CUresult (*device_get_name)(char *, int, CUdevice);
    CUresult (*device_get_uuid)(CUuuid *, CUdevice);
    CUresult (*device_total_mem)(size_t *, CUdevice);
    CUresult (*primary_retain)(CUcontext *, CUdevice);
    CUresult (*primary_release)(CUdevice);
    CUresult (*set_current)(CUcontext);
    CUresult (*mem_get_info)(size_t *, size_t *);
    CUresult (*mem_alloc)(CUdeviceptr *, size_t);
    CUresult (*mem_free)(CUdeviceptr);
    CUresult (*module_load_data)(CUmodule *, const void *);
    CUresult (*module_get_function)(CUfunction *, CUmodule, const char *);
    CUresult (*launch_kernel)(CUfunction, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int,
                              unsigned int, unsigned int, CUstream, void **, void **);
    CUresult (*synchronize)(void);
    CUresult (*error_name)(CUresult, const char **);
};

/* False, with one line on stderr, where there is no driver or it lacks a function. */
bool driver_load(struct driver *driver);

#endif
