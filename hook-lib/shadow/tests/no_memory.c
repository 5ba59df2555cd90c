/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "no_memory.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cuda_api.h"

bool no_memory;

/* Whether the call comes out of the shadow: the driver behind it has another name. */
static bool is_shadow(void *caller) {
    Dl_info info;
    return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "/libcuda.so.1");
}

/* Stand before the C library's. */
PARTITA_EXPORT void *mmap(void *at, size_t size, int protection, int flags, int file, off_t offset) {
    if (no_memory && flags & MAP_ANONYMOUS && is_shadow(__builtin_return_address(0))) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, size, protection, flags, file, offset);
}

PARTITA_EXPORT void *mremap(void *at, size_t size, size_t more, int flags, ...) {
    if (no_memory && is_shadow(__builtin_return_address(0))) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    va_list arguments;
    va_start(arguments, flags);
    void *to = flags & MREMAP_FIXED ? va_arg(arguments, void *) : NULL;
    va_end(arguments);
    return (void *)syscall(SYS_mremap, at, size, more, flags, to);
}
