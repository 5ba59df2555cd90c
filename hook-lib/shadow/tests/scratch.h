/* SPDX-License-Identifier: Apache-2.0 */
/* Folders and files of a test, gone when it ends. */
#ifndef PARTITA_SCRATCH_H
#define PARTITA_SCRATCH_H

#include <stdint.h>

/* A fresh folder, removed with what is in it when the process that asked first ends. Its path stays valid. */
const char *scratch_folder(void);

/* printf into a buffer that stays valid for the next 32 calls. */
const char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Paths of the shadow libraries to test: in the folder that the environment variable PARTITA_TEST_SHADOWS names,
 * else as they were built beside the tests. They stay valid. */
const char *shadow_cuda(void);
const char *shadow_nvml(void);

void make_folders(const char *path);
void write_file(const char *path, const void *bytes, size_t length); /* by rename, as the plugin does */
void copy_file(const char *from, const char *to);

/* A quota file for the card, and an empty usage region, as the plugin makes them below `prefix`. */
void write_quota(const char *prefix, const char *key, const char *gpu, uint64_t memory, uint64_t generation);
void write_quota_with(const char *prefix, const char *key, const char *gpu, uint64_t memory, uint64_t generation,
                      /* with further lines, each with its LF; of two lines with one key the later counts */
                      const char *lines);
void make_region(const char *prefix, const char *key);
const char *region_path(const char *prefix, const char *key);

/* Waits for the child, which must end with status 0. */
void reap_well(int pid);

#endif
