/* SPDX-License-Identifier: Apache-2.0 */
/* Where a driver has one address for many names, cuGetProcAddress gives the wrapper of the name that was asked for. */
#include <dlfcn.h>

#include "cases.h"
#include "check.h"
#include "cuda_api.h"
#include "scratch.h"

enum { PER_THREAD_STREAM = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM };

static void *library, *driver;
static __typeof__(&cuGetProcAddress_v2) find;

static void start(void) {
    const char *box = scratch_folder();
    make_folders(text("%s/lib/partita", box));
    copy_file(shadow_cuda(), text("%s/lib/libcuda.so.1", box));
    copy_file(FOLDED_DRIVER, text("%s/lib/partita/libcuda-real.so.1", box));
    library = dlopen(text("%s/lib/libcuda.so.1", box), RTLD_NOW);
    driver = dlopen(text("%s/lib/partita/libcuda-real.so.1", box), RTLD_NOW);
    CHECK(library && driver);
    CHECK((*(void **)&find = dlsym(library, "cuGetProcAddress_v2")) != NULL);
    CHECK(dlsym(driver, "cuMemAlloc_v2") == dlsym(driver, "cuEventQuery")); /* else it tells nothing */
}

static void *found(const char *symbol, cuuint64_t flags) {
    void *function = NULL;
    CHECK_EQUAL(find(symbol, &function, 12000, flags, NULL), CUDA_SUCCESS);
    return function;
}

static void a_function_has_the_wrapper_of_its_own_name(void) {
    start();
    CHECK(found("cuEventQuery", 0) == dlsym(library, "cuEventQuery"));
    CHECK(found("cuArrayCreate", 0) == dlsym(library, "cuArrayCreate_v2"));
    CHECK(found("cuMemAllocPitch", 0) == dlsym(library, "cuMemAllocPitch_v2"));
    CHECK(found("cuMemAllocPitch_v2", 0) == dlsym(library, "cuMemAllocPitch_v2"));
    CHECK(found("cuGetProcAddress", 0) == dlsym(library, "cuGetProcAddress_v2"));
}

static void a_function_that_is_not_wrapped_stays_the_drivers(void) {
    start();
    CHECK(found("cuNobodyWrapsThis", 0) == dlsym(driver, "cuNobodyWrapsThis"));
    CHECK(found("cuMem", 0) == dlsym(driver, "cuNotSupported"));
    CHECK(found("cuMemAllocPitch_v2_v2", 0) == dlsym(driver, "cuNotSupported"));
}

/* Of one name the newest, and that of the thread's own stream where that is asked for. */
static void of_several_wrappers_of_a_name_the_one_that_is_asked_for_is_given(void) {
    start();
    CHECK(found("cuMemAlloc", 0) == dlsym(library, "cuMemAlloc_v2"));
    CHECK(found("cuMemAlloc", PER_THREAD_STREAM) == dlsym(library, "cuMemAlloc_v2"));
    CHECK(found("cuStreamQuery", 0) == dlsym(library, "cuStreamQuery"));
    CHECK(found("cuStreamQuery", PER_THREAD_STREAM) == dlsym(library, "cuStreamQuery_ptsz"));
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(a_function_has_the_wrapper_of_its_own_name),
        CASE(a_function_that_is_not_wrapped_stays_the_drivers),
        CASE(of_several_wrappers_of_a_name_the_one_that_is_asked_for_is_given),
    };
    return RUN_CASES(cases, argc, argv);
}
