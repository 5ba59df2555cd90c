/* SPDX-License-Identifier: Apache-2.0 */
/* Files that appear complete or not at all. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver.h"

static bool complain(const char *path) {
    fprintf(stderr, "partita-sim-driver: %s: %s\n", path, strerror(errno));
    return false;
}

bool make_directory(const char *root, const char *below, unsigned mode) {
    char path[2 * PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", root, below);

    if (length < 0 || (size_t)length >= sizeof path) {
        errno = ENAMETOOLONG;
        return complain(root);
    }
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            return complain(path);
        *slash = '/';
    }
    if (mkdir(path, mode) != 0 && errno != EEXIST)
        return complain(path);
    /* Another user's folder may already have the right mode. */
    return chmod(path, mode) == 0 || access(path, W_OK | X_OK) == 0 || complain(path);
}

static bool same(const char *path, const void *content, size_t size, unsigned mode) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat file;
    bool equal = false;

    if (fd < 0)
        return false;
    if (fstat(fd, &file) == 0 && (size_t)file.st_size == size && (file.st_mode & 07777) == mode) {
        void *present = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

        if (present != MAP_FAILED) {
            equal = memcmp(present, content, size) == 0;
            munmap(present, size);
        }
    }
    close(fd);
    return equal;
}

static bool write_all(int fd, const char *content, size_t size) {
    while (size > 0) {
        ssize_t written = write(fd, content, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        content += written;
        size -= (size_t)written;
    }
    return true;
}

bool put_file(const char *path, const void *content, size_t size, unsigned mode) {
    char temporary[2 * PATH_MAX];
    int fd;
    bool written;

    if (same(path, content, size, mode))
        return true;
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return complain(temporary);
    written = write_all(fd, content, size) && fchmod(fd, mode) == 0 && fsync(fd) == 0;
    if (close(fd) == 0 && written && rename(temporary, path) == 0)
        return true;
    complain(path);
    unlink(temporary);
    return false;
}

bool copy_file(const char *source, const char *path, unsigned mode) {
    int fd = open(source, O_RDONLY | O_CLOEXEC);
    struct stat file;
    void *content;
    bool copied;

    if (fd < 0)
        return complain(source);
    if (fstat(fd, &file) != 0 || file.st_size == 0 ||
        (content = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED) {
        complain(source);
        close(fd);
        return false;
    }
    copied = put_file(path, content, (size_t)file.st_size, mode);
    munmap(content, (size_t)file.st_size);
    close(fd);
    return copied;
}

bool put_link(const char *target, const char *path) {
    char temporary[2 * PATH_MAX], present[PATH_MAX];
    ssize_t length = readlink(path, present, sizeof present - 1);

    if (length >= 0) {
        present[length] = '\0';
        if (strcmp(present, target) == 0)
            return true;
    }
    snprintf(temporary, sizeof temporary, "%s.new-%d", path, (int)getpid());
    unlink(temporary);
    if (symlink(target, temporary) == 0 && rename(temporary, path) == 0)
        return true;
    complain(path);
    unlink(temporary);
    return false;
}
