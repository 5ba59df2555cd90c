/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notes which wrappers a test program reached, in a build for tests only (PARTITA_CALL_LOG): gcc's
 * -finstrument-functions calls this at the entry of every function of the shadow. Each wrapper's name is written once a
 * process to the file that PARTITA_CALLED names.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef CALLED_NVML
#include "nvml/nvml_driver.h"
#define INTERCEPTED NVML_INTERCEPTED
#else
#include "cuda/cuda_driver.h"
#define INTERCEPTED CUDA_INTERCEPTED
#endif

#define UNTRACED __attribute__((no_instrument_function))

static struct wrapper {
    void *function;
    const char *name;
    bool noted;
} wrappers[] = {
#define CALLED_WRAPPER(name) {(void *)&name, #name, false},
    INTERCEPTED(CALLED_WRAPPER)
#undef CALLED_WRAPPER
};

UNTRACED void __cyg_profile_func_enter(void *function, void *caller);
UNTRACED void __cyg_profile_func_exit(void *function, void *caller);

UNTRACED static void note(const char *name) {
    char line[128];
    const char *path = getenv("PARTITA_CALLED");
    int before = errno;
    int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
    size_t length = strlen(name);
    if (file >= 0 && length < sizeof line) {
        memcpy(line, name, length);
        line[length] = '\n';
        if (write(file, line, length + 1) < 0) {
            /* the table lacks it then, and its test fails */
        }
    }
    if (file >= 0)
        close(file);
    errno = before;
}

void __cyg_profile_func_enter(void *function, void *caller) {
    (void)caller;
    for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
        if (wrappers[i].function == function) {
            if (!__atomic_exchange_n(&wrappers[i].noted, true, __ATOMIC_RELAXED))
                note(wrappers[i].name);
            return;
        }
}

void __cyg_profile_func_exit(void *function, void *caller) {
    (void)function;
    (void)caller;
}
