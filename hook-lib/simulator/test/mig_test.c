/* SPDX-License-Identifier: Apache-2.0 */
/* MIG: as NVML shows and changes it, and what CUDA sees of it. */
#include "spinning.h"

#include <sys/stat.h>
#include <unistd.h>

#include "cuda_events.h"
#include "nvml_mig.h"

static nvmlDevice_t card(unsigned index) {
    nvmlDevice_t device;

    CHECK_EQUAL(NV(nvmlDeviceGetHandleByIndex_v2)(index, &device), NVML_SUCCESS);
    return device;
}

static void begin(const char *gpus, const char *mig) {
    install_node(gpus);
    configure("mig", mig);
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
}

static nvmlDevice_t mig_device(unsigned index) {
    nvmlDevice_t device;

    CHECK_EQUAL(NV(nvmlDeviceGetMigDeviceHandleByIndex)(card(0), index, &device), NVML_SUCCESS);
    return device;
}

static void mig_uuid(unsigned index, char uuid[96]) {
    CHECK_EQUAL(NV(nvmlDeviceGetUUID)(mig_device(index), uuid, 96), NVML_SUCCESS);
}

static nvmlGpuInstance_t gpu_instance(unsigned id) {
    nvmlGpuInstance_t instance;

    CHECK_EQUAL(NV(nvmlDeviceGetGpuInstanceById)(card(0), id, &instance), NVML_SUCCESS);
    return instance;
}

static void the_mode_is_switched_by_nvml(void) {
    unsigned current, pending;
    nvmlReturn_t status;

    begin("h200,t4", "disabled");
    CHECK_EQUAL(NV(nvmlDeviceGetMaxMigDeviceCount)(card(0), &current), NVML_SUCCESS);
    CHECK_EQUAL(current, 0);
    CHECK_EQUAL(NV(nvmlDeviceSetMigMode)(card(0), NVML_DEVICE_MIG_ENABLE, &status), NVML_SUCCESS);
    CHECK_EQUAL(status, NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetMigMode)(card(0), &current, &pending), NVML_SUCCESS);
    CHECK(current == 1 && pending == 1);
    CHECK_EQUAL(NV(nvmlDeviceGetMaxMigDeviceCount)(card(0), &current), NVML_SUCCESS);
    CHECK_EQUAL(current, 7);
    CHECK_EQUAL(NV(nvmlDeviceSetMigMode)(card(0), 2, &status), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(NV(nvmlDeviceSetMigMode)(card(1), NVML_DEVICE_MIG_ENABLE, &status), NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(NV(nvmlDeviceGetMigMode)(card(1), &current, &pending), NVML_ERROR_NOT_SUPPORTED);
}

static void hold_the_card(int link, long argument) {
    (void)argument;
    begin_cuda(0);
    tell(link, 'h');
    hear(link);
}

static void a_mode_that_somebody_is_in_the_way_of_is_pending(void) {
    unsigned current, pending;
    struct child child;
    nvmlReturn_t status;

    install_node("h200");
    child = start_child(hold_the_card, 0);
    CHECK_EQUAL(hear(child.link), 'h');
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceSetMigMode)(card(0), NVML_DEVICE_MIG_ENABLE, &status), NVML_SUCCESS);
    CHECK_EQUAL(status, NVML_ERROR_IN_USE);
    CHECK_EQUAL(NV(nvmlDeviceGetMigMode)(card(0), &current, &pending), NVML_SUCCESS);
    CHECK(current == 0 && pending == 1);
    kill_child(&child);
    CHECK_EQUAL(NV(nvmlDeviceSetMigMode)(card(0), NVML_DEVICE_MIG_ENABLE, &status), NVML_SUCCESS);
    CHECK_EQUAL(status, NVML_SUCCESS);
}

