/* SPDX-License-Identifier: Apache-2.0 */
/* nvidia-cuda-mps-control: the daemon with -d or -f, or else the front end that passes commands on to it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mps.h"

static const char help[] = "nvidia-cuda-mps-control [-d | -f]\n"
                           "\n"
                           "    -d     the daemon, in the background\n"
                           "    -f     the daemon, in the foreground\n"
                           "    without an option: passes commands of the standard input on to the daemon\n";

/* Status 0 as long as the daemon answers, whatever it says. */
static int front_end(const char *pipe) {
    char line[MPS_PACKET - 4], question[MPS_PACKET], answer[MPS_PACKET];

    while (fgets(line, sizeof line, stdin)) {
        int daemon = mps_connect(pipe);

        line[strcspn(line, "\n")] = '\0';
        snprintf(question, sizeof question, "UI %s", line);
        if (daemon < 0 || mps_ask(daemon, question, answer) < 0) {
            fprintf(stderr, "Cannot find MPS control daemon process\n");
            return EXIT_FAILURE;
        }
        close(daemon);
        fputs(answer, stdout);
        fflush(stdout);
    }
    return EXIT_SUCCESS;
}

int main(int argc, char **argv) {
    const char *pipe = mps_folder("CUDA_MPS_PIPE_DIRECTORY", MPS_DEFAULT_PIPE);
    const char *log = mps_folder("CUDA_MPS_LOG_DIRECTORY", MPS_DEFAULT_LOG);

    if (argc == 1)
        return front_end(pipe);
    if (argc == 2 && (strcmp(argv[1], "-d") == 0 || strcmp(argv[1], "-f") == 0))
        return mps_daemon(pipe, log, argv[1][1] == 'f');
    fputs(help, stdout);
    return argc == 2 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0) ? EXIT_SUCCESS : EXIT_FAILURE;
}
