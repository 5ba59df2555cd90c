/* SPDX-License-Identifier: Apache-2.0 */
/* The container that a hook is called for, from the OCI state and the bundle's config.json. */
#ifndef PARTITA_CDI_HOOK_CONTAINER_H
#define PARTITA_CDI_HOOK_CONTAINER_H

#include <stdbool.h>
#include <stddef.h>

#include "root.h"

struct container {
    struct root root;
    char *working_folder; /* of its process; absolute */
    char **environment;   /* of its process */
    size_t variables;
};

/* Reads the state from a descriptor and opens the container's root. False after a problem was reported. */
bool container_read(struct container *container, int state);

#endif
