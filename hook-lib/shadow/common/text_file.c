/* SPDX-License-Identifier: Apache-2.0 */
#include "common/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

long text_file_read(const char *path, char *into, size_t room) {
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return -1;
    size_t length = 0;
    long got = 0;
    while (length < room) {
        got = read(file, into + length, room - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
    }
    int error = errno;
    close(file);
    errno = error;
    return got < 0 ? -1 : (long)length;
}