static void profiles_are_the_models(void) {
    nvmlGpuInstanceProfileInfo_v2_t info = {.version = nvmlGpuInstanceProfileInfo_v2};
    nvmlGpuInstanceProfileInfo_v3_t wide = {.version = nvmlGpuInstanceProfileInfo_v3};
    nvmlGpuInstanceProfileInfo_t plain;
    nvmlGpuInstancePlacement_t placements[8];
    unsigned count;

    begin("h200,a100-40gb", "disabled");
    CHECK_EQUAL(NV(nvmlDeviceGetGpuInstanceProfileInfo)(card(0), NVML_GPU_INSTANCE_PROFILE_3_SLICE, &plain),
                NVML_SUCCESS);
    CHECK(plain.id == 9 && plain.sliceCount == 3 && plain.instanceCount == 2 && plain.multiprocessorCount == 60);
    CHECK_EQUAL(NV(nvmlDeviceGetGpuInstanceProfileInfoV)(card(0), NVML_GPU_INSTANCE_PROFILE_1_SLICE, &info),
                NVML_SUCCESS);
    CHECK(strcmp(info.name, "MIG 1g.18gb") == 0 && info.id == 19 && info.memorySizeMB == 16384);
    CHECK_EQUAL(NV(nvmlDeviceGetGpuInstanceProfileInfoV)(card(1), NVML_GPU_INSTANCE_PROFILE_7_SLICE, (void *)&wide),
                NVML_SUCCESS);
    CHECK(strcmp(wide.name, "MIG 7g.40gb") == 0 && wide.id == 0 && wide.memorySizeMB == 40192 &&
          wide.multiprocessorCount == 98);
    CHECK_EQUAL(NV(nvmlDeviceGetGpuInstanceProfileInfo)(card(0), 5, &plain), NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(NV(nvmlDeviceGetGpuInstanceProfileInfo)(card(0), 0x12, &plain), NVML_ERROR_INVALID_ARGUMENT);
    info.version = 7;
    CHECK_EQUAL(NV(nvmlDeviceGetGpuInstanceProfileInfoV)(card(0), 0, &info), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(NV(nvmlDeviceGetGpuInstancePossiblePlacements_v2)(card(0), 14, NULL, &count), NVML_SUCCESS);
    CHECK_EQUAL(count, 3);
    CHECK_EQUAL(NV(nvmlDeviceGetGpuInstancePossiblePlacements)(card(0), 14, placements, &count), NVML_SUCCESS);
    CHECK(placements[0].start == 0 && placements[1].start == 2 && placements[2].start == 4 && placements[2].size == 2);
}

static void instances_are_made_and_ended(void) {
    nvmlGpuInstance_t first, second, listed[7];
    nvmlGpuInstancePlacement_t place = {4, 4};
    nvmlComputeInstanceInfo_t compute_info;
    nvmlComputeInstance_t compute;
    nvmlGpuInstanceInfo_t info;
    unsigned count;
    nvmlDevice_t device;

    begin("h200", "disabled");
    CHECK_EQUAL(NV(nvmlDeviceCreateGpuInstance)(card(0), 9, &first), NVML_ERROR_NOT_SUPPORTED);
    DRIVER_TOOL("mig", "--gpu", "0", "enable");
    CHECK_EQUAL(NV(nvmlDeviceCreateGpuInstanceWithPlacement)(card(0), 9, &place, &first), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceCreateGpuInstanceWithPlacement)(card(0), 9, &place, &second),
                NVML_ERROR_INSUFFICIENT_RESOURCES);
    place.start = 2;
    CHECK_EQUAL(NV(nvmlDeviceCreateGpuInstanceWithPlacement)(card(0), 9, &place, &second), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(NV(nvmlDeviceGetGpuInstanceRemainingCapacity)(card(0), 19, &count), NVML_SUCCESS);
    CHECK_EQUAL(count, 4);
    CHECK_EQUAL(NV(nvmlDeviceCreateGpuInstance)(card(0), 9, &second), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlGpuInstanceGetInfo)(second, &info), NVML_SUCCESS);
    CHECK(info.id == 1 && info.profileId == 9 && info.placement.start == 0 && info.placement.size == 4 &&
          info.device == card(0));
    CHECK_EQUAL(NV(nvmlDeviceGetGpuInstances)(card(0), 9, listed, &count), NVML_SUCCESS);
    CHECK(count == 2 && listed[0] == second && listed[1] == first);

    CHECK_EQUAL(NV(nvmlDeviceGetMigDeviceHandleByIndex)(card(0), 0, &device), NVML_ERROR_NOT_FOUND);
    CHECK_EQUAL(NV(nvmlGpuInstanceCreateComputeInstance)(first, NVML_COMPUTE_INSTANCE_PROFILE_4_SLICE, &compute),
                NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(NV(nvmlGpuInstanceCreateComputeInstance)(first, NVML_COMPUTE_INSTANCE_PROFILE_3_SLICE, &compute),
                NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlComputeInstanceGetInfo_v2)(compute, &compute_info), NVML_SUCCESS);
    CHECK(compute_info.gpuInstance == first && compute_info.id == 0 && compute_info.placement.size == 3);
    device = mig_device(0);
    CHECK_EQUAL(NV(nvmlGpuInstanceDestroy)(first), NVML_ERROR_IN_USE);
    CHECK_EQUAL(NV(nvmlComputeInstanceDestroy)(compute), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlComputeInstanceDestroy)(compute), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(NV(nvmlDeviceGetGpuInstanceId)(device, &count), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(NV(nvmlGpuInstanceDestroy)(first), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlGpuInstanceGetInfo)(first, &info), NVML_ERROR_INVALID_ARGUMENT);
}

static void parts_of_a_gpu_instance_are_compute_instances(void) {
    nvmlComputeInstanceProfileInfo_v2_t info = {.version = nvmlComputeInstanceProfileInfo_v2};
    nvmlComputeInstance_t whole, parts[7];
    nvmlGpuInstance_t gpu;
    char name[96];
    unsigned count;

    begin("a100-40gb", "enabled 3g.20gb:4");
    gpu = gpu_instance(2);
    CHECK_EQUAL(NV(nvmlGpuInstanceGetComputeInstances)(gpu, 2, &whole, &count), NVML_SUCCESS);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(NV(nvmlGpuInstanceGetComputeInstanceRemainingCapacity)(gpu, 0, &count), NVML_SUCCESS);
    CHECK_EQUAL(count, 0);
    CHECK_EQUAL(NV(nvmlComputeInstanceDestroy)(whole), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlGpuInstanceGetComputeInstanceProfileInfoV)(gpu, 0, 0, &info), NVML_SUCCESS);
    CHECK(strcmp(info.name, "MIG 1c.3g.20gb") == 0 && info.instanceCount == 3 && info.multiprocessorCount == 14);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(NV(nvmlGpuInstanceCreateComputeInstance)(gpu, 0, &parts[i]), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlGpuInstanceCreateComputeInstance)(gpu, 0, &whole), NVML_ERROR_INSUFFICIENT_RESOURCES);
    CHECK_EQUAL(NV(nvmlDeviceGetName)(mig_device(2), name, sizeof name), NVML_SUCCESS);
    CHECK(strcmp(name, "NVIDIA A100-SXM4-40GB MIG 1c.3g.20gb") == 0);
    CHECK_EQUAL(NV(nvmlDeviceGetComputeInstanceId)(mig_device(2), &count), NVML_SUCCESS);
    CHECK_EQUAL(count, 2);
}

