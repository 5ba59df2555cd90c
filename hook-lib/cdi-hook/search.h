/* SPDX-License-Identifier: Apache-2.0 */
/* The folders of a container in which its programs may find a library by its name. */
#ifndef PARTITA_CDI_HOOK_SEARCH_H
#define PARTITA_CDI_HOOK_SEARCH_H

#include <stdbool.h>
#include <stddef.h>

#include "container.h"

#if defined(__x86_64__)
#define TRIPLET "x86_64-linux-gnu"
#define CUDA_TARGET "x86_64-linux"
#define MUSL_ARCHITECTURE "x86_64"
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define TRIPLET "aarch64-linux-gnu"
#define CUDA_TARGET "sbsa-linux"
#define MUSL_ARCHITECTURE "aarch64"
#define MACHINE EM_AARCH64
#else
#error "which folders does the dynamic linker of this architecture read?"
#endif

#define MUSL_LOADER "ld-musl-" MUSL_ARCHITECTURE ".so.1"
#define MUSL_PATHS "/etc/ld-musl-" MUSL_ARCHITECTURE ".path"

/* Absolute paths in the container, each once. */
struct folders {
    char **paths;
    size_t count;
};

/*
 * Finds them: the linkers' own, those of the linkers' configuration, cache and list of what to preload, of
 * LD_LIBRARY_PATH and LD_PRELOAD, and those in which CUDA images keep libraries of the driver. Too many, or a file too
 * long to read, are problems.
 */
void folders_find(struct folders *folders, const struct container *container);

/*
 * Calls back with every entry of a folder in the container but . and .. until it returns false. A folder that is not
 * there has none; one that cannot be read, or not to its end, is a problem, unless it is only we who may not.
 */
void each_entry(const struct root *root, const char *folder, bool (*entry)(const char *name, void *context),
                void *context);

/* Adds a folder: length bytes of path. */
void folders_add(struct folders *folders, const char *path, size_t length);

/* Adds what musl's linker is told to read; whether it is told anything. */
bool folders_add_musl(struct folders *folders, const struct root *root);

/* Whether a file name is libcuda's or NVML's, with or without a version. */
bool is_cuda(const char *name);
bool is_nvml(const char *name);

#endif
