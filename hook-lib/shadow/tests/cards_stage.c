/* SPDX-License-Identifier: Apache-2.0 */
#include "cards_stage.h"

#include <dlfcn.h>

#include "check.h"
#include "cuda_events.h"
#include "scratch.h"

struct cards_machine *cards_machine;
static __typeof__(&cuDevicePrimaryCtxRetain) retain;
static __typeof__(&cuCtxSetCurrent) set_current;
static __typeof__(&cuLaunchKernel) launch;
static __typeof__(&cuStreamQuery) query;

void cards_start(void) {
    const char *box = scratch_folder();
    make_folders(text("%s/lib/partita", box));
    copy_file(shadow_cuda(), text("%s/lib/libcuda.so.1", box));
    copy_file(CARDS_DRIVER, text("%s/lib/partita/libcuda-real.so.1", box));
    for (unsigned int i = 0; i < CARDS_DRIVER_CARDS; i++) {
        const char *gpu = text("GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", i, i, i, i,
                               i, i, i, i, i, i, i, i, i, i, i, i);
        write_quota_with(box, text("share-%u", i), gpu, 1 << 30, 1, "cores 90\n");
        make_region(box, text("share-%u", i));
    }
    void *library = dlopen(text("%s/lib/libcuda.so.1", box), RTLD_NOW);
    CHECK(library);
    *(void **)&retain = dlsym(library, "cuDevicePrimaryCtxRetain");
    *(void **)&set_current = dlsym(library, "cuCtxSetCurrent");
    *(void **)&launch = dlsym(library, "cuLaunchKernel");
    *(void **)&query = dlsym(library, "cuStreamQuery");
    cards_machine = dlsym(library, "cards_machine");
    CHECK(cards_machine);
}

void cards_use(unsigned int card) {
    CUcontext context;
    CHECK_EQUAL(retain(&context, (CUdevice)card), CUDA_SUCCESS);
    CHECK_EQUAL(set_current(context), CUDA_SUCCESS);
}

void cards_use_another(unsigned int card) {
    CHECK_EQUAL(set_current((CUcontext)(uintptr_t)(card + 1 + CARDS_DRIVER_CARDS)), CUDA_SUCCESS);
}

void cards_launch(void) {
    CHECK_EQUAL(launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_SUCCESS);
}

void cards_poll(void) {
    CHECK_EQUAL(query(NULL), CUDA_SUCCESS);
}
