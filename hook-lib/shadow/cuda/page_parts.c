/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A treap as in ranges.c, by owner, kind and the place where a part begins, axis after axis. Each node knows the box
 * around all that is below it: a search goes only where that touches the place it looks for.
 */
#include "cuda/page_parts.h"

#include "common/growing.h"

enum { AXES = 3 };

struct part {
    struct page_part what;
    page_object object; /* 0: free */
    uint32_t left, right, priority;
    uint32_t next;                    /* of a list, or of those that are free */
    uint64_t least[AXES], most[AXES]; /* the box around this one and all below it */
};

static struct part *parts; /* place 0 stays empty */
static uint32_t part_room, part_count, parts_free, free_part, root, randomness;

/* Where it ends, or as far as can be counted. */
static uint64_t end_of(const struct page_part *part, int axis) {
    uint64_t from = part->from[axis], extent = part->extent[axis];
    return extent <= UINT64_MAX - from ? from + extent : UINT64_MAX;
}

static int order(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

static bool before(uint32_t a, uint32_t b) {
    const struct page_part *first = &parts[a].what, *second = &parts[b].what;
    int so = order(first->owner, second->owner);
    so = so ? so : order(first->kind, second->kind);
    for (int i = AXES - 1; i >= 0 && so == 0; i--)
        so = order(first->from[i], second->from[i]);
    return so ? so < 0 : a < b;
}

static void include(struct part *part, uint32_t below) {
    for (int i = 0; i < AXES && below; i++) {
        part->least[i] = parts[below].least[i] < part->least[i] ? parts[below].least[i] : part->least[i];
        part->most[i] = parts[below].most[i] > part->most[i] ? parts[below].most[i] : part->most[i];
    }
}

/* After a change of what is below it. */
static void put_box_around(uint32_t node) {
    struct part *part = &parts[node];
    for (int i = 0; i < AXES; i++) {
        part->least[i] = part->what.from[i];
        part->most[i] = end_of(&part->what, i);
    }
    include(part, part->left);
    include(part, part->right);
}

/* *low: what stands before the node, *high: the rest. */
static void split_parts(uint32_t tree, uint32_t node, uint32_t *low, uint32_t *high) {
    if (!tree) {
        *low = *high = 0;
        return;
    }
    if (before(tree, node)) {
        *low = tree;
        split_parts(parts[tree].right, node, &parts[tree].right, high);
    } else {
        *high = tree;
        split_parts(parts[tree].left, node, low, &parts[tree].left);
    }
    put_box_around(tree);
}

/* All of `low` stands before all of `high`. */
static uint32_t merge_parts(uint32_t low, uint32_t high) {
    if (!low || !high)
        return low ? low : high;
    bool lower = parts[low].priority > parts[high].priority;
    uint32_t top = lower ? low : high;
    if (lower)
        parts[low].right = merge_parts(parts[low].right, high);
    else
        parts[high].left = merge_parts(low, parts[high].left);
    put_box_around(top);
    return top;
}

static void put_in(uint32_t node) {
    uint32_t low, high;
    parts[node].left = parts[node].right = 0;
    put_box_around(node);
    split_parts(root, node, &low, &high);
    root = merge_parts(merge_parts(low, node), high);
}

static uint32_t without(uint32_t tree, uint32_t node) {
    if (tree == node)
        return merge_parts(parts[node].left, parts[node].right);
    if (before(tree, node))
        parts[tree].right = without(parts[tree].right, node);
    else
        parts[tree].left = without(parts[tree].left, node);
    put_box_around(tree);
    return tree;
}

bool parts_room(uint32_t more) {
    while ((uint64_t)part_count - parts_free + more >= part_room)
        if (!growing_more((void **)&parts, &part_room, sizeof *parts))
            return false;
    return true;
}

uint32_t parts_add(const struct page_part *part, page_object object) {
    uint32_t node = free_part;
    if (!node && !parts_room(1))
        return 0;
    if (node) {
        free_part = parts[node].next;
        parts_free--;
    } else {
        node = ++part_count;
    }
    randomness = randomness * 1664525 + 1013904223;
    parts[node] =
        (struct part){.what = *part, .object = object, .priority = (randomness ^ randomness >> 15) * 0x2c1b3c6du};
    put_in(node);
    return node;
}

static bool touches(const uint64_t least[AXES], const uint64_t most[AXES], const struct page_part *place) {
    bool so = true;
    for (int i = 0; i < AXES && so; i++)
        so = least[i] <= end_of(place, i) && place->from[i] <= most[i];
    return so;
}

static void list_below(uint32_t tree, uint64_t owner, const struct page_part *place, uint32_t *list) {
    if (!tree || (place && !touches(parts[tree].least, parts[tree].most, place)))
        return;
    const struct page_part *part = &parts[tree].what;
    int so = order(part->owner, owner);
    so = so || !place ? so : order(part->kind, place->kind);
    if (so >= 0)
        list_below(parts[tree].left, owner, place, list);
    if (so <= 0)
        list_below(parts[tree].right, owner, place, list);
    const uint64_t ends[AXES] = {end_of(part, 0), end_of(part, 1), end_of(part, 2)};
    if (so == 0 && (!place || touches(part->from, ends, place))) {
        parts[tree].next = *list;
        *list = tree;
    }
}

uint32_t parts_list(uint64_t owner, const struct page_part *place) {
    uint32_t list = 0;
    list_below(root, owner, place, &list);
    return list;
}

uint32_t parts_next(uint32_t part) {
    return parts[part].next;
}

uint32_t parts_bound(void) {
    return part_count;
}

struct page_part parts_at(uint32_t part) {
    return parts[part].what;
}

page_object parts_object(uint32_t part) {
    return parts[part].object;
}

void parts_change(uint32_t part, const struct page_part *to) {
    root = without(root, part);
    parts[part].what = *to;
    put_in(part);
}

page_object parts_drop(uint32_t part) {
    page_object object = parts[part].object;
    root = without(root, part);
    parts[part].object = 0;
    parts[part].next = free_part;
    free_part = part;
    parts_free++;
    return object;
}

void parts_clear(void) {
    part_count = parts_free = free_part = root = 0;
}