static void a_mig_device_says_what_it_is(void) {
    nvmlMemory_v2_t memory = {.version = nvmlMemory_v2};
    nvmlDeviceAttributes_t attributes;
    nvmlUtilization_t utilization;
    char text[96], again[96];
    unsigned value;
    nvmlPciInfo_t pci;
    nvmlDevice_t device, other;

    begin("h200", "enabled 1g.18gb:6 3g.71gb:0");
    device = mig_device(1);
    CHECK_EQUAL(NV(nvmlDeviceGetMigDeviceHandleByIndex)(card(0), 2, &other), NVML_ERROR_NOT_FOUND);
    CHECK_EQUAL(NV(nvmlDeviceGetMigDeviceHandleByIndex)(card(0), 7, &other), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(NV(nvmlDeviceGetName)(device, text, sizeof text), NVML_SUCCESS);
    CHECK(strcmp(text, "NVIDIA H200 MIG 1g.18gb") == 0);
    CHECK_EQUAL(NV(nvmlDeviceGetUUID)(device, text, sizeof text), NVML_SUCCESS);
    CHECK(strncmp(text, "MIG-", 4) == 0 && strlen(text) == 40);
    mig_uuid(0, again);
    CHECK(strcmp(text, again) != 0);
    CHECK_EQUAL(NV(nvmlDeviceGetHandleByUUID)(text, &other), NVML_SUCCESS);
    CHECK(other == device);
    CHECK_EQUAL(NV(nvmlDeviceIsMigDeviceHandle)(device, &value), NVML_SUCCESS);
    CHECK_EQUAL(value, 1);
    CHECK_EQUAL(NV(nvmlDeviceIsMigDeviceHandle)(card(0), &value), NVML_SUCCESS);
    CHECK_EQUAL(value, 0);
    CHECK_EQUAL(NV(nvmlDeviceGetDeviceHandleFromMigDeviceHandle)(device, &other), NVML_SUCCESS);
    CHECK(other == card(0));
    CHECK_EQUAL(NV(nvmlDeviceGetDeviceHandleFromMigDeviceHandle)(card(0), &other), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(NV(nvmlDeviceGetGpuInstanceId)(device, &value), NVML_SUCCESS);
    CHECK_EQUAL(value, 13);
    CHECK_EQUAL(NV(nvmlDeviceGetIndex)(device, &value), NVML_SUCCESS);
    CHECK_EQUAL(value, 1);
    CHECK_EQUAL(NV(nvmlDeviceGetAttributes_v2)(device, &attributes), NVML_SUCCESS);
    CHECK(attributes.multiprocessorCount == 16 && attributes.memorySizeMB == 16384 &&
          attributes.gpuInstanceSliceCount == 1);
    CHECK_EQUAL(NV(nvmlDeviceGetAttributes)(card(0), &attributes), NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryInfo_v2)(device, &memory), NVML_SUCCESS);
    CHECK_EQUAL(memory.total, 16384 * MIB);
    CHECK_EQUAL(NV(nvmlDeviceGetPciInfo_v3)(device, &pci), NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(NV(nvmlDeviceGetUtilizationRates)(card(0), &utilization), NVML_ERROR_NOT_SUPPORTED);
}

static void a_card_with_mig_tells_no_errors_since_the_last_reset_and_no_remapped_rows(void) {
    unsigned corrected, uncorrected, pending, failure;
    unsigned long long count;

    begin("h200", "enabled 1g.18gb:0");
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryErrorCounter)(card(0), NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC,
                                                    NVML_MEMORY_LOCATION_SRAM, &count),
                NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(NV(nvmlDeviceGetTotalEccErrors)(card(0), NVML_MEMORY_ERROR_TYPE_CORRECTED, NVML_VOLATILE_ECC, &count),
                NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryErrorCounter)(card(0), NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_AGGREGATE_ECC,
                                                    NVML_MEMORY_LOCATION_DRAM, &count),
                NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetRemappedRows)(card(0), &corrected, &uncorrected, &pending, &failure),
                NVML_ERROR_NOT_SUPPORTED);
}

