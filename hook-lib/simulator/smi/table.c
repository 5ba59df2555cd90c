/* SPDX-License-Identifier: Apache-2.0 */
/* The default view and -L, in the layout of nvidia-smi 550 and later. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nvml.h"

#define MIB (1024ull * 1024)

static void list_card(const struct smi_card *card, void *context) {
    unsigned count = 0;
    nvmlDevice_t device;

    (void)context;
    printf("GPU %u: %s (UUID: %s)\n", card->index, card->name, card->uuid);
    nvml.mig_count(card->device, &count);
    for (unsigned i = 0; i < count; i++) {
        char name[NVML_DEVICE_NAME_V2_BUFFER_SIZE] = "", uuid[NVML_DEVICE_UUID_V2_BUFFER_SIZE] = "";
        const char *profile;

        if (nvml.mig_device(card->device, i, &device) != NVML_SUCCESS ||
            nvml.name(device, name, sizeof name) != NVML_SUCCESS ||
            nvml.uuid(device, uuid, sizeof uuid) != NVML_SUCCESS)
            continue;
        profile = strstr(name, " MIG ");
        printf("  MIG %-11s Device %2u: (UUID: %s)\n", profile ? profile + 5 : name, i, uuid);
    }
}

int print_list(const char *only) {
    return each_card(only, list_card, NULL);
}

static void print_head(void) {
    char version[NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE] = "", cuda_text[32], date[64] = "";
    time_t now = time(NULL);
    int cuda = 0;

    nvml.driver_version(version, sizeof version);
    nvml.cuda_version(&cuda);
    snprintf(cuda_text, sizeof cuda_text, "%d.%d", cuda / 1000, cuda % 1000 / 10);
    strftime(date, sizeof date, "%a %b %e %H:%M:%S %Y", localtime(&now));
    printf("%s       \n"
           "+-----------------------------------------------------------------------------------------+\n"
           "| NVIDIA-SMI %-22.22s Driver Version: %-14.14s CUDA Version: %-8.8s |\n"
           "+-----------------------------------------+------------------------+----------------------+\n"
           "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
           "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
           "|                                         |                        |               MIG M. |\n"
           "|=========================================+========================+======================|\n",
           date, version, version, cuda_text);
}

static void print_card(const struct smi_card *card, void *context) {
    nvmlEnableState_t persistence = NVML_FEATURE_DISABLED;
    nvmlMemory_v2_t memory = {.version = nvmlMemory_v2};
    unsigned celsius = 0, power = 0, limit = 0, mig = 0, pending;
    nvmlUtilization_t busy;
    char percent[16] = "N/A", held[48] = "N/A";
    bool can_mig = nvml.mig_mode(card->device, &mig, &pending) == NVML_SUCCESS;

    (void)context;
    nvml.persistence(card->device, &persistence);
    if (nvml.memory(card->device, &memory) == NVML_SUCCESS)
        snprintf(held, sizeof held, "%7lluMiB / %6lluMiB", memory.used / MIB, memory.total / MIB);
    nvml.temperature(card->device, NVML_TEMPERATURE_GPU, &celsius);
    nvml.power(card->device, &power);
    nvml.power_limit(card->device, &limit);
    if (nvml.utilization(card->device, &busy) == NVML_SUCCESS)
        snprintf(percent, sizeof percent, "%u%%", busy.gpu);
    printf("| %3u  %-27.27s%6s  |   %16.16s Off | %20s |\n", card->index, card->name, persistence ? "On" : "Off",
           card->pci.busId, "0");
    printf("| N/A  %3uC    P0 %14uW / %4uW | %22s | %7s      Default |\n", celsius, power / 1000, limit / 1000, held,
           percent);
    printf("|                                         |                        | %20s |\n", !can_mig ? "N/A"
                                                                                            : mig    ? "Enabled"
                                                                                                     : "Disabled");
    puts("+-----------------------------------------+------------------------+----------------------+");
}

static void print_processes(const struct smi_card *card, void *context) {
    unsigned count, *printed = context;
    nvmlProcessInfo_t *processes = card_processes(card, &count);

    for (unsigned i = 0; i < count; i++) {
        char name[256] = "[Not Found]", used[32];
        const char *shown = name;

        nvml.process_name(processes[i].pid, name, sizeof name);
        if (strlen(name) > 34)
            shown = name + strlen(name) - 31;
        snprintf(used, sizeof used, "%lluMiB", processes[i].usedGpuMemory / MIB);
        printf("| %4u   N/A  N/A %16u      C   %s%-*s%10s |\n", card->index, processes[i].pid,
               shown == name ? "" : "...", shown == name ? 35 : 32, shown, used);
        ++*printed;
    }
    free(processes);
}

static void ignore_card(const struct smi_card *card, void *context) {
    (void)card;
    (void)context;
}

int print_table(const char *only) {
    unsigned printed = 0, count = 0;
    int status;

    nvml.count(&count);
    if (count == 0)
        return each_card(only, ignore_card, NULL);
    print_head();
    status = each_card(only, print_card, NULL);
    puts("\n"
         "+-----------------------------------------------------------------------------------------+\n"
         "| Processes:                                                                              |\n"
         "|  GPU   GI   CI              PID   Type   Process name                        GPU Memory |\n"
         "|        ID   ID                                                               Usage      |\n"
         "|=========================================================================================|");
    if (status == SMI_DONE)
        each_card(only, print_processes, &printed);
    if (printed == 0)
        puts("|  No running processes found                                                             |");
    puts("+-----------------------------------------------------------------------------------------+");
    return status;
}
