/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf_file.h"
#include "mounting.h"
#include "report.h"
#include "search.h"

/* Whether a file in a folder is a 64-bit program or library for this machine. */
static bool is_native(const struct root *root, const char *folder, const char *name) {
    char path[PATH_MAX];
    struct stat status;
    int found, fd;
    bool native;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    found = root_file(root, path, &status);
    if (found < 0)
        return false;
    fd = file_open_again(found, O_RDONLY | O_NONBLOCK);
    close(found);
    if (fd < 0)
        return false;
    native = elf_is_native(fd);
    close(fd);
    return native;
}

static void place_one(const struct root *root, const char *folder, int there, const char *name,
                      const struct source *source) {
    int error = source_put_or_make(root, folder, there, name, source);

    if (error < 0)
        note("%s/%s, where the image's programs look for it, cannot be made: %s", folder, name,
             error == -EXDEV     ? "that is no folder of the image"
             : error == -EREMOTE ? "that is in a volume that passes mounts on to the node"
                                 : strerror(-error));
}

/* /lib/x and /usr/lib/x are read by the same linkers. */
static bool siblings(const char *one, const char *other) {
    return (strncmp(one, "/usr", 4) == 0 && strcmp(one + 4, other) == 0) ||
           (strncmp(other, "/usr", 4) == 0 && strcmp(other + 4, one) == 0);
}

static void place_in(const struct root *root, const char *folder, const char *from, char *const *names) {
    int there = root_open(root, folder, O_PATH | O_DIRECTORY), here = root_open(root, from, O_PATH | O_DIRECTORY);
    struct stat there_status, here_status;

    if (there >= 0 && here >= 0 && fstat(there, &there_status) == 0 && fstat(here, &here_status) == 0 &&
        !same_file(&there_status, &here_status) && !siblings(folder, from))
        for (; *names; names++) {
            struct source source;

            if (!source_open(root, from, *names, &source))
                continue; /* the caller names what any container of the claim may have */
            place_one(root, folder, there, *names, &source);
            close(source.fd);
        }
    if (there >= 0)
        close(there);
    if (here >= 0)
        close(here);
}

/* The first folder that musl's linker reads and that is there. */
static void place_for_musl(const struct container *container, const char *folder, const char *from,
                           char *const *names) {
    struct folders folders = {0};
    const char *into = folder;
    int fd = -1;

    folders_add_musl(&folders, &container->root);
    for (size_t i = 0; i < folders.count && fd < 0; i++) {
        fd = root_open(&container->root, folders.paths[i], O_PATH | O_DIRECTORY);
        into = fd < 0 ? folder : folders.paths[i];
    }
    place_in(&container->root, into, from, names);
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; i < folders.count; i++)
        free(folders.paths[i]);
    free(folders.paths);
}

void place(const struct container *container, const char *folder, char *const *names) {
    static const char *const read_by_linkers[] = {"/lib/" TRIPLET, "/usr/lib/" TRIPLET, "/lib64", "/usr/lib64",
                                                  "/lib",          "/usr/lib"};

    struct stat seen[sizeof read_by_linkers / sizeof *read_by_linkers];
    size_t count = 0;

    for (size_t i = 0; i < sizeof read_by_linkers / sizeof *read_by_linkers; i++) {
        int fd = root_open(&container->root, read_by_linkers[i], O_PATH | O_DIRECTORY);
        bool again = fd < 0 || fstat(fd, &seen[count]) != 0;

        for (size_t j = 0; !again && j < count; j++)
            again = same_file(&seen[j], &seen[count]);
        if (fd >= 0)
            close(fd);
        if (again)
            continue; /* a link to one that was looked at, such as /lib to usr/lib */
        count++;
        if (is_native(&container->root, read_by_linkers[i], "libc.so.6"))
            place_in(&container->root, read_by_linkers[i], folder, names);
        if (is_native(&container->root, read_by_linkers[i], MUSL_LOADER))
            place_for_musl(container, read_by_linkers[i], folder, names);
    }
}
