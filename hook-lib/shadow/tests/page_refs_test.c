/* SPDX-License-Identifier: Apache-2.0 */
/* The books of physical allocations by themselves: many threads, and numbers that come again. */
#include <pthread.h>
#include <time.h>

#include "cases.h"
#include "check.h"
#include "cuda/cuda_contexts.h"
#include "cuda/page_parts.h"
#include "cuda/page_refs.h"

enum { THREADS = 4, ROUNDS = 300, OBJECTS = 40 };

/* Each thread has handles and addresses of its own; the books are everybody's. */
static void *churn(void *data) {
    uint64_t mine = (uint64_t)(uintptr_t)data << 40;
    for (int round = 0; round < ROUNDS; round++) {
        for (uint64_t i = 0; i < OBJECTS; i++) {
            CHECK(page_created(mine | (i + 1), PAGE_NO_CARD, (int)i, 0));
            page_map_end(page_map_begin(mine | (i + 1)), mine + i * 4096, 4096, true);
            page_object released = page_release_begin(mine | (i + 1));
            CHECK(released);
            page_release_end(released, mine | (i + 1), true);
            CHECK_EQUAL(page_map_begin(mine | (i + 1)), 0);
        }
        for (uint64_t i = 0; i < OBJECTS; i++) {
            page_object object = page_bind_begin(mine + i * 4096 + 17);
            CHECK(object);
            CHECK_EQUAL(page_device(object), (int)i);
            page_part_end(object, &(struct page_part){.owner = mine}, false);
        }
        page_unmap_end(page_unmap_begin(mine, OBJECTS / 2 * 4096), false); /* the driver refuses */
        page_unmap_end(page_unmap_begin(mine, OBJECTS * 4096), true);
        CHECK_EQUAL(page_bind_begin(mine + 5), 0);
    }
    return NULL;
}

static void threads_find_what_is_theirs_and_leave_nothing(void) {
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)) == 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(page_created(7, PAGE_NO_CARD, 0, 0) <= THREADS * OBJECTS); /* places are used again */
}

static void a_number_that_comes_again_is_the_new_allocations(void) {
    page_object first = page_created(5, PAGE_NO_CARD, 1, 0), second = page_created(5, PAGE_NO_CARD, 2, 0);
    CHECK(first && second && first != second);
    page_object found = page_map_begin(5);
    CHECK_EQUAL(page_device(found), 2);
    page_map_end(found, 0, 0, false);
    page_release_end(page_release_begin(5), 5, true);
    CHECK_EQUAL(page_map_begin(5), 0);
}

static void a_release_that_fails_changes_nothing(void) {
    page_object object = page_created(5, PAGE_NO_CARD, 1, 0);
    page_imported(5);
    page_release_end(page_release_begin(5), 5, false);
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(page_map_begin(5), object);
        page_map_end(object, 0, 0, false);
        page_release_end(page_release_begin(5), 5, true);
    }
    CHECK_EQUAL(page_map_begin(5), 0);
    CHECK_EQUAL(page_release_begin(5), 0);
}

/* A number is of a handle, and of how many contexts with it have ended. */
static void what_is_mapped_in_a_later_context_with_the_same_handle_stays(void) {
    const uint32_t former = 5, later = former + (1u << CONTEXT_HANDLE_BITS);
    page_object object = page_created(5, PAGE_NO_CARD, 1, 0);
    page_part_end(page_map_begin(5), &(struct page_part){.owner = 9, .context = later}, true);
    page_release_end(page_release_begin(5), 5, true);
    page_parts_of_context_gone(former);
    CHECK(page_created(6, PAGE_NO_CARD, 1, 0) != object);
    page_parts_of_context_gone(later);
    CHECK_EQUAL(page_created(7, PAGE_NO_CARD, 1, 0), object); /* its place is used again */
}

static uint32_t random_state = 1;

static uint64_t chance(uint32_t of) {
    random_state = random_state * 1664525 + 1013904223;
    return (random_state >> 8) % of;
}

static struct page_part random_part(void) {
    return (struct page_part){.owner = chance(3),
                              .kind = chance(2),
                              .from = {chance(16), chance(16), chance(4)},
                              .extent = {chance(8), chance(4), chance(2)}};
}