/* As a container has it, which has node.conf read-only. */
static void lose_privileges(void) {
    char path[PATH_MAX + 64];

    snprintf(path, sizeof path, "%s/etc/partita-simulator/node.conf", node_root);
    CHECK(chmod(path, 0444) == 0);
    if (access(path, W_OK) == 0) /* root may write everything */
        CHECK(unlink(path) == 0);
}

static void who_may_not_write_the_configuration_may_not_change_mig(void) {
    nvmlGpuInstance_t gpu;
    nvmlReturn_t status;

    begin("h200", "enabled");
    lose_privileges();
    CHECK_EQUAL(NV(nvmlDeviceSetMigMode)(card(0), NVML_DEVICE_MIG_DISABLE, &status), NVML_ERROR_NO_PERMISSION);
    CHECK_EQUAL(NV(nvmlDeviceCreateGpuInstance)(card(0), 19, &gpu), NVML_ERROR_NO_PERMISSION);
}

static void who_is_not_privileged_is_told_of_mig_devices_only(void) {
    nvmlMemory_v2_t memory = {.version = nvmlMemory_v2};
    nvmlComputeInstance_t computes[8];
    nvmlGpuInstance_t gpus[8], gpu;
    nvmlProcessInfo_t processes[4];
    nvmlMemory_t first;
    unsigned count;

    begin("h200,t4", "enabled 1g.18gb:0");
    gpu = gpu_instance(7);
    lose_privileges();
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryInfo)(card(0), &first), NVML_ERROR_NO_PERMISSION);
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryInfo_v2)(card(0), &memory), NVML_ERROR_NO_PERMISSION);
    count = 4;
    CHECK_EQUAL(NV(nvmlDeviceGetComputeRunningProcesses_v3)(card(0), &count, processes), NVML_ERROR_NO_PERMISSION);
    CHECK_EQUAL(NV(nvmlDeviceGetMPSComputeRunningProcesses_v3)(card(0), &count, processes), NVML_ERROR_NO_PERMISSION);
    CHECK_EQUAL(NV(nvmlDeviceGetGpuInstancePossiblePlacements_v2)(card(0), 19, NULL, &count), NVML_ERROR_NO_PERMISSION);
    CHECK_EQUAL(NV(nvmlDeviceGetGpuInstanceRemainingCapacity)(card(0), 19, &count), NVML_ERROR_NO_PERMISSION);
    CHECK_EQUAL(NV(nvmlDeviceGetGpuInstances)(card(0), 19, gpus, &count), NVML_ERROR_NO_PERMISSION);
    CHECK_EQUAL(NV(nvmlDeviceGetGpuInstanceById)(card(0), 7, gpus), NVML_ERROR_NO_PERMISSION);
    CHECK_EQUAL(NV(nvmlGpuInstanceGetComputeInstanceRemainingCapacity)(gpu, 0, &count), NVML_ERROR_NO_PERMISSION);
    CHECK_EQUAL(NV(nvmlGpuInstanceGetComputeInstances)(gpu, 0, computes, &count), NVML_ERROR_NO_PERMISSION);
    CHECK_EQUAL(NV(nvmlGpuInstanceGetComputeInstanceById)(gpu, 0, computes), NVML_ERROR_NO_PERMISSION);
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryInfo_v2)(mig_device(0), &memory), NVML_SUCCESS);
    CHECK_EQUAL(memory.total, 16384 * MIB);
    count = 4;
    CHECK_EQUAL(NV(nvmlDeviceGetComputeRunningProcesses_v3)(mig_device(0), &count, processes), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryInfo)(card(1), &first), NVML_SUCCESS);
}

