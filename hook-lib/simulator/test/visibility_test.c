/* SPDX-License-Identifier: Apache-2.0 */
/* Which cards a process sees, and in which order. */
#include "simulated.h"

#include <unistd.h>

static void hide(unsigned index) {
    char path[PATH_MAX + 32];

    snprintf(path, sizeof path, "%s/dev/nvidia%u", node_root, index);
    CHECK(unlink(path) == 0);
}

static int cuda_count(void) {
    int count;

    CHECK_EQUAL(CU(cuInit)(0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDeviceGetCount)(&count), CUDA_SUCCESS);
    return count;
}

static const char *cuda_name(int ordinal) {
    static char name[96];

    CHECK_EQUAL(CU(cuDeviceGetName)(name, sizeof name, ordinal), CUDA_SUCCESS);
    return name;
}

/* The minor number of CUDA's device, told by its address: the installer gives addresses in minors' order. */
static unsigned minor_of(int ordinal) {
    nvmlDevice_t device;
    char address[32];
    unsigned minor;

    CHECK_EQUAL(CU(cuDeviceGetPCIBusId)(address, sizeof address, ordinal), CUDA_SUCCESS);
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetHandleByPciBusId_v2)(address, &device), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetMinorNumber)(device, &minor), NVML_SUCCESS);
    return minor;
}

static void a_card_without_its_device_node_is_not_there(void) {
    nvmlDevice_t device;
    unsigned count, minor;

    install_node("h200x4");
    hide(0);
    hide(2);
    CHECK_EQUAL(cuda_count(), 2);
    CHECK_EQUAL(minor_of(0), 1);
    CHECK_EQUAL(minor_of(1), 3);
    CHECK_EQUAL(NV(nvmlDeviceGetCount_v2)(&count), NVML_SUCCESS);
    CHECK_EQUAL(count, 2);
    CHECK_EQUAL(NV(nvmlDeviceGetHandleByIndex_v2)(1, &device), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetMinorNumber)(device, &minor), NVML_SUCCESS);
    CHECK_EQUAL(minor, 3);
    CHECK_EQUAL(NV(nvmlDeviceGetHandleByIndex_v2)(2, &device), NVML_ERROR_INVALID_ARGUMENT);
}

static void no_card_is_no_device(void) {
    install_node("h200x1");
    hide(0);
    CHECK_EQUAL(CU(cuInit)(0), CUDA_ERROR_NO_DEVICE);
}

static void without_the_control_node_there_is_no_driver(void) {
    char path[PATH_MAX + 32];

    install_node("h200x1");
    snprintf(path, sizeof path, "%s/dev/nvidiactl", node_root);
    CHECK(unlink(path) == 0);
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_ERROR_DRIVER_NOT_LOADED);
}

static void the_fastest_card_is_first_unless_asked_otherwise(void) {
    install_node("t4x1,h200x1,l40s");
    CHECK_EQUAL(cuda_count(), 3);
    CHECK(strcmp(cuda_name(0), "NVIDIA L40S") == 0);
    CHECK(strcmp(cuda_name(1), "NVIDIA H200") == 0);
    CHECK(strcmp(cuda_name(2), "Tesla T4") == 0);
}

static void pci_order_is_kept_on_request(void) {
    install_node("t4x1,h200x1");
    setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
    CHECK_EQUAL(cuda_count(), 2);
    CHECK(strcmp(cuda_name(0), "Tesla T4") == 0);
}

static void visible_devices_choose_and_order(void) {
    install_node("h200x4");
    setenv("CUDA_VISIBLE_DEVICES", "3,1", 1);
    CHECK_EQUAL(cuda_count(), 2);
    CHECK_EQUAL(minor_of(0), 3);
    CHECK_EQUAL(minor_of(1), 1);
}

static void visible_devices_end_at_the_first_unknown_entry(void) {
    install_node("h200x4");
    setenv("CUDA_VISIBLE_DEVICES", "2,9,1", 1);
    CHECK_EQUAL(cuda_count(), 1);
    CHECK_EQUAL(minor_of(0), 2);
}

static void visible_devices_may_be_uuids(void) {
    char uuid[NVML_DEVICE_UUID_V2_BUFFER_SIZE];
    nvmlDevice_t device;

    install_node("h200x4");
    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetHandleByIndex_v2)(2, &device), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetUUID)(device, uuid, sizeof uuid), NVML_SUCCESS);
    uuid[16] = '\0';
    setenv("CUDA_VISIBLE_DEVICES", uuid, 1);
    CHECK_EQUAL(cuda_count(), 1);
    CHECK_EQUAL(minor_of(0), 2);
}

static void no_visible_device_is_no_device(void) {
    install_node("h200x4");
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    CHECK_EQUAL(CU(cuInit)(0), CUDA_ERROR_NO_DEVICE);
}

RUN(TEST(a_card_without_its_device_node_is_not_there), TEST(no_card_is_no_device),
    TEST(without_the_control_node_there_is_no_driver), TEST(the_fastest_card_is_first_unless_asked_otherwise),
    TEST(pci_order_is_kept_on_request), TEST(visible_devices_choose_and_order),
    TEST(visible_devices_end_at_the_first_unknown_entry), TEST(visible_devices_may_be_uuids),
    TEST(no_visible_device_is_no_device))
