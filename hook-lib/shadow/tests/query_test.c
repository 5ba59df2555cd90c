/* SPDX-License-Identifier: Apache-2.0 */
/* What a program is told of its memory by a driver that is not strict about outputs. */
#include <dlfcn.h>

#include "cases.h"
#include "check.h"
#include "cuda_api.h"
#include "scratch.h"

enum { QUOTA = 1 << 28 };

static void *library;

#define CUDA(name) ((__typeof__(&name))dlsym(library, #name))

static void start(void) {
    const char *box = scratch_folder();
    make_folders(text("%s/lib/partita", box));
    copy_file(shadow_cuda(), text("%s/lib/libcuda.so.1", box));
    copy_file(LENIENT_DRIVER, text("%s/lib/partita/libcuda-real.so.1", box));
    write_quota(box, "share", "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", QUOTA, 1);
    make_region(box, "share");
    CHECK((library = dlopen(text("%s/lib/libcuda.so.1", box), RTLD_NOW)) != NULL);
}

static void either_figure_alone_is_the_shares(void) {
    size_t free = 0, total = 0;
    unsigned int narrow_free = 0, narrow_total = 0;
    start();
    CHECK_EQUAL(CUDA(cuMemGetInfo_v2)(&free, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(free, QUOTA);
    CHECK_EQUAL(CUDA(cuMemGetInfo_v2)(NULL, &total), CUDA_SUCCESS);
    CHECK_EQUAL(total, QUOTA);
    CHECK_EQUAL(CUDA(cuMemGetInfo_v2)(NULL, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuMemGetInfo)(&narrow_free, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(narrow_free, QUOTA);
    CHECK_EQUAL(CUDA(cuMemGetInfo)(NULL, &narrow_total), CUDA_SUCCESS);
    CHECK_EQUAL(narrow_total, QUOTA);
}

static void where_the_card_is_not_known_its_figures_are_not_told(void) {
    size_t free = 1, total = 1;
    start();
    ((void (*)(void))dlsym(library, "lenient_driver_without_context"))();
    CHECK_EQUAL(CUDA(cuMemGetInfo_v2)(&free, &total), CUDA_SUCCESS);
    CHECK_EQUAL(free + total, 0);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(either_figure_alone_is_the_shares),
        CASE(where_the_card_is_not_known_its_figures_are_not_told),
    };
    return RUN_CASES(cases, argc, argv);
}
