/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that work together on several cards under core limits: what each rank had of its card, and how many steps
 * they made beside a program without a limit, as a part of what the limit allows. ranks_bench [seconds [name's part]].
 */
#include <string.h>
#include <sys/wait.h>

#include "check.h"
#include "ranks_stage.h"

#define MS UINT64_C(1000000)

static const struct scenario {
    const char *name;
    struct ranks ranks;
} scenarios[] = {
    {"2 ranks, 2 + 1 ms, 0.1 ms late",
     {.count = 2, .waits = true, .work_ns = 2 * MS, .meet_ns = 1 * MS, .jitter_ns = MS / 10}},
    {"2 ranks, 2 + 1 ms, 5 ms late",
     {.count = 2, .waits = true, .work_ns = 2 * MS, .meet_ns = 1 * MS, .jitter_ns = 5 * MS}},
    {"2 ranks, 20 + 5 ms, 1 ms late",
     {.count = 2, .processes = true, .waits = true, .work_ns = 20 * MS, .meet_ns = 5 * MS, .jitter_ns = 1 * MS}},
    {"2 ranks, 2 + 1 ms, far ahead",
     {.count = 2, .processes = true, .work_ns = 2 * MS, .meet_ns = 1 * MS, .jitter_ns = MS / 10}},
    {"8 ranks, 5 + 1 ms, 1 ms late",
     {.count = 8, .processes = true, .waits = true, .work_ns = 5 * MS, .meet_ns = 1 * MS, .jitter_ns = 1 * MS}},
    {"8 ranks, 5 + 1 ms, far ahead", {.count = 8, .work_ns = 5 * MS, .meet_ns = 1 * MS, .jitter_ns = MS / 2}},
    {"2 programs apart, 5 ms",
     {.count = 2, .processes = true, .waits = true, .work_ns = 5 * MS, .jitter_ns = MS / 10, .apart = true}},
};

static struct ranks_outcome in_a_process(const struct ranks *ranks, unsigned int ms) {
    struct ranks_outcome outcome;
    int ends[2];
    fflush(NULL);
    CHECK_EQUAL(pipe(ends), 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        outcome = ranks_run(ranks, 1000, ms);
        CHECK_EQUAL(write(ends[1], &outcome, sizeof outcome), sizeof outcome);
        exit(0);
    }
    close(ends[1]);
    CHECK_EQUAL(read(ends[0], &outcome, sizeof outcome), sizeof outcome);
    close(ends[0]);
    CHECK_EQUAL(waitpid(child, NULL, 0), child);
    return outcome;
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 5;
    static const unsigned int limits[] = {10, 30, 50, 70};
    printf("%-34s limit    most   least  steps  longest wait\n", "");
    for (unsigned int i = 0; i < sizeof scenarios / sizeof *scenarios; i++) {
        if (argc > 2 && !strstr(scenarios[i].name, argv[2]))
            continue;
        struct ranks ranks = scenarios[i].ranks;
        struct ranks_outcome free = in_a_process(&ranks, (unsigned int)(seconds * 1000));
        printf("%-34s none   %5.1f %%  %5.1f %%  %.0f/s\n", scenarios[i].name, free.most, free.least, free.steps);
        for (unsigned int j = 0; j < sizeof limits / sizeof *limits; j++) {
            ranks.cores = limits[j];
            struct ranks_outcome held = in_a_process(&ranks, (unsigned int)(seconds * 1000));
            double allowed = free.mean > limits[j] ? free.steps * limits[j] / free.mean : free.steps;
            printf("%-34s %2u %%   %5.1f %%  %5.1f %%  %4.2f  %7.1f ms\n", scenarios[i].name, limits[j], held.most,
                   held.least, held.steps / allowed, held.longest_ms);
            fflush(stdout);
        }
    }
    return 0;
}
