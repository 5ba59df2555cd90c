/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a library by its name and prints whose it is. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    void *library = dlopen(argc > 1 ? argv[1] : "libcuda.so.1", RTLD_NOW);
    void *symbol = library ? dlsym(library, "partita_test_answer") : NULL;
    const char *(*answer)(void);

    if (!symbol) {
        printf("none\n");
        return 0;
    }
    memcpy(&answer, &symbol, sizeof answer);
    printf("%s\n", answer());
    return 0;
}