static void cuda_sees_the_first_instance_only(void) {
    size_t free_bytes, total;
    CUuuid whole, instance;
    CUdeviceptr memory;
    char name[96];
    int count, value;

    install_node("h200x2");
    configure("mig", "enabled 1g.18gb:0 2g.35gb:4");
    begin_cuda(0);
    CHECK_EQUAL(CU(cuDeviceGetCount)(&count), CUDA_SUCCESS);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(CU(cuDeviceGetName)(name, sizeof name, 0), CUDA_SUCCESS);
    CHECK(strcmp(name, "NVIDIA H200 MIG 2g.35gb") == 0);
    CHECK_EQUAL(CU(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0), CUDA_SUCCESS);
    CHECK_EQUAL(value, 32);
    CHECK_EQUAL(CU(cuDeviceGetUuid)(&whole, 0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDeviceGetUuid_v2)(&instance, 0), CUDA_SUCCESS);
    CHECK(memcmp(&whole, &instance, sizeof whole) != 0);
    CHECK_EQUAL(CU(cuMemGetInfo_v2)(&free_bytes, &total), CUDA_SUCCESS);
    CHECK_EQUAL(total, 33280 * MIB);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&memory, 40 * GIB), CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&memory, 30 * GIB), CUDA_SUCCESS);
}

static void a_card_without_instances_is_no_cuda_device(void) {
    install_node("h200");
    configure("mig", "enabled");
    CHECK_EQUAL(CU(cuInit)(0), CUDA_ERROR_NO_DEVICE);
}

static void an_instance_whose_node_cannot_be_opened_is_not_there(void) {
    char path[PATH_MAX + 64], name[96];
    nvmlDevice_t device;

    install_node("h200");
    configure("mig", "enabled 1g.18gb:0 2g.35gb:4");
    snprintf(path, sizeof path, "%s/dev/nvidia-caps/nvidia-cap48", node_root); /* gpu0/gi5 */
    CHECK(unlink(path) == 0);
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetName)(mig_device(0), name, sizeof name), NVML_SUCCESS);
    CHECK(strcmp(name, "NVIDIA H200 MIG 1g.18gb") == 0);
    CHECK_EQUAL(NV(nvmlDeviceGetMigDeviceHandleByIndex)(card(0), 1, &device), NVML_ERROR_NOT_FOUND);
    begin_cuda(0);
    CHECK_EQUAL(CU(cuDeviceGetName)(name, sizeof name, 0), CUDA_SUCCESS);
    CHECK(strcmp(name, "NVIDIA H200 MIG 1g.18gb") == 0);
}

static void hold_an_instance(int link, long argument) {
    char uuid[96];
    CUdeviceptr memory;

    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    mig_uuid((unsigned)argument, uuid);
    setenv("CUDA_VISIBLE_DEVICES", uuid, 1);
    begin_cuda(0);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&memory, 10 * GIB), CUDA_SUCCESS);
    tell(link, 'h');
    hear(link);
}

