/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "search.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

enum {
    TEXT_LIMIT = 1 << 20,
    CACHE_LIMIT = 64 << 20,
    INCLUDE_DEPTH = 8,
    INCLUDE_LIMIT = 512,
};

static const char *const known[] = {
    "/lib/" TRIPLET,
    "/usr/lib/" TRIPLET,
    "/usr/local/lib/" TRIPLET,
    "/lib64",
    "/usr/lib64",
    "/usr/local/lib64",
    "/lib",
    "/usr/lib",
    "/usr/local/lib",
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/opt/conda/lib",
    "/opt/conda/cuda-compat",
    "/run/opengl-driver/lib",
};

struct search {
    struct folders *folders;
    const struct container *container;
    const char *folder; /* whose entries are looked at */
    const char *pattern;
    int depth, included;
};

/*
 * A file of the linkers' configuration; NULL if there is none. One that cannot be read is none for the linkers either,
 * unless it is only we who cannot.
 */
static char *read_configuration(const struct root *root, const char *path, size_t limit, size_t *length) {
    char *text = root_read(root, path, limit, length);

    if (!text && errno == EFBIG)
        problem("%s of the image is larger than %zu bytes", path, limit);
    else if (!text && errno == EXDEV)
        problem("%s of the image leads through a link of /proc, which cannot be followed from outside of the container",
                path);
    return text;
}

static void add_below(struct folders *folders, const char *folder, const char *name) {
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);

    if (length > 0 && (size_t)length < sizeof path)
        folders_add(folders, path, (size_t)length);
}

static void configuration(struct search *search, const char *path);

static bool included(const char *name, void *context) {
    struct search *search = context;
    char path[PATH_MAX];

    if (fnmatch(search->pattern, name, FNM_PERIOD) != 0)
        return true;
    if (++search->included > INCLUDE_LIMIT) {
        problem("ld.so.conf of the image includes more than %d files", INCLUDE_LIMIT);
        return false;
    }
    if (snprintf(path, sizeof path, "%s/%s", search->folder, name) < (int)sizeof path)
        configuration(search, path);
    return true;
}

/* Includes what a pattern names; a pattern that is not absolute is meant from the folder of the file that holds it. */
static void include(struct search *search, const char *from, const char *pattern) {
    char path[2 * PATH_MAX], *name;
    struct search below = *search;

    if (pattern[0] == '/')
        snprintf(path, sizeof path, "%s", pattern);
    else
        snprintf(path, sizeof path, "%.*s/%s", (int)(strrchr(from, '/') - from), from, pattern);
    name = strrchr(path, '/');
    *name++ = '\0';
    if (strpbrk(path, "*?[")) {
        problem("ld.so.conf of the image includes %s/%s, whose folder is a pattern: name the folder", path, name);
        return;
    }
    below.folder = path;
    below.pattern = name;
    each_entry(&search->container->root, path[0] ? path : "/", included, &below);
    search->included = below.included;
}

/* A line as ldconfig reads it: one folder, whatever is in its name, and an old =type behind it. */
static void add_line(struct folders *folders, const char *line) {
    const char *begin = line + strspn(line, " \t\r");
    size_t length = strcspn(begin, "=");

    while (length > 0 && strchr(" \t\r", begin[length - 1]))
        length--;
    if (begin[0] == '/')
        folders_add(folders, begin, length);
}

/*
 * Reads a file as ldconfig does: a folder a line, include, hwcap, # for what is no part of it, and a NUL for a line's
 * end. By its manual several folders may stand in a line: these are added, too.
 */
static void configuration(struct search *search, const char *path) {
    size_t length;
    char *text, *line, *rest;

    if (search->depth == INCLUDE_DEPTH) {
        problem("ld.so.conf of the image includes files more than %d deep", INCLUDE_DEPTH);
        return;
    }
    text = read_configuration(&search->container->root, path, TEXT_LIMIT, &length);
    if (!text)
        return;
    for (size_t i = 0; i < length; i++)
        text[i] = text[i] ? text[i] : '\n';
    search->depth++;
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *word, *words;

        line[strcspn(line, "#")] = '\0';
        add_line(search->folders, line);
        word = strtok_r(line, " \t\r:,", &words);
        if (word && strcmp(word, "include") == 0) {
            while ((word = strtok_r(NULL, " \t\r", &words)))
                include(search, path, word);
        } else if (word && strcmp(word, "hwcap") != 0) {
            for (; word; word = strtok_r(NULL, " \t\r:,", &words))
                if (word[0] == '/')
                    folders_add(search->folders, word, strcspn(word, "="));
        }
    }
    search->depth--;
    free(text);
}

