/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "root.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

#define CONFIGFS_MAGIC 0x62656570

enum {
    INSIDE = 0x10,     /* RESOLVE_IN_ROOT */
    AGAIN_LIMIT = 100, /* the kernel asks for another try when somebody renames meanwhile */
    LINK_LIMIT = 40,
    DEPTH_LIMIT = 128,
};

/* The kernel's struct open_how. */
struct how {
    uint64_t flags, mode, resolve;
};

/* Where a walk stands: the folders from the root down to here, and what of the path is left. */
struct walk {
    int folders[DEPTH_LIMIT];
    int depth;
    int links;
    char rest[2 * PATH_MAX];
};

static void go_up(struct walk *walk, int depth) {
    while (walk->depth > depth)
        close(walk->folders[walk->depth--]);
}

/* Puts a link's target before what is left. */
static int follow(struct walk *walk, int link) {
    char target[3 * PATH_MAX];
    struct statfs system;
    ssize_t length = readlinkat(link, "", target, PATH_MAX);
    size_t left = strlen(walk->rest);

    if (length < 0)
        return -errno;
    if (fstatfs(link, &system) != 0 || system.f_type == PROC_SUPER_MAGIC)
        return -EXDEV;
    if (++walk->links > LINK_LIMIT)
        return -ELOOP;
    if (length == 0 || (size_t)length >= PATH_MAX || (size_t)length + left + 1 > sizeof walk->rest)
        return -ENAMETOOLONG;
    memcpy(target + length, walk->rest, left + 1); /* what is left begins with a slash, or is nothing */
    memcpy(walk->rest, target, (size_t)length + left + 1);
    if (target[0] == '/')
        go_up(walk, 0);
    return 0;
}

/*
 * One component. Gives the file it leads to if nothing is left to resolve and that is no folder, else 0 or a negative
 * errno.
 */
static int step(struct walk *walk, const char *name) {
    struct stat status;
    int fd, error;

    if (strcmp(name, ".") == 0)
        return 0;
    if (strcmp(name, "..") == 0) {
        go_up(walk, walk->depth > 0 ? walk->depth - 1 : 0);
        return 0;
    }
    fd = openat(walk->folders[walk->depth], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &status) != 0) {
        error = -errno;
    } else if (S_ISLNK(status.st_mode)) {
        error = follow(walk, fd);
    } else if (S_ISDIR(status.st_mode) && walk->depth + 1 < DEPTH_LIMIT) {
        walk->folders[++walk->depth] = fd;
        return 0;
    } else if (S_ISDIR(status.st_mode)) {
        error = -ENAMETOOLONG;
    } else if (walk->rest[0]) {
        error = -ENOTDIR;
    } else {
        return fd;
    }
    close(fd);
    return error;
}

int file_open_again(int fd, int flags) {
    char path[32];
    int again;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    again = open(path, flags | O_CLOEXEC);
    return again < 0 ? -errno : again;
}

/* What openat2 does with RESOLVE_IN_ROOT, for kernels before 5.6: every step holds the folder that it starts from. */
static int walk_open(int root, const char *path, int flags) {
    struct walk walk = {.depth = 0};
    int file = 0, opened;

    if (strlen(path) >= PATH_MAX)
        return -ENAMETOOLONG;
    strcpy(walk.rest, path);
    walk.folders[0] = root;
    while (file == 0) {
        char name[NAME_MAX + 1];
        size_t slashes = strspn(walk.rest, "/"), length = strcspn(walk.rest + slashes, "/");

        if (length == 0)
            break;
        if (length > NAME_MAX) {
            file = -ENAMETOOLONG;
            break;
        }
        memcpy(name, walk.rest + slashes, length);
        name[length] = '\0';
        memmove(walk.rest, walk.rest + slashes + length, strlen(walk.rest + slashes + length) + 1);
        file = step(&walk, name);
    }
    if (file > 0 && flags & O_DIRECTORY) {
        close(file);
        file = -ENOTDIR;
    }
    if (file < 0) {
        opened = file;
    } else {
        opened = file_open_again(file > 0 ? file : walk.folders[walk.depth], flags);
        if (file > 0)
            close(file);
    }
    go_up(&walk, 0);
    return opened;
}

int root_open(const struct root *root, const char *path, int flags) {
    struct how how = {.flags = (uint64_t)(flags | O_CLOEXEC), .resolve = INSIDE};

    if (root->walk)
        return walk_open(root->fd, path, flags);
    for (int i = 0; i < AGAIN_LIMIT; i++) {
        long fd = syscall(SYS_openat2, root->fd, path, &how, sizeof how);

        if (fd >= 0)
            return (int)fd;
        if (errno == ENOSYS || errno == EPERM)
            return walk_open(root->fd, path, flags);
        if (errno != EAGAIN && errno != EINTR)
            return -errno;
    }
    return -EAGAIN;
}

