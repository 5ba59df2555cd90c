/* SPDX-License-Identifier: Apache-2.0 */
/* Several cards in one process, under core limits: what is timed on one does not wait for another. */
#include <pthread.h>
#include <sched.h>

#include "cards_stage.h"
#include "cases.h"
#include "check.h"

static uint64_t recorded(unsigned int card) {
    return __atomic_load_n(&cards_machine->recorded[card], __ATOMIC_ACQUIRE);
}

static void *launch_and_poll_on_the_first_card(void *nothing) {
    cards_use(0);
    cards_launch();
    cards_poll();
    return nothing;
}

static pthread_t blocked;

static void start_with_a_thread_that_is_blocked(void) {
    cards_start();
    cards_machine->blocked = 1;
    CHECK_EQUAL(pthread_create(&blocked, NULL, launch_and_poll_on_the_first_card, NULL), 0);
    while (__atomic_load_n(&cards_machine->waiting, __ATOMIC_ACQUIRE) == 0)
        sched_yield();
}

static void let_it_go_on(void) {
    __atomic_store_n(&cards_machine->blocked, 0, __ATOMIC_RELEASE);
    CHECK_EQUAL(pthread_join(blocked, NULL), 0);
}

static void while_the_driver_blocks_a_thread_those_in_another_context_of_the_card_are_timed(void) {
    start_with_a_thread_that_is_blocked();
    cards_use_another(0);
    cards_launch();
    cards_poll();
    uint64_t by_this = recorded(0);
    CHECK(by_this >= 2);
    let_it_go_on();
    CHECK(recorded(0) >= by_this + 2);
}

static void while_the_driver_blocks_a_thread_on_one_card_those_on_the_others_are_timed(void) {
    start_with_a_thread_that_is_blocked();
    for (unsigned int card = 1; card < CARDS_DRIVER_CARDS; card++) {
        cards_use(card);
        cards_launch();
        cards_poll();
        CHECK(recorded(card) >= 2); /* a window's start and its end */
    }
    CHECK_EQUAL(recorded(0), 0);
    let_it_go_on();
    CHECK(recorded(0) >= 2);
}

enum { STEPS = 2000 };

static void *launch_on_every_card(void *seed) {
    unsigned int card = (unsigned int)(uintptr_t)seed;
    for (int i = 0; i < STEPS; i++) {
        if (i % 5 == 0)
            cards_use_another(card % CARDS_DRIVER_CARDS);
        else
            cards_use(card++ % CARDS_DRIVER_CARDS);
        cards_launch();
        if (i % 3 == 0)
            cards_poll();
    }
    return NULL;
}

static void threads_that_go_from_card_to_card_are_timed_on_each(void) {
    pthread_t threads[4];
    cards_start();
    for (uintptr_t i = 0; i < 4; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, launch_on_every_card, (void *)(2 * i)), 0);
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    for (unsigned int card = 0; card < CARDS_DRIVER_CARDS; card++)
        CHECK(recorded(card) >= 2);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(while_the_driver_blocks_a_thread_those_in_another_context_of_the_card_are_timed),
        CASE(while_the_driver_blocks_a_thread_on_one_card_those_on_the_others_are_timed),
        CASE(threads_that_go_from_card_to_card_are_timed_on_each),
    };
    return RUN_CASES(cases, argc, argv);
}