static void instances_have_their_own_memory_and_processes(void) {
    nvmlMemory_v2_t memory = {.version = nvmlMemory_v2};
    struct child children[2];
    nvmlProcessInfo_t processes[4];
    nvmlGpuInstance_t gpu;
    unsigned count = 4;

    install_node("h200");
    configure("mig", "enabled 1g.18gb:0 1g.18gb:1 2g.35gb:4");
    for (int i = 0; i < 2; i++) {
        children[i] = start_child(hold_an_instance, i + 1);
        CHECK_EQUAL(hear(children[i].link), 'h');
    }
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryInfo_v2)(mig_device(1), &memory), NVML_SUCCESS);
    CHECK_EQUAL(memory.used, 10 * GIB + 300 * MIB);
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryInfo_v2)(mig_device(0), &memory), NVML_SUCCESS);
    CHECK_EQUAL(memory.used, 0);
    CHECK_EQUAL(nvml_used(0), 2 * (10 * GIB + 300 * MIB));
    CHECK_EQUAL(NV(nvmlDeviceGetComputeRunningProcesses_v3)(mig_device(2), &count, processes), NVML_SUCCESS);
    CHECK(count == 1 && processes[0].pid == (unsigned)children[1].pid && processes[0].gpuInstanceId == 8);
    count = 4;
    CHECK_EQUAL(NV(nvmlDeviceGetComputeRunningProcesses_v3)(card(0), &count, processes), NVML_SUCCESS);
    CHECK(count == 2 && processes[0].gpuInstanceId == 7 && processes[0].computeInstanceId == 0);
    gpu = gpu_instance(7);
    {
        nvmlComputeInstance_t compute;

        CHECK_EQUAL(NV(nvmlGpuInstanceGetComputeInstances)(gpu, 0, &compute, &count), NVML_SUCCESS);
        CHECK_EQUAL(NV(nvmlComputeInstanceDestroy)(compute), NVML_ERROR_IN_USE);
        kill_child(&children[0]);
        CHECK_EQUAL(NV(nvmlComputeInstanceDestroy)(compute), NVML_SUCCESS);
    }
    kill_child(&children[1]);
}

static void keep_an_instance_busy(int link, long argument) {
    char uuid[96];

    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    mig_uuid((unsigned)argument, uuid);
    setenv("CUDA_VISIBLE_DEVICES", uuid, 1);
    begin_spinning();
    spin_for(600000 * MS, NULL);
    tell(link, 'b');
    hear(link);
}

static void instances_take_no_time_from_each_other(void) {
    CUevent events[2];
    struct child child;
    float ms;

    install_node("h200");
    configure("mig", "enabled 1g.18gb:0 1g.18gb:1");
    child = start_child(keep_an_instance_busy, 1);
    CHECK_EQUAL(hear(child.link), 'b');
    begin_spinning();
    spin_for(50 * MS, NULL);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(CU(cuEventCreate)(&events[i], CU_EVENT_DEFAULT), CUDA_SUCCESS);
        CHECK_EQUAL(CU(cuEventRecord)(events[i], NULL), CUDA_SUCCESS);
        if (i == 0)
            spin_for(20 * MS, NULL);
    }
    CHECK_EQUAL(CU(cuEventSynchronize)(events[1]), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuEventElapsedTime)(&ms, events[0], events[1]), CUDA_SUCCESS);
    CHECK(ms > 19.9 && ms < 20.1);
    kill_child(&child);
}

static void an_instance_that_has_ended_gives_no_context(void) {
    CUcontext context;

    install_node("h200");
    configure("mig", "enabled 1g.18gb:0");
    CHECK_EQUAL(CU(cuInit)(0), CUDA_SUCCESS);
    DRIVER_TOOL("mig", "--gpu", "0", "destroy", "7");
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRetain)(&context, 0), CUDA_ERROR_UNKNOWN);
    DRIVER_TOOL("mig", "--gpu", "0", "create", "1g.18gb:0");
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRetain)(&context, 0), CUDA_ERROR_UNKNOWN);
}

RUN(TEST(the_mode_is_switched_by_nvml), TEST(a_mode_that_somebody_is_in_the_way_of_is_pending),
    TEST(profiles_are_the_models), TEST(instances_are_made_and_ended),
    TEST(parts_of_a_gpu_instance_are_compute_instances), TEST(a_mig_device_says_what_it_is),
    TEST(a_card_with_mig_tells_no_errors_since_the_last_reset_and_no_remapped_rows),
    TEST(who_may_not_write_the_configuration_may_not_change_mig),
    TEST(who_is_not_privileged_is_told_of_mig_devices_only), TEST(cuda_sees_the_first_instance_only),
    TEST(a_card_without_instances_is_no_cuda_device), TEST(an_instance_whose_node_cannot_be_opened_is_not_there),
    TEST(instances_have_their_own_memory_and_processes), TEST(instances_take_no_time_from_each_other),
    TEST(an_instance_that_has_ended_gives_no_context))
