/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels and every way to launch them, modules and libraries; from the public documentation. */
#ifndef PARTITA_CUDA_LAUNCH_H
#define PARTITA_CUDA_LAUNCH_H

#include "cuda_api.h"

typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel; /* may stand for a CUfunction in launches */
typedef struct CUevent_st *CUevent;

#define CU_LAUNCH_PARAM_END ((void *)0x00)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x01)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *)0x02)

#define CU_LAUNCH_ATTRIBUTE_COOPERATIVE 2
#define CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT 7
#define CU_LAUNCH_ATTRIBUTE_PRIORITY 8
#define CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT 12

typedef union CUlaunchAttributeValue_union {
    char pad[64];
    int cooperative;
    int priority;
    struct {
        CUevent event;
        int flags;
        int triggerAtBlockStart;
    } programmaticEvent;
    struct {
        CUevent event;
        int flags;
    } launchCompletionEvent;
} CUlaunchAttributeValue;

typedef struct CUlaunchAttribute_st {
    int id;
    char pad[4];
    CUlaunchAttributeValue value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig_st {
    unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned int numAttrs;
} CUlaunchConfig;

typedef struct CUDA_LAUNCH_PARAMS_st {
    CUfunction function;
    unsigned int gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
    CUstream hStream;
    void **kernelParams;
} CUDA_LAUNCH_PARAMS;

/* Modules and libraries */
PARTITA_EXPORT CUresult cuModuleLoad(CUmodule *module, const char *file);
PARTITA_EXPORT CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int optionCount, int *options,
                                           void **optionValues);
PARTITA_EXPORT CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image);
PARTITA_EXPORT CUresult cuLibraryLoadData(CUlibrary *library, const void *code, int *jitOptions, void **jitOptionValues,
                                          unsigned int jitOptionCount, int *libraryOptions, void **libraryOptionValues,
                                          unsigned int libraryOptionCount);
PARTITA_EXPORT CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *file, int *jitOptions,
                                              void **jitOptionValues, unsigned int jitOptionCount, int *libraryOptions,
                                              void **libraryOptionValues, unsigned int libraryOptionCount);
PARTITA_EXPORT CUresult cuLibraryUnload(CUlibrary library);
PARTITA_EXPORT CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name);
PARTITA_EXPORT CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library);
PARTITA_EXPORT CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel);
PARTITA_EXPORT CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel);
PARTITA_EXPORT CUresult cuFuncGetModule(CUmodule *module, CUfunction function);
typedef enum CUfunction_attribute_enum {
    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
    CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
    CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
    CU_FUNC_ATTRIBUTE_PTX_VERSION = 5,
    CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6
} CUfunction_attribute;
PARTITA_EXPORT CUresult cuFuncGetAttribute(int *value, CUfunction_attribute wanted, CUfunction function);
PARTITA_EXPORT CUresult cuKernelGetAttribute(int *value, CUfunction_attribute wanted, CUkernel kernel, CUdevice device);

/* Launches; cuLaunchKernel itself stands in cuda_api.h */
PARTITA_EXPORT CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                                         void **extra);
PARTITA_EXPORT CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction function, void **parameters,
                                              void **extra);
PARTITA_EXPORT CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int gridX, unsigned int gridY,
                                                  unsigned int gridZ, unsigned int blockX, unsigned int blockY,
                                                  unsigned int blockZ, unsigned int sharedBytes, CUstream stream,
                                                  void **parameters);
PARTITA_EXPORT CUresult cuLaunchCooperativeKernel_ptsz(CUfunction function, unsigned int gridX, unsigned int gridY,
                                                       unsigned int gridZ, unsigned int blockX, unsigned int blockY,
                                                       unsigned int blockZ, unsigned int sharedBytes, CUstream stream,
                                                       void **parameters);
PARTITA_EXPORT CUresult cuLaunchCooperativeKernelMultiDevice(CUDA_LAUNCH_PARAMS *launches, unsigned int count,
                                                             unsigned int flags);

/* Before CUDA 4: parameters and shape are set on the function */
PARTITA_EXPORT CUresult cuFuncSetBlockShape(CUfunction function, int x, int y, int z);
PARTITA_EXPORT CUresult cuFuncSetSharedSize(CUfunction function, unsigned int bytes);
PARTITA_EXPORT CUresult cuParamSetSize(CUfunction function, unsigned int bytes);
PARTITA_EXPORT CUresult cuParamSeti(CUfunction function, int offset, unsigned int value);
PARTITA_EXPORT CUresult cuParamSetf(CUfunction function, int offset, float value);
PARTITA_EXPORT CUresult cuParamSetv(CUfunction function, int offset, void *value, unsigned int bytes);
PARTITA_EXPORT CUresult cuLaunch(CUfunction function);
PARTITA_EXPORT CUresult cuLaunchGrid(CUfunction function, int width, int height);
PARTITA_EXPORT CUresult cuLaunchGridAsync(CUfunction function, int width, int height, CUstream stream);

#endif
