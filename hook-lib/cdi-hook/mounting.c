/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "mounting.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_open_tree
#define SYS_open_tree 428
#define SYS_move_mount 429
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr 442
#endif

enum { SHADOW_LIMIT = 16 << 20 };

enum { CLONE_TREE = 1 /* OPEN_TREE_CLONE */, FROM_EMPTY = 0x4, TO_EMPTY = 0x40 /* MOVE_MOUNT_F_EMPTY_PATH, _T_ */ };

bool same_file(const struct stat *one, const struct stat *other) {
    return one->st_dev == other->st_dev && one->st_ino == other->st_ino;
}

bool same_mount(long long one, long long other) {
    return one >= 0 && one == other;
}

bool other_mount(long long one, long long other) {
    return one >= 0 && other >= 0 && one != other;
}

bool source_open(const struct root *root, const char *folder, const char *name, struct source *source) {
    char path[PATH_MAX];
    int above = root_open(root, folder, O_PATH | O_DIRECTORY);

    source->fd = -ENOENT;
    if (above >= 0 && snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path)
        source->fd = root_file(root, path, &source->status);
    if (source->fd >= 0 &&
        (!other_mount(mount_of(source->fd), mount_of(above)) || is_mounted_by_itself(source->fd) == 0)) {
        close(source->fd);
        source->fd = -ENOENT;
    }
    if (above >= 0)
        close(above);
    return source->fd >= 0;
}

/* The kernel's struct mount_attr. */
struct mount_attributes {
    uint64_t set, clear, propagation, user_namespace;
};

/*
 * A container's root is made read-only after the hook, but that one mount alone: a file of it that was mounted
 * elsewhere could still be written there. Linux 5.12; before, it can.
 */
static void make_read_only(int tree) {
    const struct mount_attributes read_only = {.set = 1 /* MOUNT_ATTR_RDONLY */};

    syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &read_only, sizeof read_only);
}

/*
 * Mounts a file over another one; both are held by descriptors, so that no name is resolved again. 0 or a negative
 * errno.
 */
static int attach(int from, int to) {
    char from_path[32], to_path[32];
    long tree = syscall(SYS_open_tree, from, "", CLONE_TREE | O_CLOEXEC | AT_EMPTY_PATH);
    int error;

    if (tree >= 0) {
        make_read_only((int)tree);
        error = syscall(SYS_move_mount, (int)tree, "", to, "", FROM_EMPTY | TO_EMPTY) == 0 ? 0 : -errno;
        close((int)tree);
        return error;
    }
    if (errno != ENOSYS && errno != EPERM)
        return -errno;
    snprintf(from_path, sizeof from_path, "/proc/self/fd/%d", from);
    snprintf(to_path, sizeof to_path, "/proc/self/fd/%d", to);
    return mount(from_path, to_path, NULL, MS_BIND, NULL) == 0 ? 0 : -errno;
}

/*
 * What is mounted in a volume that passes mounts on would lie on the node as well, and stay there. 0 or a negative
 * errno, -EREMOTE.
 */
static int stays_inside(const struct root *root, int fd) {
    long long mount = mount_of(fd);
    int shared = same_mount(mount, mount_of(root->fd)) ? 0 : mount_is_shared(mount);

    if (shared == -ENOENT)
        return -EIO; /* the mount is not known; no file would be harmless */
    return shared > 0 ? -EREMOTE : shared;
}

/*
 * Whether a file is the image's own, one of the folder in which it was looked for, or one that the runtime has
 * mounted by itself, as it does the driver's libraries. A link of the image may lead to any other file of the
 * container, such as one of a folder that is mounted read-only: the share's quota.
 */
static bool may_be_replaced(const struct root *root, int folder, int fd) {
    long long mount = mount_of(fd);

    return same_mount(mount, mount_of(root->fd)) || same_mount(mount, mount_of(folder)) ||
           is_mounted_by_itself(fd) != 0;
}

/* source_put; with a folder, only over what may be replaced there (-EXDEV). */
static int put(const struct root *root, const char *path, const struct source *source, int folder) {
    struct stat status;
    int fd = root_file(root, path, &status), error = 0;

    if (fd < 0)
        return fd;
    if (!same_file(&status, &source->status)) {
        error = stays_inside(root, fd);
        if (error == 0 && folder >= 0 && !may_be_replaced(root, folder, fd))
            error = -EXDEV;
        if (error == 0)
            error = attach(source->fd, fd);
    }
    close(fd);
    if (error < 0)
        return error;
    fd = root_file(root, path, &status);
    if (fd < 0)
        return fd;
    close(fd);
    return same_file(&status, &source->status) ? 0 : -ESTALE;
}

int source_put(const struct root *root, const char *path, const struct source *source) {
    return put(root, path, source, -1);
}

/*
 * Makes an empty file to mount over, as the runtime does for its own mounts, but only in the image's own layer: another
 * mount is a volume, which belongs to others as well. 0 or a negative errno.
 */
static int make_mount_point(const struct root *root, int folder, const char *name) {
    char target[NAME_MAX + 1];
    ssize_t length = readlinkat(folder, name, target, sizeof target - 1);
    int fd;

    if (!same_mount(mount_of(folder), mount_of(root->fd)))
        return -EXDEV;
    /* a link that leads nowhere: such as a container with a driver leaves in an image that is made of it */
    if (length > 0) {
        target[length] = '\0';
        if (strchr(target, '/'))
            return -ENOENT;
        name = target;
    }
    fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    if (fd < 0)
        return -errno;
    close(fd);
    return 0;
}

int source_put_or_make(const struct root *root, const char *folder, int there, const char *name,
                       const struct source *source) {
    char path[PATH_MAX];
    int error;

    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path)
        return -ENAMETOOLONG;
    error = put(root, path, source, there);
    if (error == -ENOENT) {
        error = make_mount_point(root, there, name);
        if (error == 0)
            error = put(root, path, source, there);
    }
    return error;
}

bool is_shadow(const struct source *source, const char *behind) {
    size_t length = 0;
    int fd = file_open_again(source->fd, O_RDONLY);
    char *text = fd < 0 || source->status.st_size > SHADOW_LIMIT ? NULL : read_all(fd, SHADOW_LIMIT, &length);
    bool found = text && memmem(text, length, behind, strlen(behind) + 1);

    free(text);
    if (fd >= 0)
        close(fd);
    return found;
}
