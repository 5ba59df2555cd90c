/* SPDX-License-Identifier: Apache-2.0 */
/* Several processes in one share, against the simulated driver and what its hardware knows. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "cases.h"
#include "check.h"
#include "cuda_pages.h"
#include "nvml_mig.h"
#include "partita/quota_file.h"
#include "partita/usage_region.h"
#include "scratch.h"
#include "stage.h"

static const char *box;

static void prepare(uint64_t memory) {
    stage_driver("h200x2");
    box = stage_container("box");
    stage_share(box, "share", 0, memory);
}

static CUdeviceptr must_alloc(uint64_t bytes) {
    CUdeviceptr pointer;
    CHECK_EQUAL(cuda.alloc(&pointer, bytes), CUDA_SUCCESS);
    return pointer;
}

enum { RACE_QUOTA_MIB = 256 };

static void race(void) {
    unsigned int random = (unsigned int)getpid();
    cuda_start(box, 0);
    stage_ready();
    for (int i = 0; i < 150; i++) {
        CUdeviceptr pointer[3];
        int got = 0;
        for (int j = 0; j < 3; j++) {
            random = random * 1103515245 + 12345;
            CUresult result = cuda.alloc(&pointer[got], ((random >> 16) % 24 + 1) * 2 * MIB);
            CHECK(result == CUDA_SUCCESS || result == CUDA_ERROR_OUT_OF_MEMORY);
            got += result == CUDA_SUCCESS;
            CHECK(stage_hardware_used(0) <= RACE_QUOTA_MIB * MIB);
        }
        while (got > 0)
            CHECK_EQUAL(cuda.free(pointer[--got]), CUDA_SUCCESS);
    }
}

/* PARTITA_RACE_PROCESSES: how many, 64 without. */
static void a_race_of_processes_never_exceeds_the_quota_by_one_byte(void) {
    static struct child racers[1024];
    const char *wanted = getenv("PARTITA_RACE_PROCESSES");
    int count = wanted ? atoi(wanted) : 64;
    CHECK(count > 0 && count <= 1024);
    prepare(RACE_QUOTA_MIB * MIB);
    for (int i = 0; i < count; i++)
        racers[i] = stage_child(race);
    for (int i = 0; i < count; i++)
        child_wait(&racers[i]);
    for (int i = 0; i < count; i++)
        child_go(&racers[i]);
    for (int i = 0; i < count; i++)
        reap_well(racers[i].pid);
    CHECK_EQUAL(stage_hardware_used(0), 0);
    cuda_start(box, 0);
    CHECK_EQUAL(cuda_free(), RACE_QUOTA_MIB * MIB);
    must_alloc(RACE_QUOTA_MIB * MIB);
}

static void hold_3_gib(void) {
    cuda_start(box, 0);
    must_alloc(3 * GIB);
    stage_ready();
}

static void hold_3_gib_when_told(void) {
    stage_ready();
    hold_3_gib();
}

static void processes_share_one_quota(void) {
    CUdeviceptr pointer;
    prepare(8 * GIB);
    struct child a = stage_child(hold_3_gib), b = stage_child(hold_3_gib);
    child_wait(&a);
    child_wait(&b);
    cuda_start(box, 0);
    CHECK_EQUAL(cuda_free(), 2 * GIB);
    CHECK_EQUAL(cuda.alloc(&pointer, 3 * GIB), CUDA_ERROR_OUT_OF_MEMORY);
    must_alloc(2 * GIB);
    child_end(&a);
    must_alloc(3 * GIB);
    child_end(&b);
}

static void containers_with_shares_of_one_card_do_not_see_each_other(void) {
    prepare(3 * GIB);
    const char *other = stage_container("other");
    stage_share(other, "share", 0, 5 * GIB);
    struct child neighbour = stage_child(hold_3_gib);
    child_wait(&neighbour);
    cuda_start(other, 0);
    CHECK_EQUAL(cuda_free(), 5 * GIB);
    must_alloc(5 * GIB);
    CHECK_EQUAL(stage_hardware_used(0), 8 * GIB);
    child_end(&neighbour);
}

