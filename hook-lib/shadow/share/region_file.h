/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mapped usage region of one share, and the record locks in it that prove that a slot's owner lives.
 *
 * The kernel drops a process' POSIX record locks when the process ends, and also when it closes any descriptor of the
 * file: so the descriptor is never closed here, a program that closes descriptors it did not open ("close everything
 * from 3 up") is noticed and mended (region_file_keep; the lock is taken anew each time, since a descriptor of the
 * process' other library may have been closed), and within one pid namespace a lost lock alone is no proof of death
 * (see owner.h). A child of fork shares no POSIX lock of its parent; closing the inherited descriptor there does not
 * harm the parent.
 */
#ifndef PARTITA_REGION_FILE_H
#define PARTITA_REGION_FILE_H

#include <stdbool.h>

#include "partita/usage_region.h"

struct region_file {
    struct partita_region *region; /* NULL: not open */
    int descriptor;
    uint64_t device, inode;
};

/*
 * Opens and maps the file, which must have the right size; false if it cannot be used. `file` is all zero, or as the
 * last try left it. Leaves errno changed.
 */
bool region_file_open(struct region_file *file, const char *path);

/* Whether the descriptor is still this file's and the file still has its size. */
bool region_file_intact(const struct region_file *file);

/* Takes the lock of a slot; false if another process has it. */
bool region_file_lock(const struct region_file *file, uint32_t slot);

void region_file_unlock(const struct region_file *file, uint32_t slot);

/*
 * Around taking a slot: record locks do not keep the libraries of one process from each other. Who waits for long goes
 * on without.
 */
void region_file_enter(const struct region_file *file);
void region_file_leave(const struct region_file *file);

/* Whether another process holds the lock of the slot. True where it cannot be told. */
bool region_file_locked_by_another(const struct region_file *file, uint32_t slot);

/*
 * The first slot at or above `from` whose lock another process holds; PARTITA_SLOTS if there is none.
 */
uint32_t region_file_next_locked(const struct region_file *file, uint32_t from);

/*
 * Gives the file a new descriptor if the program closed or reused ours: then the locks are lost. False if that failed.
 */
bool region_file_keep(struct region_file *file, const char *path);

#endif
