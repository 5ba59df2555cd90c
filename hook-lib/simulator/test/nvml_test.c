/* SPDX-License-Identifier: Apache-2.0 */
/* NVML's inventory, topology, health and figures. */
#include "simulated.h"

#include <time.h>

static nvmlDevice_t card(unsigned index) {
    nvmlDevice_t device;

    CHECK_EQUAL(NV(nvmlDeviceGetHandleByIndex_v2)(index, &device), NVML_SUCCESS);
    return device;
}

static void begin_nvml(const char *gpus) {
    install_node(gpus);
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
}

static void calls_outside_init_and_shutdown_are_uninitialized(void) {
    nvmlDevice_t device;
    unsigned count;

    install_node("h200x1");
    CHECK_EQUAL(NV(nvmlDeviceGetCount_v2)(&count), NVML_ERROR_UNINITIALIZED);
    CHECK_EQUAL(NV(nvmlShutdown)(), NVML_ERROR_UNINITIALIZED);
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlInitWithFlags)(0), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlShutdown)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetHandleByIndex_v2)(0, &device), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlShutdown)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetCount_v2)(&count), NVML_ERROR_UNINITIALIZED);
}

static void the_inventory_is_the_profiles(void) {
    char text[96];
    unsigned value, pending;
    int major, minor;
    nvmlPciInfo_t pci;
    nvmlDevice_t device;

    begin_nvml("h200x2,t4x1");
    device = card(1);
    CHECK_EQUAL(NV(nvmlDeviceGetName)(device, text, sizeof text), NVML_SUCCESS);
    CHECK(strcmp(text, "NVIDIA H200") == 0);
    CHECK_EQUAL(NV(nvmlDeviceGetName)(device, text, 5), NVML_ERROR_INSUFFICIENT_SIZE);
    CHECK_EQUAL(NV(nvmlDeviceGetName)(device, NULL, 5), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(NV(nvmlDeviceGetMinorNumber)(device, &value), NVML_SUCCESS);
    CHECK_EQUAL(value, 1);
    CHECK_EQUAL(NV(nvmlDeviceGetBrand)(device, &value), NVML_SUCCESS);
    CHECK_EQUAL(value, NVML_BRAND_NVIDIA);
    CHECK_EQUAL(NV(nvmlDeviceGetArchitecture)(device, &value), NVML_SUCCESS);
    CHECK_EQUAL(value, NVML_DEVICE_ARCH_HOPPER);
    CHECK_EQUAL(NV(nvmlDeviceGetCudaComputeCapability)(device, &major, &minor), NVML_SUCCESS);
    CHECK(major == 9 && minor == 0);
    CHECK_EQUAL(NV(nvmlDeviceGetPciInfo_v3)(device, &pci), NVML_SUCCESS);
    CHECK(strcmp(pci.busId, "00000000:29:00.0") == 0 && strcmp(pci.busIdLegacy, "0000:29:00.0") == 0);
    CHECK_EQUAL(pci.bus, 0x29);
    CHECK_EQUAL(NV(nvmlDeviceGetMigMode)(device, &value, &pending), NVML_SUCCESS);
    CHECK_EQUAL(value, 0);
    CHECK_EQUAL(NV(nvmlDeviceGetMigMode)(card(2), &value, &pending), NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(NV(nvmlSystemGetDriverVersion)(text, sizeof text), NVML_SUCCESS);
    CHECK(strcmp(text, "580.95.05") == 0);
    CHECK_EQUAL(NV(nvmlSystemGetCudaDriverVersion)(&major), NVML_SUCCESS);
    CHECK_EQUAL(major, 13000);
    CHECK_EQUAL(NV(nvmlDeviceGetName)((nvmlDevice_t)(void *)&pci, text, sizeof text), NVML_ERROR_INVALID_ARGUMENT);
}

static void uuids_are_stable_and_find_their_card(void) {
    char first[96], again[96];
    nvmlDevice_t device;
    unsigned index;

    begin_nvml("h200x4");
    for (unsigned i = 0; i < 4; i++) {
        CHECK_EQUAL(NV(nvmlDeviceGetUUID)(card(i), first, sizeof first), NVML_SUCCESS);
        CHECK_EQUAL(strlen(first), 40);
        CHECK_EQUAL(NV(nvmlDeviceGetHandleByUUID)(first, &device), NVML_SUCCESS);
        CHECK_EQUAL(NV(nvmlDeviceGetIndex)(device, &index), NVML_SUCCESS);
        CHECK_EQUAL(index, i);
        CHECK(i == 0 || strcmp(first, again) != 0);
        memcpy(again, first, sizeof again);
    }
    CHECK_EQUAL(NV(nvmlDeviceGetHandleByUUID)("GPU-00000000-0000-0000-0000-000000000000", &device),
                NVML_ERROR_NOT_FOUND);
}

static void topology_is_switch_numa_node_and_system(void) {
    nvmlGpuTopologyLevel_t level;
    unsigned long nodes[2];
    unsigned node;

    begin_nvml("h200x8");
    CHECK_EQUAL(NV(nvmlDeviceGetTopologyCommonAncestor)(card(0), card(1), &level), NVML_SUCCESS);
    CHECK_EQUAL(level, NVML_TOPOLOGY_SINGLE);
    CHECK_EQUAL(NV(nvmlDeviceGetTopologyCommonAncestor)(card(0), card(3), &level), NVML_SUCCESS);
    CHECK_EQUAL(level, NVML_TOPOLOGY_NODE);
    CHECK_EQUAL(NV(nvmlDeviceGetTopologyCommonAncestor)(card(0), card(4), &level), NVML_SUCCESS);
    CHECK_EQUAL(level, NVML_TOPOLOGY_SYSTEM);
    CHECK_EQUAL(NV(nvmlDeviceGetNumaNodeId)(card(7), &node), NVML_ERROR_NOT_SUPPORTED); /* the card is none itself */
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryAffinity)(card(7), 2, nodes, NVML_AFFINITY_SCOPE_NODE), NVML_SUCCESS);
    CHECK(nodes[0] == 2 && nodes[1] == 0);
}

