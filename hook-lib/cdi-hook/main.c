/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partita-cdi-hook: an OCI createContainer hook. A container runtime calls it in the container's namespaces, when the
 * container's mounts are made and before its root becomes the root.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "container.h"
#include "place.h"
#include "report.h"

enum { EXIT_DONE = 0, EXIT_REFUSED = 1, EXIT_USAGE = 2, DEFAULT_SECONDS = 20, PROCESSOR_SECONDS = 2 };

static const char usage[] = "usage: partita-cdi-hook cover --folder FOLDER [--driver VERSION] [--seconds N]   put the "
                            "share's libraries in front of the image's own\n"
                            "       partita-cdi-hook place --folder FOLDER [--seconds N] NAME...              put the "
                            "driver's libraries where the image looks for them\n"
                            "An OCI createContainer hook: it reads the container's state from stdin, and config.json "
                            "in the bundle that this names.\n"
                            "FOLDER is where, in the container, the runtime has mounted the libraries. --seconds (20) "
                            "is the time it may take, of which 2 s on a processor.\n"
                            "cover  mounts libcuda.so.1 and libnvidia-ml.so.1 of FOLDER over every file of these "
                            "names, of any version, in the folders that\n"
                            "       the container's linker reads (its own, ld.so.conf, ld.so.cache, LD_LIBRARY_PATH, "
                            "musl's) and in CUDA's compat folders;\n"
                            "       fails, so that the container does not start, if one of them would stay.\n"
                            "       VERSION is the host's driver, such as 535.261.03: where a compat folder has a "
                            "libcuda for newer drivers that works with\n"
                            "       this one, the share's libcuda uses that; without VERSION, always the host's\n"
                            "place  mounts the files NAME... of FOLDER, as far as they are mounted there, into the "
                            "image's own library folder if its linker\n"
                            "       does not read FOLDER; never fails\n"
                            "exit status: 0 done, 1 the container must not start, 2 usage\n";

/*
 * Bounds what this process takes by signals that end it. One that is handled would not: who waits for a file system in
 * the kernel can be killed, but is not interrupted.
 */
static void bound(unsigned seconds) {
    const struct rlimit most = {PROCESSOR_SECONDS, PROCESSOR_SECONDS};

    signal(SIGALRM, SIG_DFL);
    alarm(seconds);
    setrlimit(RLIMIT_CPU, &most);
}

static double processor_seconds(void) {
    struct rusage used;

    getrusage(RUSAGE_CHILDREN, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* How the process ended that does the work; whether that was by itself, with this exit status. */
static bool await(pid_t worker, int *exit_status) {
    int status;

    while (waitpid(worker, &status, 0) < 0)
        if (errno != EINTR) {
            problem("how it ended is not known: %s", strerror(errno));
            return false;
        }
    *exit_status = WEXITSTATUS(status);
    if (WIFEXITED(status))
        return true;
    if (WTERMSIG(status) == SIGALRM)
        problem("took too long: is a file system of the container not answering?");
    else if (processor_seconds() > PROCESSOR_SECONDS / 2.0) /* the limit counts by ticks, and this does not */
        problem("took more than %d s of processor time: the image has too many library folders, or too large ones",
                PROCESSOR_SECONDS);
    else
        problem("was ended by signal %d", WTERMSIG(status));
    return false;
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"folder", required_argument, NULL, 'f'},
        {"driver", required_argument, NULL, 'd'},
        {"seconds", required_argument, NULL, 's'},
        {"without-openat2", no_argument, NULL, 'w'}, /* for tests: what a kernel before 5.6 makes necessary */
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    struct container container = {.root = {.fd = -1}};
    const char *folder = NULL, *driver = NULL;
    int option, seconds = DEFAULT_SECONDS, status;
    pid_t worker;
    bool covers, places;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (option) {
        case 'f':
            folder = optarg;
            break;
        case 'd':
            driver = optarg;
            break;
        case 's':
            seconds = atoi(optarg);
            break;
        case 'w':
            container.root.walk = true;
            break;
        case 'h':
            fputs(usage, stdout);
            return EXIT_DONE;
        default:
            return EXIT_USAGE;
        }
    covers = argc - optind == 1 && strcmp(argv[optind], "cover") == 0;
    places = argc - optind >= 2 && strcmp(argv[optind], "place") == 0;
    if (!(covers || places) || (places && driver) || !folder || folder[0] != '/' || seconds <= 0) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    worker = fork();
    if (worker < 0)
        problem("no process can be made: %s", strerror(errno));
    if (worker != 0)
        return worker > 0 && await(worker, &status) ? status : covers ? EXIT_REFUSED : EXIT_DONE;
    bound((unsigned)seconds);
    if (container_read(&container, STDIN_FILENO)) {
        if (covers)
            cover(&container, folder, driver);
        else
            place(&container, folder, argv + optind + 1);
        close(container.root.fd);
    }
    for (size_t i = 0; i < container.variables; i++)
        free(container.environment[i]);
    free(container.environment);
    free(container.working_folder);
    return covers && problems() ? EXIT_REFUSED : EXIT_DONE;
}
