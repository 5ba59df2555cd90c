/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The models, from the vendor's data sheets; memory is what nvidia-smi shows as the total, and `reserved` about what
 * CUDA sees less than that.
 */
#include <string.h>

#include "nvml_api.h"
#include "profiles.h"

const struct profile profiles[] = {
    {"h200", "NVIDIA H200", NVML_BRAND_NVIDIA, NVML_DEVICE_ARCH_HOPPER, 9, 0, 143771, 603, 132, 1980, 3201, 6144, 50,
     0x233510de, 0x18be10de, 18, 700, 1},
    {"h100", "NVIDIA H100 80GB HBM3", NVML_BRAND_NVIDIA, NVML_DEVICE_ARCH_HOPPER, 9, 0, 81559, 551, 132, 1980, 2619,
     5120, 50, 0x233010de, 0x16c110de, 18, 700, 1},
    {"a100", "NVIDIA A100-SXM4-80GB", NVML_BRAND_NVIDIA, NVML_DEVICE_ARCH_AMPERE, 8, 0, 81920, 869, 108, 1410, 1593,
     5120, 40, 0x20b210de, 0x147f10de, 12, 400, 1},
    {"a100-40gb", "NVIDIA A100-SXM4-40GB", NVML_BRAND_NVIDIA, NVML_DEVICE_ARCH_AMPERE, 8, 0, 40960, 529, 108, 1410,
     1215, 5120, 40, 0x20b010de, 0x134f10de, 12, 400, 1},
    {"l40s", "NVIDIA L40S", NVML_BRAND_NVIDIA, NVML_DEVICE_ARCH_ADA, 8, 9, 46068, 590, 142, 2520, 9001, 384, 96,
     0x26b910de, 0x185110de, 0, 350, 0},
    {"t4", "Tesla T4", NVML_BRAND_NVIDIA, NVML_DEVICE_ARCH_TURING, 7, 5, 15360, 440, 40, 1590, 5001, 256, 4, 0x1eb810de,
     0x12a210de, 0, 70, 0},
    {"rtx4090", "NVIDIA GeForce RTX 4090", NVML_BRAND_GEFORCE, NVML_DEVICE_ARCH_ADA, 8, 9, 24564, 482, 128, 2520, 10501,
     384, 72, 0x268410de, 0x16f110de, 0, 450, 0},
};
const size_t profile_count = sizeof profiles / sizeof *profiles;

const struct profile *profile_find(const char *model, size_t length) {
    for (size_t i = 0; i < profile_count; i++)
        if (strlen(profiles[i].model) == length && strncmp(profiles[i].model, model, length) == 0)
            return &profiles[i];
    return NULL;
}
