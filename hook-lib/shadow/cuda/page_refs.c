/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda/page_refs.h"

#include <sched.h>
#include <string.h>

#include "common/atomics.h"
#include "common/growing.h"
#include "common/owned_lock.h"
#include "common/ranges.h"
#include "cuda/cuda_contexts.h"
#include "cuda/page_parts.h"
#include "share/cards.h"

struct object {
    uint64_t units;
    int card, device;
    uint32_t refs;     /* handles, mappings, parts, and calls under way; 0: free */
    uint32_t next;     /* of those that are free */
    uint32_t exported; /* how often, calls under way included */
};

/*
 * A handle's number, and how often cuMemRelease can be called with it. In a chain by its hash, or among the free ones.
 */
struct handle {
    uint64_t number;
    page_object object;
    uint32_t count, next;
};

/* Arrays that grow; place 0 stays empty. All, and the parts, guarded by `lock`, which is held for a search at most. */
static struct object *objects;
static struct handle *handles;
static uint32_t object_room, object_count, free_object, handle_room, handle_count, free_handle;
static uint32_t objects_live, handles_live;
enum { CHAINS = 4096 };
static uint32_t chains[CHAINS];
static struct ranges mappings;
static struct owned_lock lock;

static void page_books_enter(void) {
    owned_lock_enter(&lock);
}

static void page_books_leave(void) {
    owned_lock_leave(&lock);
}

/*
 * Units of objects without any reference, to be given back outside the lock: by card, for what one call frees may lie
 * on several.
 */
enum { CARDS = 64 };
static uint64_t waiting[CARDS], waiting_exported[CARDS];
static uint32_t exports; /* 1: there was one */

static void drop_reference(page_object object);

static bool part_within(const struct page_part *inner, const struct page_part *outer) {
    bool so = inner->kind == outer->kind;
    for (int i = 0; i < 3 && so; i++)
        so = inner->from[i] >= outer->from[i] && inner->from[i] - outer->from[i] <= outer->extent[i] &&
             inner->extent[i] <= outer->extent[i] - (inner->from[i] - outer->from[i]);
    return so;
}

/* Those of an owner, all or within one. */
static void drop_parts_of(uint64_t owner, const struct page_part *outer) {
    for (uint32_t i = parts_list(owner, outer), next; i; i = next) {
        const struct page_part part = parts_at(i);
        next = parts_next(i);
        if (!outer || part_within(&part, outer))
            drop_reference(parts_drop(i));
    }
}

/* Under the lock: one reference less. */
static void drop_reference(page_object object) {
    struct object *o = &objects[object];
    if (--o->refs > 0)
        return;
    if (o->card >= 0 && o->card < CARDS)
        *(o->exported ? &waiting_exported[o->card] : &waiting[o->card]) += o->units;
    o->next = free_object;
    free_object = object;
    objects_live--;
    if (o->card == PAGE_NO_CARD)
        drop_parts_of(object, NULL); /* a multicast object that ends lets go of what is bound to it */
}

static void leave_behind(struct page_left left) {
    if (left.units > 0)
        cards_leave_behind(left.card, left.units);
}

/* Also gives back what calls of drop_reference have freed, but for what is left of one card's exported allocations. */
static struct page_left page_books_leave_and_give_back(void) {
    uint64_t freed[CARDS], exported[CARDS];
    struct page_left left = {0, 0};
    bool any = load_relaxed(&exports) != 0;
    memcpy(freed, waiting, sizeof freed);
    memset(waiting, 0, sizeof waiting);
    if (any) {
        memcpy(exported, waiting_exported, sizeof exported);
        memset(waiting_exported, 0, sizeof waiting_exported);
    }
    page_books_leave();
    for (int card = 0; card < CARDS; card++) {
        if (freed[card])
            cards_release(card, SHARE_RESIDENT, freed[card]);
        if (any && exported[card]) {
            leave_behind(left);
            left = (struct page_left){card, exported[card]};
        }
    }
    return left;
}

static uint32_t *chain_of(uint64_t number) {
    return &chains[(number ^ number >> 12 ^ number >> 24) % CHAINS];
}

static struct handle *by_number(uint64_t number) {
    for (uint32_t i = *chain_of(number); i; i = handles[i].next)
        if (handles[i].number == number)
            return &handles[i];
    return NULL;
}

enum { CALLS_AT_ONCE = 64 }; /* threads between page_room and what they add */

static bool room(void **array, uint32_t *room, size_t size, uint32_t live) {
    while (live + CALLS_AT_ONCE >= *room)
        if (!growing_more(array, room, size))
            return false;
    return true;
}