/* The kernel's own file systems always tell their kind. */
static bool is_made_by_the_kernel(int fd) {
    static const unsigned long kinds[] = {PROC_SUPER_MAGIC,     SYSFS_MAGIC,    CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC,
                                          RDTGROUP_SUPER_MAGIC, DEBUGFS_MAGIC,  TRACEFS_MAGIC,      SECURITYFS_MAGIC,
                                          AAFS_MAGIC,           SELINUX_MAGIC,  SMACK_MAGIC,        BPF_FS_MAGIC,
                                          BINFMTFS_MAGIC,       PSTOREFS_MAGIC, EFIVARFS_MAGIC,     XENFS_SUPER_MAGIC,
                                          NSFS_MAGIC,           CONFIGFS_MAGIC};
    struct statfs system;

    if (fstatfs(fd, &system) != 0)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((unsigned long)system.f_type == kinds[i])
            return true;
    return false;
}

int root_file(const struct root *root, const char *path, struct stat *status) {
    int fd = root_open(root, path, O_PATH), error = -ENODATA;

    if (fd < 0)
        return fd;
    if (fstat(fd, status) != 0)
        error = -errno;
    else if (S_ISREG(status->st_mode) && !is_made_by_the_kernel(fd))
        return fd;
    close(fd);
    return error;
}

char *read_all(int fd, size_t limit, size_t *length) {
    size_t room = 4096;
    char *text = malloc(room), *more;

    *length = 0;
    while (text) {
        ssize_t got = read(fd, text + *length, room - *length - 1);

        if (got == 0) {
            text[*length] = '\0';
            return text;
        }
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            break;
        *length += (size_t)got;
        if (*length > limit) {
            errno = EFBIG;
            break;
        }
        if (room - *length <= 1) {
            more = realloc(text, room * 2);
            if (!more)
                break;
            text = more;
            room *= 2;
        }
    }
    free(text);
    return NULL;
}

char *root_read(const struct root *root, const char *path, size_t limit, size_t *length) {
    struct stat status;
    char *text;
    int found = root_file(root, path, &status), fd;

    if (found < 0) {
        errno = -found;
        return NULL;
    }
    fd = file_open_again(found, O_RDONLY | O_NONBLOCK | O_NOCTTY);
    close(found);
    if (fd < 0) {
        errno = -fd;
        return NULL;
    }
    text = read_all(fd, limit, length);
    close(fd);
    return text;
}

long long mount_of(int fd) {
    static const char key[] = "mnt_id:";
    char path[48], text[1024], *line;
    ssize_t length;
    int info;

    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
    info = open(path, O_RDONLY | O_CLOEXEC);
    if (info < 0)
        return -1;
    length = read(info, text, sizeof text - 1);
    close(info);
    if (length <= 0)
        return -1;
    text[length] = '\0';
    line = strstr(text, key);
    return line ? strtoll(line + sizeof key - 1, NULL, 10) : -1;
}

/* The kernel's struct statx as far as it is needed; older C libraries have none. */
struct attributes {
    uint32_t mask, block_size;
    uint64_t attributes;
    uint32_t links, user, group;
    uint16_t mode, unused;
    uint64_t inode, size, blocks, known;
    uint64_t rest[24];
};

int is_mounted_by_itself(int fd) {
    enum { MOUNT_ROOT = 0x2000 /* STATX_ATTR_MOUNT_ROOT */ };
    struct attributes of = {0};

    if (syscall(SYS_statx, fd, "", AT_EMPTY_PATH, 0, &of) != 0 || !(of.known & MOUNT_ROOT))
        return -1;
    return (of.attributes & MOUNT_ROOT) != 0;
}

/* proc(5): mount ID, parent ID, major:minor, root, mount point, mount options, optional fields, and then a hyphen. */
int mount_is_shared(long long mount) {
    enum { MOUNTS_LIMIT = 64 << 20 };
    size_t length;
    int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC), shared = -ENOENT;
    char *text, *line, *rest, *end;

    if (fd < 0)
        return -errno;
    text = read_all(fd, MOUNTS_LIMIT, &length);
    if (!text)
        shared = -errno;
    close(fd);
    for (line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
        if (strtoll(line, NULL, 10) != mount)
            continue;
        end = strstr(line, " - ");
        if (end)
            *end = '\0';
        shared = strstr(line, " shared:") != NULL;
        break;
    }
    free(text);
    return shared;
}