static void what_a_killed_process_held_is_there_for_the_next_allocation(void) {
    enum { ROUNDS = 5 };
    struct child holders[ROUNDS];
    prepare(4 * GIB);
    for (int i = 0; i < ROUNDS; i++)
        holders[i] = stage_child(hold_3_gib_when_told); /* no fork after cuInit */
    cuda_start(box, 0);
    for (int i = 0; i < ROUNDS; i++) {
        CUdeviceptr pointer;
        child_wait(&holders[i]);
        child_go(&holders[i]);
        child_wait(&holders[i]);
        CHECK_EQUAL(cuda.alloc(&pointer, 2 * GIB), CUDA_ERROR_OUT_OF_MEMORY);
        child_kill(&holders[i]);
        CHECK_EQUAL(cuda.alloc(&pointer, 4 * GIB), CUDA_SUCCESS);
        CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
    }
}

static void churn_for_ever(void) {
    cuda_start(box, 0);
    stage_ready();
    for (unsigned int random = (unsigned int)getpid();;) {
        CUdeviceptr pointer;
        random = random * 1103515245 + 12345;
        if (cuda.alloc(&pointer, ((random >> 16) % 64 + 1) * 2 * MIB) == CUDA_SUCCESS)
            CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
    }
}

static void processes_killed_in_the_middle_of_allocating_leave_nothing(void) {
    enum { LIVES = 4 };
    struct child lives[LIVES];
    prepare(256 * MIB);
    for (int i = 0; i < LIVES; i++)
        lives[i] = stage_child(churn_for_ever);
    for (int round = 0; round < 24; round++) {
        struct child *victim = &lives[round % LIVES];
        child_wait(victim);
        child_go(victim);
        usleep((useconds_t)(round * 97 % 1000)); /* somewhere in its loop */
        child_kill(victim);
        *victim = stage_child(churn_for_ever);
    }
    for (int i = 0; i < LIVES; i++)
        child_kill(&lives[i]);
    cuda_start(box, 0);
    must_alloc(256 * MIB);
}

static void child_of_fork(void) {
    cuda_start(box, 0);
    CHECK_EQUAL(cuda_free(), 4 * GIB);
    CUdeviceptr pointer = must_alloc(GIB);
    pid_t pid = fork(); /* CUDA does not survive a fork, but a child that knows it may come here all the same */
    if (pid == 0) {
        CUdeviceptr own;
        cuda.alloc(&own, GIB);
        cuda.free(pointer);
        _exit(0);
    }
    reap_well(pid);
    CHECK_EQUAL(cuda_free(), 3 * GIB);
    CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 4 * GIB);
}

static void a_child_of_fork_neither_frees_nor_inherits_what_its_parent_holds(void) {
    prepare(4 * GIB);
    child_of_fork();
}

/* The parent has loaded the library and asked it something, but not CUDA: then a child may use CUDA. */
static void a_child_of_fork_has_an_account_of_its_own(void) {
    prepare(4 * GIB);
    cuda_load(box, RTLD_NOW);
    CUdeviceptr pointer;
    CHECK_EQUAL(cuda.alloc(&pointer, GIB), CUDA_ERROR_NOT_INITIALIZED);
    struct child child = stage_child(hold_3_gib);
    child_wait(&child);
    cuda_start(box, 0);
    CHECK_EQUAL(cuda_free(), GIB);
    child_kill(&child);
    must_alloc(4 * GIB);
}

static pid_t forked_while_opening;
static bool fork_while_opening;

