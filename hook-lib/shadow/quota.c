#include "quota.h"

#include <string.h>

#include "partita/quota_file.h"
#include "text_file.h"

struct text {
    const char *at;
    size_t length;
};

static bool is(struct text text, const char *word) {
    return text.length == strlen(word) && memcmp(text.at, word, text.length) == 0;
}

static bool number(struct text text, uint64_t *value) {
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

static bool take(struct text key, struct text value, struct quota *quota) {
    uint64_t n;
    if (is(key, "generation"))
        return number(value, &quota->generation);
    if (is(key, "memory"))
        return number(value, &quota->memory) && quota->memory > 0;
    if (is(key, "gpu")) {
        if (value.length == 0 || value.length >= sizeof quota->gpu)
            return false;
        for (size_t i = 0; i < value.length; i++)
            if (value.at[i] <= ' ' || value.at[i] > '~')
                return false;
        memcpy(quota->gpu, value.at, value.length);
        quota->gpu[value.length] = 0;
        return true;
    }
    if (is(key, "cores")) {
        if (!number(value, &n) || n > 100)
            return false;
        quota->cores = (unsigned int)n;
        return true;
    }
    if (is(key, "core-limit")) {
        if (is(value, "hard"))
            quota->core_limit = CORE_LIMIT_HARD;
        else if (is(value, "soft"))
            quota->core_limit = CORE_LIMIT_SOFT;
        else if (!is(value, "none"))
            return false;
        return true;
    }
    if (is(key, "priority")) {
        if (!number(value, &n) || n > 1)
            return false;
        quota->priority = (unsigned int)n;
        return true;
    }
    return true; /* a later plugin's key */
}

bool quota_parse(const char *text, size_t length, struct quota *quota) {
    memset(quota, 0, sizeof *quota);
    quota->priority = 1;
    if (length > PARTITA_QUOTA_LIMIT)
        return false;
    const char *end = text + length;
    bool first = true;
    while (text < end) {
        const char *newline = memchr(text, '\n', (size_t)(end - text));
        if (!newline)
            return false; /* cut short */
        struct text line = {text, (size_t)(newline - text)};
        text = newline + 1;
        if (first) {
            if (!is(line, PARTITA_QUOTA_MAGIC))
                return false;
            first = false;
            continue;
        }
        if (is(line, "end"))
            return quota->gpu[0] && quota->memory > 0;
        const char *space = memchr(line.at, ' ', line.length);
        if (!space)
            continue;
        struct text key = {line.at, (size_t)(space - line.at)};
        struct text value = {space + 1, line.length - key.length - 1};
        if (!take(key, value, quota))
            return false;
    }
    return false;
}

bool quota_read(const char *path, struct quota *quota) {
    char text[PARTITA_QUOTA_LIMIT + 1];
    long length = text_file_read(path, text, sizeof text);
    return length >= 0 && quota_parse(text, (size_t)length, quota);
}
