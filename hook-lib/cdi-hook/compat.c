/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which libcuda NVIDIA's container toolkit would take (nvidia-cdi-hook enable-cuda-compat): that of the image's compat
 * folder, if the library's note lists the host's driver and the library is newer, or, without a note, if the number of
 * its branch is higher. What the image has elsewhere is no compat library.
 *
 * The files are the image's, and programs of the container may change them afterwards, as they can load any library
 * under another name. So a library that was put behind the shadow gives nobody more than there is to be had anyway. But
 * one that no program can load would leave the container without CUDA; such a one is not taken.
 */
#define _GNU_SOURCE
#include "compat.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "elf_file.h"
#include "mounting.h"
#include "place.h"
#include "report.h"

#ifndef ST_NOEXEC
#define ST_NOEXEC 8
#endif

enum { LOOKS_LIMIT = 64, SIBLINGS_LIMIT = 64, PART_LIMIT = 1000000 };

static const char behind[] = "/usr/lib/partita", real_name[] = "libcuda-real.so.1";

struct version {
    unsigned parts[3];
};

struct choice {
    const struct container *container;
    struct version driver;
    const char *folder; /* whose entries are looked at */
    int looks;
    /* the newest so far */
    struct source source;
    struct version version;
    char path[PATH_MAX];
};

/* MAJOR.MINOR or MAJOR.MINOR.PATCH. */
static bool read_version(const char *text, struct version *version) {
    int parts = 0;

    *version = (struct version){{0}};
    do {
        if (parts == 3 || *text < '0' || *text > '9')
            return false;
        while (*text >= '0' && *text <= '9') {
            version->parts[parts] = version->parts[parts] * 10 + (unsigned)(*text++ - '0');
            if (version->parts[parts] >= PART_LIMIT)
                return false;
        }
        parts++;
    } while (*text++ == '.');
    return text[-1] == '\0' && parts >= 2;
}

static bool is_newer(const struct version *one, const struct version *other) {
    for (int i = 0; i < 3; i++)
        if (one->parts[i] != other->parts[i])
            return one->parts[i] > other->parts[i];
    return false;
}

/* Whether any program of the container can load a file. */
static bool can_be_loaded(const struct source *source) {
    struct statfs system;

    return (source->status.st_mode & 0444) == 0444 && fstatfs(source->fd, &system) == 0 &&
           !(system.f_flags & ST_NOEXEC);
}

static bool is_to_be_used(const struct choice *choice, const struct source *source, const struct version *version) {
    int fd = file_open_again(source->fd, O_RDONLY | O_NONBLOCK);
    enum compat_note note;
    bool native;

    if (fd < 0)
        return false;
    native = elf_is_native(fd);
    note = elf_compat_note(fd, choice->driver.parts[0]);
    close(fd);
    if (!native || note == COMPAT_NOT_LISTED)
        return false;
    if (note == COMPAT_LISTED)
        return is_newer(version, &choice->driver);
    return version->parts[0] > choice->driver.parts[0];
}

static bool consider(const char *name, void *context) {
    static const char stem[] = "libcuda.so.";
    struct choice *choice = context;
    struct version version;
    struct source source;
    char path[PATH_MAX];

    if (strncmp(name, stem, sizeof stem - 1) != 0 || !read_version(name + sizeof stem - 1, &version) ||
        (choice->source.fd >= 0 && !is_newer(&version, &choice->version)))
        return true;
    if (snprintf(path, sizeof path, "%s/%s", choice->folder, name) >= (int)sizeof path)
        return true;
    if (++choice->looks > LOOKS_LIMIT)
        return false;
    source.fd = root_file(&choice->container->root, path, &source.status);
    if (source.fd < 0)
        return true;
    if (can_be_loaded(&source) && !is_shadow(&source, real_name) && is_to_be_used(choice, &source, &version)) {
        if (choice->source.fd >= 0)
            close(choice->source.fd);
        choice->source = source;
        choice->version = version;
        strcpy(choice->path, path);
    } else {
        close(source.fd);
    }
    return true;
}

/* /usr/local/cuda-13.0/compat, what NGC's images have below it, conda's cuda-compat. */
static bool is_compat_folder(const char *path) {
    static const char word[] = "compat";

    for (const char *at = strstr(path, word); at; at = strstr(at + 1, word))
        if (at[sizeof word - 1] == '\0' || at[sizeof word - 1] == '/')
            return true;
    return false;
}

/* Libraries of a compat folder that libcuda opens by their names. */
struct siblings {
    const struct container *container;
    const char *from, *into;
    int there;
    size_t count;
    char *names[SIBLINGS_LIMIT + 1];
    bool failed;
};

static bool is_sibling(const char *name) {
    const char *version = strstr(name, ".so.");

    return version && !is_nvml(name) &&
           (strncmp(name, "libnvidia-", strlen("libnvidia-")) == 0 ||
            strncmp(name, "libcudadebugger.so", strlen("libcudadebugger.so")) == 0);
}

static bool put_sibling(const char *name, void *context) {
    struct siblings *siblings = context;
    struct source source;
    char path[PATH_MAX];
    int error;

    if (!is_sibling(name) || siblings->count == SIBLINGS_LIMIT ||
        snprintf(path, sizeof path, "%s/%s", siblings->from, name) >= (int)sizeof path)
        return true;
    source.fd = root_file(&siblings->container->root, path, &source.status);
    if (source.fd < 0)
        return true;
    error = source_put_or_make(&siblings->container->root, siblings->into, siblings->there, name, &source);
    close(source.fd);
    if (error == 0) {
        siblings->names[siblings->count] = strdup(name);
        siblings->count += siblings->names[siblings->count] != NULL;
    } else {
        note("%s of the image cannot be put into %s: %s", path, siblings->into, strerror(-error));
        siblings->failed |= error != -EXDEV && error != -EROFS; /* there is none that would be taken instead */
    }
    return !siblings->failed;
}

static bool put_siblings(const struct container *container, char *path, const char *folder) {
    struct siblings siblings = {.container = container,
                                .from = path,
                                .into = folder,
                                .there = root_open(&container->root, folder, O_PATH | O_DIRECTORY)};
    char *slash = strrchr(path, '/');

    if (siblings.there < 0)
        return false;
    *slash = '\0';
    each_entry(&container->root, path, put_sibling, &siblings);
    *slash = '/';
    close(siblings.there);
    place(container, folder, siblings.names);
    for (size_t i = 0; i < siblings.count; i++)
        free(siblings.names[i]);
    return !siblings.failed;
}

void compat_put_behind(const struct container *container, const struct folders *folders, const char *folder,
                       const char *driver) {
    struct choice choice = {.container = container, .source = {.fd = -1}};
    struct source real = {.fd = -1};
    char path[PATH_MAX];
    int error;

    if (!driver || !read_version(driver, &choice.driver))
        return;
    for (size_t i = 0; i < folders->count; i++) {
        choice.folder = folders->paths[i];
        if (is_compat_folder(choice.folder))
            each_entry(&container->root, choice.folder, consider, &choice);
    }
    if (choice.source.fd < 0)
        return;
    if (source_open(&container->root, behind, real_name, &real) && put_siblings(container, choice.path, folder)) {
        snprintf(path, sizeof path, "%s/%s", behind, real_name);
        error = source_put(&container->root, path, &choice.source);
        if (error < 0)
            note("%s of the image is newer than the host's driver %s but cannot be used: %s", choice.path, driver,
                 strerror(-error));
    }
    if (real.fd >= 0)
        close(real.fd);
    close(choice.source.fd);
}
