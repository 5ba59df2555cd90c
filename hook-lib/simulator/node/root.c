/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node.h"

struct search {
    uintptr_t address;
    const char *path;
};

/* What dladdr would tell, without its symbol version of glibc 2.34. */
static int holds_address(struct dl_phdr_info *object, size_t size, void *context) {
    struct search *search = context;

    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];

        if (segment->p_type == PT_LOAD &&
            search->address - object->dlpi_addr - segment->p_vaddr < (uintptr_t)segment->p_memsz) {
            search->path = object->dlpi_name;
            return 1;
        }
    }
    return 0;
}

bool sim_root_of(const void *address, char root[PATH_MAX]) {
    struct search search = {.address = (uintptr_t)address};
    char path[PATH_MAX], conf[PATH_MAX + sizeof "/" SIM_CONF_PATH];

    if (!dl_iterate_phdr(holds_address, &search) || !search.path || !realpath(search.path, path))
        return false;
    for (char *slash; (slash = strrchr(path, '/'));) {
        *slash = '\0';
        snprintf(conf, sizeof conf, "%s/" SIM_CONF_PATH, path);
        if (access(conf, R_OK) == 0) {
            memcpy(root, path, strlen(path) + 1);
            return true;
        }
    }
    return false;
}
