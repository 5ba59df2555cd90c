/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_LIMIT = 64 };

static char peek(struct json *json) {
    while (json->at < json->end && (*json->at == ' ' || *json->at == '\t' || *json->at == '\n' || *json->at == '\r'))
        json->at++;
    return !json->bad && json->at < json->end ? *json->at : '\0';
}

static bool take(struct json *json, char expected) {
    if (peek(json) != expected)
        return false;
    json->at++;
    return true;
}

static void demand(struct json *json, char expected) {
    if (!take(json, expected))
        json->bad = true;
}

/* Four hexadecimal digits; -1 if there are none. */
static long hex4(struct json *json) {
    long value = 0;

    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef", *digit;
        char c = json->at < json->end ? *json->at++ : '\0';

        if (c >= 'A' && c <= 'F')
            c = (char)(c - 'A' + 'a');
        digit = c ? strchr(digits, c) : NULL;
        if (!digit)
            return -1;
        value = value * 16 + (digit - digits);
    }
    return value;
}

/* A code point as UTF-8, which is never longer than the escape that it was written as. */
static char *put_utf8(char *to, unsigned long point) {
    if (point < 0x80) {
        *to++ = (char)point;
    } else if (point < 0x800) {
        *to++ = (char)(0xc0 | point >> 6);
        *to++ = (char)(0x80 | (point & 0x3f));
    } else if (point < 0x10000) {
        *to++ = (char)(0xe0 | point >> 12);
        *to++ = (char)(0x80 | (point >> 6 & 0x3f));
        *to++ = (char)(0x80 | (point & 0x3f));
    } else {
        *to++ = (char)(0xf0 | point >> 18);
        *to++ = (char)(0x80 | (point >> 12 & 0x3f));
        *to++ = (char)(0x80 | (point >> 6 & 0x3f));
        *to++ = (char)(0x80 | (point & 0x3f));
    }
    return to;
}

/* What follows a backslash; NULL if that is no escape. */
static char *unescape(struct json *json, char *to) {
    static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
    char c = json->at < json->end ? *json->at++ : '\0';
    const char *plain = c ? strchr(from, c) : NULL;
    long point;

    if (plain) {
        *to = into[plain - from];
        return to + 1;
    }
    point = c == 'u' ? hex4(json) : -1;
    if (point >= 0xd800 && point < 0xdc00 && json->end - json->at >= 6 && json->at[0] == '\\' && json->at[1] == 'u') {
        long low;

        json->at += 2;
        low = hex4(json);
        if (low < 0xdc00 || low >= 0xe000)
            return NULL;
        point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    }
    return point > 0 ? put_utf8(to, (unsigned long)point) : NULL;
}

char *json_string(struct json *json) {
    const char *close;
    char *text, *to;

    demand(json, '"');
    if (json->bad)
        return NULL;
    for (close = json->at; close < json->end && *close != '"'; close++)
        if (*close == '\\')
            close++;
    if (close >= json->end || !(text = malloc((size_t)(close - json->at) + 1))) {
        json->bad = true;
        return NULL;
    }
    to = text;
    while (json->at < close && !json->bad) {
        char c = *json->at++;

        if (c == '\\')
            to = unescape(json, to);
        else
            *to++ = c;
        json->bad = !to || c == '\0';
    }
    if (json->bad) {
        free(text);
        return NULL;
    }
    *to = '\0';
    json->at = close + 1;
    return text;
}

unsigned json_unsigned(struct json *json) {
    enum { LIMIT = 1000000000 };
    unsigned value = 0;
    bool any = false;

    for (char c = peek(json); c >= '0' && c <= '9' && value < LIMIT / 10; c = json->at < json->end ? *json->at : '\0') {
        value = value * 10 + (unsigned)(c - '0');
        any = true;
        json->at++;
    }
    if (!any || (json->at < json->end && *json->at && strchr("+-.0123456789eE", *json->at)))
        json->bad = true;
    return json->bad ? 0 : value;
}

static bool enter(struct json *json, char open) {
    demand(json, open);
    if (++json->depth > DEPTH_LIMIT)
        json->bad = true;
    return !json->bad;
}

void json_object(struct json *json, json_member *member, void *context) {
    if (!enter(json, '{'))
        return;
    if (!take(json, '}')) {
        do {
            char *key = json_string(json);

            demand(json, ':');
            if (!json->bad)
                member(json, key, context);
            free(key);
        } while (take(json, ','));
        demand(json, '}');
    }
    json->depth--;
}

void json_array(struct json *json, json_element *element, void *context) {
    if (!enter(json, '['))
        return;
    if (!take(json, ']')) {
        do
            element(json, context);
        while (take(json, ','));
        demand(json, ']');
    }
    json->depth--;
}

static void skip_member(struct json *json, const char *key, void *context) {
    (void)key;
    (void)context;
    json_skip(json);
}

static void skip_element(struct json *json, void *context) {
    (void)context;
    json_skip(json);
}

void json_skip(struct json *json) {
    const char *begin;

    switch (peek(json)) {
    case '{':
        json_object(json, skip_member, NULL);
        return;
    case '[':
        json_array(json, skip_element, NULL);
        return;
    case '"':
        free(json_string(json));
        return;
    default: /* a number, true, false, null */
        for (begin = json->at; json->at < json->end && *json->at && strchr("+-.0123456789Eaeflnrstu", *json->at);)
            json->at++;
        json->bad |= begin == json->at;
    }
}
