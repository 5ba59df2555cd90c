/* SPDX-License-Identifier: Apache-2.0 */
/* A test program holds named cases; ctest runs each by its name. */
#ifndef PARTITA_CASES_H
#define PARTITA_CASES_H

#include <stdio.h>
#include <string.h>

struct test_case {
    const char *name;
    void (*run)(void);
};

static inline int run_case(const struct test_case *cases, size_t count, int argc, char **argv) {
    for (size_t i = 0; i < count; i++)
        if (argc < 2 || strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run();
            if (argc >= 2)
                return 0;
        }
    return argc < 2 ? 0 : (fprintf(stderr, "no case %s\n", argv[1]), 2);
}

#define CASE(name) {#name, name}
#define RUN_CASES(cases, argc, argv) run_case(cases, sizeof(cases) / sizeof *(cases), argc, argv)

#endif