static void nvlink_is_where_the_model_has_it(void) {
    nvmlIntNvLinkDeviceType_t type;
    nvmlEnableState_t active;
    nvmlPciInfo_t remote;

    begin_nvml("h200x1,t4x1");
    CHECK_EQUAL(NV(nvmlDeviceGetNvLinkState)(card(0), 17, &active), NVML_SUCCESS);
    CHECK_EQUAL(active, NVML_FEATURE_ENABLED);
    CHECK_EQUAL(NV(nvmlDeviceGetNvLinkState)(card(0), 18, &active), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(NV(nvmlDeviceGetNvLinkRemotePciInfo_v2)(card(0), 0, &remote), NVML_SUCCESS);
    CHECK(strcmp(remote.busId, "00000000:C4:00.0") == 0);
    CHECK_EQUAL(NV(nvmlDeviceGetNvLinkRemoteDeviceType)(card(0), 0, &type), NVML_SUCCESS);
    CHECK_EQUAL(type, NVML_NVLINK_DEVICE_TYPE_SWITCH);
    CHECK_EQUAL(NV(nvmlDeviceGetNvLinkState)(card(1), 0, &active), NVML_ERROR_NOT_SUPPORTED);
}

static void a_card_is_well_until_the_node_says_otherwise(void) {
    unsigned long long count, reasons;
    unsigned corrected, uncorrected, pending, failure;
    nvmlGpuFabricInfo_t fabric;

    begin_nvml("h200x1");
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryErrorCounter)(card(0), NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC,
                                                    NVML_MEMORY_LOCATION_DRAM, &count),
                NVML_SUCCESS);
    CHECK_EQUAL(count, 0);
    CHECK_EQUAL(NV(nvmlDeviceGetRemappedRows)(card(0), &corrected, &uncorrected, &pending, &failure), NVML_SUCCESS);
    CHECK(!pending && !failure);
    CHECK_EQUAL(NV(nvmlDeviceGetGpuFabricInfo)(card(0), &fabric), NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(NV(nvmlDeviceGetCurrentClocksEventReasons)(card(0), &reasons), NVML_SUCCESS);
    CHECK_EQUAL(reasons, 0);

    add_to_node_conf("  ecc-dram 2\n  ecc-sram 1\n  row-remapping failed\n  fabric in-progress\n  brake power\n");
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryErrorCounter)(card(0), NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC,
                                                    NVML_MEMORY_LOCATION_DRAM, &count),
                NVML_SUCCESS);
    CHECK_EQUAL(count, 2);
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryErrorCounter)(card(0), NVML_MEMORY_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC,
                                                    NVML_MEMORY_LOCATION_SRAM, &count),
                NVML_SUCCESS);
    CHECK_EQUAL(count, 1);
    CHECK_EQUAL(NV(nvmlDeviceGetRemappedRows)(card(0), &corrected, &uncorrected, &pending, &failure), NVML_SUCCESS);
    CHECK(!pending && failure);
    CHECK_EQUAL(NV(nvmlDeviceGetGpuFabricInfo)(card(0), &fabric), NVML_SUCCESS);
    CHECK_EQUAL(fabric.state, 2);
    CHECK_EQUAL(fabric.status, NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetCurrentClocksThrottleReasons)(card(0), &reasons), NVML_SUCCESS);
    CHECK_EQUAL(reasons, nvmlClocksEventReasonHwSlowdown | nvmlClocksThrottleReasonHwPowerBrakeSlowdown);

    add_to_node_conf("  fabric failed\n");
    CHECK_EQUAL(NV(nvmlDeviceGetGpuFabricInfo)(card(0), &fabric), NVML_SUCCESS);
    CHECK_EQUAL(fabric.state, 3);
    CHECK_EQUAL(fabric.status, NVML_ERROR_UNKNOWN);
}

