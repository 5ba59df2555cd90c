/* SPDX-License-Identifier: Apache-2.0 */
#include "share/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FIRST = 0, DEVICE = 3, INODE = 4, ROOM = 4096, WHICH = 48 };

/* proc(5): from-to permissions offset device inode path, a line a mapping. */
struct maps_line {
    uint64_t from, to;
    char which[WHICH]; /* device and inode */
    unsigned int length, field;
    bool between; /* fields */
};

static int hexadecimal(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void take_character(struct maps_line *line, char c) {
    if (c == ' ') {
        line->between = true;
        return;
    }
    line->field += line->between;
    if (line->field == FIRST && c == '-') {
        line->from = line->to;
        line->to = 0;
    } else if (line->field == FIRST && hexadecimal(c) >= 0) {
        line->to = line->to << 4 | (uint64_t)hexadecimal(c);
    } else if (line->field == DEVICE || line->field == INODE) {
        if (line->field == INODE && line->between && line->length + 1 < WHICH)
            line->which[line->length++] = ' ';
        if (line->length + 1 < WHICH)
            line->which[line->length++] = c;
    }
    line->between = false;
}

/* Calls back for each line until it returns true. False: it never did, or not all could be read (*all). */
static bool any_line(const char *path, bool (*wanted)(const struct maps_line *line, void *data), void *data,
                     bool *all) {
    struct maps_line line = {0};
    char text[ROOM];
    uint64_t lines = 0;
    long got = -1;
    bool found = false;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    *all = false;
    if (file < 0)
        return false;
    while (!found && ((got = read(file, text, sizeof text)) > 0 || (got < 0 && errno == EINTR)))
        for (long i = 0; i < got && !found; i++) {
            if (text[i] != '\n') {
                take_character(&line, text[i]);
                continue;
            }
            found = wanted(&line, data);
            line = (struct maps_line){0};
            lines++;
        }
    *all = got == 0 && lines > 0; /* of a process that is about to end there is none */
    close(file);
    return found;
}

struct where {
    uint64_t at;
    char which[WHICH];
};

static bool holds_address(const struct maps_line *line, void *data) {
    struct where *where = data;
    if (where->at < line->from || where->at >= line->to)
        return false;
    memcpy(where->which, line->which, sizeof where->which);
    return true;
}

static bool is_same_file(const struct maps_line *line, void *data) {
    const struct where *where = data;
    return strcmp(line->which, where->which) == 0;
}

bool mapped_not_by(uint32_t pid, const volatile void *at) {
    struct where where = {.at = (uint64_t)(uintptr_t)at};
    char path[32];
    bool all;
    if (!any_line("/proc/self/maps", holds_address, &where, &all))
        return false;
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    return !any_line(path, is_same_file, &where, &all) && all;
}
