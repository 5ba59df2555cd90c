/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of a container, reached from outside of it before its processes run. Everything below its root is hostile: a
 * path is resolved as a process in the container would resolve it, and never leads out.
 */
#ifndef PARTITA_CDI_HOOK_ROOT_H
#define PARTITA_CDI_HOOK_ROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct root {
    int fd;
    bool walk; /* resolve step by step, without openat2 */
};

/*
 * Opens a path of the container: a descriptor, or a negative errno. -EXDEV: it leads through a link of /proc that is
 * not a path. Flags as for open, without O_CREAT; no device is ever opened, for want of which O_PATH or O_DIRECTORY
 * must be among them.
 */
int root_open(const struct root *root, const char *path, int flags);

/*
 * Opens a path with O_PATH if a regular file is there, behind all links: a descriptor, or a negative errno (-ENODATA:
 * something else is there). Files that the kernel makes up (proc, sysfs and their like) are no regular files here: some
 * act when they are read, and mounted at another path they would escape the runtime, which later masks some paths of
 * /proc and makes others read-only.
 */
int root_file(const struct root *root, const char *path, struct stat *status);

/* Opens what a descriptor of O_PATH holds with other flags: a descriptor, or a negative errno. */
int file_open_again(int fd, int flags);

/* All of a regular file and a NUL, to be freed. NULL with errno: EFBIG if it is longer than limit, and as root_file. */
char *root_read(const struct root *root, const char *path, size_t limit, size_t *length);

/* All that a descriptor gives and a NUL, to be freed. NULL with errno: EFBIG if it is more than limit. */
char *read_all(int fd, size_t limit, size_t *length);

/* The mount that a descriptor's file is seen through; -1 if that cannot be known. */
long long mount_of(int fd);

/* Whether a descriptor's file was mounted by itself, not with a folder that holds it: 1 or 0; -1: before Linux 5.8. */
int is_mounted_by_itself(int fd);

/* Whether what is mounted over files of a mount appears in other mount namespaces as well: 1, 0 or a negative errno. */
int mount_is_shared(long long mount);

#endif
