/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounting one library over another: everything is held by descriptors, so that no name of the image is resolved twice.
 */
#ifndef PARTITA_CDI_HOOK_MOUNTING_H
#define PARTITA_CDI_HOOK_MOUNTING_H

#include <stdbool.h>
#include <sys/stat.h>

#include "root.h"

/* A library that the runtime has mounted. */
struct source {
    int fd;
    struct stat status;
};

bool same_file(const struct stat *one, const struct stat *other);

/* Numbers of mounts (mount_of). What is not known is neither the same nor another one. */
bool same_mount(long long one, long long other);
bool other_mount(long long one, long long other);

/*
 * Opens a library that must be a mount of its own: what the image has there by itself is not what is to be put
 * elsewhere.
 */
bool source_open(const struct root *root, const char *folder, const char *name, struct source *source);

/*
 * Mounts a library over the file at a path, and looks whether that is what is there now. 0 or a negative errno;
 * -EREMOTE: the mount would lie on the node as well.
 */
int source_put(const struct root *root, const char *path, const struct source *source);

/*
 * The same for a name in a folder, which is open as there. Where nothing is, it makes an empty file to mount over, but
 * only in the image's own layer (-EXDEV elsewhere). -EXDEV as well where a link leads to a file of another mount that
 * was not mounted by itself.
 */
int source_put_or_make(const struct root *root, const char *folder, int there, const char *name,
                       const struct source *source);

/*
 * Whether a mounted library is a shadow: it names the library behind it. With a claim for a whole card, of which the
 * share's claim did not know, the driver's own may have been mounted at the same path afterwards.
 */
bool is_shadow(const struct source *source, const char *behind);

#endif
