/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process of which CUDA_MPS_PIPE_DIRECTORY is set, or the default folder is there, is a client of MPS if a daemon
 * answers in that folder; else it goes on without. As libcuda 550 was seen to do, it only connects to the socket
 * `control`. Its kernels run no otherwise for it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../mps/mps.h"
#include "driver.h"

CUresult driver_join_mps(void) {
    const char *pipe = mps_folder("CUDA_MPS_PIPE_DIRECTORY", MPS_DEFAULT_PIPE);
    int daemon = mps_connect(pipe), shared;
    char name[48], question[MPS_PACKET], answer[MPS_PACKET];
    long length;

    if (daemon < 0)
        return CUDA_SUCCESS;
    snprintf(name, sizeof name, "/cuda.shm.%x.%x.%x", (unsigned)getuid(), (unsigned)getpid(), 1u);
    shared = shm_open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    snprintf(question, sizeof question, "CLIENT %s", name);
    length = shared < 0 ? -1 : mps_ask(daemon, question, answer);
    if (shared >= 0) {
        close(shared);
        shm_unlink(name);
    }
    if (length > 0 && strncmp(answer, "SERVER ", 7) == 0)
        return CUDA_SUCCESS; /* the socket stays open as long as the process lives */
    close(daemon);
    return length > 0 && strstr(answer, "exhausted") ? CUDA_ERROR_MPS_MAX_CLIENTS_REACHED
                                                     : CUDA_ERROR_MPS_CONNECTION_FAILED;
}
