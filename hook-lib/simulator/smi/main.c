/* SPDX-License-Identifier: Apache-2.0 */
/* A look-alike of nvidia-smi: the real one refuses a foreign NVML, because it asks for private functions first. */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "nvml.h"

static const char help[] =
    "NVIDIA System Management Interface (Partita's look-alike for simulated and shared GPUs)\n"
    "\n"
    "    nvidia-smi                      the summary of cards and processes\n"
    "    nvidia-smi -L, --list-gpus      one line a card\n"
    "    -i, --id=ID                     only this card: its index, UUID or PCI bus id\n"
    "    --query-gpu=FIELD[,FIELD…]      with --format=csv[,noheader][,nounits]; fields: timestamp, index, count, "
    "name,\n"
    "                                    uuid, pci.bus_id, driver_version, pstate, memory.total, memory.used, "
    "memory.free,\n"
    "                                    memory.reserved, utilization.gpu, utilization.memory, temperature.gpu, "
    "power.draw,\n"
    "                                    power.limit, persistence_mode, compute_mode, compute_cap, mig.mode.current\n"
    "    --query-compute-apps=FIELD[,…]  with --format=…; fields: timestamp, gpu_name, gpu_bus_id, gpu_uuid, pid,\n"
    "                                    process_name, used_gpu_memory\n"
    "    compute-policy                  the time slices of cards; compute-policy -h tells more\n"
    "    -h, --help\n";

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"list-gpus", no_argument, NULL, 'L'},
        {"id", required_argument, NULL, 'i'},
        {"query-gpu", required_argument, NULL, 'g'},
        {"query-compute-apps", required_argument, NULL, 'a'},
        {"format", required_argument, NULL, 'f'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *only = NULL, *gpu_fields = NULL, *app_fields = NULL, *format = NULL;
    bool list = false;
    int option, status;

    if (argc > 1 && strcmp(argv[1], "compute-policy") == 0)
        return compute_policy(argc - 1, argv + 1);
    while ((option = getopt_long(argc, argv, "Li:h", options, NULL)) != -1)
        switch (option) {
        case 'L':
            list = true;
            break;
        case 'i':
            only = optarg;
            break;
        case 'g':
            gpu_fields = optarg;
            break;
        case 'a':
            app_fields = optarg;
            break;
        case 'f':
            format = optarg;
            break;
        case 'h':
            fputs(help, stdout);
            return SMI_DONE;
        default:
            return SMI_USAGE;
        }
    if (optind < argc || list + !!gpu_fields + !!app_fields > 1) {
        puts("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.");
        return SMI_USAGE;
    }
    status = nvml_open();
    if (status != SMI_DONE)
        return status;
    if (list)
        return print_list(only);
    if (gpu_fields)
        return print_query(only, gpu_fields, format);
    if (app_fields)
        return print_process_query(only, app_fields, format);
    return print_table(only);
}