bool page_room(uint32_t more_parts) {
    page_books_enter();
    bool enough = room((void **)&objects, &object_room, sizeof *objects, objects_live) &&
                  room((void **)&handles, &handle_room, sizeof *handles, handles_live) &&
                  ranges_room(&mappings, CALLS_AT_ONCE) && (more_parts == 0 || parts_room(more_parts + CALLS_AT_ONCE));
    page_books_leave();
    return enough;
}

/*
 * One more of that number for the object; without memory for the entry the object stays for ever: never too little is
 * counted.
 */
static void add_handle(uint64_t number, page_object object) {
    struct handle *known = by_number(number);
    if (known) {
        /* else the former was released in a way that we did not see, and stays charged */
        bool same = known->object == object;
        known->count = same ? known->count + 1 : 1;
        known->object = object;
        return;
    }
    uint32_t i = free_handle;
    if (i)
        free_handle = handles[i].next;
    else if (handle_count + 1 < handle_room || growing_more((void **)&handles, &handle_room, sizeof *handles))
        i = ++handle_count;
    if (i) {
        uint32_t *chain = chain_of(number);
        handles[i] = (struct handle){number, object, 1, *chain};
        *chain = i;
        handles_live++;
    }
}

static page_object remove_handle(uint64_t number) {
    for (uint32_t *link = chain_of(number); *link; link = &handles[*link].next) {
        uint32_t i = *link;
        if (handles[i].number != number)
            continue;
        page_object object = handles[i].object;
        if (--handles[i].count == 0) {
            *link = handles[i].next;
            handles[i].next = free_handle;
            free_handle = i;
            handles_live--;
        }
        return object;
    }
    return 0;
}

page_object page_created(uint64_t handle, int card, int device, uint64_t units) {
    page_books_enter();
    page_object object = free_object;
    if (object)
        free_object = objects[object].next;
    else if (object_count + 1 < object_room || growing_more((void **)&objects, &object_room, sizeof *objects))
        object = ++object_count;
    if (object) {
        objects_live++;
        objects[object] = (struct object){units, card, device, 1, 0, 0};
        add_handle(handle, object);
    }
    page_books_leave();
    return object;
}

/* Under the lock. What is bound to a multicast object may end with it. */
static bool was_exported(page_object object) {
    return object && (objects[object].exported > 0 || objects[object].card == PAGE_NO_CARD);
}

bool page_exported(page_object object) {
    if (load_relaxed(&exports) == 0)
        return false;
    page_books_enter();
    bool so = was_exported(object);
    page_books_leave();
    return so;
}

bool page_unmapping_exported(uint32_t unmapping) {
    if (load_relaxed(&exports) == 0)
        return false;
    bool so = false;
    page_books_enter();
    while (unmapping && !so) {
        page_object object;
        unmapping = ranges_next(&mappings, unmapping, &object);
        so = was_exported(object);
    }
    page_books_leave();
    return so;
}

page_object page_release_begin(uint64_t handle) {
    page_books_enter();
    page_object object = remove_handle(handle);
    page_books_leave();
    return object;
}

struct page_left page_release_end(page_object object, uint64_t handle, bool released) {
    if (!object)
        return (struct page_left){0, 0};
    page_books_enter();
    if (released)
        drop_reference(object);
    else
        add_handle(handle, object);
    return page_books_leave_and_give_back();
}

static page_object more(page_object object) {
    if (object)
        objects[object].refs++;
    return object;
}

page_object page_map_begin(uint64_t handle) {
    page_books_enter();
    struct handle *known = by_number(handle);
    page_object object = more(known ? known->object : 0);
    page_books_leave();
    return object;
}

page_object page_export_begin(uint64_t handle) {
    page_object object = page_map_begin(handle);
    page_books_enter();
    if (object) {
        objects[object].exported++;
        store_relaxed(&exports, 1);
    }
    page_books_leave();
    return object;
}

void page_export_end(page_object object, bool exported) {
    if (!object)
        return;
    page_books_enter();
    if (!exported)
        objects[object].exported--;
    drop_reference(object);
    leave_behind(page_books_leave_and_give_back());
}

page_object page_bind_begin(uint64_t address) {
    page_books_enter();
    page_object object = more(ranges_at(&mappings, address));
    page_books_leave();
    return object;
}

/* Without memory for the entry the reference stays: too much is counted rather than too little. */
void page_map_end(page_object object, uint64_t address, uint64_t size, bool mapped) {
    if (!object)
        return;
    page_books_enter();
    if (mapped)
        ranges_add(&mappings, address, size, object);
    else
        drop_reference(object);
    leave_behind(page_books_leave_and_give_back());
}

uint32_t page_unmap_begin(uint64_t address, uint64_t size) {
    page_books_enter();
    uint32_t list = ranges_take(&mappings, address, size);
    page_books_leave();
    return list;
}

