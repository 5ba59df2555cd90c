/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that work together on several cards of a container, whose kernels wait for each other. If a limit held each
 * card by itself, below 50 % they would come to a standstill: a hundredth of the steps, in which cards are busy all the
 * time.
 */
#include "cases.h"
#include "check.h"
#include "ranks_stage.h"

#define MS UINT64_C(1000000)

/*
 * Of the steps that a limit leaves. With sanitizers, beside other tests, eight ranks on two processors are slower by
 * themselves.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LEAST_PART 0.25
#else
#define LEAST_PART 0.5
#endif

/*
 * `steps`: that they make a second without a limit, in which their cards are busy. Whom a busy machine gives no
 * processor makes the others wait on their cards, which is paid afterwards: so what a limit leaves is looked for until
 * some seconds have it, but what is not paid for by the limit is never had.
 */
static void are_held(struct ranks ranks, double steps) {
    double allowed = steps * ranks.cores / 100, longest = 2 * 1000 / allowed + 500;
    bool good = false;
    ranks_begin(&ranks);
    ranks_watch(1500);
    for (int i = 0; i < 10 && !good; i++) {
        struct ranks_outcome held = ranks_watch(3000);
        printf("%.1f to %.1f %% of the cards, %.1f %% paid, %.1f steps a second of %.1f, %.1f ms at most\n", held.least,
               held.most, held.paid, held.steps, allowed, held.longest_ms);
        CHECK(held.paid < ranks.cores + 3);
        good = held.most < ranks.cores + 3 && held.least > ranks.cores * 0.6 && held.steps > allowed * LEAST_PART &&
               held.longest_ms < longest;
    }
    CHECK(good);
    ranks_end();
}

static void two_threads_that_come_at_different_times(void) {
    are_held(
        (struct ranks){
            .count = 2, .cores = 30, .waits = true, .work_ns = 6 * MS, .meet_ns = 2 * MS, .jitter_ns = 4 * MS},
        110);
}

static void processes_with_a_card_each_under_a_small_limit(void) {
    are_held((struct ranks){.count = 2,
                            .cores = 10,
                            .processes = true,
                            .waits = true,
                            .work_ns = 20 * MS,
                            .meet_ns = 5 * MS,
                            .jitter_ns = 1 * MS},
             38);
}

static void eight_threads_that_launch_far_ahead(void) {
    are_held((struct ranks){.count = 8, .cores = 30, .work_ns = 5 * MS, .meet_ns = 1 * MS, .jitter_ns = MS / 2}, 155);
}

static void eight_processes_that_wait_for_each_step(void) {
    are_held((struct ranks){.count = 8,
                            .cores = 40,
                            .processes = true,
                            .waits = true,
                            .work_ns = 5 * MS,
                            .meet_ns = 1 * MS,
                            .jitter_ns = 1 * MS},
             140);
}

static void programs_that_have_nothing_to_do_with_each_other(void) {
    are_held((struct ranks){.count = 2,
                            .cores = 30,
                            .processes = true,
                            .waits = true,
                            .work_ns = 5 * MS,
                            .jitter_ns = MS / 10,
                            .apart = true},
             190);
}

/* The others would keep the card busy that the higher priority wants: with kernels that wait for each other. */
static void ranks_of_which_one_pauses_for_a_higher_priority(void) {
    struct ranks_outcome paused = ranks_run(&(struct ranks){.count = 2,
                                                            .cores = 60,
                                                            .processes = true,
                                                            .waits = true,
                                                            .work_ns = 5 * MS,
                                                            .meet_ns = 1 * MS,
                                                            .jitter_ns = MS,
                                                            .paused = true},
                                            1500, 2000);
    printf("%.1f to %.1f %% of the cards\n", paused.least, paused.most);
    CHECK(paused.most < 3);
}

/*
 * What runs on the other card may be waiting for this launch, and be charged for that: so it does not wait for as long
 * as its own launches took, which may have waited in the same way. Less than it should wait it does where a busy
 * machine has kept one of the two from launching behind the other, and then it tells nothing.
 */
static void a_launch_behind_the_last_turn_waits_no_longer_than_a_short_kernel(void) {
    double held = 0;
    for (int i = 0; i < 10 && !(held >= 20 && held < 40); i++)
        printf("%.1f ms\n", held = ranks_held_behind_the_last_turn());
    CHECK(held >= 20 && held < 40);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(two_threads_that_come_at_different_times),
        CASE(processes_with_a_card_each_under_a_small_limit),
        CASE(eight_threads_that_launch_far_ahead),
        CASE(eight_processes_that_wait_for_each_step),
        CASE(ranks_of_which_one_pauses_for_a_higher_priority),
        CASE(a_launch_behind_the_last_turn_waits_no_longer_than_a_short_kernel),
        CASE(programs_that_have_nothing_to_do_with_each_other),
    };
    return RUN_CASES(cases, argc, argv);
}
