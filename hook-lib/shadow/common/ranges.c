/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A treap: a search tree by address that is a heap by random priorities, so that it is balanced whatever the order of
 * arrival.
 */
#include "common/ranges.h"

#include "common/growing.h"

struct range_node {
    uint64_t address, size;
    uint32_t value, priority;
    uint32_t left, right; /* `right` links lists of what was taken, and of what is unused */
};

static struct range_node *at(const struct ranges *ranges, uint32_t node) {
    return &ranges->nodes[node];
}

/* *low: what lies below the address, *high: the rest. */
static void split(const struct ranges *ranges, uint32_t root, uint64_t address, uint32_t *low, uint32_t *high) {
    if (!root) {
        *low = *high = 0;
    } else if (at(ranges, root)->address < address) {
        *low = root;
        split(ranges, at(ranges, root)->right, address, &at(ranges, root)->right, high);
    } else {
        *high = root;
        split(ranges, at(ranges, root)->left, address, low, &at(ranges, root)->left);
    }
}

/* All of `low` lies below all of `high`. */
static uint32_t merge(const struct ranges *ranges, uint32_t low, uint32_t high) {
    if (!low || !high)
        return low ? low : high;
    struct range_node *l = at(ranges, low), *h = at(ranges, high);
    if (l->priority > h->priority) {
        l->right = merge(ranges, l->right, high);
        return low;
    }
    h->left = merge(ranges, low, h->left);
    return high;
}

static void insert(struct ranges *ranges, uint32_t node) {
    uint32_t low, high;
    at(ranges, node)->left = at(ranges, node)->right = 0;
    split(ranges, ranges->root, at(ranges, node)->address, &low, &high);
    ranges->root = merge(ranges, merge(ranges, low, node), high);
}

bool ranges_room(struct ranges *ranges, uint32_t more) {
    while ((uint64_t)ranges->count - ranges->unused_count + more >= ranges->room)
        if (!growing_more((void **)&ranges->nodes, &ranges->room, sizeof *ranges->nodes))
            return false;
    return true;
}

static uint32_t fresh(struct ranges *ranges) {
    uint32_t node = ranges->unused;
    if (node) {
        ranges->unused = at(ranges, node)->right;
        ranges->unused_count--;
        return node;
    }
    return ranges_room(ranges, 1) ? ++ranges->count : 0;
}

uint32_t ranges_add(struct ranges *ranges, uint64_t address, uint64_t size, uint32_t value) {
    uint32_t node = fresh(ranges);
    if (!node)
        return 0;
    ranges->random = ranges->random * 1664525 + 1013904223;
    uint32_t priority = (ranges->random ^ ranges->random >> 15) * 0x2c1b3c6du;
    *at(ranges, node) = (struct range_node){address, size, value, priority, 0, 0};
    insert(ranges, node);
    return node;
}

uint32_t ranges_at(const struct ranges *ranges, uint64_t address) {
    uint32_t node = ranges->root, found = 0;
    while (node) {
        bool below = at(ranges, node)->address <= address;
        if (below)
            found = node;
        node = below ? at(ranges, node)->right : at(ranges, node)->left;
    }
    return found && address - at(ranges, found)->address < at(ranges, found)->size ? at(ranges, found)->value : 0;
}

/* Sorts a tree into what ends by `end` and what does not, as lists. */
static void sort(const struct ranges *ranges, uint32_t node, uint64_t address, uint64_t size, uint32_t *inside,
                 uint32_t *outside) {
    if (!node)
        return;
    struct range_node *n = at(ranges, node);
    uint32_t left = n->left, right = n->right;
    uint32_t *list = n->size <= size - (n->address - address) ? inside : outside;
    n->right = *list;
    *list = node;
    sort(ranges, left, address, size, inside, outside);
    sort(ranges, right, address, size, inside, outside);
}

uint32_t ranges_take(struct ranges *ranges, uint64_t address, uint64_t size) {
    uint32_t low, middle, high = 0, inside = 0, outside = 0;
    split(ranges, ranges->root, address, &low, &middle);
    if (size <= UINT64_MAX - address)
        split(ranges, middle, address + size, &middle, &high);
    sort(ranges, middle, address, size, &inside, &outside);
    ranges->root = merge(ranges, low, high);
    ranges_put_back(ranges, outside);
    return inside;
}

void ranges_put_back(struct ranges *ranges, uint32_t list) {
    while (list) {
        uint32_t next = at(ranges, list)->right;
        insert(ranges, list);
        list = next;
    }
}

uint32_t ranges_next(const struct ranges *ranges, uint32_t list, uint32_t *value) {
    *value = at(ranges, list)->value;
    return at(ranges, list)->right;
}

uint32_t ranges_drop(struct ranges *ranges, uint32_t list, uint32_t *value) {
    uint32_t next = ranges_next(ranges, list, value);
    at(ranges, list)->right = ranges->unused;
    ranges->unused = list;
    ranges->unused_count++;
    return next;
}

void ranges_clear(struct ranges *ranges) {
    ranges->count = ranges->unused = ranges->unused_count = ranges->root = 0;
}
