/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static bool any_problem;

/* Names come from the image: what could steer a terminal or forge a line of a log is replaced. */
static void say(const char *format, va_list arguments) {
    static const char who[] = "partita-cdi-hook: ";
    char line[1024];
    int length = snprintf(line, sizeof line, "%s", who);

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
    say(format, arguments);
    va_end(arguments);
}

void problem(const char *format, ...) {
    va_list arguments;

    va_start(arguments, format);
    say(format, arguments);
    va_end(arguments);
    any_problem = true;
}

bool problems(void) {
    return any_problem;
}
