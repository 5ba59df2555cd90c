/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every fuzz target has: libFuzzer calls the function with inputs of its making, replay.c with those of a folder.
 */
#ifndef PARTITA_FUZZ_H
#define PARTITA_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
