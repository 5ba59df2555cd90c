/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "contrary.h"

#include <string.h>

#define SIM_READING_NAME(number, name) name,
const char *const sim_reading_names[SIM_READING_COUNT + 1] = {SIM_READINGS(SIM_READING_NAME) NULL};

/* 0: there is no such one. */
static unsigned bits_of(const char *word, size_t length) {
    if (length == 3 && strncmp(word, "all", length) == 0)
        return (1u << SIM_READING_COUNT) - 1;
    for (unsigned i = 0; sim_reading_names[i]; i++)
        if (strlen(sim_reading_names[i]) == length && strncmp(word, sim_reading_names[i], length) == 0)
            return 1u << i;
    return 0;
}

bool sim_contrary_parse(const char *text, unsigned *readings) {
    *readings = 0;
    if (text[strspn(text, " ")] == '\0')
        return false;
    for (const char *word = text + strspn(text, " "); *word; word += strspn(word, " ")) {
        bool without = *word == '-';
        size_t length = strcspn(word, " ");
        unsigned bits = bits_of(word + without, length - without);

        if (!bits)
            return false;
        *readings = without ? *readings & ~bits : *readings | bits;
        word += length;
    }
    return true;
}
