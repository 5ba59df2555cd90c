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

#include "compat.h"
#include "mounting.h"
#include "report.h"
#include "search.h"

enum { NAMES_LIMIT = 1024 };

struct covering {
    const struct root *root;
    const char *folder;
    bool stubs;
    int *names; /* looked at so far */
    struct source cuda, nvml;
};

static bool cover_entry(const char *name, void *context) {
    struct covering *covering = context;
    const struct source *source = is_cuda(name) ? &covering->cuda : is_nvml(name) ? &covering->nvml : NULL;
    char path[PATH_MAX];
    int error;

    /* What is linked with at build time must stay what it is, and cannot be used at run time. */
    if (!source || (covering->stubs && (strcmp(name, "libcuda.so") == 0 || strcmp(name, "libnvidia-ml.so") == 0)))
        return true;
    if (*covering->names > NAMES_LIMIT)
        return false;
    if (++*covering->names > NAMES_LIMIT) {
        problem("the library folders of the image hold more than %d files called libcuda.so or libnvidia-ml.so: each "
                "would be a mount",
                NAMES_LIMIT);
        return false;
    }
    if (snprintf(path, sizeof path, "%s/%s", covering->folder, name) >= (int)sizeof path)
        return true;
    error = source_put(covering->root, path, source);
    switch (error) {
    case 0:
    case -ENOENT: /* a link that leads nowhere */
    case -ENOTDIR:
    case -ELOOP:
    case -ENODATA: /* no file: no linker takes it */
    case -ENAMETOOLONG:
    case -EACCES: /* processes of the container are no more than we are here */
        break;
    case -EXDEV:
        problem("%s of the image leads through a link of /proc, so that the share's limits could be got round: remove "
                "it from the image",
                path);
        break;
    case -EREMOTE:
        problem("%s is in a volume that passes mounts on to the node (mountPropagation Bidirectional): covering it "
                "would cover it there, too, and "
                "uncovered the share's limits could be got round: take its folder off the library folders",
                path);
        break;
    default:
        problem("%s of the image cannot be covered by the share's library, so that its limits could be got round: %s",
                path, strerror(-error));
    }
    return true;
}

static void cover_folder(struct covering *covering, const char *folder) {
    const char *name = strrchr(folder, '/');

    covering->folder = folder;
    covering->stubs = name && strcmp(name, "/stubs") == 0;
    each_entry(covering->root, folder, cover_entry, covering);
}

static bool cover_variant(const char *name, void *context) {
    struct covering *covering = context;
    struct covering below = *covering;
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s/%s", covering->folder, name) < (int)sizeof path)
        cover_folder(&below, path);
    return true;
}

/* Covers a folder and what glibc's linker reads below it for some processors. */
static void cover_with_variants(struct covering *covering, const char *folder) {
    static const char *const old[] = {"tls",        "x86_64",           "haswell",        "xeon_phi",
                                      "tls/x86_64", "tls/haswell",      "haswell/x86_64", "tls/haswell/x86_64",
                                      "avx512_1",   "haswell/avx512_1", "aarch64",        "atomics"};
    char path[PATH_MAX];
    int there = root_open(covering->root, folder, O_PATH | O_DIRECTORY);

    if (there >= 0)
        close(there);
    cover_folder(covering, folder);
    if (there < 0)
        return;
    for (size_t i = 0; i < sizeof old / sizeof *old; i++)
        if (snprintf(path, sizeof path, "%s/%s", folder, old[i]) < (int)sizeof path)
            cover_folder(covering, path);
    if (snprintf(path, sizeof path, "%s/glibc-hwcaps", folder) < (int)sizeof path) {
        covering->folder = path;
        each_entry(covering->root, path, cover_variant, covering);
    }
}

void cover(const struct container *container, const char *folder, const char *driver) {
    int names = 0;
    struct covering covering = {.root = &container->root, .names = &names};
    struct folders folders = {0};

    if (!source_open(&container->root, folder, "libcuda.so.1", &covering.cuda) ||
        !source_open(&container->root, folder, "libnvidia-ml.so.1", &covering.nvml)) {
        problem("the share's libraries are not mounted at %s/libcuda.so.1 and libnvidia-ml.so.1 of the container",
                folder);
        return;
    }
    if (!is_shadow(&covering.cuda, "libcuda-real.so.1") || !is_shadow(&covering.nvml, "libnvidia-ml-real.so.1"))
        problem("%s/libcuda.so.1 or libnvidia-ml.so.1 of the container is not the share's but the driver's own: "
                "another claim of the pod is for a whole card, "
                "and was prepared for another pod before; give this pod claims of its own",
                folder);
    folders_add(&folders, folder, strlen(folder));
    folders_find(&folders, container);
    compat_put_behind(container, &folders, folder, driver);
    for (size_t i = 0; i < folders.count; i++) {
        cover_with_variants(&covering, folders.paths[i]);
        free(folders.paths[i]);
    }
    free(folders.paths);
    close(covering.cuda.fd);
    close(covering.nvml.fd);
}