static void links_have_the_errors_that_the_node_says(void) {
    nvmlFieldValue_t fields[] = {{.fieldId = NVML_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL},
                                 {.fieldId = NVML_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL},
                                 {.fieldId = NVML_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL},
                                 {.fieldId = NVML_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL},
                                 {.fieldId = NVML_FI_DEV_MEMORY_TEMP}};

    begin_nvml("t4x1,h200x1");
    add_to_node_conf("  nvlink-crc-flit 1\n  nvlink-crc-data 2\n  nvlink-replay 3\n  nvlink-recovery 4\n");
    CHECK_EQUAL(NV(nvmlDeviceGetFieldValues)(card(1), 5, fields), NVML_SUCCESS);
    for (unsigned i = 0; i < 4; i++) {
        CHECK(llabs(fields[i].timestamp / 1000000 - (long long)time(NULL)) < 60); /* microseconds since 1970 */
        CHECK_EQUAL(fields[i].nvmlReturn, NVML_SUCCESS);
        CHECK_EQUAL(fields[i].valueType, NVML_VALUE_TYPE_UNSIGNED_LONG_LONG);
        CHECK_EQUAL(fields[i].value.ullVal, i + 1);
    }
    CHECK_EQUAL(fields[4].nvmlReturn, NVML_SUCCESS);
    CHECK_EQUAL(fields[4].valueType, NVML_VALUE_TYPE_UNSIGNED_INT);
    CHECK_EQUAL(NV(nvmlDeviceGetFieldValues)(card(0), 5, fields), NVML_SUCCESS);
    CHECK_EQUAL(fields[0].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(fields[4].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(NV(nvmlDeviceGetFieldValues)(card(0), 1, NULL), NVML_ERROR_INVALID_ARGUMENT);
}

static void two_samples_say_how_busy_a_card_was_from_hopper_on(void) {
    static nvmlGpmMetricsGet_t get;
    nvmlGpmSample_t samples[2];

    begin_nvml("a100x1,h200x1");
    for (unsigned i = 0; i < 2; i++)
        CHECK_EQUAL(NV(nvmlGpmSampleAlloc)(&samples[i]), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlGpmSampleGet)(card(0), samples[0]), NVML_ERROR_NOT_SUPPORTED);
    get = (nvmlGpmMetricsGet_t){.version = NVML_GPM_METRICS_GET_VERSION,
                                .numMetrics = 2,
                                .sample1 = samples[0],
                                .sample2 = samples[1],
                                .metrics = {{.metricId = NVML_GPM_METRIC_ANY_TENSOR_UTIL}, {.metricId = 4}}};
    CHECK_EQUAL(NV(nvmlGpmMetricsGet)(&get), NVML_ERROR_INVALID_ARGUMENT);
    for (unsigned i = 0; i < 2; i++)
        CHECK_EQUAL(NV(nvmlGpmSampleGet)(card(1), samples[i]), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlGpmMetricsGet)(&get), NVML_SUCCESS);
    CHECK_EQUAL(get.metrics[0].nvmlReturn, NVML_SUCCESS);
    CHECK(get.metrics[0].value == 0);
    CHECK_EQUAL(get.metrics[1].nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
    for (unsigned i = 0; i < 2; i++)
        CHECK_EQUAL(NV(nvmlGpmSampleFree)(samples[i]), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlGpmSampleFree)(NULL), NVML_ERROR_INVALID_ARGUMENT);
}

