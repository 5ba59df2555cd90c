/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of "key value" as the plugin writes them. */
#ifndef PARTITA_TEXT_LINES_H
#define PARTITA_TEXT_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct text {
    const char *at;
    size_t length;
};

static inline bool text_is(struct text text, const char *word) {
    return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

/* Decimal digits and nothing else. */
static inline bool text_number(struct text text, uint64_t *value) {
    uint64_t n = 0;
    if (text.length == 0)
        return false;
    for (size_t i = 0; i < text.length; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        uint64_t digit = (uint64_t)(text.at[i] - '0');
        if (n > (UINT64_MAX - digit) / 10)
            return false;
        n = n * 10 + digit;
    }
    *value = n;
    return true;
}

/* Takes the next line, without its newline, from the front; false if there is no whole one. */
static inline bool text_line(struct text *rest, struct text *line) {
    const char *newline = rest->length ? memchr(rest->at, '\n', rest->length) : NULL;
    if (!newline)
        return false;
    *line = (struct text){rest->at, (size_t)(newline - rest->at)};
    *rest = (struct text){newline + 1, rest->length - line->length - 1};
    return true;
}

/* Splits a line at its first space; false if it has none. */
static inline bool text_key_value(struct text line, struct text *key, struct text *value) {
    const char *space = line.length ? memchr(line.at, ' ', line.length) : NULL;
    if (!space)
        return false;
    *key = (struct text){line.at, (size_t)(space - line.at)};
    *value = (struct text){space + 1, line.length - key->length - 1};
    return true;
}

#endif
