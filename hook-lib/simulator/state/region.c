/* SPDX-License-Identifier: Apache-2.0 */
/* The region's file: made once, complete, under its name; never resized; mapped by everybody. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state.h"

static const char magic[8] = "PSIMGPU";

static bool make_region(const char *dir, const char *path) {
    char temporary[PATH_MAX + 64];
    struct {
        char magic[8];
        uint32_t version;
    } head = {.version = SIM_STATE_VERSION};
    int fd;
    bool done;

    memcpy(head.magic, magic, sizeof magic);
    snprintf(temporary, sizeof temporary, "%s/.state.XXXXXX", dir);
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0)
        return false;
    done = fchmod(fd, 0666) == 0 && pwrite(fd, &head, sizeof head, 0) == (ssize_t)sizeof head &&
           ftruncate(fd, sizeof(struct sim_region)) == 0 && (link(temporary, path) == 0 || errno == EEXIST);
    unlink(temporary);
    close(fd);
    return done;
}

static bool map_region(struct sim_state *state, const char *path, bool writable) {
    int fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    void *memory;

    if (fd < 0)
        return false;
    if (lseek(fd, 0, SEEK_END) != (off_t)sizeof(struct sim_region)) {
        close(fd);
        errno = EINVAL;
        return false;
    }
    memory = mmap(NULL, sizeof(struct sim_region), PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, fd, 0);
    close(fd);
    if (memory == MAP_FAILED)
        return false;
    state->region = memory;
    if (memcmp(state->region->magic, magic, sizeof magic) != 0 || state->region->version != SIM_STATE_VERSION) {
        munmap(memory, sizeof(struct sim_region));
        state->region = NULL;
        errno = EINVAL;
        return false;
    }
    return true;
}

bool sim_state_open(struct sim_state *state, const struct sim_node *node, bool writable) {
    char dir[PATH_MAX + 32], path[PATH_MAX + 64], locks[PATH_MAX + 64];

    *state = (struct sim_state){.locks = -1, .slot = -1, .threads = PTHREAD_MUTEX_INITIALIZER};
    for (unsigned card = 0; card < SIM_MAX_CARDS; card++)
        state->period[card] = card < node->card_count ? node->cards[card].sample_period * 1000 : 1000000000;
    for (unsigned card = 0; card < node->card_count; card++)
        state->slicing[card] =
            (struct sim_slicing){node->cards[card].time_slice * 1000, node->cards[card].slice_change * 1000};
    snprintf(dir, sizeof dir, "%s/" SIM_STATE_DIR, node->root);
    snprintf(path, sizeof path, "%s/state", dir);
    snprintf(locks, sizeof locks, "%s/processes", dir);
    if (access(path, F_OK) != 0 && !make_region(dir, path))
        return false;
    if (!map_region(state, path, writable))
        return false;
    state->writable = writable;
    state->locks = open(locks, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (state->locks < 0)
        state->locks = open(locks, O_RDONLY | O_CLOEXEC);
    else
        fchmod(state->locks, 0666);
    if (state->locks < 0) {
        sim_state_close(state);
        return false;
    }
    if (writable)
        sim_mig_apply(state, node);
    return true;
}

void sim_state_close(struct sim_state *state) {
    if (state->region)
        munmap(state->region, sizeof *state->region);
    if (state->locks >= 0)
        close(state->locks);
    state->region = NULL;
    state->locks = state->slot = -1;
}

void sim_state_forget_after_fork(struct sim_state *state) {
    sim_state_close(state);
    state->threads = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}
