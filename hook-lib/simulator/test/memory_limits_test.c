/* SPDX-License-Identifier: Apache-2.0 */
/* Memory limits of cgroups by NVML, and what CUDA's allocations make of them; in cgroups of this machine. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "simulated.h"

#define CONTEXT (300 * MIB)

static char cgroup[PATH_MAX + 64], inner[PATH_MAX + 80];

/* The last of them that still has a process stays until that has ended. */
static void remove_cgroups(void) {
    rmdir(inner);
    rmdir(cgroup);
}

static bool mounted_cgroups(char mount[PATH_MAX]) {
    FILE *mounts = fopen("/proc/self/mounts", "re");
    char type[64] = "";

    while (mounts && strcmp(type, "cgroup2") != 0 && fscanf(mounts, "%*s %4095s %63s %*[^\n]", mount, type) == 2)
        ;
    if (mounts)
        fclose(mounts);
    return strcmp(type, "cgroup2") == 0;
}

/* A cgroup of this test's own, with one in it. */
static void make_cgroups(void) {
    char mount[PATH_MAX];

    if (!mounted_cgroups(mount))
        skip("no cgroup v2 is mounted");
    snprintf(cgroup, sizeof cgroup, "%s/partita-limits-%d", mount, (int)getpid());
    snprintf(inner, sizeof inner, "%s/inner", cgroup);
    if (mkdir(cgroup, 0755) != 0)
        skip("no cgroup can be made here: this test needs root");
    CHECK(mkdir(inner, 0755) == 0);
    atexit(remove_cgroups);
}

static void join_cgroup(const char *folder) {
    char path[PATH_MAX + 128];
    int fd;

    snprintf(path, sizeof path, "%s/cgroup.procs", folder);
    fd = open(path, O_WRONLY);
    CHECK(fd >= 0 && write(fd, "0", 1) == 1);
    close(fd);
}

static nvmlDevice_t card(void) {
    nvmlDevice_t device;

    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetHandleByIndex_v2)(0, &device), NVML_SUCCESS);
    return device;
}

static nvmlReturn_t limit(nvmlDevice_t device, const char *folder, uint64_t hard) {
    nvmlSetMemoryLimits_v1_t limits = {.nameSpace = folder, .hardLimit = hard};

    return NV(nvmlDeviceSetMemoryLimits_v1)(device, &limits);
}

static void install_limiting_node(void) {
    install_node("t4x1");
    configure("driver-version", "615.71.09");
}

/* Allocates mebibytes one after the other, as it is told; answers s or f. Its own view of the card on 'v'. */
static void allocate_as_told(int link, long deep) {
    CUdeviceptr pointer;
    size_t free, total;
    char word;

    join_cgroup(deep ? inner : cgroup);
    begin_cuda(0);
    tell(link, 'r');
    while ((word = hear(link))) {
        if (word == 'v') {
            CHECK_EQUAL(CU(cuMemGetInfo_v2)(&free, &total), CUDA_SUCCESS);
            tell(link, total == 1024 * MIB ? 'l' : 'w');
        } else {
            tell(link, CU(cuMemAlloc_v2)(&pointer, 100 * MIB) == CUDA_SUCCESS ? 's' : 'f');
        }
    }
}

static char ask(struct child *child, char word) {
    tell(child->link, word);
    return hear(child->link);
}

