/* SPDX-License-Identifier: Apache-2.0 */
/* Faults that are ordered come to running processes; so do XID errors. */
#include <time.h>
#include <unistd.h>

#include "spinning.h"

static CUresult allocate(void) {
    CUdeviceptr pointer;

    return CU(cuMemAlloc_v2)(&pointer, MIB);
}

static void a_function_fails_from_a_call_on_every_nth_time(void) {
    install_node("t4x1");
    begin_cuda(0);
    CHECK_EQUAL(allocate(), CUDA_SUCCESS);
    DRIVER_TOOL("fault", "--function", "cuMemAlloc_v2", "--error", "CUDA_ERROR_OUT_OF_MEMORY", "--from", "2", "--every",
                "3", "--times", "2");
    for (int call = 1; call <= 9; call++)
        CHECK_EQUAL(allocate(), call == 2 || call == 5 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS);
    DRIVER_TOOL("fault", "--function", "cuMemAlloc_v2", "--error", "999");
    CHECK_EQUAL(allocate(), CUDA_ERROR_UNKNOWN);
    CHECK_EQUAL(CU(cuCtxSynchronize)(), CUDA_SUCCESS);
    DRIVER_TOOL("fault", "--clear");
    CHECK_EQUAL(allocate(), CUDA_SUCCESS);
}

static void a_function_takes_as_long_as_is_ordered(void) {
    uint64_t began;

    install_node("t4x1");
    begin_cuda(0);
    DRIVER_TOOL("fault", "--function", "cuMemAlloc_v2", "--delay-us", "50000");
    began = sim_clock_time();
    CHECK_EQUAL(allocate(), CUDA_SUCCESS);
    CHECK(sim_clock_time() - began >= 50 * MS);
}

static void allocate_when_told(int link, long unused) {
    (void)unused;
    begin_cuda(0);
    tell(link, 'r');
    while (hear(link))
        tell(link, allocate() == CUDA_SUCCESS ? 's' : 'f');
}

static void a_fault_may_be_one_processs_own(void) {
    struct child struck, spared;
    char pid[16];

    install_node("t4x1");
    struck = start_child(allocate_when_told, 0);
    spared = start_child(allocate_when_told, 0);
    CHECK(hear(struck.link) == 'r' && hear(spared.link) == 'r');
    snprintf(pid, sizeof pid, "%d", (int)struck.pid);
    DRIVER_TOOL("fault", "--function", "cuMemAlloc_v2", "--error", "2", "--pid", pid);
    tell(struck.link, 'a');
    tell(spared.link, 'a');
    CHECK(hear(struck.link) == 'f');
    CHECK(hear(spared.link) == 's');
    kill_child(&struck);
    kill_child(&spared);
}

static void initialisation_and_nvml_can_fail(void) {
    unsigned count;

    install_node("t4x1");
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    DRIVER_TOOL("fault", "--function", "cuInit", "--error", "CUDA_ERROR_SYSTEM_NOT_READY", "--times", "1");
    DRIVER_TOOL("fault", "--function", "nvmlDeviceGetCount_v2", "--error", "999", "--times", "1");
    CHECK_EQUAL(CU(cuInit)(0), CUDA_ERROR_SYSTEM_NOT_READY);
    CHECK_EQUAL(CU(cuInit)(0), CUDA_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetCount_v2)(&count), NVML_ERROR_UNKNOWN);
    CHECK_EQUAL(NV(nvmlDeviceGetCount_v2)(&count), NVML_SUCCESS);
}

static void cuda_does_not_begin_before_the_fabric_is_set_up(void) {
    install_node("h200x1");
    add_to_node_conf("  fabric not-started\n");
    CHECK_EQUAL(CU(cuInit)(0), CUDA_ERROR_SYSTEM_NOT_READY);
    add_to_node_conf("  fabric failed\n");
    CHECK_EQUAL(CU(cuInit)(0), CUDA_ERROR_SYSTEM_NOT_READY);
    add_to_node_conf("  fabric completed\n");
    CHECK_EQUAL(CU(cuInit)(0), CUDA_SUCCESS);
}

static nvmlDevice_t card(unsigned index) {
    nvmlDevice_t device;

    CHECK_EQUAL(NV(nvmlDeviceGetHandleByIndex_v2)(index, &device), NVML_SUCCESS);
    return device;
}

