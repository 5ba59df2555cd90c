/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory limits of cgroups, which NVML of driver 615 and later sets. A limit is known by the folder that it was set on,
 * and a process by its paths in /proc/self/cgroup. The process is below the limit if the folder's name ends with such a
 * path or with the beginning of one: /sys/fs/cgroup/a/b limits a process in /a/b/c.
 *
 * The real driver asks the kernel. Nobody can here: so a process with a cgroup namespace of its own, which sees itself
 * in /, is below no limit.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "state.h"

static bool holds(const char *paths, const char *path) {
    for (; *paths; paths += strlen(paths) + 1)
        if (strcmp(paths, path) == 0)
            return true;
    return false;
}

/* One after the other, each with its end; an empty one is the last. */
void sim_own_cgroups(char cgroups[SIM_CGROUP_PATHS]) {
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[SIM_CGROUP_PATH + 128];
    size_t length = 0;

    cgroups[0] = '\0';
    while (file && fgets(line, sizeof line, file)) {
        const char *path = strchr(line, ':');

        path = path ? strchr(path + 1, ':') : NULL;
        if (!path || !strchr(line, '\n'))
            continue;
        line[strcspn(line, "\n")] = '\0';
        path++;
        if (strcmp(path, "/") == 0 || length + strlen(path) + 2 > SIM_CGROUP_PATHS || holds(cgroups, path))
            continue;
        strcpy(cgroups + length, path);
        length += strlen(path) + 1;
        cgroups[length] = '\0';
    }
    if (file)
        fclose(file);
}

static bool ends_with(const char *text, const char *end, size_t length) {
    size_t all = strlen(text);

    return all >= length && memcmp(text + all - length, end, length) == 0;
}

/* Whether one of the process' cgroups is the folder that a limit was set on. */
static bool at(const char *paths, const char *folder) {
    for (; *paths; paths += strlen(paths) + 1)
        if (ends_with(folder, paths, strlen(paths)))
            return true;
    return false;
}

/* Or lies in it. */
static bool below(const char *paths, const char *folder) {
    for (; *paths; paths += strlen(paths) + 1)
        for (size_t length = strlen(paths); length > 0; length--)
            if ((paths[length] == '/' || paths[length] == '\0') && ends_with(folder, paths, length))
                return true;
    return false;
}

/* By what the slots say: without a look at who lives. */
static uint64_t used_below(const struct sim_state *state, const struct sim_limit *limit) {
    const struct sim_region *region = state->region;
    uint32_t bound = region->process_bound;
    uint64_t used = 0;

    for (uint32_t slot = 0; slot < bound && slot < SIM_MAX_PROCESSES; slot++) {
        const struct sim_process *process = &region->processes[slot];

        if (!process->in_use || !below(process->cgroups, limit->cgroup))
            continue;
        used += process->cards[limit->card].memory + process->cards[limit->card].overhead;
        if (region->shared_bound)
            used += sim_shared_bytes(state, limit->card, (int)slot);
    }
    return used;
}

static const struct sim_limit *next(const struct sim_region *region, unsigned card, uint32_t *from) {
    for (; *from < region->limit_bound && *from < SIM_MAX_LIMITS; ++*from)
        if (region->limits[*from].in_use && region->limits[*from].card == card)
            return &region->limits[(*from)++];
    return NULL;
}

static const struct sim_limit *find(const struct sim_region *region, unsigned card, const char *cgroup) {
    const struct sim_limit *limit;
    uint32_t from = 0;

    while ((limit = next(region, card, &from)))
        if (strcmp(limit->cgroup, cgroup) == 0)
            return limit;
    return NULL;
}

uint64_t sim_limits_room(const struct sim_state *state, unsigned card, uint64_t room) {
    const char *own = state->region->processes[state->slot].cgroups;
    const struct sim_limit *limit;
    uint32_t from = 0;

    while (*own && (limit = next(state->region, card, &from))) {
        uint64_t used;

        if (!below(own, limit->cgroup))
            continue;
        used = used_below(state, limit);
        if (room > (used < limit->hard ? limit->hard - used : 0))
            room = used < limit->hard ? limit->hard - used : 0;
    }
    return room;
}

/* Those of cgroups that are gone, as seen from here. */
static void forget_gone(struct sim_region *region) {
    struct stat status;

    for (uint32_t i = 0; i < region->limit_bound && i < SIM_MAX_LIMITS; i++)
        if (region->limits[i].in_use && stat(region->limits[i].cgroup, &status) != 0 && errno == ENOENT)
            region->limits[i].in_use = 0;
}

bool sim_limit_set(struct sim_state *state, unsigned card, const char *cgroup, uint64_t soft, uint64_t hard) {
    struct sim_region *region = state->region;
    bool none = soft == 0 && hard == UINT64_MAX, done = none;
    struct sim_limit *limit;

    if (strlen(cgroup) >= SIM_CGROUP_PATH)
        return false;
    sim_state_lock(state);
    forget_gone(region);
    limit = (struct sim_limit *)find(region, card, cgroup);
    for (uint32_t i = 0; !none && !limit && i < SIM_MAX_LIMITS; i++)
        if (!region->limits[i].in_use) {
            limit = &region->limits[i];
            limit->card = card;
            strcpy(limit->cgroup, cgroup);
            if (i >= region->limit_bound)
                region->limit_bound = i + 1;
        }
    if (limit) {
        limit->soft = soft;
        limit->hard = hard;
        limit->in_use = !none;
        done = true;
    }
    sim_state_unlock(state);
    return done;
}

static bool tell(const struct sim_state *state, const struct sim_limit *found, struct sim_limit *limit,
                 uint64_t *used) {
    if (!found)
        return false;
    limit->soft = found->soft;
    limit->hard = found->hard;
    *used = used_below(state, found);
    return true;
}

bool sim_limit_get(const struct sim_state *state, unsigned card, const char *cgroup, struct sim_limit *limit,
                   uint64_t *used) {
    return tell(state, find(state->region, card, cgroup), limit, used);
}

bool sim_limit_own(const struct sim_state *state, unsigned card, struct sim_limit *limit, uint64_t *used) {
    const struct sim_limit *one;
    char own[SIM_CGROUP_PATHS];
    uint32_t from = 0;

    if (!state->region->limit_bound)
        return false;
    sim_own_cgroups(own);
    while (*own && (one = next(state->region, card, &from)))
        if (at(own, one->cgroup))
            return tell(state, one, limit, used);
    return false;
}
