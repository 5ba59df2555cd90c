/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A share whose files cannot be opened, any more or at all. What is shown is what can be had: cuMemGetInfo, NVML and
 * the allocations agree.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "cases.h"
#include "check.h"
#include "nvml_api.h"
#include "scratch.h"
#include "stage.h"

static const char *box;
static nvmlDevice_t device;
static __typeof__(&nvmlDeviceGetMemoryInfo) nvml_memory;
static __typeof__(&nvmlDeviceGetMemoryInfo_v2) nvml_memory_v2;

static void start_nvml(void) {
    void *library = dlopen(text("%s/lib/libnvidia-ml.so.1", box), RTLD_NOW);
    __typeof__(&nvmlInit_v2) init;
    __typeof__(&nvmlDeviceGetHandleByIndex_v2) handle;
    CHECK(library);
    CHECK((*(void **)&init = dlsym(library, "nvmlInit_v2")) != NULL);
    CHECK((*(void **)&handle = dlsym(library, "nvmlDeviceGetHandleByIndex_v2")) != NULL);
    CHECK((*(void **)&nvml_memory = dlsym(library, "nvmlDeviceGetMemoryInfo")) != NULL);
    CHECK((*(void **)&nvml_memory_v2 = dlsym(library, "nvmlDeviceGetMemoryInfo_v2")) != NULL);
    CHECK_EQUAL(init(), NVML_SUCCESS);
    CHECK_EQUAL(handle(0, &device), NVML_SUCCESS);
}

static void start(uint64_t memory) {
    stage_driver("h200x1");
    box = stage_container("box");
    stage_share(box, "share", 0, memory);
    cuda_start(box, 0);
    start_nvml();
}

static uint64_t nvml_free(void) {
    nvmlMemory_t memory;
    nvmlMemory_v2_t memory_v2 = {.version = nvmlMemory_v2};
    CHECK_EQUAL(nvml_memory(device, &memory), NVML_SUCCESS);
    CHECK_EQUAL(nvml_memory_v2(device, &memory_v2), NVML_SUCCESS);
    CHECK_EQUAL(memory.free, memory_v2.free);
    CHECK_EQUAL(memory.total, memory_v2.total);
    CHECK_EQUAL(memory.total, cuda_total());
    return memory.free;
}

/* Waits until both libraries have looked again, and show this. Then that can be had, and not a byte more. */
static void all_that_can_be_had_is(uint64_t bytes) {
    CUdeviceptr pointer = 0;
    while (cuda_free() != bytes || nvml_free() != bytes)
        usleep(1000);
    for (uint64_t until = 0; until < 300; until += 20) { /* for longer than between two looks */
        CHECK_EQUAL(cuda_free(), bytes);
        CHECK_EQUAL(nvml_free(), bytes);
        CHECK_EQUAL(cuda.alloc(&pointer, bytes + 1), CUDA_ERROR_OUT_OF_MEMORY);
        if (bytes > 0) {
            CHECK_EQUAL(cuda.alloc(&pointer, bytes), CUDA_SUCCESS);
            CHECK_EQUAL(cuda_free(), 0);
            CHECK_EQUAL(nvml_free(), 0);
            CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
        }
        usleep(20000);
    }
}

