/* SPDX-License-Identifier: Apache-2.0 */
/* The table of allocations. */
#include <pthread.h>

#include "cases.h"
#include "check.h"
#include "common/table.h"

static struct table table;

static uint64_t put(uint64_t key, uint64_t value) {
    uint64_t former;
    CHECK(table_put(&table, key, value, &former));
    return former;
}

static void an_entry_is_taken_once(void) {
    CHECK_EQUAL(table_take(&table, 512), 0);
    CHECK_EQUAL(put(512, 7), 0);
    CHECK_EQUAL(put(1024, 8), 0);
    CHECK_EQUAL(table_take(&table, 512), 7);
    CHECK_EQUAL(table_take(&table, 512), 0);
    CHECK_EQUAL(put(1024, 9), 8);
    CHECK_EQUAL(table_take(&table, 1024), 9);
    CHECK_EQUAL(table_take(&table, 0), 0);
}

static void hundreds_of_thousands_of_entries_are_all_found(void) {
    enum { COUNT = 300000 };
    for (uint64_t i = 1; i <= COUNT; i++)
        CHECK_EQUAL(put(i << 9, i), 0);
    for (uint64_t i = COUNT; i > 0; i--)
        CHECK_EQUAL(table_take(&table, i << 9), i);
    for (uint64_t i = 1; i <= COUNT; i++)
        CHECK_EQUAL(table_take(&table, i << 9), 0);
    table_clear(&table);
}

static bool replaced;
static unsigned int swept;

/* Another thread frees the address, and it is given out again, while the sweep looks at it. */
static bool is_old(uint64_t value, void *unused) {
    (void)unused;
    if (!replaced) {
        replaced = true;
        CHECK_EQUAL(table_take(&table, 512), 7);
        CHECK_EQUAL(put(512, 8), 0);
    }
    return value == 7;
}

static void count_swept(uint64_t value, void *unused) {
    (void)unused;
    CHECK_EQUAL(value, 7);
    swept++;
}

static void an_entry_that_comes_while_its_place_is_swept_stays(void) {
    put(512, 7);
    table_sweep(&table, is_old, count_swept, NULL);
    CHECK_EQUAL(swept, 0);
    CHECK_EQUAL(table_take(&table, 512), 8);
    put(512, 7);
    table_sweep(&table, is_old, count_swept, NULL);
    CHECK_EQUAL(swept, 1);
    CHECK_EQUAL(table_take(&table, 512), 0);
}

static void *own_keys(void *data) {
    uint64_t thread = (uint64_t)(uintptr_t)data;
    for (int round = 0; round < 20; round++) {
        for (uint64_t i = 1; i < 2000; i++)
            put((i * 8 + thread) << 21, i);
        for (uint64_t i = 1; i < 2000; i++)
            CHECK_EQUAL(table_take(&table, (i * 8 + thread) << 21), i);
    }
    return NULL;
}

static void threads_do_not_lose_each_others_entries(void) {
    pthread_t threads[8];
    for (uintptr_t i = 0; i < 8; i++)
        CHECK(pthread_create(&threads[i], NULL, own_keys, (void *)i) == 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(an_entry_is_taken_once),
        CASE(hundreds_of_thousands_of_entries_are_all_found),
        CASE(an_entry_that_comes_while_its_place_is_swept_stays),
        CASE(threads_do_not_lose_each_others_entries),
    };
    return RUN_CASES(cases, argc, argv);
}
