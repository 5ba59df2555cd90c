/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "mps.h"

const char *mps_folder(const char *variable, const char *otherwise) {
    const char *set = getenv(variable);

    return set && *set ? set : otherwise;
}

int mps_connect(const char *pipe) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int connected, error;

    if (snprintf(address.sun_path, sizeof address.sun_path, "%s/control", pipe) >= (int)sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    connected = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connected < 0 || connect(connected, (const struct sockaddr *)&address, sizeof address) == 0)
        return connected;
    error = errno;
    close(connected);
    errno = error;
    return -1;
}

long mps_ask(int socket, const char *question, char answer[MPS_PACKET]) {
    ssize_t length;

    if (send(socket, question, strlen(question), MSG_NOSIGNAL) < 0)
        return -1;
    do
        length = recv(socket, answer, MPS_PACKET - 1, 0);
    while (length < 0 && errno == EINTR);
    if (length < 0)
        return -1;
    answer[length] = '\0';
    return length;
}