static void the_processes_of_a_cgroup_and_below_it_stay_within_its_limit_together(void) {
    struct child one, two;
    nvmlGetMemoryLimits_v1_t now = {.nameSpace = cgroup};
    CUdeviceptr pointer;
    nvmlDevice_t device;

    make_cgroups();
    install_limiting_node();
    device = card();
    CHECK_EQUAL(limit(device, cgroup, 1024 * MIB), NVML_SUCCESS);
    one = start_child(allocate_as_told, 0);
    two = start_child(allocate_as_told, 1);
    CHECK(hear(one.link) == 'r' && hear(two.link) == 'r');
    /* two contexts of 300 MiB leave 424 MiB */
    CHECK_EQUAL(ask(&one, 'a'), 's');
    CHECK_EQUAL(ask(&two, 'a'), 's');
    CHECK_EQUAL(ask(&one, 'a'), 's');
    CHECK_EQUAL(ask(&two, 'a'), 's');
    CHECK_EQUAL(ask(&one, 'a'), 'f');
    CHECK_EQUAL(ask(&two, 'a'), 'f');
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryLimits_v1)(device, &now), NVML_SUCCESS);
    CHECK_EQUAL(now.hardLimit, 1024 * MIB);
    CHECK_EQUAL(now.currentUsed, 1000 * MIB);
    /* who is not in it is not limited by it */
    begin_cuda(0);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, 4 * GIB), CUDA_SUCCESS);
    /* what a dead process held can be had again */
    kill_child(&two);
    CHECK_EQUAL(ask(&one, 'a'), 's');
    /* a larger limit counts at once; none, too */
    CHECK_EQUAL(limit(device, cgroup, NVML_DEVICE_MEMORY_LIMIT_MAX), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryLimits_v1)(device, &now), NVML_ERROR_NOT_FOUND);
    for (int i = 0; i < 20; i++)
        CHECK_EQUAL(ask(&one, 'a'), 's');
    tell(one.link, 0);
    join_child(&one);
}

static void the_driver_shows_the_limit_to_its_very_cgroup_but_not_to_those_below(void) {
    struct child at, under;

    make_cgroups();
    install_limiting_node();
    CHECK_EQUAL(limit(card(), cgroup, 1024 * MIB), NVML_SUCCESS);
    at = start_child(allocate_as_told, 0);
    under = start_child(allocate_as_told, 1);
    CHECK(hear(at.link) == 'r' && hear(under.link) == 'r');
    CHECK_EQUAL(ask(&at, 'v'), 'l');
    CHECK_EQUAL(ask(&under, 'v'), 'w');
    kill_child(&at);
    kill_child(&under);
}

static void limits_are_refused_as_nvml_documents_it(void) {
    nvmlSetMemoryLimits_v1_t limits = {.nameSpace = "/no/such/cgroup", .hardLimit = GIB};
    nvmlDevice_t device;

    install_limiting_node();
    device = card();
    CHECK_EQUAL(NV(nvmlDeviceSetMemoryLimits_v1)(device, NULL), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(NV(nvmlDeviceSetMemoryLimits_v1)(device, &limits), NVML_ERROR_OPERATING_SYSTEM);
    CHECK_EQUAL(limit(device, node_root, 64 * GIB), NVML_ERROR_INVALID_ARGUMENT);
    limits = (nvmlSetMemoryLimits_v1_t){.nameSpace = node_root, .softLimit = 2 * GIB, .hardLimit = GIB};
    CHECK_EQUAL(NV(nvmlDeviceSetMemoryLimits_v1)(device, &limits), NVML_ERROR_INVALID_ARGUMENT);
}

static void a_driver_before_615_has_no_limits_unless_the_node_says_so(void) {
    nvmlDevice_t device;

    install_node("h100x1");
    device = card();
    CHECK_EQUAL(limit(device, node_root, GIB), NVML_ERROR_NOT_SUPPORTED);
    configure("driver-version", "580.95.05\nmemory-limits yes");
    CHECK_EQUAL(limit(device, node_root, GIB), NVML_SUCCESS);
}

static void a_card_with_mig_has_no_limits(void) {
    install_node("h100x1");
    configure("driver-version", "615.71.09");
    DRIVER_TOOL("mig", "--gpu", "0", "enable");
    CHECK_EQUAL(limit(card(), node_root, GIB), NVML_ERROR_NOT_SUPPORTED);
}

RUN(TEST(the_processes_of_a_cgroup_and_below_it_stay_within_its_limit_together),
    TEST(the_driver_shows_the_limit_to_its_very_cgroup_but_not_to_those_below),
    TEST(limits_are_refused_as_nvml_documents_it), TEST(a_driver_before_615_has_no_limits_unless_the_node_says_so),
    TEST(a_card_with_mig_has_no_limits))
