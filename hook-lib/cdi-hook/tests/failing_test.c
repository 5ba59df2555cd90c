/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel refuses to tell: the rest of a folder, and the mount of a file. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int entries_left = -1; /* negative: the folder can be read to its end */

static struct dirent *readdir_or_fail(DIR *stream) {
    if (entries_left == 0) {
        errno = EIO;
        return NULL;
    }
    entries_left--;
    return readdir(stream);
}

#define readdir readdir_or_fail
#include "../folders.c"
#undef readdir

static bool mounts_are_known;

static long long mount_if_known(int fd) {
    return mounts_are_known ? mount_of(fd) : -1;
}

#define mount_of mount_if_known
#include "../mounting.c"
#include "../place.c"
#undef mount_of

static int failures;

static void check(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "failing_test: %s\n", what);
        failures++;
    }
}

static bool count_one(const char *name, void *count) {
    ++*(int *)count;
    return name[0] != '\0';
}

static void mounts_that_are_not_known_are_not_the_images(const struct root *root) {
    check(make_mount_point(root, root->fd, "made") == -EXDEV, "a file is made in a folder whose mount is not known");
    check(stays_inside(root, root->fd) == -EIO, "a library is mounted where the mount is not known");
    check(!same_mount(-1, -1) && !other_mount(-1, -1) && !other_mount(3, -1), "mounts that are not known compare");
    mounts_are_known = true;
    check(stays_inside(root, root->fd) == 0, "the image's own mount is refused");
    check(make_mount_point(root, root->fd, "made") == 0, "no file is made in the image");
}

/* A problem stays one, hence the order. */
static void a_folder_that_cannot_be_read_to_its_end_is_a_problem(const struct root *root) {
    int count = 0;

    each_entry(root, "/", count_one, &count);
    check(count == 1 && !problems(), "a folder that can be read is a problem");
    each_entry(root, "/nowhere", count_one, &count);
    check(!problems(), "a folder that is not there is a problem");
    entries_left = 0;
    each_entry(root, "/", count_one, &count);
    check(count == 1 && problems(), "a folder whose end was not reached is none");
}

int main(void) {
    char folder[] = "/tmp/partita-failing-test-XXXXXX";
    struct root root = {.fd = -1};

    check(mkdtemp(folder) != NULL, "no folder");
    root.fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    mounts_that_are_not_known_are_not_the_images(&root);
    a_folder_that_cannot_be_read_to_its_end_is_a_problem(&root);
    unlinkat(root.fd, "made", 0);
    close(root.fd);
    rmdir(folder);
    return failures > 0;
}
