/* SPDX-License-Identifier: Apache-2.0 */
/* What the hook has to say: to stderr, which a container runtime shows when the hook fails. */
#ifndef PARTITA_CDI_HOOK_REPORT_H
#define PARTITA_CDI_HOOK_REPORT_H

#include <stdbool.h>

/* Something that a person may want to know and that changes no limit. */
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Something for which a program in the container could find a library of the image's own: the container must not start.
 */
void problem(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether there was a problem. */
bool problems(void);

#endif
