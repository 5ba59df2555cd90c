#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "node.h"

bool sim_root_of(const void *address, char root[PATH_MAX])
{
    Dl_info file;
    char path[PATH_MAX], conf[PATH_MAX + sizeof "/" SIM_CONF_PATH];

    if (!dladdr(address, &file) || !file.dli_fname || !realpath(file.dli_fname, path))
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