static void a_card_needs_what_the_node_says(void) {
    static const char *const lines[] = {"  recovery reset\n", "  recovery reboot\n", "  recovery drain-p2p\n",
                                        "  recovery drain-and-reset\n"};
    nvmlFieldValue_t field = {.fieldId = NVML_FI_DEV_GET_GPU_RECOVERY_ACTION};

    begin_nvml("t4x1");
    for (unsigned i = 0; i < 4; i++) {
        add_to_node_conf(lines[i]);
        CHECK_EQUAL(NV(nvmlDeviceGetFieldValues)(card(0), 1, &field), NVML_SUCCESS);
        CHECK_EQUAL(field.nvmlReturn, NVML_SUCCESS);
        CHECK_EQUAL(field.value.uiVal, NVML_GPU_RECOVERY_ACTION_GPU_RESET + i);
    }
}

static void links_lead_to_cards_where_the_node_says_so(void) {
    nvmlIntNvLinkDeviceType_t type;
    nvmlPciInfo_t remote, first;

    install_node("t4x2");
    add_to_node_conf("  nvlinks-to 0:2\n"); /* of the card that comes last */
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetPciInfo_v3)(card(0), &first), NVML_SUCCESS);
    for (unsigned link = 0; link < 2; link++) {
        CHECK_EQUAL(NV(nvmlDeviceGetNvLinkRemoteDeviceType)(card(1), link, &type), NVML_SUCCESS);
        CHECK_EQUAL(type, NVML_NVLINK_DEVICE_TYPE_GPU);
        CHECK_EQUAL(NV(nvmlDeviceGetNvLinkRemotePciInfo_v2)(card(1), link, &remote), NVML_SUCCESS);
        CHECK(strcmp(remote.busId, first.busId) == 0);
    }
    CHECK_EQUAL(NV(nvmlDeviceGetNvLinkRemoteDeviceType)(card(1), 2, &type), NVML_ERROR_INVALID_ARGUMENT);
    CHECK_EQUAL(NV(nvmlDeviceGetNvLinkRemoteDeviceType)(card(0), 0, &type), NVML_ERROR_NOT_SUPPORTED);
}

static void the_versions_of_memory_differ_by_the_reserve(void) {
    nvmlMemory_v2_t second = {.version = nvmlMemory_v2};
    nvmlMemory_t first;

    begin_nvml("h200x1");
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryInfo)(card(0), &first), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryInfo_v2)(card(0), &second), NVML_SUCCESS);
    CHECK_EQUAL(first.total, 143771 * MIB);
    CHECK_EQUAL(second.used, 0);
    CHECK(second.reserved > 0 && first.used == second.reserved && first.free == second.free);
    CHECK_EQUAL(second.total, second.reserved + second.free + second.used);
    second.version = 7;
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryInfo_v2)(card(0), &second), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

static void hold(int link, long bytes) {
    CUdeviceptr pointer;

    begin_cuda(0);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, (size_t)bytes), CUDA_SUCCESS);
    tell(link, 'h');
    hear(link);
}

