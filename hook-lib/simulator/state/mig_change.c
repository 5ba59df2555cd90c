/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes: the changes of mig.h. */
#include "state.h"

static bool unit_in_use(const struct sim_state *state, unsigned unit) {
    return sim_state_processes(state, unit, NULL, 0) > 0;
}

bool sim_card_in_use(const struct sim_state *state, unsigned card) {
    bool used = unit_in_use(state, card);

    for (unsigned slot = 0; !used && slot < SIM_MIG_MAX; slot++)
        used = unit_in_use(state, SIM_MIG_UNIT(card, slot));
    return used;
}

static void clear(struct sim_mig *mig) {
    for (unsigned slot = 0; slot < SIM_MIG_MAX; slot++)
        mig->compute[slot].serial = 0;
    for (unsigned slot = 0; slot < SIM_MIG_MAX; slot++)
        mig->gpu[slot].serial = 0;
}

/* Under the lock. */
static enum sim_mig_result switch_locked(struct sim_state *state, unsigned card, bool enabled) {
    struct sim_mig *mig = &state->region->migs[card];

    mig->pending = enabled;
    if (mig->enabled == (uint32_t)enabled)
        return SIM_MIG_DONE;
    if (sim_card_in_use(state, card))
        return SIM_MIG_IN_USE;
    clear(mig);
    mig->enabled = enabled;
    return SIM_MIG_DONE;
}

enum sim_mig_result sim_mig_switch(struct sim_state *state, unsigned card, bool enabled) {
    enum sim_mig_result result;

    sim_state_lock(state);
    result = switch_locked(state, card, enabled);
    sim_state_unlock(state);
    return result;
}

/* Under the lock. */
static enum sim_mig_result make_gpu(struct sim_state *state, const struct sim_card *card, unsigned profile, int start,
                                    unsigned *slot) {
    struct sim_mig *mig = &state->region->migs[card->index];
    struct sim_mig_instance list[SIM_MIG_MAX];
    unsigned profiles, count = sim_mig_gpus(state, card, list), slices = 0, same = 0;
    const struct sim_mig_profile *known = sim_mig_profiles(card, &profiles), *wanted = &known[profile];

    if (!mig->enabled)
        return SIM_MIG_OFF;
    for (unsigned i = 0; i < count; i++) {
        slices |= sim_mig_slices(list[i].start, known[list[i].profile].size);
        same += list[i].profile == profile;
    }
    for (const char *at = wanted->starts; start < 0 && *at; at++)
        if (!(slices & sim_mig_slices((unsigned)(*at - '0'), wanted->size)))
            start = *at - '0';
    if (start < 0 || same == wanted->count || slices & sim_mig_slices((unsigned)start, wanted->size))
        return SIM_MIG_NO_ROOM;
    for (*slot = 0; *slot < SIM_MIG_MAX && mig->gpu[*slot].serial;)
        ++*slot;
    if (*slot == SIM_MIG_MAX)
        return SIM_MIG_NO_ROOM;
    mig->gpu[*slot].profile = profile;
    mig->gpu[*slot].start = (uint32_t)start;
    mig->gpu[*slot].serial = ++state->region->last_instance;
    return SIM_MIG_DONE;
}

enum sim_mig_result sim_mig_make_gpu(struct sim_state *state, const struct sim_card *card, unsigned profile, int start,
                                     unsigned *slot) {
    enum sim_mig_result result;

    sim_state_lock(state);
    result = make_gpu(state, card, profile, start, slot);
    sim_state_unlock(state);
    return result;
}

