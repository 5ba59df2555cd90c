/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the quota files and usage regions lie: the absolute folders, or those of the tree that the library itself lies
 * in.
 */
#ifndef PARTITA_PLACES_H
#define PARTITA_PLACES_H

#include <stdbool.h>

enum { PLACE_MAX = 320 };

/*
 * Calls `share` for every share, in the order of their keys, with paths shorter than PLACE_MAX. *unreadable: there is
 * no shares folder, or not all of it could be read.
 */
void places_each_share(const void *self, void (*share)(const char *quota_path, const char *usage_path),
                       bool *unreadable);

#endif
