/* SPDX-License-Identifier: Apache-2.0 */
/* Puts libraries that the container runtime has mounted to where the image's programs look for them, as bind mounts. */
#ifndef PARTITA_CDI_HOOK_PLACE_H
#define PARTITA_CDI_HOOK_PLACE_H

#include "container.h"

/*
 * Mounts libcuda and NVML of a folder over every other library of these names that a program can find by name. Whatever
 * stands in the way is a problem. With the version of the host's driver, the image may have a newer libcuda of its own
 * behind them (compat.h); with NULL it may not.
 */
void cover(const struct container *container, const char *folder, const char *driver);

/*
 * Mounts libraries of a folder into the folders that the image's own linkers read, unless they read that one anyway.
 * What is not mounted is left out; whatever stands in the way is a note.
 */
void place(const struct container *container, const char *folder, char *const *names);

#endif
