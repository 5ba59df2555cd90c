/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Levels of buckets; a key has one bucket of seven places in each level, and each level has eight times the buckets of
 * the one before. An entry goes to the first free place among its buckets, small levels first. A look-up asks the key's
 * bucket in every level that exists: no chains, so a removed place is simply free again.
 *
 * A bucket's first cache line has a byte of each key's hash beside the keys, so that one comparison of eight bytes
 * tells that none of them is wanted. A byte is written before its key and stays when the key goes: it may point at a
 * place in vain, never away from one.
 */
#define _GNU_SOURCE
#include "common/table.h"

#include <stddef.h>
#include <sys/mman.h>

#include "common/atomics.h"

enum { PLACES = 7, FIRST_LEVEL_BITS = 7, LEVEL_STEP_BITS = 3 };
enum { FREE = 0, BUSY = 1 }; /* BUSY: being filled or emptied */

struct bucket {
    uint8_t tags[8]; /* the last one is not used */
    uint64_t keys[PLACES];
    uint64_t values[PLACES];
    uint64_t unused;
} __attribute__((aligned(64)));

static uint64_t scatter(uint64_t key) {
    key ^= key >> 32;
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

static uint8_t tag_of(uint64_t hash) {
    return (uint8_t)(hash >> 56);
}

static size_t buckets_in(int level) {
    return (size_t)1 << (FIRST_LEVEL_BITS + LEVEL_STEP_BITS * level);
}

static inline struct bucket *level_of(struct table *table, int level) {
    return load_acquire(&table->levels[level]);
}

/* NULL: no memory for it. */
static struct bucket *level_or_grow(struct table *table, int level) {
    struct bucket *buckets = level_of(table, level);
    if (buckets)
        return buckets;
    size_t size = buckets_in(level) * sizeof(struct bucket);
    struct bucket *fresh = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fresh == MAP_FAILED)
        return NULL;
    if (__atomic_compare_exchange_n(&table->levels[level], &buckets, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return fresh;
    munmap(fresh, size);
    return buckets;
}

/*
 * Neighbours in address space, which a driver gives out one after the other, are neighbours here, too: that spares the
 * caches. What lies closer together than allocations of the card do (handles) is spread in all levels but the first.
 */
static struct bucket *bucket_of(struct bucket *buckets, int level, uint64_t key, uint64_t hash) {
    uint64_t near = level == 0 ? 0 : hash >> 40 & 15;
    return &buckets[(scatter(key >> 21) + (key >> 12) + near) & (buckets_in(level) - 1)];
}

/*
 * The key's bucket in every level that exists, and how many. Large tables do not fit the caches: all are asked for
 * before one is looked at.
 */
static int buckets_of(struct table *table, uint64_t key, uint64_t hash, struct bucket *of[TABLE_LEVELS]) {
    int levels = 0;
    for (; levels < TABLE_LEVELS; levels++) {
        struct bucket *buckets = level_of(table, levels);
        if (!buckets)
            break;
        of[levels] = bucket_of(buckets, levels, key, hash);
        if (levels > 0)
            __builtin_prefetch(of[levels], 1);
    }
    return levels;
}

/* The bits 7, 15, ... of the places that may have the key. */
static uint64_t candidates(const struct bucket *bucket, uint8_t tag) {
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t differing = load_acquire((const uint64_t *)(const void *)bucket->tags) ^ ones * tag;
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the places of the tags in a word"
#endif
    return (differing - ones) & ~differing & (ones << 7) & (UINT64_MAX >> 8);
}

static uint64_t find_in(const struct bucket *bucket, uint64_t hash, uint64_t key) {
    for (uint64_t left = candidates(bucket, tag_of(hash)); left; left &= left - 1) {
        int i = __builtin_ctzll(left) / 8;
        if (load_acquire(&bucket->keys[i]) != key)
            continue;
        uint64_t value = load_acquire(&bucket->values[i]); /* before the key is read again */
        if (load_relaxed(&bucket->keys[i]) == key)
            return value;
    }
    return 0;
}

/* The last level has most of the entries of a full table. */
uint64_t table_find(struct table *table, uint64_t key) {
    if (key <= BUSY)
        return 0;
    struct bucket *of[TABLE_LEVELS];
    uint64_t hash = scatter(key), value = 0;
    for (int level = buckets_of(table, key, hash, of); level-- > 0 && !value;)
        value = find_in(of[level], hash, key);
    return value;
}

/*
 * The value is read once nobody else can change it: an entry that was taken and put again in the same place a moment
 * ago has another one. The place stays BUSY.
 */
static bool claim(struct bucket *bucket, int i, uint64_t key, uint64_t *value) {
    if (!__atomic_compare_exchange_n(&bucket->keys[i], &key, BUSY, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return false;
    *value = load_relaxed(&bucket->values[i]);
    return true;
}

static uint64_t take_from(struct bucket *bucket, uint64_t hash, uint64_t key) {
    for (uint64_t left = candidates(bucket, tag_of(hash)); left; left &= left - 1) {
        int i = __builtin_ctzll(left) / 8;
        if (load_acquire(&bucket->keys[i]) != key)
            continue;
        uint64_t value;
        if (claim(bucket, i, key, &value)) {
            store_release(&bucket->keys[i], FREE);
            return value;
        }
    }
    return 0;
}

static uint64_t take_from_any(struct bucket *const of[TABLE_LEVELS], int levels, uint64_t hash, uint64_t key) {
    uint64_t value = 0;
    while (levels-- > 0 && !value)
        value = take_from(of[levels], hash, key);
    return value;
}

uint64_t table_take(struct table *table, uint64_t key) {
    if (key <= BUSY)
        return 0;
    struct bucket *of[TABLE_LEVELS];
    uint64_t hash = scatter(key);
    return take_from_any(of, buckets_of(table, key, hash, of), hash, key);
}

static bool put_into(struct bucket *bucket, uint64_t hash, uint64_t key, uint64_t value) {
    for (int i = 0; i < PLACES; i++) {
        uint64_t expected = FREE;
        if (load_relaxed(&bucket->keys[i]) == FREE &&
            __atomic_compare_exchange_n(&bucket->keys[i], &expected, BUSY, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            store_relaxed(&bucket->values[i], value);
            /* Looking a bucket up reads eight tags at once, which has to wait for a byte that was just written. */
            if (load_relaxed(&bucket->tags[i]) != tag_of(hash))
                store_release(&bucket->tags[i], tag_of(hash));
            store_release(&bucket->keys[i], key);
            return true;
        }
    }
    return false;
}

bool table_put(struct table *table, uint64_t key, uint64_t value, uint64_t *former) {
    *former = 0;
    if (key <= BUSY)
        return false;
    struct bucket *of[TABLE_LEVELS], *fresh;
    uint64_t hash = scatter(key);
    int levels = buckets_of(table, key, hash, of);
    *former = take_from_any(of, levels, hash, key);
    for (int level = 0; level < levels; level++)
        if (put_into(of[level], hash, key, value))
            return true;
    for (int level = levels; level < TABLE_LEVELS && (fresh = level_or_grow(table, level)); level++)
        if (put_into(bucket_of(fresh, level, key, hash), hash, key, value))
            return true;
    return false;
}

void table_clear(struct table *table) {
    for (int level = 0; level < TABLE_LEVELS; level++)
        if (table->levels[level]) {
            munmap(table->levels[level], buckets_in(level) * sizeof(struct bucket));
            table->levels[level] = NULL;
        }
}

static void sweep_place(struct bucket *bucket, int i, bool (*wanted)(uint64_t value, void *data),
                        void (*taken)(uint64_t value, void *data), void *data) {
    uint64_t key = load_acquire(&bucket->keys[i]);
    uint64_t value = load_relaxed(&bucket->values[i]);
    if (key <= BUSY || !wanted(value, data) || !claim(bucket, i, key, &value))
        return;
    bool still = wanted(value, data);
    store_release(&bucket->keys[i], still ? FREE : key);
    if (still)
        taken(value, data);
}

void table_sweep(struct table *table, bool (*wanted)(uint64_t value, void *data),
                 void (*taken)(uint64_t value, void *data), void *data) {
    for (int level = 0; level < TABLE_LEVELS; level++) {
        struct bucket *buckets = level_of(table, level);
        for (size_t b = 0; buckets && b < buckets_in(level); b++)
            for (int i = 0; i < PLACES; i++)
                sweep_place(&buckets[b], i, wanted, taken, data);
    }
}
