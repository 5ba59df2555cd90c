/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "common/growing.h"

#include <errno.h>
#include <sys/mman.h>

bool growing_more(void **array, uint32_t *room, size_t size) {
    uint32_t more = *room ? *room * 2 : 256;
    int error = errno;
    void *fresh = MAP_FAILED;
    if (more > *room)
        fresh = *room ? mremap(*array, *room * size, more * size, MREMAP_MAYMOVE)
                      : mmap(NULL, more * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = error;
    if (fresh == MAP_FAILED)
        return false;
    *array = fresh;
    *room = more;
    return true;
}
