/* SPDX-License-Identifier: Apache-2.0 */
#include "share/quota.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/text_file.h"
#include "common/text_lines.h"
#include "partita/quota_file.h"

static bool take_quota_line(struct text key, struct text value, struct quota *quota) {
    uint64_t n;
    if (text_is(key, "generation"))
        return text_number(value, &quota->generation);
    if (text_is(key, "memory"))
        return text_number(value, &quota->memory) && quota->memory > 0;
    if (text_is(key, "overhead"))
        return text_number(value, &quota->overhead);
    if (text_is(key, "context"))
        return text_number(value, &quota->context);
    if (text_is(key, "physical"))
        return text_number(value, &quota->physical);
    if (text_is(key, "gpu")) {
        if (value.length == 0 || value.length >= sizeof quota->gpu)
            return false;
        for (size_t i = 0; i < value.length; i++)
            if (value.at[i] <= ' ' || value.at[i] > '~')
                return false;
        memcpy(quota->gpu, value.at, value.length);
        quota->gpu[value.length] = 0;
        return true;
    }
    if (text_is(key, "cores")) {
        if (!text_number(value, &n) || n > 100)
            return false;
        quota->cores = (unsigned int)n;
        return true;
    }
    if (text_is(key, "core-limit")) {
        if (text_is(value, "hard"))
            quota->core_limit = CORE_LIMIT_HARD;
        else if (text_is(value, "soft"))
            quota->core_limit = CORE_LIMIT_SOFT;
        else if (text_is(value, "none"))
            quota->core_limit = CORE_LIMIT_NONE;
        else
            return false;
        return true;
    }
    if (text_is(key, "priority")) {
        if (!text_number(value, &n) || n > 1)
            return false;
        quota->priority = (unsigned int)n;
        return true;
    }
    return true; /* a later plugin's key */
}

bool quota_parse(const char *text, size_t length, struct quota *quota) {
    memset(quota, 0, sizeof *quota);
    quota->priority = 1;
    quota->physical = quota->context = UINT64_MAX;
    if (length > PARTITA_QUOTA_LIMIT)
        return false;
    struct text rest = {text, length}, line, key, value;
    if (!text_line(&rest, &line) || !text_is(line, PARTITA_QUOTA_MAGIC))
        return false;
    while (text_line(&rest, &line)) {
        if (text_is(line, "end"))
            return quota->gpu[0] && quota->memory > 0;
        if (text_key_value(line, &key, &value) && !take_quota_line(key, value, quota))
            return false;
    }
    return false; /* cut short */
}

static bool folder_is_there(const char *path) {
    char folder[512];
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) : sizeof folder;
    if (length >= sizeof folder)
        return false;
    memcpy(folder, path, length);
    folder[length] = 0;
    return access(folder, F_OK) == 0;
}

enum quota_answer quota_read(const char *path, struct quota *quota) {
    char text[PARTITA_QUOTA_LIMIT + 1];
    long length = text_file_read(path, text, sizeof text);
    if (length >= 0)
        return quota_parse(text, (size_t)length, quota) ? QUOTA_READ : QUOTA_UNUSABLE;
    bool gone = errno == ENOENT && folder_is_there(path);
    return gone || errno == EISDIR ? QUOTA_UNUSABLE : QUOTA_UNREACHABLE;
}