/* In the place of the C library's, so that a fork can come while the library reads its first quota. */
PARTITA_EXPORT int open(const char *path, int flags, ...) {
    va_list rest;
    va_start(rest, flags);
    int file = (int)syscall(SYS_openat, AT_FDCWD, path, flags, flags & O_CREAT ? va_arg(rest, unsigned int) : 0);
    va_end(rest);
    if (!fork_while_opening || !strstr(path, "/" PARTITA_QUOTA_NAME))
        return file;
    fork_while_opening = false;
    forked_while_opening = fork();
    if (forked_while_opening == 0) {
        cuda_start(box, 0);
        CHECK_EQUAL(cuda_total(), GIB);
        _exit(0);
    }
    return file;
}

static void a_child_of_fork_in_the_middle_of_the_first_call_counts_each_share_once(void) {
    prepare(GIB);
    cuda_load(box, RTLD_NOW);
    fork_while_opening = true;
    CHECK_EQUAL(cuda.total(NULL, 0), CUDA_ERROR_NOT_INITIALIZED);
    CHECK(!fork_while_opening && forked_while_opening > 0);
    reap_well(forked_while_opening);
}

static void after_exec_nothing_of_the_former_program_counts(void) {
    prepare(4 * GIB);
    pid_t pid = fork();
    if (pid == 0) {
        cuda_start(box, 0);
        must_alloc(3 * GIB);
        setenv("LD_LIBRARY_PATH", text("%s/lib", box), 1);
        execl(LINKED_PROGRAM, LINKED_PROGRAM, "4294967296", "0", NULL); /* all of the quota, in the same process */
        _exit(127);
    }
    reap_well(pid);
}

/* It uses no CUDA, so nobody in it could give back what the former one held. */
static void after_exec_of_a_program_without_cuda_nothing_of_the_former_one_counts(void) {
    prepare(4 * GIB);
    int go[2], until_exec[2];
    char byte;
    CHECK(pipe(go) == 0 && pipe2(until_exec, O_CLOEXEC) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(go[0], STDIN_FILENO);
        close(go[1]);
        cuda_start(box, 0);
        must_alloc(3 * GIB);
        execlp("cat", "cat", NULL);
        _exit(127);
    }
    close(go[0]);
    close(until_exec[1]);
    CHECK(read(until_exec[0], &byte, 1) == 0);
    cuda_start(box, 0);
    while (cuda_free() != 4 * GIB) /* the dead are looked for every second */
        usleep(1000);
    must_alloc(4 * GIB);
    CHECK(kill(pid, 0) == 0);
    close(go[1]);
    reap_well(pid);
}

/* Its lock is gone until its next call, but it is the same program. */
static void a_process_that_closed_every_descriptor_keeps_what_it_holds(void) {
    prepare(4 * GIB);
    int go[2], ready[2];
    char byte = 0;
    CHECK(pipe(go) == 0 && pipe(ready) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(go[0], STDIN_FILENO);
        cuda_start(box, 0);
        must_alloc(3 * GIB);
        dup2(ready[1], STDOUT_FILENO);
        for (int descriptor = 3; descriptor < 256; descriptor++)
            close(descriptor);
        _exit(write(STDOUT_FILENO, &byte, 1) != 1 || read(STDIN_FILENO, &byte, 1) != 1);
    }
    CHECK(read(ready[0], &byte, 1) == 1);
    cuda_start(box, 0);
    CUdeviceptr pointer;
    CHECK_EQUAL(cuda.alloc(&pointer, 2 * GIB), CUDA_ERROR_OUT_OF_MEMORY); /* the dead were looked for */
    CHECK_EQUAL(cuda_free(), GIB);
    CHECK(write(go[1], &byte, 1) == 1);
    reap_well(pid);
}

static void a_program_run_by_another_has_the_same_quota(void) {
    prepare(4 * GIB);
    cuda_start(box, 0);
    must_alloc(3 * GIB);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("LD_LIBRARY_PATH", text("%s/lib", box), 1);
        execl(LINKED_PROGRAM, LINKED_PROGRAM, "1073741824", "2147483648", NULL);
        _exit(127);
    }
    reap_well(pid);
    while (cuda_free() != GIB) /* the dead are looked for every second */
        usleep(1000);
}

