/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

/* Runtimes keep all that a hook says in memory, and write it into logs: an image must not make it much. */
enum { MOST = 16 };

static unsigned notes_said, problems_said;

/*
 * Names come from the image: what could steer a terminal or forge a line of a log is replaced. Of each kind only so
 * many lines are said.
 */
static void say(unsigned *said, const char *format, va_list arguments) {
    char line[1024];
    int length = snprintf(line, sizeof line, "partita-cdi-hook: ");

    if (*said == MOST + 1)
        return;
    if (++*said > MOST)
        format = "there is more of this kind, which is not said";

    vsnprintf(line + length, sizeof line - (size_t)length - 1, format, arguments);
    for (length = 0; line[length]; length++)
        if ((unsigned char)line[length] < ' ' || line[length] == 0x7f)
            line[length] = '?';
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, (size_t)length) < 0)
        return;
}

void note(const char *format, ...) {
    va_list arguments;

    va_start(arguments, format);
    say(&notes_said, format, arguments);
    va_end(arguments);
}

void problem(const char *format, ...) {
    va_list arguments;

    va_start(arguments, format);
    say(&problems_said, format, arguments);
    va_end(arguments);
}

bool problems(void) {
    return problems_said > 0;
}
