/*
 * Levels of buckets; a key has one bucket of eight places in each level, and each level has eight times the buckets of the one
 * before. An entry goes to the first free place among its buckets, small levels first. A look-up compares all eight keys
 * of the key's bucket in every level that exists: no chains, so a removed place is simply free again.
 */
#define _GNU_SOURCE
#include "table.h"

#include <stddef.h>
#include <sys/mman.h>

enum { PLACES = 8, FIRST_LEVEL_BITS = 7, LEVEL_STEP_BITS = 3 };
enum { FREE = 0, BUSY = 1 }; /* BUSY: being filled */

struct bucket {
    uint64_t keys[PLACES];
    uint64_t values[PLACES];
};

static uint64_t scatter(uint64_t key) {
    key ^= key >> 32;
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return key ^ key >> 29;
}

static size_t buckets_in(int level) {
    return (size_t)1 << (FIRST_LEVEL_BITS + LEVEL_STEP_BITS * level);
}

static struct bucket *level_of(struct table *table, int level, bool grow) {
    struct bucket *buckets = __atomic_load_n(&table->levels[level], __ATOMIC_ACQUIRE);
    if (buckets || !grow)
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

static struct bucket *bucket_of(struct bucket *buckets, int level, uint64_t hash) {
    return &buckets[hash & (buckets_in(level) - 1)];
}

uint64_t table_find(struct table *table, uint64_t key) {
    if (key <= BUSY)
        return 0;
    uint64_t hash = scatter(key);
    for (int level = 0; level < TABLE_LEVELS; level++) {
        struct bucket *buckets = level_of(table, level, false);
        if (!buckets)
            return 0;
        struct bucket *bucket = bucket_of(buckets, level, hash);
        for (int i = 0; i < PLACES; i++) {
            if (__atomic_load_n(&bucket->keys[i], __ATOMIC_ACQUIRE) != key)
                continue;
            uint64_t value = __atomic_load_n(&bucket->values[i], __ATOMIC_RELAXED);
            if (__atomic_load_n(&bucket->keys[i], __ATOMIC_ACQUIRE) == key)
                return value;
        }
    }
    return 0;
}

uint64_t table_take(struct table *table, uint64_t key) {
    if (key <= BUSY)
        return 0;
    uint64_t hash = scatter(key);
    for (int level = 0; level < TABLE_LEVELS; level++) {
        struct bucket *buckets = level_of(table, level, false);
        if (!buckets)
            return 0;
        struct bucket *bucket = bucket_of(buckets, level, hash);
        for (int i = 0; i < PLACES; i++) {
            if (__atomic_load_n(&bucket->keys[i], __ATOMIC_ACQUIRE) != key)
                continue;
            uint64_t value = __atomic_load_n(&bucket->values[i], __ATOMIC_RELAXED);
            uint64_t expected = key;
            if (__atomic_compare_exchange_n(&bucket->keys[i], &expected, FREE, false, __ATOMIC_ACQ_REL,
                                            __ATOMIC_RELAXED))
                return value;
        }
    }
    return 0;
}

bool table_put(struct table *table, uint64_t key, uint64_t value, uint64_t *former) {
    *former = table_take(table, key);
    if (key <= BUSY)
        return false;
    uint64_t hash = scatter(key);
    for (int level = 0; level < TABLE_LEVELS; level++) {
        struct bucket *buckets = level_of(table, level, true);
        if (!buckets)
            return false;
        struct bucket *bucket = bucket_of(buckets, level, hash);
        for (int i = 0; i < PLACES; i++) {
            uint64_t expected = FREE;
            if (__atomic_load_n(&bucket->keys[i], __ATOMIC_RELAXED) == FREE &&
                __atomic_compare_exchange_n(&bucket->keys[i], &expected, BUSY, false, __ATOMIC_ACQUIRE,
                                            __ATOMIC_RELAXED)) {
                __atomic_store_n(&bucket->values[i], value, __ATOMIC_RELAXED);
                __atomic_store_n(&bucket->keys[i], key, __ATOMIC_RELEASE);
                return true;
            }
        }
    }
    return false;
}

void table_clear(struct table *table) {
    for (int level = 0; level < TABLE_LEVELS; level++)
        if (table->levels[level]) {
            munmap(table->levels[level], buckets_in(level) * sizeof(struct bucket));
            table->levels[level] = NULL;
        }
}

void table_sweep(struct table *table, bool (*wanted)(uint64_t value, void *data),
                 void (*taken)(uint64_t value, void *data), void *data) {
    for (int level = 0; level < TABLE_LEVELS; level++) {
        struct bucket *buckets = level_of(table, level, false);
        for (size_t b = 0; buckets && b < buckets_in(level); b++)
            for (int i = 0; i < PLACES; i++) {
                uint64_t key = __atomic_load_n(&buckets[b].keys[i], __ATOMIC_ACQUIRE);
                uint64_t value = __atomic_load_n(&buckets[b].values[i], __ATOMIC_RELAXED);
                if (key > BUSY && wanted(value, data) &&
                    __atomic_compare_exchange_n(&buckets[b].keys[i], &key, FREE, false, __ATOMIC_ACQ_REL,
                                                __ATOMIC_RELAXED))
                    taken(value, data);
            }
    }
}