/* Under the lock. */
static enum sim_mig_result make_compute(struct sim_state *state, const struct sim_card *card, unsigned gpu,
                                        uint64_t serial, unsigned kind, int start, unsigned *slot) {
    struct sim_mig *mig = &state->region->migs[card->index];
    struct sim_mig_instance parent, list[SIM_MIG_MAX];
    const struct sim_mig_compute_profile *wanted;
    const struct sim_mig_profile *profile;
    unsigned profiles, count, slices = 0, ids = 0, id = 0;

    if (!sim_mig_gpu(state, card, gpu, &parent) || parent.gpu_serial != serial)
        return SIM_MIG_GONE;
    profile = &sim_mig_profiles(card, &profiles)[parent.profile];
    wanted = sim_mig_compute_kind(profile, kind);
    count = sim_mig_computes(state, card, list);
    for (unsigned i = 0; i < count; i++)
        if (list[i].gpu == gpu) {
            slices |= sim_mig_slices(list[i].compute_start, sim_mig_compute_kind(profile, list[i].kind)->slices);
            ids |= 1u << list[i].id;
        }
    for (const char *at = wanted->starts; start < 0 && *at; at++)
        if (!(slices & sim_mig_slices((unsigned)(*at - '0'), wanted->slices)))
            start = *at - '0';
    if (start < 0 || (unsigned)start + wanted->slices > profile->slices ||
        slices & sim_mig_slices((unsigned)start, wanted->slices))
        return SIM_MIG_NO_ROOM;
    for (*slot = 0; *slot < SIM_MIG_MAX && mig->compute[*slot].serial;)
        ++*slot;
    if (*slot == SIM_MIG_MAX)
        return SIM_MIG_NO_ROOM;
    while (ids >> id & 1)
        id++;
    mig->compute[*slot].gpu = gpu;
    mig->compute[*slot].id = id;
    mig->compute[*slot].kind = kind;
    mig->compute[*slot].start = (uint32_t)start;
    mig->compute[*slot].serial = ++state->region->last_instance;
    return SIM_MIG_DONE;
}

enum sim_mig_result sim_mig_make_compute(struct sim_state *state, const struct sim_card *card, unsigned gpu,
                                         uint64_t serial, unsigned kind, int start, unsigned *slot) {
    enum sim_mig_result result;

    sim_state_lock(state);
    result = make_compute(state, card, gpu, serial, kind, start, slot);
    sim_state_unlock(state);
    return result;
}

enum sim_mig_result sim_mig_end_compute(struct sim_state *state, unsigned card, unsigned slot, uint64_t serial) {
    struct sim_compute_instance *compute = &state->region->migs[card].compute[slot];
    enum sim_mig_result result = SIM_MIG_DONE;

    sim_state_lock(state);
    if (compute->serial != serial)
        result = SIM_MIG_GONE;
    else if (unit_in_use(state, SIM_MIG_UNIT(card, slot)))
        result = SIM_MIG_IN_USE;
    else
        compute->serial = 0;
    sim_state_unlock(state);
    return result;
}

enum sim_mig_result sim_mig_end_gpu(struct sim_state *state, unsigned card, unsigned slot, uint64_t serial, bool all) {
    struct sim_mig *mig = &state->region->migs[card];
    enum sim_mig_result result = SIM_MIG_DONE;

    sim_state_lock(state);
    if (mig->gpu[slot].serial != serial)
        result = SIM_MIG_GONE;
    for (unsigned i = 0; i < SIM_MIG_MAX; i++)
        if (mig->compute[i].serial && mig->compute[i].gpu == slot &&
            (!all || unit_in_use(state, SIM_MIG_UNIT(card, i))))
            result = result == SIM_MIG_DONE ? SIM_MIG_IN_USE : result;
    if (result == SIM_MIG_DONE) {
        for (unsigned i = 0; i < SIM_MIG_MAX; i++)
            if (mig->compute[i].gpu == slot)
                mig->compute[i].serial = 0;
        mig->gpu[slot].serial = 0;
    }
    sim_state_unlock(state);
    return result;
}

/* Under the lock. */
static void apply(struct sim_state *state, const struct sim_card *card) {
    struct sim_mig *mig = &state->region->migs[card->index];
    unsigned slot, compute, profiles;

    if (mig->declared == sim_mig_layout_id(&card->mig) || sim_card_in_use(state, card->index))
        return;
    clear(mig);
    mig->enabled = mig->pending = card->mig.enabled;
    for (unsigned i = 0; i < card->mig.count; i++) {
        const struct sim_mig_profile *profile = &sim_mig_profiles(card, &profiles)[card->mig.instances[i].profile];

        if (make_gpu(state, card, card->mig.instances[i].profile, (int)card->mig.instances[i].start, &slot) ==
            SIM_MIG_DONE)
            make_compute(state, card, slot, mig->gpu[slot].serial, sim_mig_compute_whole(profile)->kind, 0, &compute);
    }
    mig->declared = sim_mig_layout_id(&card->mig);
}

void sim_mig_apply(struct sim_state *state, const struct sim_node *node) {
    bool changed = false;

    for (unsigned i = 0; i < node->card_count; i++)
        changed |= state->region->migs[i].declared != sim_mig_layout_id(&node->cards[i].mig);
    if (!changed || !sim_state_join(state))
        return;
    sim_state_lock(state);
    for (unsigned i = 0; i < node->card_count; i++)
        apply(state, &node->cards[i]);
    sim_state_unlock(state);
}
