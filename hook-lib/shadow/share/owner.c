/* SPDX-License-Identifier: Apache-2.0 */
#include "share/owner.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "common/text_file.h"

/* "/proc/<pid>/stat", the pid 0 standing for the calling process. */
static void stat_path(char path[32], uint32_t pid) {
    char digits[12];
    int count = 0;
    char *to = path;
    memcpy(to, "/proc/", 6);
    to += 6;
    if (pid == 0) {
        memcpy(to, "self", 4);
        to += 4;
    } else {
        for (; pid > 0; pid /= 10)
            digits[count++] = (char)('0' + pid % 10);
        while (count > 0)
            *to++ = digits[--count];
    }
    memcpy(to, "/stat", 6);
}

struct stat_fields {
    char state;
    uint64_t threads, start;
};

/* proc(5): pid (comm) state ...; comm may hold anything, so fields are counted after the last parenthesis. */
static bool read_stat(uint32_t pid, struct stat_fields *fields) {
    char path[32], text[1024];
    stat_path(path, pid);
    long length = text_file_read(path, text, sizeof text - 1);
    if (length <= 0)
        return false;
    text[length] = 0;
    const char *at = strrchr(text, ')');
    if (!at || at[1] != ' ' || !at[2])
        return false;
    at += 2;
    fields->state = *at;
    uint64_t numbers[23] = {0};
    for (int field = 4; field <= 22; field++) {
        at = strchr(at, ' ');
        if (!at)
            return false;
        at++;
        uint64_t n = 0;
        for (const char *c = *at == '-' ? at + 1 : at; *c >= '0' && *c <= '9'; c++)
            n = n * 10 + (uint64_t)(*c - '0');
        numbers[field] = n;
    }
    fields->threads = numbers[20];
    fields->start = numbers[22];
    return true;
}

static uint64_t pid_namespace(void) {
    char text[64];
    long length = readlink("/proc/self/ns/pid", text, sizeof text - 1);
    if (length <= 0)
        return 0;
    text[length] = 0;
    const char *at = strchr(text, '[');
    uint64_t inode = 0;
    for (at = at ? at + 1 : ""; *at >= '0' && *at <= '9'; at++)
        inode = inode * 10 + (uint64_t)(*at - '0');
    return inode;
}

struct owner owner_self(void) {
    struct stat_fields fields;
    struct owner self = {(uint32_t)getpid(), 0, pid_namespace(), 0};
    const void *random = (const void *)getauxval(AT_RANDOM); /* 16 bytes that the kernel draws at each exec */
    if (random)
        memcpy(&self.image, random, sizeof self.image);
    if (read_stat(0, &fields))
        self.start = fields.start;
    return self;
}

static bool is_of(const struct owner *owner, uint64_t pid_namespace) {
    return owner->pid != 0 && owner->pid_namespace != 0 && owner->pid_namespace == pid_namespace;
}

bool owner_is_gone(const struct owner *owner, uint64_t mine) {
    return is_of(owner, mine) && kill((pid_t)owner->pid, 0) != 0 && errno == ESRCH;
}

enum life owner_life(const struct owner *owner, uint64_t mine) {
    if (!is_of(owner, mine))
        return UNKNOWN;
    if (owner_is_gone(owner, mine))
        return DEAD;
    struct stat_fields fields;
    if (owner->start == 0 || !read_stat(owner->pid, &fields))
        return UNKNOWN;
    if (fields.start != owner->start)
        return DEAD;
    bool ended = fields.state == 'Z' || fields.state == 'X' || fields.state == 'x';
    return ended && fields.threads <= 1 ? DEAD : ALIVE;
}