static void without_a_free_descriptor_the_last_quota_holds(void) {
    struct rlimit before, none;
    CUdeviceptr held;
    start(GIB);
    CHECK_EQUAL(cuda.alloc(&held, 256 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(nvml_free(), 768 * MIB);
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = (struct rlimit){0, before.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    all_that_can_be_had_is(768 * MIB);
    CHECK_EQUAL(cuda_total(), GIB);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
    write_quota(box, "share", stage_gpu(0), 512 * MIB, 2);
    all_that_can_be_had_is(256 * MIB);
    CHECK_EQUAL(cuda_total(), 512 * MIB);
}

/* The first call into the library finds no free descriptor. */
static void begin_without_a_descriptor(void) {
    struct rlimit before, none;
    size_t free, total;
    stage_driver("h200x1");
    box = stage_container("box");
    stage_share(box, "share", 0, GIB);
    cuda_load(box, RTLD_NOW | RTLD_LOCAL);
    CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = (struct rlimit){0, before.rlim_max};
    CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
    CHECK_EQUAL(cuda.info(&free, &total), CUDA_ERROR_NOT_INITIALIZED);
    CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
}

static void shares_that_no_free_descriptor_let_be_found_are_found_later(void) {
    begin_without_a_descriptor();
    cuda_start(box, 0);
    CHECK_EQUAL(cuda_total(), GIB);
    start_nvml();
    all_that_can_be_had_is(GIB);
}

static void *has_a_share(void *data) {
    CUcontext context;
    CUdeviceptr pointer;
    (void)data;
    CHECK_EQUAL(cuda.context_create(&context, 0, 0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.alloc(&pointer, 256 * MIB), CUDA_SUCCESS);
    return NULL;
}

static void whichever_thread_finds_them_later_all_threads_do(void) {
    pthread_t threads[4];
    begin_without_a_descriptor();
    CHECK_EQUAL(cuda.init(0), CUDA_SUCCESS);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, has_a_share, NULL) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void *has_no_more_than_its_share(void *data) {
    CUcontext context;
    CUdeviceptr pointer;
    (void)data;
    CHECK_EQUAL(cuda.context_create(&context, 0, 0), CUDA_SUCCESS);
    do
        CHECK_EQUAL(cuda.alloc(&pointer, 3 * GIB), CUDA_ERROR_OUT_OF_MEMORY);
    while (cuda.alloc(&pointer, 256 * MIB) != CUDA_SUCCESS);
    return NULL;
}

/* A card whose share's UUID a thread saw half written would have no limit. ThreadSanitizer sees who may. */
static void whichever_thread_reads_a_quota_later_all_threads_are_held_to_it(void) {
    pthread_t threads[4];
    stage_driver("h200x1");
    box = stage_container("box");
    make_folders(text("%s/etc/partita/shares/share", box));
    make_region(box, "share");
    cuda_load(box, RTLD_NOW | RTLD_LOCAL);
    CHECK_EQUAL(cuda.init(0), CUDA_SUCCESS);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, has_no_more_than_its_share, NULL) == 0);
    write_quota(box, "share", stage_gpu(0), 2 * GIB, 1);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* As after a chroot: the folders themselves are not there any more. */
static void where_a_chroot_hides_the_folders_the_last_quota_holds(void) {
    start(GIB);
    all_that_can_be_had_is(GIB);
    CHECK(rename(text("%s/etc", box), text("%s/hidden", box)) == 0);
    CHECK(rename(text("%s/run", box), text("%s/hidden-run", box)) == 0);
    all_that_can_be_had_is(GIB);
    CHECK_EQUAL(cuda_total(), GIB);
}

static void refuse_to_open(void) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
#ifdef SYS_open
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_open, 0, 1),
#else
        BPF_JUMP(BPF_JMP | BPF_JA, 1, 0, 0),
#endif
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

/* Ends without what the sanitizers do last, which opens files. */
static void work_in_a_sandbox(void) {
    cuda_start(box, 0);
    start_nvml();
    CHECK_EQUAL(nvml_free(), GIB);
    refuse_to_open();
    all_that_can_be_had_is(GIB);
    CHECK_EQUAL(cuda_total(), GIB);
}

static void in_a_sandbox_that_opens_nothing_the_last_quota_holds(void) {
    stage_driver("h200x1");
    box = stage_container("box");
    stage_share(box, "share", 0, GIB);
    struct child child = stage_child(work_in_a_sandbox);
    reap_well(child.pid);
}

static void a_quota_that_was_taken_away_grants_nothing(void) {
    start(GIB);
    all_that_can_be_had_is(GIB);
    CHECK(unlink(text("%s/etc/partita/shares/share/quota", box)) == 0);
    all_that_can_be_had_is(0);
    CHECK_EQUAL(cuda_total(), 0);
}

/* As where the folder of regions is read-only: the quota can be read, but nobody can be charged. */
static void where_the_region_cannot_be_written_nothing_is_shown_as_free(void) {
    stage_driver("h200x1");
    box = stage_container("box");
    write_quota(box, "share", stage_gpu(0), GIB, 1);
    make_folders(text("%s/run/partita/shares/share/usage", box));
    cuda_start(box, 0);
    start_nvml();
    all_that_can_be_had_is(0);
    CHECK_EQUAL(cuda_total(), GIB);
    CHECK(rmdir(region_path(box, "share")) == 0);
    make_region(box, "share");
    all_that_can_be_had_is(GIB);
}

/* The program closed our descriptor, and the region cannot be opened again: no lock proves that the process lives. */
static void where_the_region_is_lost_nothing_more_is_shown_as_free(void) {
    CUdeviceptr held;
    start(GIB);
    CHECK_EQUAL(cuda.alloc(&held, 256 * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(nvml_free(), 768 * MIB);
    for (int i = 3; i < 256; i++)
        close(i);
    CHECK(rename(text("%s/run", box), text("%s/hidden-run", box)) == 0);
    all_that_can_be_had_is(0);
    CHECK_EQUAL(cuda_total(), GIB);
    CHECK(rename(text("%s/hidden-run", box), text("%s/run", box)) == 0);
    all_that_can_be_had_is(768 * MIB);
}

static void of_two_shares_what_each_has_left_is_shown(void) {
    CUdeviceptr held;
    stage_driver("h200x1");
    box = stage_container("box");
    stage_share(box, "a", 0, GIB);
    write_quota(box, "b", stage_gpu(0), GIB, 1); /* without a region */
    cuda_start(box, 0);
    start_nvml();
    all_that_can_be_had_is(GIB);
    CHECK_EQUAL(cuda_total(), 2 * GIB);
    make_region(box, "b");
    all_that_can_be_had_is(2 * GIB);
    CHECK_EQUAL(cuda.alloc(&held, GIB + 256 * MIB), CUDA_SUCCESS);
    write_quota(box, "a", stage_gpu(0), GIB / 2, 2); /* holds more than that */
    while (cuda_total() != GIB + GIB / 2)
        usleep(1000);
    all_that_can_be_had_is(768 * MIB);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(without_a_free_descriptor_the_last_quota_holds),
        CASE(shares_that_no_free_descriptor_let_be_found_are_found_later),
        CASE(whichever_thread_finds_them_later_all_threads_do),
        CASE(whichever_thread_reads_a_quota_later_all_threads_are_held_to_it),
        CASE(where_a_chroot_hides_the_folders_the_last_quota_holds),
        CASE(in_a_sandbox_that_opens_nothing_the_last_quota_holds),
        CASE(a_quota_that_was_taken_away_grants_nothing),
        CASE(where_the_region_cannot_be_written_nothing_is_shown_as_free),
        CASE(where_the_region_is_lost_nothing_more_is_shown_as_free),
        CASE(of_two_shares_what_each_has_left_is_shown),
    };
    return RUN_CASES(cases, argc, argv);
}
