/* SPDX-License-Identifier: Apache-2.0 */
/* The books of physical allocations by themselves: many threads, and numbers that come again. */
#include <pthread.h>

#include "cases.h"
#include "check.h"
#include "cuda/cuda_contexts.h"
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

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(threads_find_what_is_theirs_and_leave_nothing),
        CASE(a_number_that_comes_again_is_the_new_allocations),
        CASE(a_release_that_fails_changes_nothing),
        CASE(what_is_mapped_in_a_later_context_with_the_same_handle_stays),
    };
    return RUN_CASES(cases, argc, argv);
}