/* The folders of our libraries in ld.so.cache: whatever its format, its paths are strings that end with a NUL. */
static void cache(struct search *search) {
    size_t length = 0, begin = 0;
    char *text = read_configuration(&search->container->root, "/etc/ld.so.cache", CACHE_LIMIT, &length);

    for (size_t i = 0; text && i < length; i++) {
        char *path, *name;

        if (text[i])
            continue;
        path = strchr(text + begin, '/');
        name = path ? strrchr(path, '/') : NULL;
        if (name && (is_cuda(name + 1) || is_nvml(name + 1)))
            folders_add(search->folders, path, name == path ? 1 : (size_t)(name - path));
        begin = i + 1;
    }
    free(text);
}

bool folders_add_musl(struct folders *folders, const struct root *root) {
    size_t length, before = folders->count;
    char *word, *rest, *text = read_configuration(root, MUSL_PATHS, TEXT_LIMIT, &length);

    for (word = text ? strtok_r(text, ":\n", &rest) : NULL; word; word = strtok_r(NULL, ":\n", &rest))
        if (word[0] == '/')
            folders_add(folders, word, strlen(word));
    free(text);
    return folders->count > before;
}

/* One folder of LD_LIBRARY_PATH; nothing, or a relative one, is meant from the process' working folder. */
static void variable_folder(struct search *search, const char *path, size_t length) {
    char whole[PATH_MAX];
    int written;

    if (memchr(path, '$', length)) {
        note("the library path of the container holds %.*s, which only its linker can resolve: a libcuda there is not "
             "looked for",
             (int)length, path);
    } else if (length > 0 && path[0] == '/') {
        folders_add(search->folders, path, length);
    } else if (length < sizeof whole) {
        written = snprintf(whole, sizeof whole, "%s/%.*s", search->container->working_folder, (int)length, path);
        if (written > 0 && (size_t)written < sizeof whole)
            folders_add(search->folders, whole, (size_t)written);
    }
}

/* The folder of one library that is named to be preloaded; a name without a slash is searched for like any other. */
static void preloaded(struct search *search, const char *path, size_t length) {
    const char *slash = memrchr(path, '/', length);

    if (slash)
        variable_folder(search, path, slash == path ? 1 : (size_t)(slash - path));
}

/* glibc's list of libraries to preload. glibc takes some words of comments for libraries: so all are. */
static void preload_list(struct search *search) {
    size_t length;
    char *rest, *text = read_configuration(&search->container->root, "/etc/ld.so.preload", TEXT_LIMIT, &length);

    for (char *word = text ? strtok_r(text, "#: \t\n", &rest) : NULL; word; word = strtok_r(NULL, "#: \t\n", &rest))
        preloaded(search, word, strlen(word));
    free(text);
}

static void variables(struct search *search) {
    static const char folders_of[] = "LD_LIBRARY_PATH=", files_of[] = "LD_PRELOAD=";

    for (size_t i = 0; i < search->container->variables; i++) {
        const char *text = search->container->environment[i];
        bool folders = strncmp(text, folders_of, sizeof folders_of - 1) == 0;
        bool files = strncmp(text, files_of, sizeof files_of - 1) == 0;
        const char *at = strchr(text, '=');

        while (at && (folders || files)) {
            size_t length = strcspn(++at, folders ? ":;" : ": ");

            if (folders && text[sizeof folders_of - 1])
                variable_folder(search, at, length);
            else if (files)
                preloaded(search, at, length);
            at = at[length] ? at + length : NULL;
        }
    }
}

static bool compat_entry(const char *name, void *context) {
    struct search *search = context;

    if (!strstr(name, ".so"))
        add_below(search->folders, search->folder, name);
    return !problems();
}

/* CUDA images keep the driver's libraries in compat of a toolkit, some of them a folder deeper. */
static bool toolkit(const char *name, void *context) {
    struct search *search = context, below = *search;
    char path[PATH_MAX];

    if (strncmp(name, "cuda", 4) != 0)
        return true;
    for (size_t i = 0; i < 4; i++) {
        static const char *const parts[] = {"lib64", "lib", "targets/" CUDA_TARGET "/lib", "compat"};

        snprintf(path, sizeof path, "%s/%s/%s", search->folder, name, parts[i]);
        folders_add(search->folders, path, strlen(path));
    }
    below.folder = path;
    each_entry(&search->container->root, path, compat_entry, &below);
    return !problems();
}

void folders_find(struct folders *folders, const struct container *container) {
    struct search search = {.folders = folders, .container = container, .folder = "/usr/local"};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        folders_add(folders, known[i], strlen(known[i]));
    each_entry(&container->root, search.folder, toolkit, &search);
    configuration(&search, "/etc/ld.so.conf");
    cache(&search);
    folders_add_musl(folders, &container->root);
    preload_list(&search);
    variables(&search);
}
