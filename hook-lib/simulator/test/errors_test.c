/* SPDX-License-Identifier: Apache-2.0 */
/* Each misuse gets the driver's own error. */
#include "simulated.h"

#include <pthread.h>
#include <unistd.h>

static void every_call_before_cuInit_is_not_initialized(void) {
    CUdeviceptr pointer;
    CUcontext context;
    size_t bytes;
    int count;

    install_node("t4x1");
    CHECK_EQUAL(CU(cuDeviceGetCount)(&count), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_EQUAL(CU(cuDeviceTotalMem_v2)(&bytes, 0), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_EQUAL(CU(cuCtxGetCurrent)(&context), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, 1), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_EQUAL(CU(cuMemGetInfo_v2)(NULL, NULL), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_EQUAL(CU(cuMemAllocPitch_v2)(&pointer, &bytes, 1, 1, 4), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_EQUAL(CU(cuMemAllocManaged)(&pointer, 1, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_NOT_INITIALIZED);
}

static void some_values_are_refused_even_before_cuInit(void) {
    CUdeviceptr pointer;

    install_node("t4x1");
    CHECK_EQUAL(CU(cuLaunchKernel)(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    CHECK_EQUAL(CU(cuMemAllocManaged)(&pointer, 1, 9), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuStreamCreate)(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuStreamDestroy_v2)(NULL), CUDA_ERROR_INVALID_HANDLE);
}

static void versions_and_addresses_work_before_cuInit(void) {
    void *function;
    int version;

    install_node("t4x1");
    CHECK_EQUAL(CU(cuDriverGetVersion)(&version), CUDA_SUCCESS);
    CHECK_EQUAL(version, 13000);
    CHECK_EQUAL(CU(cuDriverGetVersion)(NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuGetProcAddress_v2)("cuInit", &function, 12000, 0, NULL), CUDA_SUCCESS);
}

static void without_a_context_memory_calls_are_invalid_context(void) {
    CUdeviceptr pointer;
    CUdevice device;
    size_t bytes;

    install_node("t4x1");
    CHECK_EQUAL(CU(cuInit)(1), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuInit)(0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuInit)(0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, 1), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_EQUAL(CU(cuMemFree_v2)(0), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_EQUAL(CU(cuMemGetInfo_v2)(&bytes, &bytes), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_EQUAL(CU(cuCtxGetDevice)(&device), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_EQUAL(CU(cuCtxPopCurrent_v2)(NULL), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRelease_v2)(0), CUDA_ERROR_INVALID_CONTEXT);
}

static void attributes_tell_what_the_functions_can_do(void) {
    static const CUdevice_attribute can[] = {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY,
                                             CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED,
                                             CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED,
                                             CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED};
    int value;

    install_node("t4x1");
    CHECK_EQUAL(CU(cuInit)(0), CUDA_SUCCESS);
    for (size_t i = 0; i < sizeof can / sizeof *can; i++) {
        CHECK_EQUAL(CU(cuDeviceGetAttribute)(&value, can[i], 0), CUDA_SUCCESS);
        CHECK_EQUAL(value, 1);
    }
}

static void null_outputs_and_bad_values_are_invalid_value(void) {
    CUdeviceptr pointer = 0;
    CUcontext context;
    const char *text;
    size_t bytes;
    int value;

    install_node("t4x1");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(NULL, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuMemAlloc)(NULL, 1), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuMemGetInfo_v2)(NULL, &bytes), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuDeviceTotalMem_v2)(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuDeviceTotalMem)(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuDeviceGetAttribute)(&value, (CUdevice_attribute)9999, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuMemAllocManaged)(&pointer, 1, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuMemAllocPitch_v2)(&pointer, &bytes, 100, 10, 3), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuCtxCreate_v2)(&context, 0x100000, 0), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuGetErrorName)((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    CHECK(text == NULL);
}

static void unknown_pointers_and_handles_are_refused(void) {
    CUdeviceptr pointer;
    CUcontext context;
    CUstream stream;
    int local;

    install_node("t4x1");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuMemFree_v2)(0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemFree_v2)((CUdeviceptr)(uintptr_t)&local), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuMemFree_v2)(~0ull), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, 4 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemFree_v2)(pointer + 512), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuMemFree_v2)(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemFree_v2)(pointer), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuCtxSetCurrent)((CUcontext)(void *)&local), CUDA_ERROR_INVALID_CONTEXT);
    CHECK_EQUAL(CU(cuStreamDestroy_v2)((CUstream)(void *)&local), CUDA_ERROR_INVALID_HANDLE);
    CHECK_EQUAL(CU(cuStreamCreate)(&stream, 7), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuDeviceGet)(&local, 1), CUDA_ERROR_INVALID_DEVICE);
    CHECK_EQUAL(CU(cuDeviceGet)(&local, -1), CUDA_ERROR_INVALID_DEVICE);
    CHECK_EQUAL(CU(cuCtxCreate_v2)(&context, 0, 3), CUDA_ERROR_INVALID_DEVICE);
}

