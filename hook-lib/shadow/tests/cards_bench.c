/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads of one process that launch and poll, each on a card of its own, under core limits: how long a step takes with
 * one card and with eight, where a call of the driver for an event takes 100 us without computing. What threads wait
 * for each other shows in the ratio. cards_bench [steps].
 */
#include <pthread.h>
#include <stdlib.h>

#include "cards_stage.h"
#include "check.h"
#include "common/now.h"

static unsigned int steps = 200;

static void *step_on(void *card) {
    cards_use((unsigned int)(uintptr_t)card);
    for (unsigned int i = 0; i < steps; i++) {
        cards_launch();
        cards_poll();
    }
    return NULL;
}

/* us a step of the slowest card. */
static double steps_on(unsigned int cards) {
    pthread_t threads[CARDS_DRIVER_CARDS];
    uint64_t begin = now_ns();
    for (uintptr_t i = 0; i < cards; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, step_on, (void *)i), 0);
    for (unsigned int i = 0; i < cards; i++)
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    return (double)(now_ns() - begin) / 1e3 / steps;
}

int main(int argc, char **argv) {
    if (argc > 1)
        steps = (unsigned int)atoi(argv[1]);
    cards_start();
    cards_machine->call_us = 100;
    double one = steps_on(1), two = steps_on(2), eight = steps_on(CARDS_DRIVER_CARDS);
    printf("%-40s %8s %10s\n", "a launch and a poll, each on its own card", "us", "of 1 card's");
    printf("%-40s %8.0f %10.2f\n%-40s %8.0f %10.2f\n%-40s %8.0f %10.2f\n", "1 card", one, 1.0, "2 cards", two,
           two / one, "8 cards", eight, eight / one);
    return 0;
}
