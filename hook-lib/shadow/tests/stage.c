/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "stage.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "../../simulator/state/state.h"
#include "check.h"
#include "partita/usage_region.h"
#include "scratch.h"

#define DRIVER_LIBRARIES "usr/lib/x86_64-linux-gnu"

static char gpus[16][64];

static void run(const char *const *arguments) {
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        execv(arguments[0], (char *const *)arguments);
        _exit(127);
    }
    reap_well(pid);
}

void stage_driver(const char *cards) {
    const char *root = scratch_folder();
    const char *contrary = getenv("PARTITA_TEST_CONTRARY");
    run((const char *const[]){SIMULATED_DRIVER, "install", "--root", root, "--node", "test", "--gpus", cards,
                              "--driver-version", "1.2", "--libraries", SIMULATED_LIBRARIES,
                              contrary ? "--contrary" : NULL, contrary, NULL});
    FILE *conf = fopen(text("%s/etc/partita-simulator/node.conf", root), "re");
    CHECK(conf);
    char line[256];
    for (int count = 0; fgets(line, sizeof line, conf);)
        if (sscanf(line, " uuid %63s", gpus[count]) == 1)
            count++;
    fclose(conf);
}

bool stage_contrary(enum sim_reading reading) {
    static struct sim_node node;
    CHECK(sim_node_read(scratch_folder(), &node, NULL, 0));
    return sim_contrary(&node, reading);
}

uint64_t stage_pool_keeps(uint64_t reserved) {
    return stage_contrary(SIM_POOLS_KEEP) ? reserved : 0;
}

void stage_delay(const char *function, unsigned int us) {
    const char *root = scratch_folder();
    run((const char *const[]){SIMULATED_DRIVER, "fault", "--root", root, "--clear", NULL});
    if (us > 0)
        run((const char *const[]){SIMULATED_DRIVER, "fault", "--root", root, "--function", function, "--delay-us",
                                  text("%u", us), NULL});
}

void stage_fail(const char *function, int error) {
    const char *root = scratch_folder();
    run((const char *const[]){SIMULATED_DRIVER, "fault", "--root", root, "--clear", NULL});
    if (error)
        run((const char *const[]){SIMULATED_DRIVER, "fault", "--root", root, "--function", function, "--error",
                                  text("%d", error), NULL});
}

const char *stage_gpu(int index) {
    return gpus[index];
}

static void link_driver(const char *container, const char *library) {
    const char *file = text("%s/" DRIVER_LIBRARIES "/%s.so.1.2", scratch_folder(), library);
    copy_file(file, text("%s/lib/partita/%s-real.so.1", container, library));
}

const char *stage_container(const char *name) {
    static char containers[8][300];
    static int count;
    char *container = containers[count++ % 8];
    snprintf(container, sizeof *containers, "%s/%s", scratch_folder(), name);
    make_folders(text("%s/lib/partita", container));
    copy_file(shadow_cuda(), text("%s/lib/libcuda.so.1", container));
    copy_file(shadow_nvml(), text("%s/lib/libnvidia-ml.so.1", container));
    link_driver(container, "libcuda");
    link_driver(container, "libnvidia-ml");
    return container;
}

void stage_share(const char *container, const char *key, int gpu, uint64_t memory) {
    stage_share_of(container, key, stage_gpu(gpu), memory);
}

void stage_share_of(const char *container, const char *key, const char *uuid, uint64_t memory) {
    write_quota(container, key, uuid, memory, 1);
    make_region(container, key);
}

static const struct sim_region *hardware(void) {
    static const struct sim_region *region;
    if (!region) {
        int file = open(text("%s/run/partita-simulator/state", scratch_folder()), O_RDONLY | O_CLOEXEC);
        CHECK(file >= 0);
        void *at = mmap(NULL, sizeof *region, PROT_READ, MAP_SHARED, file, 0);
        CHECK(at != MAP_FAILED);
        close(file);
        region = at;
    }
    return region;
}

/* The one made last has the largest serial number. */
const char *stage_instance(int gpu, const char *profile) {
    static struct sim_node node;
    static struct sim_card part;
    static struct sim_state state;
    const char *root = scratch_folder(), *index = text("%d", gpu);
    struct sim_mig_instance list[SIM_MIG_MAX], *last = list;
    run((const char *const[]){SIMULATED_DRIVER, "mig", "--root", root, "--gpu", index, "enable", NULL});
    run((const char *const[]){SIMULATED_DRIVER, "mig", "--root", root, "--gpu", index, "create", profile, NULL});
    CHECK(sim_node_read(root, &node, NULL, 0));
    state.region = (struct sim_region *)hardware();
    unsigned count = sim_mig_computes(&state, &node.cards[gpu], list);
    CHECK(count > 0);
    for (unsigned i = 1; i < count; i++)
        last = list[i].serial > last->serial ? &list[i] : last;
    sim_mig_card(&node.cards[gpu], last, &part);
    return part.uuid;
}

uint64_t stage_delayed(void) {
    return hardware()->faults[0].calls;
}

