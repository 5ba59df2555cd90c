/* SPDX-License-Identifier: Apache-2.0 */
/* partita-sim-driver: lays out a simulated driver root, breaks and heals its cards, and tells the truth about them. */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

static const char usage[] =
    "usage: partita-sim-driver install --root DIR --node NAME --gpus h200x4[,a100x2] [--driver-version V]\n"
    "                                [--libraries DIR] [--contrary 'all -NAME' | 'NAME...']   contrary readings of "
    "the\n"
    "                                documentation: node.conf's line of that name\n"
    "       partita-sim-driver profiles              the models of cards there are\n"
    "       partita-sim-driver state --root DIR      what every card holds now, as JSON\n"
    "       partita-sim-driver break --root DIR --gpu INDEX|UUID   the card falls off the bus\n"
    "       partita-sim-driver heal --root DIR --gpu INDEX|UUID    and is back\n"
    "       partita-sim-driver xid --root DIR --gpu INDEX|UUID --xid N   NVML's event of such an error\n"
    "       partita-sim-driver reset --root DIR --gpu INDEX|UUID   as nvidia-smi --gpu-reset: the card needs no reset "
    "any more\n"
    "       partita-sim-driver mig --root DIR --gpu INDEX|UUID enable | disable | list\n"
    "       partita-sim-driver mig --root DIR --gpu INDEX|UUID create PROFILE[:START] | destroy ID\n"
    "                                MIG of a card: its mode, GPU instances (with one compute instance) from memory "
    "slice START on\n"
    "       partita-sim-driver fault --root DIR --function NAME [--error CODE] [--delay-us N] [--from N] [--every N] "
    "[--times N]\n"
    "                                [--pid N]   running processes' calls of a CUDA or NVML function fail or wait:\n"
    "                                the FROM-th (1), and each EVERY-th (1) after it, TIMES times (for ever)\n"
    "       partita-sim-driver fault --root DIR --list | --clear         the faults there are, and how often they were "
    "met\n";

static int print_profiles(void) {
    for (size_t i = 0; i < profile_count; i++)
        printf("%s %s, %u MiB, %d SMs, compute capability %d.%d%s\n", profiles[i].model, profiles[i].name,
               profiles[i].memory, profiles[i].sm_count, profiles[i].cc_major, profiles[i].cc_minor,
               profiles[i].nvlinks ? ", NVLink" : "");
    return EXIT_DONE;
}

static int missing(const char *option) {
    fprintf(stderr, "partita-sim-driver: %s is missing; see partita-sim-driver --help\n", option);
    return EXIT_USAGE;
}

static bool is_command(const char *command) {
    static const char *const commands[] = {"install", "state", "break", "heal", "xid", "reset", "fault", "mig"};

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(command, commands[i]) == 0)
            return true;
    return false;
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"root", required_argument, NULL, 'r'},
        {"node", required_argument, NULL, 'n'},
        {"gpus", required_argument, NULL, 'g'},
        {"driver-version", required_argument, NULL, 'v'},
        {"gpu", required_argument, NULL, 'i'},
        {"libraries", required_argument, NULL, 'l'},
        {"xid", required_argument, NULL, 'x'},
        {"function", required_argument, NULL, 'f'},
        {"error", required_argument, NULL, 'e'},
        {"delay-us", required_argument, NULL, 'd'},
        {"from", required_argument, NULL, 'F'},
        {"every", required_argument, NULL, 'E'},
        {"times", required_argument, NULL, 't'},
        {"pid", required_argument, NULL, 'p'},
        {"contrary", required_argument, NULL, 'C'},
        {"clear", no_argument, NULL, 'c'},
        {"list", no_argument, NULL, 'L'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct installation wanted = {.driver_version = DEFAULT_DRIVER_VERSION};
    struct fault_order fault = {0};
    const char *gpu = NULL, *xid = NULL, *command;
    int option;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (option) {
        case 'r':
            wanted.root = optarg;
            break;
        case 'n':
            wanted.node = optarg;
            break;
        case 'g':
            wanted.gpus = optarg;
            break;
        case 'v':
            wanted.driver_version = optarg;
            break;
        case 'l':
            wanted.libraries = optarg;
            break;
        case 'C':
            wanted.contrary = optarg;
            break;
        case 'i':
            gpu = optarg;
            break;
        case 'x':
            xid = optarg;
            break;
        case 'f':
            fault.function = optarg;
            break;
        case 'e':
            fault.error = optarg;
            break;
        case 'd':
            fault.delay_us = optarg;
            break;
        case 'F':
            fault.from = optarg;
            break;
        case 'E':
            fault.every = optarg;
            break;
        case 't':
            fault.times = optarg;
            break;
        case 'p':
            fault.pid = optarg;
            break;
        case 'c':
            fault.clear = true;
            break;
        case 'L':
            fault.list = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return EXIT_DONE;
        default:
            return EXIT_USAGE;
        }
    if (optind == argc || (optind != argc - 1 && strcmp(argv[optind], "mig") != 0)) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    command = argv[optind];
    if (strcmp(command, "profiles") == 0)
        return print_profiles();
    if (!is_command(command)) {
        fprintf(stderr,
                "partita-sim-driver: unknown command '%s'; there are install, profiles, state, break, heal, xid, "
                "reset, fault, mig\n",
                command);
        return EXIT_USAGE;
    }
    if (!wanted.root)
        return missing("--root DIR");
    if (strcmp(command, "state") == 0)
        return report_state(wanted.root);
    if (strcmp(command, "fault") == 0)
        return order_fault(wanted.root, &fault);
    if (strcmp(command, "xid") == 0)
        return !gpu ? missing("--gpu INDEX|UUID") : !xid ? missing("--xid N") : raise_xid(wanted.root, gpu, xid);
    if (strcmp(command, "reset") == 0)
        return gpu ? reset_card(wanted.root, gpu, false) : missing("--gpu INDEX|UUID");
    if (strcmp(command, "mig") == 0)
        return gpu ? change_mig(wanted.root, gpu, argv + optind + 1, argc - optind - 1) : missing("--gpu INDEX|UUID");
    if (strcmp(command, "install") != 0)
        return gpu ? set_lost(wanted.root, gpu, strcmp(command, "break") == 0) : missing("--gpu INDEX|UUID");
    if (!wanted.node || !*wanted.node)
        return missing("--node NAME");
    return wanted.gpus ? install(&wanted) : missing("--gpus MODELxCOUNT");
}
