/* SPDX-License-Identifier: Apache-2.0 */
/* The reader on texts that are no JSON, and on strings in every way of writing them. */
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static void check(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "json_test: %s\n", what);
        failures++;
    }
}

/* Copied to the heap without a NUL behind it, so that a sanitizer sees a read beyond the end. */
static struct json over(const char *text, char **copy) {
    size_t length = strlen(text);

    *copy = malloc(length ? length : 1);
    memcpy(*copy, text, length);
    return (struct json){.at = *copy, .end = *copy + length};
}

static void strings(void) {
    static const struct {
        const char *text, *value;
    } cases[] = {
        {"\"\"", ""},
        {" \"a b\"", "a b"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u002f\\u00e9\\u20ac\\ud83d\\ude00\"", "/\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\"\\u0000\"", NULL},
        {"\"\\ud83d\"", "\xed\xa0\xbd"},
        {"\"\\ud83d\\u0041\"", NULL},
        {"\"\\x\"", NULL},
        {"\"\\u12\"", NULL},
        {"\"open", NULL},
        {"\"open\\", NULL},
        {"", NULL},
        {"1", NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *copy, *value;
        struct json json = over(cases[i].text, &copy);

        value = json_string(&json);
        check(cases[i].value ? value && strcmp(value, cases[i].value) == 0 : !value && json.bad, cases[i].text);
        free(value);
        free(copy);
    }
}

static void values(void) {
    static const struct {
        const char *text;
        bool good;
    } cases[] = {
        {"{}", true},           {"[]", true},         {"[1, -2.5e3, true, false, null, \"x\", {\"a\": [{}]}]", true},
        {"{\"a\" 1}", false},   {"{\"a\": }", false}, {"[1", false},
        {"[1 2]", false},       {"{a: 1}", false},    {"[,]", false},
        {"{\"a\": 1,}", false},
    };
    char deep[4096];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *copy;
        struct json json = over(cases[i].text, &copy);

        json_skip(&json);
        check(json.bad != cases[i].good, cases[i].text);
        free(copy);
    }
    memset(deep, '[', sizeof deep);
    {
        struct json json = {.at = deep, .end = deep + sizeof deep};

        json_skip(&json);
        check(json.bad, "a text nested too deep");
    }
}

static void numbers(void) {
    static const struct {
        const char *text;
        bool good;
        unsigned value;
    } cases[] = {
        {"0", true, 0},      {" 535]", true, 535},     {"999999999", true, 999999999},
        {"", false, 0},      {"1000000000", false, 0}, {"99999999999999999999", false, 0},
        {"-1", false, 0},    {"1.5", false, 0},        {"1e3", false, 0},
        {"\"1\"", false, 0}, {"x", false, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *copy;
        struct json json = over(cases[i].text, &copy);
        unsigned value = json_unsigned(&json);

        check(json.bad != cases[i].good && value == cases[i].value, cases[i].text);
        free(copy);
    }
}

int main(void) {
    numbers();
    strings();
    values();
    return failures ? 1 : 0;
}