uint64_t stage_card_used(int gpu) {
    return hardware()->used[gpu];
}

uint64_t stage_hardware_used(int gpu) {
    const struct sim_region *region = hardware();
    uint64_t overhead = 0;
    for (unsigned i = 0; i < region->process_bound && i < SIM_MAX_PROCESSES; i++)
        overhead += region->processes[i].cards[gpu].overhead;
    return region->used[gpu] - overhead;
}

struct cuda cuda;

void *cuda_function(const char *name) {
    void *function = dlsym(cuda.library, name);
    if (!function)
        fprintf(stderr, "no %s\n", name);
    CHECK(function);
    return function;
}

void cuda_load(const char *container, int flags) {
    cuda.library = dlopen(text("%s/lib/libcuda.so.1", container), flags);
    if (!cuda.library)
        fprintf(stderr, "%s\n", dlerror());
    CHECK(cuda.library);
    cuda.init = cuda_function("cuInit");
    cuda.device_get = cuda_function("cuDeviceGet");
    cuda.context_create = cuda_function("cuCtxCreate_v2");
    cuda.context_destroy = cuda_function("cuCtxDestroy_v2");
    cuda.alloc = cuda_function("cuMemAlloc_v2");
    cuda.free = cuda_function("cuMemFree_v2");
    cuda.info = cuda_function("cuMemGetInfo_v2");
    cuda.total = cuda_function("cuDeviceTotalMem_v2");
}

void cuda_start(const char *container, int index) {
    CUdevice device;
    cuda_load(container, RTLD_NOW | RTLD_LOCAL);
    CHECK_EQUAL(cuda.init(0), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.device_get(&device, index), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.context_create(&cuda.context, 0, device), CUDA_SUCCESS);
}

CUgreenCtx cuda_green(CUdevice device, CUcontext *context) {
    unsigned char resource[DEV_RESOURCE_BYTES] __attribute__((aligned(8)));
    CUdevResourceDesc descriptor;
    CUgreenCtx green;
    __typeof__(&cuDeviceGetDevResource) resources = cuda_function("cuDeviceGetDevResource");
    __typeof__(&cuDevResourceGenerateDesc) describe = cuda_function("cuDevResourceGenerateDesc");
    __typeof__(&cuGreenCtxCreate) create = cuda_function("cuGreenCtxCreate");
    __typeof__(&cuCtxFromGreenCtx) from = cuda_function("cuCtxFromGreenCtx");
    CHECK_EQUAL(resources(device, resource, CU_DEV_RESOURCE_TYPE_SM), CUDA_SUCCESS);
    CHECK_EQUAL(describe(&descriptor, resource, 1), CUDA_SUCCESS);
    CHECK_EQUAL(create(&green, descriptor, device, CU_GREEN_CTX_DEFAULT_STREAM), CUDA_SUCCESS);
    CHECK_EQUAL(from(context, green), CUDA_SUCCESS);
    return green;
}

uint64_t cuda_free(void) {
    size_t free, total;
    CHECK_EQUAL(cuda.info(&free, &total), CUDA_SUCCESS);
    return free;
}

uint64_t cuda_total(void) {
    size_t free, total;
    CHECK_EQUAL(cuda.info(&free, &total), CUDA_SUCCESS);
    return total;
}

static int to_parent, from_parent;

void stage_ready(void) {
    char byte = 'r';
    CHECK(write(to_parent, &byte, 1) == 1);
    CHECK(read(from_parent, &byte, 1) == 1);
}

struct child stage_child(void (*work)(void)) {
    int up[2], down[2];
    CHECK(pipe2(up, O_CLOEXEC) == 0 && pipe2(down, O_CLOEXEC) == 0);
    struct child child = {fork(), up[0], down[1]};
    CHECK(child.pid >= 0);
    if (child.pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        to_parent = up[1];
        from_parent = down[0];
        close(up[0]);
        close(down[1]);
        work();
        _exit(0);
    }
    close(up[1]);
    close(down[0]);
    return child;
}

void child_wait(struct child *child) {
    char byte;
    CHECK(read(child->from, &byte, 1) == 1);
}

void child_go(struct child *child) {
    CHECK(write(child->to, "g", 1) == 1);
}

void child_kill(struct child *child) {
    CHECK(kill(child->pid, SIGKILL) == 0);
    CHECK(waitpid(child->pid, NULL, 0) == child->pid);
}

/* One that waits for nothing may be over by now, and is not told. */
void child_end(struct child *child) {
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    CHECK(write(child->to, "g", 1) == 1 || errno == EPIPE);
    signal(SIGPIPE, before);
    reap_well(child->pid);
}

uint64_t stage_refusals(const char *container, const char *share) {
    uint64_t refused;
    int file = open(region_path(container, share), O_RDONLY | O_CLOEXEC);
    CHECK(file >= 0);
    CHECK(pread(file, &refused, sizeof refused, offsetof(struct partita_region, refused)) == sizeof refused);
    close(file);
    return refused;
}
