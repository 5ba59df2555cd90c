/* SPDX-License-Identifier: Apache-2.0 */
/* A test program that is linked with this can keep memory from the shadow that it loads, and from nothing else. */
#ifndef PARTITA_NO_MEMORY_H
#define PARTITA_NO_MEMORY_H

#include <stdbool.h>

/* From now on the shadow's own mmap and mremap fail. */
extern bool no_memory;

#endif
