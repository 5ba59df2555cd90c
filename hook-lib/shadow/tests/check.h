/* SPDX-License-Identifier: Apache-2.0 */
/* Assertions of the tests: the first that fails says where and ends the process with status 1. */
#ifndef PARTITA_CHECK_H
#define PARTITA_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            fflush(NULL);                                                                                              \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

#define CHECK_EQUAL(actual, expected)                                                                                  \
    do {                                                                                                               \
        long long is_ = (long long)(actual), should_ = (long long)(expected);                                          \
        if (is_ != should_) {                                                                                          \
            fprintf(stderr, "%s:%d: %s is %lld, not %s = %lld\n", __FILE__, __LINE__, #actual, is_, #expected,         \
                    should_);                                                                                          \
            fflush(NULL);                                                                                              \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

#endif
