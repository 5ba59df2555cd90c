/* SPDX-License-Identifier: Apache-2.0 */
/* Slots and who is alive. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "clock_run.h"

/* Bytes of the file `processes`: first one a slot for being alive, then one a slot for the pid. */
static struct flock byte_lock(off_t byte) {
    return (struct flock){.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
}

bool sim_slot_alive(const struct sim_state *state, unsigned slot) {
    struct flock lock = byte_lock(slot);

    if ((int)slot == state->slot)
        return true;
    return fcntl(state->locks, F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

uint64_t sim_own_pid_namespace(void) {
    char target[64];
    ssize_t length = readlink("/proc/self/ns/pid", target, sizeof target - 1);
    unsigned long long inode = 0;

    if (length <= 0)
        return 0;
    target[length] = '\0';
    return sscanf(target, "pid:[%llu]", &inode) == 1 ? inode : 0;
}

unsigned sim_slot_pid(const struct sim_state *state, unsigned slot) {
    struct flock lock = byte_lock(SIM_MAX_PROCESSES + (off_t)slot);
    const struct sim_process *process = &state->region->processes[slot];
    uint64_t namespace;

    if ((int)slot == state->slot)
        return (unsigned)getpid();
    if (fcntl(state->locks, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK)
        return lock.l_pid > 0 ? (unsigned)lock.l_pid : 0;
    /* The owner lost that lock by closing some descriptor of the file: only its own word is left. */
    namespace = process->pid_namespace;
    return namespace && namespace == sim_own_pid_namespace() ? process->pid : 0;
}

bool sim_slot_claim(struct sim_state *state, unsigned slot) {
    struct flock alive = byte_lock(slot), named = byte_lock(SIM_MAX_PROCESSES + (off_t)slot);

    if (fcntl(state->locks, F_OFD_SETLK, &alive) != 0)
        return false;
    state->slot = (int)slot;
    fcntl(state->locks, F_SETLK, &named);
    return true;
}

static void occupy(struct sim_state *state) {
    struct sim_process *own = &state->region->processes[state->slot];
    uint32_t bound;

    sim_state_lock(state);
    own->pid = (uint32_t)getpid();
    own->pid_namespace = sim_own_pid_namespace();
    sim_own_cgroups(own->cgroups);
    for (int card = 0; card < SIM_MAX_UNITS; card++) {
        own->cards[card].memory = own->cards[card].overhead = 0;
        own->cards[card].contexts = own->cards[card].launches = 0;
        own->cards[card].submitted = own->cards[card].end = own->cards[card].served = 0;
    }
    sim_shared_forget(state, (unsigned)state->slot);
    sim_samples_forget(state, (unsigned)state->slot);
    own->in_use = 1;
    bound = state->region->process_bound;
    if ((uint32_t)state->slot >= bound)
        state->region->process_bound = (uint32_t)state->slot + 1;
    sim_state_rebuild(state);
    sim_state_unlock(state);
}

bool sim_state_join(struct sim_state *state) {
    if (state->slot >= 0)
        return true;
    for (int take_over = 0; take_over <= 1; take_over++)
        for (unsigned slot = 0; slot < SIM_MAX_PROCESSES; slot++)
            if ((take_over || !state->region->processes[slot].in_use) && sim_slot_claim(state, slot)) {
                occupy(state);
                return true;
            }
    errno = EAGAIN;
    return false;
}
