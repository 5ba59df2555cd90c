/* SPDX-License-Identifier: Apache-2.0 */
/* What there is: the readers of mig.h. */
#include <stdio.h>
#include <string.h>

#include "state.h"

#define MIB (1024ull * 1024)

bool sim_mig_enabled(const struct sim_state *state, unsigned card) {
    return state->region->migs[card].enabled;
}

bool sim_mig_gpu(const struct sim_state *state, const struct sim_card *card, unsigned slot,
                 struct sim_mig_instance *instance) {
    const struct sim_gpu_instance *gpu = &state->region->migs[card->index].gpu[slot];
    unsigned count;
    const struct sim_mig_profile *profiles = sim_mig_profiles(card, &count);
    uint64_t serial = gpu->serial;

    *instance =
        (struct sim_mig_instance){.gpu_serial = serial, .gpu = slot, .profile = gpu->profile, .start = gpu->start};
    if (!serial || instance->profile >= count || gpu->serial != serial)
        return false;
    instance->gpu_id = sim_mig_instance_id(instance->start, profiles[instance->profile].size);
    return true;
}

bool sim_mig_compute(const struct sim_state *state, const struct sim_card *card, unsigned slot,
                     struct sim_mig_instance *instance) {
    const struct sim_compute_instance *compute = &state->region->migs[card->index].compute[slot];
    uint64_t serial = compute->serial;
    unsigned gpu = compute->gpu;

    if (!serial || gpu >= SIM_MIG_MAX || !sim_mig_gpu(state, card, gpu, instance))
        return false;
    instance->serial = serial;
    instance->slot = slot;
    instance->id = compute->id;
    instance->kind = compute->kind;
    instance->compute_start = compute->start;
    return compute->serial == serial;
}

static void insert(struct sim_mig_instance *list, unsigned count, const struct sim_mig_instance *instance) {
    for (; count > 0; count--) {
        const struct sim_mig_instance *before = &list[count - 1];

        if (before->gpu_id < instance->gpu_id || (before->gpu_id == instance->gpu_id && before->id < instance->id))
            break;
        list[count] = *before;
    }
    list[count] = *instance;
}

unsigned sim_mig_gpus(const struct sim_state *state, const struct sim_card *card,
                      struct sim_mig_instance list[SIM_MIG_MAX]) {
    struct sim_mig_instance instance;
    unsigned count = 0;

    for (unsigned slot = 0; slot < SIM_MIG_MAX; slot++)
        if (sim_mig_gpu(state, card, slot, &instance))
            insert(list, count++, &instance);
    return count;
}

unsigned sim_mig_computes(const struct sim_state *state, const struct sim_card *card,
                          struct sim_mig_instance list[SIM_MIG_MAX]) {
    struct sim_mig_instance instance;
    unsigned count = 0;

    for (unsigned slot = 0; slot < SIM_MIG_MAX; slot++)
        if (sim_mig_compute(state, card, slot, &instance))
            insert(list, count++, &instance);
    return count;
}

unsigned sim_mig_visible_computes(const struct sim_state *state, const struct sim_node *node,
                                  const struct sim_card *card, struct sim_mig_instance list[SIM_MIG_MAX]) {
    unsigned all = sim_mig_computes(state, card, list), count = 0;

    for (unsigned i = 0; i < all; i++)
        if (sim_mig_visible(node, card, list[i].gpu_id, list[i].id))
            list[count++] = list[i];
    return count;
}

void sim_mig_card(const struct sim_card *card, const struct sim_mig_instance *instance, struct sim_card *part) {
    unsigned count;
    const struct sim_mig_profile *profile = &sim_mig_profiles(card, &count)[instance->profile];
    const struct sim_mig_compute_profile *compute = sim_mig_compute_kind(profile, instance->kind);
    char name[32];

    *part = *card;
    part->unit = SIM_MIG_UNIT(card->index, instance->slot);
    sim_mig_uuid(card, instance->gpu_id, instance->id, part->uuid, part->uuid_bytes);
    part->memory = profile->memory_mib * MIB;
    part->reserved = 0;
    part->l2_bytes = (int)((unsigned)card->l2_bytes / 8 * profile->size);
    if (!compute)
        return;
    part->sm_count = (int)sim_mig_compute_sm_count(card, profile, compute);
    sim_mig_compute_name(profile, compute, name, sizeof name);
    snprintf(part->name, sizeof part->name, "%.60s MIG %.30s", card->name, name);
}

