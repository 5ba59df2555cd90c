/* SPDX-License-Identifier: Apache-2.0 */
#include "share/places.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/loaded_object.h"
#include "partita/quota_file.h"
#include "partita/usage_region.h"

enum { KEYS_MAX = 256, KEY_MAX = 128 };

static bool join(char to[PLACE_MAX], const char *const *parts) {
    size_t length = 0;
    for (; *parts; parts++) {
        size_t more = strlen(*parts);
        if (length + more >= PLACE_MAX)
            return false;
        memcpy(to + length, *parts, more);
        length += more;
    }
    to[length] = 0;
    return true;
}

static bool there(const char *prefix) {
    char path[PLACE_MAX];
    return join(path, (const char *const[]){prefix, PARTITA_SHARES_FOLDER, NULL}) && access(path, F_OK) == 0;
}

/* "" for the absolute folders, else the nearest folder above the library's file that has PARTITA_SHARES_FOLDER. */
static bool find_prefix(const void *self, char prefix[PLACE_MAX]) {
    prefix[0] = 0;
    if (there(prefix))
        return true;
    char loaded[PLACE_MAX], whole[PATH_MAX];
    if (!loaded_object_path(self, loaded, sizeof loaded))
        return false;
    const char *path = loaded[0] == '/' ? loaded : realpath(loaded, whole); /* loaded by a relative name */
    if (!path || strlen(path) >= PLACE_MAX)
        return false;
    strcpy(prefix, path);
    char *slash;
    while ((slash = strrchr(prefix, '/')) != NULL) {
        *slash = 0;
        if (slash != prefix && there(prefix))
            return true;
    }
    return false;
}

static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

void places_each_share(const void *self, void (*share)(const char *quota_path, const char *usage_path),
                       bool *unreadable) {
    char prefix[PLACE_MAX], folder[PLACE_MAX], quota[PLACE_MAX], usage[PLACE_MAX];
    static char keys[KEYS_MAX][KEY_MAX]; /* one thread at a time */
    size_t count = 0;
    DIR *entries = NULL;
    if (find_prefix(self, prefix) && join(folder, (const char *const[]){prefix, PARTITA_SHARES_FOLDER, NULL}))
        entries = opendir(folder);
    if (!entries) {
        *unreadable = true;
        return;
    }
    for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        size_t length = strlen(entry->d_name);
        if (length >= KEY_MAX || count == KEYS_MAX)
            *unreadable = true;
        else
            memcpy(keys[count++], entry->d_name, length + 1);
    }
    closedir(entries);
    qsort(keys, count, KEY_MAX, by_name);
    for (size_t i = 0; i < count; i++) {
        if (join(quota, (const char *const[]){folder, "/", keys[i], "/" PARTITA_QUOTA_NAME, NULL}) &&
            join(usage,
                 (const char *const[]){prefix, PARTITA_USAGE_FOLDER, "/", keys[i], "/" PARTITA_USAGE_NAME, NULL}))
            share(quota, usage);
        else
            *unreadable = true;
    }
}
