/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugin_program PLUGIN FLAGS GRANTED REFUSED: loads the plugin with these dlopen flags; its answer is the status. Not
 * linked with libcuda.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "plugin.h"

int main(int argc, char **argv) {
    void *plugin = argc == 5 ? dlopen(argv[1], atoi(argv[2])) : NULL;
    if (!plugin) {
        fprintf(stderr, "%s\n", argc == 5 ? dlerror() : "usage: plugin_program PLUGIN FLAGS GRANTED REFUSED");
        return 1;
    }
    __typeof__(&plugin_run) run = (__typeof__(&plugin_run))dlsym(plugin, "plugin_run");
    return run ? run(strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10)) : 1;
}