uint64_t sim_mig_gpu_used(const struct sim_state *state, unsigned card, unsigned gpu) {
    const struct sim_mig *mig = &state->region->migs[card];
    uint64_t used = 0;

    for (unsigned slot = 0; slot < SIM_MIG_MAX; slot++)
        if (mig->compute[slot].serial && mig->compute[slot].gpu == gpu)
            used += sim_state_used(state, SIM_MIG_UNIT(card, slot));
    return used;
}

uint64_t sim_card_used(const struct sim_state *state, unsigned card) {
    uint64_t used = sim_state_used(state, card);

    for (unsigned slot = 0; sim_mig_enabled(state, card) && slot < SIM_MIG_MAX; slot++)
        used += sim_state_used(state, SIM_MIG_UNIT(card, slot));
    return used;
}

uint64_t sim_mig_charged(const struct sim_state *state, unsigned unit) {
    const struct sim_region *region = state->region;
    unsigned card = (unit - SIM_MAX_CARDS) / SIM_MIG_MAX, slot = (unit - SIM_MAX_CARDS) % SIM_MIG_MAX;
    uint64_t used = 0;

    if (unit < SIM_MAX_CARDS)
        return region->used[unit];
    for (unsigned other = 0; other < SIM_MIG_MAX; other++)
        if (other == slot || (region->migs[card].compute[other].serial &&
                              region->migs[card].compute[other].gpu == region->migs[card].compute[slot].gpu))
            used += region->used[SIM_MIG_UNIT(card, other)];
    return used;
}

/* The memory slices that a card's GPU instances take. */
static unsigned taken(const struct sim_state *state, const struct sim_card *card, unsigned profile, unsigned *same) {
    struct sim_mig_instance list[SIM_MIG_MAX];
    unsigned count = sim_mig_gpus(state, card, list), slices = 0, profiles;

    *same = 0;
    for (unsigned i = 0; i < count; i++) {
        slices |= sim_mig_slices(list[i].start, sim_mig_profiles(card, &profiles)[list[i].profile].size);
        *same += list[i].profile == profile;
    }
    return slices;
}

unsigned sim_mig_gpu_room(const struct sim_state *state, const struct sim_card *card, unsigned profile) {
    unsigned profiles, same, room = 0, slices = taken(state, card, profile, &same);
    const struct sim_mig_profile *wanted = &sim_mig_profiles(card, &profiles)[profile];

    for (const char *start = wanted->starts; *start; start++) {
        unsigned own = sim_mig_slices((unsigned)(*start - '0'), wanted->size);

        if (!(slices & own)) {
            slices |= own;
            room++;
        }
    }
    return room < wanted->count - same ? room : wanted->count - same;
}

unsigned sim_mig_compute_room(const struct sim_state *state, const struct sim_card *card,
                              const struct sim_mig_instance *gpu, unsigned kind) {
    struct sim_mig_instance list[SIM_MIG_MAX];
    unsigned count = sim_mig_computes(state, card, list), slices = 0, room = 0, profiles;
    const struct sim_mig_profile *profile = &sim_mig_profiles(card, &profiles)[gpu->profile];
    const struct sim_mig_compute_profile *wanted = sim_mig_compute_kind(profile, kind);

    for (unsigned i = 0; i < count; i++)
        if (list[i].gpu == gpu->gpu)
            slices |= sim_mig_slices(list[i].compute_start, sim_mig_compute_kind(profile, list[i].kind)->slices);
    for (const char *start = wanted->starts; *start; start++) {
        unsigned at = (unsigned)(*start - '0'), own = sim_mig_slices(at, wanted->slices);

        if (at + wanted->slices <= profile->slices && !(slices & own)) {
            slices |= own;
            room++;
        }
    }
    return room;
}
