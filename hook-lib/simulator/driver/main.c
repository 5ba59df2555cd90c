/* partita-sim-driver: lays out a simulated driver root, breaks and heals its cards, and tells the truth about them. */
#define _GNU_SOURCE
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

static const char usage[] =
    "usage: partita-sim-driver install --root DIR --node NAME --gpus h200x4[,a100x2] [--driver-version V] [--libraries DIR]\n"
    "       partita-sim-driver profiles              the models of cards there are\n"
    "       partita-sim-driver state --root DIR      what every card holds now, as JSON\n"
    "       partita-sim-driver break --root DIR --gpu INDEX|UUID   the card falls off the bus\n"
    "       partita-sim-driver heal --root DIR --gpu INDEX|UUID    and is back\n";

static int print_profiles(void)
{
    for (size_t i = 0; i < profile_count; i++)
        printf("%s %s, %u MiB, %d SMs, compute capability %d.%d%s\n", profiles[i].model, profiles[i].name,
               profiles[i].memory, profiles[i].sm_count, profiles[i].cc_major, profiles[i].cc_minor,
               profiles[i].nvlinks ? ", NVLink" : "");
    return EXIT_DONE;
}

static int missing(const char *option)
{
    fprintf(stderr, "partita-sim-driver: %s is missing; see partita-sim-driver --help\n", option);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"root", required_argument, NULL, 'r'},  {"node", required_argument, NULL, 'n'},
        {"gpus", required_argument, NULL, 'g'},  {"driver-version", required_argument, NULL, 'v'},
        {"gpu", required_argument, NULL, 'i'},   {"libraries", required_argument, NULL, 'l'},
        {"help", no_argument, NULL, 'h'},        {NULL, 0, NULL, 0},
    };
    struct installation wanted = {.driver_version = DEFAULT_DRIVER_VERSION};
    const char *gpu = NULL, *command;
    int option;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (option) {
        case 'r': wanted.root = optarg; break;
        case 'n': wanted.node = optarg; break;
        case 'g': wanted.gpus = optarg; break;
        case 'v': wanted.driver_version = optarg; break;
        case 'l': wanted.libraries = optarg; break;
        case 'i': gpu = optarg; break;
        case 'h': fputs(usage, stdout); return EXIT_DONE;
        default: return EXIT_USAGE;
        }
    if (optind != argc - 1) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    command = argv[optind];
    if (strcmp(command, "profiles") == 0)
        return print_profiles();
    if (strcmp(command, "install") != 0 && strcmp(command, "state") != 0 && strcmp(command, "break") != 0 &&
        strcmp(command, "heal") != 0) {
        fprintf(stderr, "partita-sim-driver: unknown command '%s'; there are install, profiles, state, break, heal\n",
                command);
        return EXIT_USAGE;
    }
    if (!wanted.root)
        return missing("--root DIR");
    if (strcmp(command, "state") == 0)
        return report_state(wanted.root);
    if (strcmp(command, "install") != 0)
        return gpu ? set_lost(wanted.root, gpu, strcmp(command, "break") == 0) : missing("--gpu INDEX|UUID");
    if (!wanted.node || !*wanted.node)
        return missing("--node NAME");
    return wanted.gpus ? install(&wanted) : missing("--gpus MODELxCOUNT");
}
