/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ways in which programs find the driver's functions: all of them lead through the shadow, and nothing else
 * changes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "cases.h"
#include "check.h"
#include "cuda/cuda_driver.h"
#include "plugin.h"
#include "scratch.h"
#include "stage.h"

static const char *box;

static void prepare(void) {
    stage_driver("h200x1");
    box = stage_container("box");
    stage_share(box, "share", 0, GIB);
}

static void expect_the_quota(void) {
    CUdeviceptr pointer;
    CHECK_EQUAL(cuda.alloc(&pointer, GIB + 1), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(cuda.alloc(&pointer, GIB), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.alloc(&pointer, 1), CUDA_ERROR_OUT_OF_MEMORY);
}

static void begin(int flags) {
    CUdevice device;
    prepare();
    cuda_load(box, flags);
    CHECK_EQUAL(cuda.init(0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.device_get(&device, 0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.context_create(&cuda.context, 0, device), CUDA_SUCCESS);
}

static void dlsym_on_a_library_opened_lazily_and_privately(void) {
    begin(RTLD_LAZY | RTLD_LOCAL);
    expect_the_quota();
}

static void dlsym_on_a_library_opened_for_all(void) {
    begin(RTLD_NOW | RTLD_GLOBAL);
    CHECK(dlsym(RTLD_DEFAULT, "cuMemAlloc_v2") == (void *)cuda.alloc);
    expect_the_quota();
}

static void dlsym_on_a_library_opened_with_deepbind(void) {
#if !defined(RTLD_DEEPBIND) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    exit(77); /* musl does not have it, the sanitizers refuse it */
#else
    begin(RTLD_NOW | RTLD_DEEPBIND);
    expect_the_quota();
#endif
}

static void dlopen_by_the_plain_name_finds_the_shadow_and_only_it(void) {
#ifndef __GLIBC__
    exit(77); /* musl knows a library by its path alone */
#endif
    begin(RTLD_NOW);
    void *again = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    CHECK(again);
    CHECK(dlsym(again, "cuMemAlloc_v2") == (void *)cuda.alloc);
    CHECK(dlsym(again, "cuInit") == (void *)cuda.init);
}

static void dlopen_by_a_relative_path_keeps_to_the_quota(void) {
    prepare();
    CHECK(chdir(box) == 0);
    box = ".";
    cuda_start(box, 0);
    expect_the_quota();
}

static void a_closed_library_opened_again_keeps_its_account(void) {
    size_t free, total;
    begin(RTLD_NOW);
    expect_the_quota();
    CHECK(dlclose(cuda.library) == 0);
    cuda_load(box, RTLD_NOW);
    CHECK_EQUAL(cuda.info(&free, &total), CUDA_SUCCESS);
    CHECK_EQUAL(free, 0);
}

static void run_program(const char *preload, const char *program, const char *a, const char *b, const char *c,
                        const char *d) {
    prepare();
    pid_t pid = fork();
    if (pid == 0) {
        setenv("LD_LIBRARY_PATH", text("%s/lib", box), 1);
        if (preload)
            setenv("LD_PRELOAD", preload, 1);
        execl(program, program, a, b, c, d, NULL);
        _exit(127);
    }
    reap_well(pid);
}

static void a_program_linked_with_libcuda_that_wraps_it_itself(void) {
    run_program(NULL, LINKED_PROGRAM, "1073741824", "512", NULL, NULL);
}

static void a_program_linked_with_libcuda_under_a_preloaded_tracer(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    exit(77); /* the sanitizers want to be preloaded first */
#else
    run_program(TRACER, TRACED_PROGRAM, "1073741824", "512", NULL, NULL);
#endif
}

static void load_plugin(int flags) {
    run_program(NULL, PLUGIN_PROGRAM, PLUGIN, text("%d", flags), "1073741824", "1073741825");
}

static void a_plugin_linked_with_libcuda_in_a_program_that_is_not(void) {
    load_plugin(RTLD_NOW | RTLD_LOCAL);
}

static void a_plugin_linked_with_libcuda_opened_with_deepbind(void) {
#if !defined(RTLD_DEEPBIND) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    exit(77); /* musl does not have it, the sanitizers refuse it */
#else
    load_plugin(RTLD_NOW | RTLD_DEEPBIND);
#endif
}

/* Each namespace has its own shadow, and each shadow its own driver behind it; the share counts both. */
static void a_library_opened_in_a_namespace_of_its_own(void) {
#if !defined(LM_ID_NEWLM) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    exit(77); /* musl does not have them, the sanitizers know one namespace */
#else
    begin(RTLD_NOW);
    CUdeviceptr pointer;
    CUcontext context;
    CHECK_EQUAL(cuda.alloc(&pointer, GIB / 2), CUDA_SUCCESS);
    void *other = dlmopen(LM_ID_NEWLM, text("%s/lib/libcuda.so.1", box), RTLD_NOW);
    if (!other)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(other);
#define OTHER(name) ((__typeof__(&name))dlsym(other, #name))
    CHECK(OTHER(cuMemAlloc_v2) && OTHER(cuMemAlloc_v2) != cuda.alloc);
    CHECK_EQUAL(OTHER(cuInit)(0), CUDA_SUCCESS);
    CHECK_EQUAL(OTHER(cuCtxCreate_v2)(&context, 0, 0), CUDA_SUCCESS);
    CHECK_EQUAL(OTHER(cuMemAlloc_v2)(&pointer, GIB / 2 + 512), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(OTHER(cuMemAlloc_v2)(&pointer, GIB / 2), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.alloc(&pointer, 512), CUDA_ERROR_OUT_OF_MEMORY);
#endif
}

static void dlvsym_finds_what_it_finds_in_the_driver(void) {
#ifndef __GLIBC__
    exit(77); /* musl does not have it */
#else
    begin(RTLD_NOW);
    void *driver = dlopen(text("%s/lib/partita/libcuda-real.so.1", box), RTLD_NOW | RTLD_NOLOAD);
    CHECK(driver);
#define FIND(name)                                                                                                     \
    if (dlvsym(driver, #name, "VERSION"))                                                                              \
        CHECK(dlvsym(cuda.library, #name, "VERSION") == dlsym(cuda.library, #name));                                   \
    else                                                                                                               \
        CHECK(!dlvsym(cuda.library, #name, "VERSION"));
    CUDA_INTERCEPTED(FIND)
    CUDA_CALLED(FIND)
#undef FIND
#endif
}

static const char *const intercepted[] = {
#define NAME(name) #name,
    CUDA_INTERCEPTED(NAME)
#undef NAME
};

static const char *const untouched[] = {
    "cuInit",        "cuDeviceGet",           "cuDeviceGetUuid",    "cuCtxGetDevice", "cuLaunchKernel", "cuMemcpyHtoD",
    "cuMemsetD8",    "cuMemPoolGetAttribute", "cuDeviceGetMemPool", "cuMemHostAlloc", "cuNoSuchThing",  "",
    "cuMemAlloc_v9",
};

static const int versions[] = {0,     1,     2000,  3000,  3020,  6000,  9020, 11000,
                               11020, 11030, 11040, 12000, 12020, 13000, 99999};

/* The shadow's function for one of the driver's. */
static void *expected(void *driver, void *function) {
    for (size_t i = 0; function && i < sizeof intercepted / sizeof *intercepted; i++)
        if (dlsym(driver, intercepted[i]) == function)
            return cuda_function(intercepted[i]);
    return function;
}

static void compare(void *driver, const char *symbol, int version, cuuint64_t flags) {
    __typeof__(&cuGetProcAddress_v2) theirs = (__typeof__(&cuGetProcAddress_v2))dlsym(driver, "cuGetProcAddress_v2");
    __typeof__(&cuGetProcAddress_v2) ours = (__typeof__(&cuGetProcAddress_v2))cuda_function("cuGetProcAddress_v2");
    __typeof__(&cuGetProcAddress) theirs_v1 = (__typeof__(&cuGetProcAddress))dlsym(driver, "cuGetProcAddress");
    __typeof__(&cuGetProcAddress) ours_v1 = (__typeof__(&cuGetProcAddress))cuda_function("cuGetProcAddress");
    void *real = (void *)1, *got = (void *)1;
    CUdriverProcAddressQueryResult real_status = 77, status = 77;
    CHECK_EQUAL(ours(symbol, &got, version, flags, &status), theirs(symbol, &real, version, flags, &real_status));
    CHECK(got == expected(driver, real));
    CHECK_EQUAL(status, real_status);
    real = got = (void *)1;
    CHECK_EQUAL(ours_v1(symbol, &got, version, flags), theirs_v1(symbol, &real, version, flags));
    CHECK(got == expected(driver, real));
    CHECK_EQUAL(ours(symbol, &got, version, flags, NULL), theirs(symbol, &real, version, flags, NULL));
}

static void cuGetProcAddress_gives_the_drivers_answer_or_exactly_its_wrapper(void) {
    begin(RTLD_NOW);
    void *driver = dlopen(text("%s/lib/partita/libcuda-real.so.1", box), RTLD_NOW);
    CHECK(driver && dlsym(driver, "cuMemAlloc_v2") != (void *)cuda.alloc);
    for (size_t v = 0; v < sizeof versions / sizeof *versions; v++)
        for (cuuint64_t flags = 0; flags < 4; flags++) {
            for (size_t i = 0; i < sizeof intercepted / sizeof *intercepted; i++)
                compare(driver, intercepted[i], versions[v], flags);
            for (size_t i = 0; i < sizeof untouched / sizeof *untouched; i++)
                compare(driver, untouched[i], versions[v], flags);
        }
}

static void what_cuGetProcAddress_gives_keeps_to_the_quota_in_its_own_abi(void) {
    void *function;
    begin(RTLD_NOW);
    __typeof__(&cuGetProcAddress_v2) find = (__typeof__(&cuGetProcAddress_v2))cuda_function("cuGetProcAddress_v2");
    CHECK_EQUAL(find("cuMemAlloc", &function, 12000, 0, NULL), CUDA_SUCCESS);
    CHECK(function == (void *)cuda.alloc);
    CHECK_EQUAL(find("cuMemAlloc", &function, 3000, 0, NULL), CUDA_SUCCESS);
    unsigned int narrow[2] = {0, 7};
    CHECK_EQUAL(((__typeof__(&cuMemAlloc))function)(narrow, 4 * MIB), CUDA_SUCCESS);
    CHECK(narrow[0] && narrow[1] == 7);
    CHECK_EQUAL(cuda_free(), GIB - 4 * MIB);
    CHECK_EQUAL(find("cuMemAllocAsync", &function, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL),
                CUDA_SUCCESS);
    CHECK(function == cuda_function("cuMemAllocAsync_ptsz"));
    CHECK_EQUAL(find("cuGetProcAddress", &function, 12000, 0, NULL), CUDA_SUCCESS);
    CHECK(function == (void *)find); /* and so for whatever is found through it */
    CHECK_EQUAL(find("cuGetProcAddress", &function, 11030, 0, NULL), CUDA_SUCCESS);
    CHECK(function == cuda_function("cuGetProcAddress"));
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(dlsym_on_a_library_opened_lazily_and_privately),
        CASE(dlsym_on_a_library_opened_for_all),
        CASE(dlsym_on_a_library_opened_with_deepbind),
        CASE(dlopen_by_the_plain_name_finds_the_shadow_and_only_it),
        CASE(dlopen_by_a_relative_path_keeps_to_the_quota),
        CASE(a_closed_library_opened_again_keeps_its_account),
        CASE(a_program_linked_with_libcuda_that_wraps_it_itself),
        CASE(a_program_linked_with_libcuda_under_a_preloaded_tracer),
        CASE(a_plugin_linked_with_libcuda_in_a_program_that_is_not),
        CASE(a_plugin_linked_with_libcuda_opened_with_deepbind),
        CASE(a_library_opened_in_a_namespace_of_its_own),
        CASE(dlvsym_finds_what_it_finds_in_the_driver),
        CASE(cuGetProcAddress_gives_the_drivers_answer_or_exactly_its_wrapper),
        CASE(what_cuGetProcAddress_gives_keeps_to_the_quota_in_its_own_abi),
    };
    return RUN_CASES(cases, argc, argv);
}
