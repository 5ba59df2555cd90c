/* SPDX-License-Identifier: Apache-2.0 */
/* Modules, libraries and what they hold: any name is a kernel; some do what the simulator's README says. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture.h"
#include "cuda_launch.h"

static enum kernel_kind kind_of(const char *name) {
    static const char *const names[KERNEL_KINDS] = {"", "partita_spin", "partita_set_conditional",
                                                    "partita_count_down"};
    int kind = KERNEL_KINDS - 1;

    while (kind > KERNEL_ANY && strcmp(name, names[kind]) != 0)
        kind--;
    return (enum kernel_kind)kind;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_home(&context);
    struct CUmod_st *loaded;

    if (result != CUDA_SUCCESS)
        return result;
    if (!module || !image)
        return CUDA_ERROR_INVALID_VALUE;
    result = unsafe_call();
    if (result != CUDA_SUCCESS)
        return result;
    loaded = calloc(1, sizeof *loaded);
    if (!loaded)
        return CUDA_ERROR_OUT_OF_MEMORY;
    loaded->context = context;
    for (int kind = 0; kind < KERNEL_KINDS; kind++)
        loaded->functions[kind] =
            (struct CUfunc_st){.module = loaded, .block = {1, 1, 1}, .kind = (enum kernel_kind)kind};
    pthread_mutex_lock(&driver_lock);
    loaded->next = context->modules;
    context->modules = loaded;
    pthread_mutex_unlock(&driver_lock);
    *module = loaded;
    return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int optionCount, int *options,
                            void **optionValues) {
    FAULT_POINT();
    if (optionCount && (!options || !optionValues))
        return driver_ready() == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_INITIALIZED;
    return cuModuleLoadData(module, image);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image) {
    FAULT_POINT();
    return cuModuleLoadData(module, image);
}

CUresult cuModuleLoad(CUmodule *module, const char *file) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_home(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!file)
        return CUDA_ERROR_INVALID_VALUE;
    return access(file, R_OK) == 0 ? cuModuleLoadData(module, file) : CUDA_ERROR_FILE_NOT_FOUND;
}

CUresult cuModuleUnload(CUmodule module) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_home(&context);

    if (result != CUDA_SUCCESS)
        return result;
    result = CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&driver_lock);
    for (struct CUmod_st **link = &context->modules; *link; link = &(*link)->next)
        if (*link == module) {
            *link = module->next;
            free(module);
            result = CUDA_SUCCESS;
            break;
        }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_home(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!function || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!module)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!*name)
        return CUDA_ERROR_NOT_FOUND;
    *function = &module->functions[kind_of(name)];
    return CUDA_SUCCESS;
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction function) {
    FAULT_POINT();
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (!module)
        return CUDA_ERROR_INVALID_VALUE;
    if (!function || !function->module)
        return CUDA_ERROR_INVALID_HANDLE;
    *module = function->module;
    return CUDA_SUCCESS;
}

/* A library belongs to no context: each context that asks for its module gets one of its own. */
struct CUkern_st {
    struct CUfunc_st function; /* first: a kernel may be launched as a function */
    struct CUlib_st *library;
};

struct CUlib_st {
    struct CUkern_st kernels[KERNEL_KINDS];
    struct CUlib_st *next;
};

static struct CUlib_st *libraries;

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, int *jitOptions, void **jitOptionValues,
                           unsigned int jitOptionCount, int *libraryOptions, void **libraryOptionValues,
                           unsigned int libraryOptionCount) {
    FAULT_POINT();
    CUresult ready = driver_ready();
    struct CUlib_st *loaded;

    (void)libraryOptionValues;
    if (ready != CUDA_SUCCESS)
        return ready;
    if (!library || !code || (jitOptionCount && (!jitOptions || !jitOptionValues)) ||
        (libraryOptionCount && !libraryOptions))
        return CUDA_ERROR_INVALID_VALUE;
    loaded = calloc(1, sizeof *loaded);
    if (!loaded)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (int kind = 0; kind < KERNEL_KINDS; kind++)
        loaded->kernels[kind] = (struct CUkern_st){{.block = {1, 1, 1}, .kind = (enum kernel_kind)kind}, loaded};
    pthread_mutex_lock(&driver_lock);
    loaded->next = libraries;
    libraries = loaded;
    pthread_mutex_unlock(&driver_lock);
    *library = loaded;
    return CUDA_SUCCESS;
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *file, int *jitOptions, void **jitOptionValues,
                               unsigned int jitOptionCount, int *libraryOptions, void **libraryOptionValues,
                               unsigned int libraryOptionCount) {
    FAULT_POINT();
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (file && access(file, R_OK) != 0)
        return CUDA_ERROR_FILE_NOT_FOUND;
    return cuLibraryLoadData(library, file, jitOptions, jitOptionValues, jitOptionCount, libraryOptions,
                             libraryOptionValues, libraryOptionCount);
}

CUresult cuLibraryUnload(CUlibrary library) {
    FAULT_POINT();
    CUresult result = driver_ready();

    if (result != CUDA_SUCCESS)
        return result;
    result = CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&driver_lock);
    for (struct CUlib_st **link = &libraries; *link; link = &(*link)->next)
        if (*link == library) {
            *link = library->next;
            free(library);
            result = CUDA_SUCCESS;
            break;
        }
    pthread_mutex_unlock(&driver_lock);
    return result;
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
    FAULT_POINT();
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (!kernel || !name)
        return CUDA_ERROR_INVALID_VALUE;
    if (!library)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!*name)
        return CUDA_ERROR_NOT_FOUND;
    *kernel = &library->kernels[kind_of(name)];
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library) {
    FAULT_POINT();
    struct CUctx_st *context;
    CUresult result = driver_home(&context);

    if (result != CUDA_SUCCESS)
        return result;
    if (!module)
        return CUDA_ERROR_INVALID_VALUE;
    if (!library)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&driver_lock);
    *module = context->modules;
    while (*module && (*module)->library != library)
        *module = (*module)->next;
    pthread_mutex_unlock(&driver_lock);
    if (*module)
        return CUDA_SUCCESS;
    result = cuModuleLoadData(module, library);
    if (result == CUDA_SUCCESS)
        (*module)->library = library;
    return result;
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
    FAULT_POINT();
    CUmodule module;
    CUresult result;

    if (!function)
        return driver_ready() == CUDA_SUCCESS ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_INITIALIZED;
    result = cuLibraryGetModule(&module, kernel ? kernel->library : NULL);
    if (result == CUDA_SUCCESS)
        *function = &module->functions[kernel->function.kind];
    return result;
}

CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel) {
    FAULT_POINT();
    CUresult ready = driver_ready();

    if (ready != CUDA_SUCCESS)
        return ready;
    if (!library)
        return CUDA_ERROR_INVALID_VALUE;
    if (!kernel)
        return CUDA_ERROR_INVALID_HANDLE;
    *library = kernel->library;
    return CUDA_SUCCESS;
}

void context_release_modules(struct CUctx_st *context) {
    while (context->modules) {
        struct CUmod_st *module = context->modules;

        context->modules = module->next;
        free(module);
    }
}