static void running_processes_stand_in_every_layout(void) {
    nvmlProcessUtilizationSample_t samples[4];
    nvmlProcessInfo_v1_t old[4];
    nvmlProcessInfo_t new[4];
    unsigned count = 0;
    struct child child;

    begin_nvml("h200x1");
    CHECK_EQUAL(NV(nvmlDeviceGetComputeRunningProcesses_v3)(card(0), &count, NULL), NVML_SUCCESS);
    CHECK_EQUAL(count, 0);
    child = start_child(hold, GIB);
    CHECK(hear(child.link) == 'h');
    CHECK_EQUAL(NV(nvmlDeviceGetComputeRunningProcesses_v3)(card(0), &count, NULL), NVML_ERROR_INSUFFICIENT_SIZE);
    CHECK_EQUAL(count, 1);
    count = 4;
    CHECK_EQUAL(NV(nvmlDeviceGetComputeRunningProcesses_v3)(card(0), &count, new), NVML_SUCCESS);
    CHECK(count == 1 && (pid_t)new[0].pid == child.pid && new[0].usedGpuMemory == GIB + 300 * MIB);
    CHECK_EQUAL(new[0].gpuInstanceId, NVML_NO_INSTANCE);
    count = 4;
    CHECK_EQUAL(NV(nvmlDeviceGetComputeRunningProcesses)(card(0), &count, old), NVML_SUCCESS);
    CHECK(count == 1 && (pid_t)old[0].pid == child.pid && old[0].usedGpuMemory == GIB + 300 * MIB);
    count = 4;
    CHECK_EQUAL(NV(nvmlDeviceGetGraphicsRunningProcesses_v3)(card(0), &count, new), NVML_SUCCESS);
    CHECK_EQUAL(count, 0);
    count = 4; /* a process that launches nothing has no utilisation */
    CHECK_EQUAL(NV(nvmlDeviceGetProcessUtilization)(card(0), samples, &count, 0), NVML_ERROR_NOT_FOUND);
    CHECK_EQUAL(count, 0);
    kill_child(&child);
}

static void a_broken_card_is_lost_until_it_heals(void) {
    nvmlMemory_t memory;
    nvmlDevice_t broken, other, again;
    CUdeviceptr pointer;
    CUcontext context;

    begin_nvml("h200x2");
    broken = card(0);
    other = card(1);
    begin_cuda(0);
    break_card("0");
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryInfo)(broken, &memory), NVML_ERROR_GPU_IS_LOST);
    CHECK_EQUAL(NV(nvmlDeviceGetHandleByIndex_v2)(0, &again), NVML_ERROR_GPU_IS_LOST);
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryInfo)(other, &memory), NVML_SUCCESS);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, 1), CUDA_ERROR_UNKNOWN);
    CHECK_EQUAL(CU(cuCtxCreate_v2)(&context, 0, 0), CUDA_ERROR_UNKNOWN);
    heal_card("0");
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryInfo)(broken, &memory), NVML_SUCCESS);
    CHECK_EQUAL(CU(cuMemAlloc_v2)(&pointer, 1), CUDA_SUCCESS);
}

static void a_card_may_be_lost_from_the_start(void) {
    nvmlDevice_t device;

    install_node("h200x2");
    configure("health", "lost");
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetHandleByIndex_v2)(1, &device), NVML_ERROR_GPU_IS_LOST);
}

RUN(TEST(calls_outside_init_and_shutdown_are_uninitialized), TEST(the_inventory_is_the_profiles),
    TEST(uuids_are_stable_and_find_their_card), TEST(topology_is_switch_numa_node_and_system),
    TEST(nvlink_is_where_the_model_has_it), TEST(a_card_is_well_until_the_node_says_otherwise),
    TEST(links_have_the_errors_that_the_node_says), TEST(a_card_needs_what_the_node_says),
    TEST(two_samples_say_how_busy_a_card_was_from_hopper_on), TEST(links_lead_to_cards_where_the_node_says_so),
    TEST(the_versions_of_memory_differ_by_the_reserve), TEST(running_processes_stand_in_every_layout),
    TEST(a_broken_card_is_lost_until_it_heals), TEST(a_card_may_be_lost_from_the_start))