struct page_left page_unmap_end(uint32_t unmapping, bool unmapped) {
    if (!unmapping)
        return (struct page_left){0, 0};
    page_books_enter();
    if (!unmapped)
        ranges_put_back(&mappings, unmapping);
    while (unmapped && unmapping) {
        page_object object;
        unmapping = ranges_drop(&mappings, unmapping, &object);
        drop_reference(object);
    }
    return page_books_leave_and_give_back();
}

void page_retain_end(page_object object, uint64_t handle, bool retained) {
    if (!object)
        return;
    page_books_enter();
    if (retained)
        add_handle(handle, object);
    else
        drop_reference(object);
    leave_behind(page_books_leave_and_give_back());
}

void page_imported(uint64_t handle) {
    page_books_enter();
    struct handle *known = by_number(handle);
    if (known) {
        known->count++;
        more(known->object);
    }
    page_books_leave();
}

void page_part_end(page_object object, const struct page_part *part, bool kept) {
    if (!object)
        return;
    page_books_enter();
    if (kept)
        parts_add(part, object); /* without memory for it the reference stays */
    else
        drop_reference(object);
    leave_behind(page_books_leave_and_give_back());
}

void page_part_gone(const struct page_part *part) {
    page_books_enter();
    drop_parts_of(part->owner, part);
    leave_behind(page_books_leave_and_give_back());
}

static bool overlap(const struct page_part *a, const struct page_part *b) {
    bool so = a->kind == b->kind;
    for (int i = 0; i < 3 && so; i++)
        so = a->from[i] >= b->from[i] ? a->from[i] - b->from[i] < b->extent[i] || a->from[i] == b->from[i]
                                      : b->from[i] - a->from[i] < a->extent[i];
    return so;
}

/* The first `length` of a part along an axis, or all but that, becomes one of its own, which keeps the object, too. */
static void cut_off(page_object object, struct page_part *part, int axis, uint64_t length, bool first) {
    struct page_part rest = *part;
    uint64_t others = rest.extent[axis] - length;
    rest.extent[axis] = first ? length : others;
    rest.from[axis] += first ? 0 : length;
    part->extent[axis] = first ? others : length;
    part->from[axis] += first ? length : 0;
    parts_add(&rest, more(object));
}

/* What of the part lies outside becomes parts of their own. False: no memory for them. */
static bool trim_part(page_object object, struct page_part *part, const struct page_part *outer) {
    if (!parts_room(6))
        return false;
    for (int i = 0; i < 3; i++) {
        if (part->from[i] < outer->from[i])
            cut_off(object, part, i, outer->from[i] - part->from[i], true);
        uint64_t reach = outer->extent[i] - (part->from[i] - outer->from[i]);
        if (part->extent[i] > reach)
            cut_off(object, part, i, reach, false);
    }
    return true;
}

/* What was mapped in one piece may be taken out in several. */
bool page_part_moved(const struct page_part *part, uint64_t to) {
    bool any = false;
    page_books_enter();
    for (uint32_t i = parts_list(part->owner, part); i; i = parts_next(i)) {
        struct page_part moved = parts_at(i);
        if (overlap(&moved, part) && (part_within(&moved, part) || trim_part(parts_object(i), &moved, part))) {
            moved.owner = to;
            parts_change(i, &moved);
            any = true;
        }
    }
    page_books_leave();
    return any;
}

void page_parts_moved(uint64_t owner, uint64_t to) {
    page_books_enter();
    for (uint32_t i = parts_list(owner, NULL); i; i = parts_next(i)) {
        struct page_part moved = parts_at(i);
        moved.owner = to;
        parts_change(i, &moved);
    }
    page_books_leave();
}

void page_parts_gone(uint64_t owner) {
    page_books_enter();
    drop_parts_of(owner, NULL);
    leave_behind(page_books_leave_and_give_back());
}

void page_parts_of_context_gone(uint32_t context) {
    page_books_enter();
    for (uint32_t i = 1; i <= parts_bound(); i++)
        if (parts_object(i) && cuda_context_ended_with(parts_at(i).context, context))
            drop_reference(parts_drop(i));
    leave_behind(page_books_leave_and_give_back());
}

int page_device(page_object object) {
    page_books_enter();
    int device = object ? objects[object].device : -1;
    page_books_leave();
    return device;
}

bool page_refs_interrupted(void) {
    return owned_lock_mine(&lock);
}

void page_refs_forget(void) {
    object_count = free_object = handle_count = free_handle = 0;
    objects_live = handles_live = 0;
    memset(chains, 0, sizeof chains);
    memset(waiting, 0, sizeof waiting);
    parts_clear();
    ranges_clear(&mappings);
    lock = (struct owned_lock){0};
}