static void *use_destroyed(void *context) {
    CUdeviceptr pointer;

    CHECK_EQUAL(CU(cuCtxSetCurrent)(context), CUDA_SUCCESS);
    return (void *)(intptr_t)CU(cuMemAlloc_v2)(&pointer, 1);
}

static void *sees_no_context(void *unused) {
    CUcontext context;

    (void)unused;
    CHECK_EQUAL(CU(cuCtxGetCurrent)(&context), CUDA_SUCCESS);
    return context;
}

static void a_context_is_current_in_its_thread_only(void) {
    CUcontext context;
    pthread_t thread;
    void *result;

    install_node("t4x1");
    begin_cuda(0);
    CHECK(pthread_create(&thread, NULL, sees_no_context, NULL) == 0);
    CHECK(pthread_join(thread, &result) == 0 && result == NULL);
    CHECK_EQUAL(CU(cuCtxCreate_v2)(&context, 0, 0), CUDA_SUCCESS);
    CHECK(pthread_create(&thread, NULL, use_destroyed, context) == 0);
    CHECK(pthread_join(thread, &result) == 0);
    CHECK_EQUAL((intptr_t)result, CUDA_SUCCESS);
}

static void a_destroyed_context_says_so(void) {
    CUcontext context, primary, current;
    CUdeviceptr pointer;

    install_node("t4x1");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuCtxGetCurrent)(&primary), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxCreate_v2)(&context, 0, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxPushCurrent_v2)(context), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxDestroy_v2)(context), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, 1), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK_EQUAL(CU(cuCtxSetCurrent)(context), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK_EQUAL(CU(cuCtxPopCurrent_v2)(&current), CUDA_SUCCESS);
    CHECK(current == context);
    CHECK_EQUAL(CU(cuCtxDestroy_v2)(primary), CUDA_ERROR_INVALID_CONTEXT);
}

static void launches_check_their_shape(void) {
    CUmodule module;
    CUfunction function;

    install_node("t4x1");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuModuleLoadData)(&module, "image"), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuModuleGetFunction)(&function, module, "kernel"), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLaunchKernel)(function, 1, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLaunchKernel_ptsz)(function, 1, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuLaunchKernel)(function, 0, 1, 1, 256, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuLaunchKernel)(function, 1, 1, 1, 1024, 2, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
    CHECK_EQUAL(CU(cuLaunchKernel)(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
    CHECK_EQUAL(CU(cuModuleUnload)(module), CUDA_SUCCESS);
}

static void use_cuda(int link, long unused) {
    CUdeviceptr pointer;

    (void)link;
    (void)unused;
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, 1), CUDA_ERROR_NOT_INITIALIZED);
    CHECK_EQUAL(CU(cuInit)(0), CUDA_ERROR_NOT_INITIALIZED);
}

static void a_forked_child_cannot_use_cuda_again(void) {
    CUdeviceptr pointer;
    struct child child;

    install_node("t4x1");
    begin_cuda(0);
    child = start_child(use_cuda, 0);
    join_child(&child);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, 1), CUDA_SUCCESS);
}

static void there_is_no_export_table(void) {
    CUuuid id = {{0}};
    const void *table = &id;

    install_node("t4x1");
    CHECK_EQUAL(CU(cuGetExportTable)(&table, &id), CUDA_ERROR_INVALID_VALUE);
    CHECK(table == NULL);
}

static void errors_have_names_and_words(void) {
    const char *name, *text;

    install_node("t4x1");
    CHECK_EQUAL(CU(cuGetErrorName)(CUDA_ERROR_OUT_OF_MEMORY, &name), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuGetErrorString)(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
    CHECK(strcmp(name, "CUDA_ERROR_OUT_OF_MEMORY") == 0 && strcmp(text, "out of memory") == 0);
}

RUN(TEST(every_call_before_cuInit_is_not_initialized), TEST(some_values_are_refused_even_before_cuInit),
    TEST(versions_and_addresses_work_before_cuInit), TEST(without_a_context_memory_calls_are_invalid_context),
    TEST(attributes_tell_what_the_functions_can_do), TEST(null_outputs_and_bad_values_are_invalid_value),
    TEST(unknown_pointers_and_handles_are_refused), TEST(a_context_is_current_in_its_thread_only),
    TEST(a_destroyed_context_says_so), TEST(launches_check_their_shape), TEST(a_forked_child_cannot_use_cuda_again),
    TEST(there_is_no_export_table), TEST(errors_have_names_and_words))
