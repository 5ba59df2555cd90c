/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of folders, and what is in one. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "search.h"

enum { FOLDER_LIMIT = 1024 };

static bool is_family(const char *name, const char *stem) {
    size_t length = strlen(stem);

    return strncmp(name, stem, length) == 0 && (name[length] == '\0' || name[length] == '.');
}

bool is_cuda(const char *name) {
    return is_family(name, "libcuda.so");
}

bool is_nvml(const char *name) {
    return is_family(name, "libnvidia-ml.so");
}

void folders_add(struct folders *folders, const char *path, size_t length) {
    char **more;

    while (length > 1 && path[length - 1] == '/')
        length--;
    if (length == 0 || length >= PATH_MAX)
        return; /* no linker can read it either */
    for (size_t i = 0; i < folders->count; i++)
        if (strlen(folders->paths[i]) == length && memcmp(folders->paths[i], path, length) == 0)
            return;
    if (folders->count == FOLDER_LIMIT) {
        if (!problems())
            problem("the container names more than %d library folders: shorten its LD_LIBRARY_PATH or ld.so.conf",
                    FOLDER_LIMIT);
        return;
    }
    more = realloc(folders->paths, (folders->count + 1) * sizeof *more);
    if (more)
        folders->paths = more;
    if (!more || !(more[folders->count] = strndup(path, length))) {
        problem("out of memory");
        return;
    }
    folders->count++;
}

void each_entry(const struct root *root, const char *folder, bool (*entry)(const char *name, void *context),
                void *context) {
    int fd = root_open(root, folder, O_RDONLY | O_DIRECTORY | O_NONBLOCK), error = fd < 0 ? -fd : 0;
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *one = NULL;

    if (fd >= 0 && !stream) {
        error = errno;
        close(fd);
    }
    if (stream) {
        do {
            errno = 0;
            one = readdir(stream);
            error = one ? 0 : errno;
        } while (one &&
                 (strcmp(one->d_name, ".") == 0 || strcmp(one->d_name, "..") == 0 || entry(one->d_name, context)));
        closedir(stream);
    }
    if (error == EXDEV)
        problem("the library folder %s leads through a link of /proc, which cannot be followed from outside of the "
                "container",
                folder);
    else if (error == EACCES && !stream)
        note("the library folder %s cannot be read: what is in it stays", folder);
    else if (error && error != ENOENT && error != ENOTDIR && error != ELOOP && error != ENAMETOOLONG)
        problem("the library folder %s cannot be read%s, so that a libcuda in it would go unseen and the share's "
                "limits could be got round: %s: "
                "mend its file system or take it off the library folders",
                folder, stream ? " to its end" : "", strerror(error));
}