static volatile unsigned char *map_region(void) {
    int file = open(region_path(box, "share"), O_RDWR | O_CLOEXEC);
    CHECK(file >= 0);
    void *at = mmap(NULL, PARTITA_USAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(at != MAP_FAILED);
    return at;
}

static void scribble(void) {
    volatile unsigned char *bytes = map_region();
    stage_ready();
    for (unsigned int random = 1, i = 0; i < 400000; i++) {
        random = random * 1103515245 + 12345;
        size_t at = i % 2 ? (random >> 8) % 8192 : (random >> 8) % PARTITA_USAGE_SIZE;
        bytes[at] = (unsigned char)(random >> 16);
    }
}

/*
 * Somebody in the container writes rubbish over the region all the while: this process never gets more than the quota.
 */
static void a_region_of_rubbish_neither_crashes_a_process_nor_raises_its_quota(void) {
    prepare(64 * MIB);
    cuda_start(box, 0);
    struct child vandal = stage_child(scribble);
    child_wait(&vandal);
    child_go(&vandal);
    int status = 0;
    for (int i = 0; i < 20 || waitpid(vandal.pid, &status, WNOHANG) == 0; i++) {
        CUdeviceptr pointer[40];
        int got = 0;
        for (int j = 0; j < 40; j++)
            got += cuda.alloc(&pointer[got], 2 * MIB) == CUDA_SUCCESS;
        CHECK(got <= 32);
        CHECK(stage_hardware_used(0) <= 64 * MIB);
        while (got > 0)
            CHECK_EQUAL(cuda.free(pointer[--got]), CUDA_SUCCESS);
    }
    CHECK_EQUAL(stage_hardware_used(0), 0);
}

static void a_wiped_region_is_rebuilt_from_what_the_processes_know(void) {
    CUdeviceptr pointer;
    prepare(4 * GIB);
    cuda_start(box, 0);
    must_alloc(3 * GIB);
    memset((void *)map_region(), 0, PARTITA_USAGE_SIZE);
    CHECK_EQUAL(cuda.alloc(&pointer, 2 * GIB), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(cuda_free(), GIB);
    must_alloc(GIB);
}

/* An idle process holds memory that a wiped region does not show: nobody gets any until it is gone or accounted. */
static void a_wiped_region_grants_nothing_while_a_living_process_is_missing_in_it(void) {
    CUdeviceptr pointer;
    prepare(4 * GIB);
    struct child idle = stage_child(hold_3_gib), later = stage_child(hold_3_gib_when_told);
    child_wait(&idle);
    child_wait(&later);
    cuda_start(box, 0);
    CUdeviceptr mine = must_alloc(512 * MIB);
    memset((void *)map_region(), 0, PARTITA_USAGE_SIZE);
    CHECK_EQUAL(cuda.alloc(&pointer, 2 * GIB), CUDA_ERROR_OUT_OF_MEMORY);
    child_kill(&idle);
    CHECK_EQUAL(cuda.free(must_alloc(2 * GIB)), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.free(mine), CUDA_SUCCESS);
    child_go(&later); /* one that comes later is not kept waiting by what is left of the former seats */
    child_wait(&later);
    CHECK_EQUAL(cuda_free(), GIB);
    child_end(&later);
}

struct nvml {
    __typeof__(&nvmlDeviceGetMemoryInfo) memory;
    __typeof__(&nvmlDeviceGetMemoryInfo_v2) memory_v2;
    __typeof__(&nvmlDeviceGetComputeRunningProcesses) processes;
    __typeof__(&nvmlDeviceGetComputeRunningProcesses_v3) processes_v3;
    __typeof__(&nvmlDeviceGetGraphicsRunningProcesses_v3) graphics;
    __typeof__(&nvmlDeviceGetMPSComputeRunningProcesses_v3) mps;
    nvmlDevice_t device[2];
    void *library;
};

static struct nvml load_nvml_of(const char *path) {
    struct nvml nvml;
    void *library = dlopen(path, RTLD_NOW);
    CHECK(library);
    nvml.library = library;
#define FIND(field, name) CHECK((*(void **)&nvml.field = dlsym(library, name)) != NULL)
    FIND(memory, "nvmlDeviceGetMemoryInfo");
    FIND(memory_v2, "nvmlDeviceGetMemoryInfo_v2");
    FIND(processes, "nvmlDeviceGetComputeRunningProcesses");
    FIND(processes_v3, "nvmlDeviceGetComputeRunningProcesses_v3");
    FIND(graphics, "nvmlDeviceGetGraphicsRunningProcesses_v3");
    FIND(mps, "nvmlDeviceGetMPSComputeRunningProcesses_v3");
    __typeof__(&nvmlInit_v2) init;
    __typeof__(&nvmlDeviceGetHandleByIndex_v2) handle;
    *(void **)&init = dlsym(library, "nvmlInit_v2");
    *(void **)&handle = dlsym(library, "nvmlDeviceGetHandleByIndex_v2");
    CHECK_EQUAL(init(), NVML_SUCCESS);
    CHECK_EQUAL(handle(0, &nvml.device[0]), NVML_SUCCESS);
    CHECK_EQUAL(handle(1, &nvml.device[1]), NVML_SUCCESS);
    return nvml;
}

static struct nvml load_nvml(void) {
    return load_nvml_of(text("%s/lib/libnvidia-ml.so.1", box));
}

static void nvml_shows_the_quota_and_what_the_claims_processes_hold(void) {
    nvmlMemory_t memory;
    nvmlMemory_v2_t memory_v2 = {.version = nvmlMemory_v2};
    prepare(8 * GIB);
    struct nvml nvml = load_nvml();
    CHECK_EQUAL(nvml.memory(nvml.device[0], &memory), NVML_SUCCESS);
    CHECK(memory.total == 8 * GIB && memory.used == 0 && memory.free == 8 * GIB);
    struct child a = stage_child(hold_3_gib), b = stage_child(hold_3_gib);
    child_wait(&a);
    child_wait(&b);
    CHECK_EQUAL(nvml.memory(nvml.device[0], &memory), NVML_SUCCESS);
    CHECK(memory.total == 8 * GIB && memory.used == 6 * GIB && memory.free == 2 * GIB);
    CHECK_EQUAL(nvml.memory_v2(nvml.device[0], &memory_v2), NVML_SUCCESS);
    CHECK(memory_v2.total == 8 * GIB && memory_v2.used == 6 * GIB && memory_v2.free == 2 * GIB);
    CHECK_EQUAL(memory_v2.reserved, 0);
    CHECK_EQUAL(nvml.memory(nvml.device[1], &memory), NVML_SUCCESS);
    CHECK(memory.total > 100 * GIB); /* no share of it: as it is */
    CHECK_EQUAL(nvml.memory(nvml.device[0], NULL), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(nvml.memory(NULL, &memory), NVML_ERROR_INVALID_ARGUMENT);
    child_kill(&a);
    child_end(&b);
}

static void nvml_lists_the_containers_processes_under_their_own_pids(void) {
    prepare(8 * GIB);
    const char *other = stage_container("other");
    stage_share(other, "share", 0, 8 * GIB);
    struct nvml nvml = load_nvml();
    unsigned int count = 0;
    CHECK_EQUAL(nvml.processes(nvml.device[0], &count, NULL), NVML_SUCCESS);
    CHECK_EQUAL(count, 0);
    struct child a = stage_child(hold_3_gib);
    child_wait(&a);
    struct child b = stage_child(hold_3_gib);
    child_wait(&b);
    const char *mine = box;
    box = other;
    struct child stranger = stage_child(hold_3_gib);
    box = mine;
    child_wait(&stranger);

    nvmlProcessInfo_v1_t list[4];
    nvmlProcessInfo_t list_v3[4];
    count = 0;
    CHECK_EQUAL(nvml.processes(nvml.device[0], &count, NULL), NVML_ERROR_INSUFFICIENT_SIZE);
    CHECK_EQUAL(count, 2);
    count = 1;
    CHECK_EQUAL(nvml.processes(nvml.device[0], &count, list), NVML_ERROR_INSUFFICIENT_SIZE);
    CHECK_EQUAL(count, 2);
    count = 4;
    CHECK_EQUAL(nvml.processes(nvml.device[0], &count, list), NVML_SUCCESS);
    CHECK_EQUAL(count, 2);
    CHECK_EQUAL(list[0].pid, a.pid);
    CHECK_EQUAL(list[1].pid, b.pid);
    CHECK_EQUAL(list[0].usedGpuMemory, 3 * GIB);
    count = 2;
    CHECK_EQUAL(nvml.processes_v3(nvml.device[0], &count, list_v3), NVML_SUCCESS);
    CHECK_EQUAL(list_v3[1].pid, b.pid);
    CHECK_EQUAL(list_v3[1].usedGpuMemory, 3 * GIB);
    CHECK_EQUAL(list_v3[1].gpuInstanceId, NVML_NO_INSTANCE);
    count = 4;
    CHECK_EQUAL(nvml.graphics(nvml.device[0], &count, list_v3), NVML_SUCCESS);
    CHECK_EQUAL(count, 0);
    count = 4;
    CHECK_EQUAL(nvml.mps(nvml.device[0], &count, list_v3), NVML_SUCCESS);
    CHECK_EQUAL(count, 0);
    CHECK_EQUAL(nvml.processes(nvml.device[0], NULL, list), NVML_ERROR_INVALID_ARGUMENT);
    child_kill(&a);
    count = 4;
    CHECK_EQUAL(nvml.processes(nvml.device[0], &count, list), NVML_SUCCESS);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(list[0].pid, b.pid);
    child_end(&b);
    child_end(&stranger);
}

/*
 * As the plugin does: what the share takes beside its ledger goes into the quota file, what each process takes into its
 * slot.
 */
static void nvml_shows_what_processes_take_beside_their_allocations(void) {
    nvmlMemory_t memory;
    nvmlProcessInfo_v1_t list[2];
    unsigned int count = 2;
    prepare(8 * GIB);
    struct nvml nvml = load_nvml();
    struct child a = stage_child(hold_3_gib);
    child_wait(&a);
    write_quota_with(box, "share", stage_gpu(0), 8 * GIB, 2, "overhead 419430400\n");
    do
        CHECK_EQUAL(nvml.memory(nvml.device[0], &memory), NVML_SUCCESS);
    while (memory.used != 3 * GIB + 400 * MIB && usleep(1000) == 0);
    CHECK(memory.total == 8 * GIB && memory.free == 5 * GIB - 400 * MIB);

    int region = open(region_path(box, "share"), O_RDWR | O_CLOEXEC);
    off_t at = offsetof(struct partita_region, slots) + offsetof(struct partita_slot, overhead);
    uint64_t units = 300 * MIB / PARTITA_UNIT, forged = UINT64_MAX;
    CHECK(region >= 0 && pwrite(region, &units, sizeof units, at) == sizeof units);
    CHECK_EQUAL(nvml.processes(nvml.device[0], &count, list), NVML_SUCCESS);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(list[0].usedGpuMemory, 3 * GIB + 300 * MIB);
    CHECK(pwrite(region, &forged, sizeof forged, at) == sizeof forged);
    CHECK_EQUAL(nvml.processes(nvml.device[0], &count, list), NVML_SUCCESS);
    CHECK_EQUAL(list[0].usedGpuMemory, 3 * GIB);
    child_end(&a);
}

/* One process with both libraries: neither may drop the other's lock on the region. */
static void both_libraries_in_one_process_keep_its_account(void) {
    nvmlMemory_t memory;
    CUdeviceptr pointer;
    prepare(4 * GIB);
    struct child neighbour = stage_child(hold_3_gib_when_told);
    child_wait(&neighbour);
    cuda_start(box, 0);
    must_alloc(GIB);
    struct nvml nvml = load_nvml();
    CHECK_EQUAL(nvml.memory(nvml.device[0], &memory), NVML_SUCCESS);
    CHECK_EQUAL(memory.used, GIB);
    nvmlProcessInfo_v1_t list[2];
    unsigned int count = 2;
    CHECK_EQUAL(nvml.processes(nvml.device[0], &count, list), NVML_SUCCESS);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(list[0].pid, getpid());
    child_go(&neighbour);
    child_wait(&neighbour);
    CHECK_EQUAL(cuda.alloc(&pointer, 2 * MIB), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(cuda_free(), 0);
    child_end(&neighbour);
}

static nvmlDevice_t first_instance(const struct nvml *nvml) {
    nvmlDevice_t instance;
    __typeof__(&nvmlDeviceGetMigDeviceHandleByIndex) by_index;
    CHECK((*(void **)&by_index = dlsym(nvml->library, "nvmlDeviceGetMigDeviceHandleByIndex")) != NULL);
    CHECK_EQUAL(by_index(nvml->device[0], 0, &instance), NVML_SUCCESS);
    return instance;
}

static void nvml_shows_the_quota_on_a_mig_instance_of_the_card(void) {
    nvmlMemory_t memory;
    prepare(8 * GIB);
    stage_instance(0, "1g.18gb");
    struct nvml nvml = load_nvml();
    nvmlDevice_t instance = first_instance(&nvml);
    struct child holder = stage_child(hold_3_gib);
    child_wait(&holder);
    CHECK_EQUAL(nvml.memory(instance, &memory), NVML_SUCCESS);
    CHECK(memory.total == 8 * GIB && memory.used == 3 * GIB && memory.free == 5 * GIB);
    child_end(&holder);
}

static void nvml_shows_the_quota_and_the_processes_of_a_share_of_an_instance(void) {
    nvmlMemory_t memory;
    nvmlProcessInfo_v1_t list[4];
    unsigned int count = 4;
    stage_driver("h200x2");
    box = stage_container("box");
    stage_share_of(box, "share", stage_instance(0, "1g.18gb"), 8 * GIB);
    struct nvml nvml = load_nvml();
    nvmlDevice_t instance = first_instance(&nvml);
    struct child holder = stage_child(hold_3_gib);
    child_wait(&holder);
    CHECK_EQUAL(nvml.memory(instance, &memory), NVML_SUCCESS);
    CHECK(memory.total == 8 * GIB && memory.used == 3 * GIB && memory.free == 5 * GIB);
    CHECK_EQUAL(nvml.processes(instance, &count, list), NVML_SUCCESS);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(list[0].pid, holder.pid);
    child_end(&holder);
}

static CUmemFabricHandle *fabric; /* shared with the children */

static CUmemGenericAllocationHandle import_fabric(void) {
    CUmemGenericAllocationHandle handle;
    __typeof__(&cuMemImportFromShareableHandle) import = cuda_function("cuMemImportFromShareableHandle");
    CHECK_EQUAL(import(&handle, fabric, CU_MEM_HANDLE_TYPE_FABRIC), CUDA_SUCCESS);
    return handle;
}

static void import_when_told(void) {
    stage_ready();
    cuda_start(box, 0);
    CUmemGenericAllocationHandle handle = import_fabric();
    stage_ready();
    __typeof__(&cuMemRelease) release = cuda_function("cuMemRelease");
    CHECK_EQUAL(release(handle), CUDA_SUCCESS);
}

/* As with file descriptors: once, to who made it, for as long as a handle of his process names it. */
static uint64_t card_used(const struct nvml *truth) {
    nvmlMemory_t memory;
    CHECK_EQUAL(truth->memory(truth->device[0], &memory), NVML_SUCCESS);
    return memory.used;
}

static void memory_imported_by_a_fabric_handle_is_charged_once_to_who_made_it(void) {
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemGenericAllocationHandle handle;
    CUdeviceptr pointer;
    fabric = mmap(NULL, sizeof *fabric, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(fabric != MAP_FAILED);
    prepare(4 * GIB);
    struct child importer = stage_child(import_when_told); /* forked before there is CUDA here */
    child_wait(&importer);
    cuda_start(box, 0);
    struct nvml truth = load_nvml_of(text("%s/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1.2", scratch_folder()));
    uint64_t before = card_used(&truth);
    __typeof__(&cuMemRelease) release = cuda_function("cuMemRelease");
    CHECK_EQUAL(((__typeof__(&cuMemCreate))cuda_function("cuMemCreate"))(&handle, 3 * GIB, &prop, 0), CUDA_SUCCESS);
    CHECK_EQUAL(((__typeof__(&cuMemExportToShareableHandle))cuda_function("cuMemExportToShareableHandle"))(
                    fabric, handle, CU_MEM_HANDLE_TYPE_FABRIC, 0),
                CUDA_SUCCESS);
    child_go(&importer);
    child_wait(&importer);
    CHECK_EQUAL(cuda_free(), GIB);
    CHECK_EQUAL(cuda.alloc(&pointer, 2 * GIB), CUDA_ERROR_OUT_OF_MEMORY);
    child_end(&importer);
    CHECK_EQUAL(card_used(&truth) - before, 3 * GIB);
    CHECK_EQUAL(cuda_free(), GIB);
    CUmemGenericAllocationHandle again = import_fabric();
    CHECK_EQUAL(release(again), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), GIB);
    CHECK_EQUAL(card_used(&truth) - before, 3 * GIB);
    CHECK_EQUAL(release(handle), CUDA_SUCCESS);
    CHECK_EQUAL(cuda_free(), 4 * GIB);
    CHECK_EQUAL(card_used(&truth), before);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(a_race_of_processes_never_exceeds_the_quota_by_one_byte),
        CASE(processes_share_one_quota),
        CASE(containers_with_shares_of_one_card_do_not_see_each_other),
        CASE(what_a_killed_process_held_is_there_for_the_next_allocation),
        CASE(processes_killed_in_the_middle_of_allocating_leave_nothing),
        CASE(a_child_of_fork_neither_frees_nor_inherits_what_its_parent_holds),
        CASE(a_child_of_fork_has_an_account_of_its_own),
        CASE(a_child_of_fork_in_the_middle_of_the_first_call_counts_each_share_once),
        CASE(after_exec_nothing_of_the_former_program_counts),
        CASE(after_exec_of_a_program_without_cuda_nothing_of_the_former_one_counts),
        CASE(a_process_that_closed_every_descriptor_keeps_what_it_holds),
        CASE(a_program_run_by_another_has_the_same_quota),
        CASE(a_region_of_rubbish_neither_crashes_a_process_nor_raises_its_quota),
        CASE(a_wiped_region_is_rebuilt_from_what_the_processes_know),
        CASE(a_wiped_region_grants_nothing_while_a_living_process_is_missing_in_it),
        CASE(nvml_shows_the_quota_and_what_the_claims_processes_hold),
        CASE(nvml_lists_the_containers_processes_under_their_own_pids),
        CASE(nvml_shows_what_processes_take_beside_their_allocations),
        CASE(nvml_shows_the_quota_on_a_mig_instance_of_the_card),
        CASE(nvml_shows_the_quota_and_the_processes_of_a_share_of_an_instance),
        CASE(memory_imported_by_a_fabric_handle_is_charged_once_to_who_made_it),
        CASE(both_libraries_in_one_process_keep_its_account),
    };
    return RUN_CASES(cases, argc, argv);
}