static void xid_errors_are_events_of_the_card(void) {
    unsigned long long types;
    nvmlEventData_v1_t old;
    nvmlEventData_t data;
    nvmlEventSet_t set;

    install_node("t4x2");
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    DRIVER_TOOL("xid", "--gpu", "1", "--xid", "13"); /* before anybody listens */
    CHECK_EQUAL(NV(nvmlEventSetCreate)(&set), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetSupportedEventTypes)(card(1), &types), NVML_SUCCESS);
    CHECK_EQUAL(types, nvmlEventTypeXidCriticalError);
    CHECK_EQUAL(NV(nvmlDeviceRegisterEvents)(card(1), types, set), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceRegisterEvents)(card(1), 1, set), NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(NV(nvmlEventSetWait_v2)(set, &data, 0), NVML_ERROR_TIMEOUT);
    DRIVER_TOOL("xid", "--gpu", "0", "--xid", "31"); /* nobody asked for */
    DRIVER_TOOL("xid", "--gpu", "1", "--xid", "48");
    DRIVER_TOOL("xid", "--gpu", "1", "--xid", "94");
    CHECK_EQUAL(NV(nvmlEventSetWait_v2)(set, &data, 10000), NVML_SUCCESS);
    CHECK(data.device == card(1) && data.eventType == nvmlEventTypeXidCriticalError && data.eventData == 48);
    CHECK_EQUAL(data.gpuInstanceId, NVML_NO_INSTANCE);
    CHECK_EQUAL(NV(nvmlEventSetWait)(set, &old, 10000), NVML_SUCCESS);
    CHECK_EQUAL(old.eventData, 94);
    break_card("1");
    CHECK_EQUAL(NV(nvmlEventSetWait_v2)(set, &data, 10000), NVML_SUCCESS);
    CHECK_EQUAL(data.eventData, 79);
    CHECK_EQUAL(NV(nvmlEventSetWait_v2)(set, &data, 1), NVML_ERROR_TIMEOUT);
    CHECK_EQUAL(NV(nvmlEventSetFree)(set), NVML_SUCCESS);
}

static unsigned recovery_action(unsigned index) {
    nvmlFieldValue_t field = {.fieldId = NVML_FI_DEV_GET_GPU_RECOVERY_ACTION};

    CHECK_EQUAL(NV(nvmlDeviceGetFieldValues)(card(index), 1, &field), NVML_SUCCESS);
    CHECK_EQUAL(field.nvmlReturn, NVML_SUCCESS);
    CHECK_EQUAL(field.valueType, NVML_VALUE_TYPE_UNSIGNED_INT);
    return field.value.uiVal;
}

static void an_error_that_asks_for_a_reset_is_told_until_the_card_was_reset(void) {
    nvmlEventData_t data;
    nvmlEventSet_t set;

    install_node("t4x2");
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlEventSetCreate)(&set), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceRegisterEvents)(card(1), nvmlEventTypeXidCriticalError, set), NVML_SUCCESS);
    DRIVER_TOOL("xid", "--gpu", "1", "--xid", "31");
    CHECK_EQUAL(recovery_action(1), NVML_GPU_RECOVERY_ACTION_NONE);
    DRIVER_TOOL("xid", "--gpu", "1", "--xid", "95");
    DRIVER_TOOL("xid", "--gpu", "1", "--xid", "119");
    CHECK_EQUAL(recovery_action(1), NVML_GPU_RECOVERY_ACTION_GPU_RESET);
    CHECK_EQUAL(recovery_action(0), NVML_GPU_RECOVERY_ACTION_NONE);
    for (size_t i = 0; i < 4; i++) { /* 154: the action has changed, which it does once */
        CHECK_EQUAL(NV(nvmlEventSetWait_v2)(set, &data, 10000), NVML_SUCCESS);
        CHECK_EQUAL(data.eventData, ((const unsigned[]){31, 95, 154, 119})[i]);
    }
    CHECK_EQUAL(NV(nvmlEventSetFree)(set), NVML_SUCCESS);
    DRIVER_TOOL("reset", "--gpu", "1");
    CHECK_EQUAL(recovery_action(1), NVML_GPU_RECOVERY_ACTION_NONE);
    DRIVER_TOOL("xid", "--gpu", "1", "--xid", "95");
    break_card("1");
    heal_card("1");
    CHECK_EQUAL(recovery_action(1), NVML_GPU_RECOVERY_ACTION_NONE);
}

static void a_driver_before_565_does_not_tell_what_a_card_needs(void) {
    nvmlFieldValue_t field = {.fieldId = NVML_FI_DEV_GET_GPU_RECOVERY_ACTION};
    nvmlEventData_t data;
    nvmlEventSet_t set;

    install_node("t4x1");
    configure("driver-version", "560.35.05");
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlEventSetCreate)(&set), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceRegisterEvents)(card(0), nvmlEventTypeXidCriticalError, set), NVML_SUCCESS);
    DRIVER_TOOL("xid", "--gpu", "0", "--xid", "95");
    CHECK_EQUAL(NV(nvmlDeviceGetFieldValues)(card(0), 1, &field), NVML_SUCCESS);
    CHECK_EQUAL(field.nvmlReturn, NVML_ERROR_NOT_SUPPORTED);
    CHECK_EQUAL(NV(nvmlEventSetWait_v2)(set, &data, 10000), NVML_SUCCESS);
    CHECK_EQUAL(data.eventData, 95);
    CHECK_EQUAL(NV(nvmlEventSetWait_v2)(set, &data, 1), NVML_ERROR_TIMEOUT);
    CHECK_EQUAL(NV(nvmlEventSetFree)(set), NVML_SUCCESS);
}

RUN(TEST(a_function_fails_from_a_call_on_every_nth_time), TEST(a_function_takes_as_long_as_is_ordered),
    TEST(a_fault_may_be_one_processs_own), TEST(initialisation_and_nvml_can_fail),
    TEST(cuda_does_not_begin_before_the_fabric_is_set_up), TEST(xid_errors_are_events_of_the_card),
    TEST(an_error_that_asks_for_a_reset_is_told_until_the_card_was_reset),
    TEST(a_driver_before_565_does_not_tell_what_a_card_needs))
