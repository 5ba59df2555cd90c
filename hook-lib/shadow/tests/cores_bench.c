/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How near to its limit a share comes on the simulated card, by the hardware's own account.
 * cores_bench [seconds [part of a scenario's name [sample period [sample delay]]]], the last two of NVML and in
 * microseconds; a line a share, in percent of the card. A scenario has a second to settle, one with several programs
 * four. "soft" times how soon lent time is taken back, "start" shows what programs get from their beginning on.
 */
#include <math.h>
#include <string.h>

#include "check.h"
#include "cores_stage.h"

enum { MOST = 4 };

struct scenario {
    const char *name;
    unsigned int count;
    struct {
        unsigned int cores;
        const char *limit;
        uint64_t ns;
        unsigned int streams;
        int same; /* in the container of the one before */
        int waits;
        double expected;
    } programs[MOST];
};

#define ALONE(cores, ns, streams, words)                                                                               \
    {                                                                                                                  \
        words, 1, {                                                                                                    \
            {                                                                                                          \
                cores, "hard", ns, streams, 0, 0, cores                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }
#define WAITING(cores, ns, words)                                                                                      \
    {                                                                                                                  \
        words, 1, {                                                                                                    \
            {                                                                                                          \
                cores, "hard", ns, 1, 0, 1, cores                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }
#define PAIR(a, b, ns, other, words)                                                                                   \
    {                                                                                                                  \
        words, 2, {                                                                                                    \
            {a, "hard", ns, 1, 0, 0, a}, {                                                                             \
                b, "hard", other, 1, 0, 0, b                                                                           \
            }                                                                                                          \
        }                                                                                                              \
    }

static const struct scenario scenarios[] = {
    ALONE(10, 20 * US, 1, "alone, 20 us"),
    ALONE(30, 20 * US, 1, "alone, 20 us"),
    ALONE(50, 20 * US, 1, "alone, 20 us"),
    ALONE(70, 20 * US, 1, "alone, 20 us"),
    ALONE(10, 50 * MS, 1, "alone, 50 ms"),
    ALONE(30, 50 * MS, 1, "alone, 50 ms"),
    ALONE(50, 50 * MS, 1, "alone, 50 ms"),
    ALONE(70, 50 * MS, 1, "alone, 50 ms"),
    ALONE(30, 20 * US, 16, "alone, 20 us, 16 streams"),
    ALONE(70, 20 * US, 16, "alone, 20 us, 16 streams"),
    ALONE(30, 2 * MS, 16, "alone, 2 ms, 16 streams"),
    ALONE(50, 50 * MS, 16, "alone, 50 ms, 16 streams"),
    WAITING(30, 500 * US, "alone, 0.5 ms, waits for each"),
    WAITING(50, 2 * MS, "alone, 2 ms, waits for each"),
    PAIR(30, 70, 20 * US, 20 * US, "pair, 20 us"),
    PAIR(10, 90, 20 * US, 20 * US, "pair, 20 us"),
    PAIR(30, 70, 50 * MS, 50 * MS, "pair, 50 ms"),
    PAIR(10, 90, 50 * MS, 50 * MS, "pair, 50 ms"),
    PAIR(30, 70, 20 * US, 50 * MS, "pair, 20 us and 50 ms"),
    PAIR(10, 90, 50 * MS, 20 * US, "pair, 50 ms and 20 us"),
    {"three, the second launches 2 ms and waits",
     3,
     {{20, "hard", 20 * MS, 1, 0, 0, 20}, {30, "hard", 2 * MS, 1, 0, 1, 30}, {40, "hard", 20 * MS, 1, 0, 0, 40}}},
    {"three, the second launches 1.9 ms and waits",
     3,
     {{20, "hard", 20 * MS, 1, 0, 0, 20}, {30, "hard", 1900 * US, 1, 0, 1, 30}, {40, "hard", 20 * MS, 1, 0, 0, 40}}},
    {"two processes in one share, 20 us", 2, {{30, "hard", 20 * US, 1, 0, 0, 30}, {30, "hard", 20 * US, 1, 1, 0, 0}}},
    {"two processes in one share, 50 ms", 2, {{50, "hard", 50 * MS, 1, 0, 0, 50}, {50, "hard", 50 * MS, 1, 1, 0, 0}}},
    {"two processes in one share, 20 us, 5 ms",
     2,
     {{50, "hard", 20 * US, 1, 0, 0, 50}, {50, "hard", 5 * MS, 1, 1, 0, 0}}},
};

static double play(const struct scenario *scenario, unsigned int number, unsigned int ms, double *worst) {
    struct spinner *spinners[MOST];
    double got[MOST], sum = 0;
    const char *container = NULL;
    for (unsigned int i = 0; i < scenario->count; i++) {
        if (!scenario->programs[i].same)
            container = cores_container(text("box-%u-%u", number, i), scenario->programs[i].cores,
                                        scenario->programs[i].limit, 1);
        spinners[i] = spinner_start((struct spinner){.container = container,
                                                     .ns = scenario->programs[i].ns,
                                                     .streams = scenario->programs[i].streams,
                                                     .waits = scenario->programs[i].waits});
    }
    wait_ms(scenario->count > 1 ? 4000 : 1000);
    spinners_measure(spinners, scenario->count, ms, got);
    for (unsigned int i = 0; i < scenario->count; i++)
        spinner_kill(spinners[i]);
    spinners_forget();
    unsigned int shares = 0;
    for (unsigned int i = 0; i < scenario->count; i++) {
        unsigned int of = i;
        double is = got[i];
        while (i + 1 < scenario->count && scenario->programs[i + 1].same)
            is += got[++i];
        double limit = scenario->programs[of].expected, error = is - limit;
        printf("%-42s %6.1f %8.2f %+8.2f\n", shares ? "" : scenario->name, limit, is, error);
        fflush(stdout);
        sum += fabs(error);
        *worst = fabs(error) > *worst ? fabs(error) : *worst;
        shares++;
    }
    return sum / shares;
}

/*
 * How long a soft share of 20 % that had the whole card keeps more than 25 % of it, over 200 ms each, when a share of
 * 80 % comes to want the rest.
 */
static uint64_t taken_back_after(unsigned int round) {
    enum { STEP_MS = 20, STEPS = 10 };
    uint64_t used[STEPS] = {0}, times[STEPS] = {0};
    struct spinner *soft = spinner_start(
        (struct spinner){.container = cores_container(text("soft-%u", round), 20, "soft", 1), .ns = MS, .streams = 1});
    double percent = 0;
    while (percent < 80)
        spinners_measure(&soft, 1, 300, &percent);
    struct spinner *hard = spinner_start(
        (struct spinner){.container = cores_container(text("hard-%u", round), 80, "hard", 1), .ns = MS, .streams = 1});
    uint64_t begin = cores_now(), now;
    for (unsigned int i = 0;; i++) {
        unsigned int at = i % STEPS;
        uint64_t busy = cores_busy(soft->pid);
        now = cores_now();
        if (i >= STEPS && (busy - used[at]) * 100 <= 25 * (now - times[at]))
            break;
        used[at] = busy;
        times[at] = now;
        wait_ms(STEP_MS);
    }
    spinner_kill(soft);
    spinner_kill(hard);
    spinners_forget();
    return now - begin;
}

static void take_back(unsigned int rounds) {
    uint64_t sum = 0, most = 0;
    for (unsigned int i = 0; i < rounds; i++) {
        uint64_t ns = taken_back_after(i);
        sum += ns;
        most = ns > most ? ns : most;
    }
    printf("soft limit takes back after %.0f ms on average, %.0f ms at most, of %u times\n", (double)sum / rounds / 1e6,
           (double)most / 1e6, rounds);
    fflush(stdout);
}

struct beginning {
    unsigned int cores, beside; /* beside: the limit of a share that runs for long by then; 0: none */
    uint64_t ns;
};

/* What a hard share gets of the card in the first second, two and five of its program. */
static void begin_once(const struct beginning *beginning, unsigned int number) {
    static const unsigned int until_ms[] = {1000, 2000, 5000};
    struct spinner *other = NULL;
    double percent, sum[3];
    if (beginning->beside) {
        other = spinner_start(
            (struct spinner){.container = cores_container(text("beside-%u", number), beginning->beside, "hard", 1),
                             .ns = beginning->ns,
                             .streams = 1});
        spinners_measure(&other, 1, 4000, &percent);
    }
    const char *container = cores_container(text("start-%u", number), beginning->cores, "hard", 1);
    uint64_t begin = cores_now();
    struct spinner *one = spinner_start((struct spinner){.container = container, .ns = beginning->ns, .streams = 1});
    for (int i = 0; i < 3; i++) {
        uint64_t passed = cores_now() - begin;
        if (passed < until_ms[i] * MS)
            wait_ms(until_ms[i] - (unsigned int)(passed / MS));
        sum[i] = 100 * (double)cores_busy(one->pid) / (double)(cores_now() - begin);
    }
    spinner_kill(one);
    if (other)
        spinner_kill(other);
    spinners_forget();
    printf("start of %u %% with kernels of %g ms%s: %.1f %% in 1 s, %.1f in 2 s, %.1f in 5 s\n", beginning->cores,
           (double)beginning->ns / 1e6, other ? text(" beside %u %%", beginning->beside) : "", sum[0], sum[1], sum[2]);
    fflush(stdout);
}

static void begin_all(void) {
    static const struct beginning beginnings[] = {{25, 0, 20 * US}, {25, 0, 2 * MS},  {25, 0, 50 * MS},
                                                  {10, 0, 20 * US}, {50, 0, 20 * US}, {25, 75, 20 * US},
                                                  {25, 75, 2 * MS}};
    for (unsigned int i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        begin_once(&beginnings[i], i);
}

int main(int argc, char **argv) {
    unsigned int ms = argc > 1 ? (unsigned int)(atof(argv[1]) * 1000) : 5000;
    const char *only = argc > 2 ? argv[2] : "";
    double sum = 0, worst = 0;
    unsigned int count = 0;
    CHECK(ms > 0);
    cores_stage_sampled(argc > 3 ? (unsigned int)atoi(argv[3]) : 0, argc > 4 ? (unsigned int)atoi(argv[4]) : 0);
    cores_reporter();
    printf("%-42s %6s %8s %8s\n", "", "limit", "got", "error");
    for (unsigned int i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (strstr(scenarios[i].name, only)) {
            sum += play(&scenarios[i], i, ms, &worst);
            count++;
        }
    if (strstr("soft, takes back", only))
        take_back(ms >= 2000 ? 5 : 1);
    if (strstr("start", only))
        begin_all();
    if (count > 0)
        printf("mean absolute error %.2f points, worst %.2f\n", sum / count, worst);
    return 0;
}