static bool apart(const struct page_part *a, const struct page_part *b) {
    bool so = a->kind != b->kind;
    for (int i = 0; i < 3; i++)
        so |= a->from[i] + a->extent[i] < b->from[i] || b->from[i] + b->extent[i] < a->from[i];
    return so;
}

static void the_list_of_a_place_has_all_parts_that_touch_it_and_no_others(void) {
    enum { MOST = 300 };
    struct page_part known[MOST + 1];
    for (int step = 0; step < 20000; step++) {
        struct page_part part = random_part(), place = random_part();
        uint32_t some = (uint32_t)chance(MOST) + 1;
        if (some > parts_bound() || !parts_object(some)) {
            some = parts_add(&part, 7);
            CHECK(some > 0 && some <= MOST);
            known[some] = part;
        } else if (chance(2)) {
            parts_change(some, &part);
            known[some] = part;
        } else {
            CHECK_EQUAL(parts_drop(some), 7);
        }
        uint64_t expected = 0, all = 0;
        for (uint32_t i = 1; i <= parts_bound(); i++)
            if (parts_object(i) && known[i].owner == place.owner) {
                all += i + 1000000;
                expected += apart(&known[i], &place) ? 0 : i + 1000000;
            }
        for (uint32_t i = parts_list(place.owner, &place); i; i = parts_next(i))
            expected -= i + 1000000;
        CHECK_EQUAL(expected, 0);
        for (uint32_t i = parts_list(place.owner, NULL); i; i = parts_next(i))
            all -= i + 1000000;
        CHECK_EQUAL(all, 0);
    }
}

enum { ARRAY = 1 << 20, LEAVING = 1 << 21, COLUMNS = 128 };

static struct page_part tile(uint64_t owner, uint64_t number) {
    return (struct page_part){
        .owner = owner, .from = {number % COLUMNS * 64, number / COLUMNS * 64}, .extent = {64, 64, 1}};
}

/* Maps so many tiles of an array one by one, and unmaps them; ns a tile. */
static uint64_t ns_a_tile(uint64_t tiles) {
    struct timespec begin, end;
    page_created(5, PAGE_NO_CARD, 1, 0);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    for (uint64_t i = 0; i < tiles; i++) {
        struct page_part part = tile(ARRAY, i);
        CHECK(page_room(1));
        page_object object = page_map_begin(5);
        CHECK(!page_part_moved(&part, LEAVING + i)); /* nothing else is there */
        page_part_end(object, &part, true);
    }
    for (uint64_t i = 0; i < tiles; i++) {
        struct page_part part = tile(ARRAY, i * 7919 % tiles);
        CHECK(page_part_moved(&part, LEAVING + i));
        page_parts_gone(LEAVING + i);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    page_release_end(page_release_begin(5), 5, true);
    return ((uint64_t)(end.tv_sec - begin.tv_sec) * 1000000000 + (uint64_t)end.tv_nsec - (uint64_t)begin.tv_nsec) /
           tiles;
}

/* They have 4 times as many places to be at: with the logarithm of that a tile takes a fifth longer. */
static void a_tile_of_many_is_found_about_as_fast_as_one_of_few(void) {
    uint64_t few = UINT64_MAX, many = UINT64_MAX;
    for (int run = 0; run < 3; run++) {
        uint64_t f = ns_a_tile(4000), m = ns_a_tile(16000);
        few = f < few ? f : few;
        many = m < many ? m : many;
    }
    printf("%llu ns a tile of 4,000, %llu of 16,000\n", (unsigned long long)few, (unsigned long long)many);
    CHECK(many < 5 * few / 2);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(threads_find_what_is_theirs_and_leave_nothing),
        CASE(a_number_that_comes_again_is_the_new_allocations),
        CASE(a_release_that_fails_changes_nothing),
        CASE(what_is_mapped_in_a_later_context_with_the_same_handle_stays),
        CASE(the_list_of_a_place_has_all_parts_that_touch_it_and_no_others),
        CASE(a_tile_of_many_is_found_about_as_fast_as_one_of_few),
    };
    return RUN_CASES(cases, argc, argv);
}
