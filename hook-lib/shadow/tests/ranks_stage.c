/* SPDX-License-Identifier: Apache-2.0 */
#include "ranks_stage.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "common/now.h"
#include "cuda_launch.h"
#include "partita/card_report.h"
#include "partita/quota_file.h"
#include "partita/usage_region.h"
#include "ranks_driver.h"
#include "scratch.h"

struct rank_use {
    uint64_t steps, longest_ns;
};

static struct shared {
    struct ranks_machine machine; /* first: the driver maps it */
    struct rank_use ranks[RANKS_CARDS];
    uint32_t watched;
} *shared;

const char *ranks_box;
static struct ranks program;
static void *library;

static void *function(const char *name) {
    void *found = dlsym(library, name);
    CHECK(found);
    return found;
}

#define CUDA(name) ((__typeof__(&name))function(#name))

static void pass_ns(uint64_t ns) {
    struct timespec pause = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    nanosleep(&pause, NULL);
}

static void launch(unsigned int rank, enum ranks_kernel kernel, uint64_t ns) {
    void *parameters[] = {&ns};
    uint64_t begin = now_ns();
    CUfunction handle = (CUfunction)(uintptr_t)kernel;
    CHECK_EQUAL(CUDA(cuLaunchKernel)(handle, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL), CUDA_SUCCESS);
    uint64_t took = now_ns() - begin;
    if (__atomic_load_n(&shared->watched, __ATOMIC_RELAXED) &&
        took > __atomic_load_n(&shared->ranks[rank].longest_ns, __ATOMIC_RELAXED))
        __atomic_store_n(&shared->ranks[rank].longest_ns, took, __ATOMIC_RELAXED);
}

static void synchronize(void) {
    CHECK_EQUAL(CUDA(cuCtxSynchronize)(), CUDA_SUCCESS);
}

static void use_card(unsigned int card) {
    CUcontext context;
    CHECK_EQUAL(CUDA(cuDevicePrimaryCtxRetain)(&context, (CUdevice)card), CUDA_SUCCESS);
    CHECK_EQUAL(CUDA(cuCtxSetCurrent)(context), CUDA_SUCCESS);
}

static void *run_rank(void *number) {
    unsigned int rank = (unsigned int)(uintptr_t)number, seed = rank + 1;
    use_card(rank);
    while (!__atomic_load_n(&shared->machine.over, __ATOMIC_ACQUIRE)) {
        if (program.jitter_ns)
            pass_ns((uint64_t)rand_r(&seed) % program.jitter_ns);
        launch(rank, RANKS_SPIN, program.work_ns);
        if (!program.apart)
            launch(rank, RANKS_MEET, program.meet_ns);
        if (program.waits)
            synchronize();
        __atomic_fetch_add(&shared->ranks[rank].steps, 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* How far the two below have come in a round. */
static uint32_t relay;
static uint64_t relay_held;

static void relay_wait(uint32_t until) {
    while (__atomic_load_n(&relay, __ATOMIC_ACQUIRE) != until)
        pass_ns(100000);
}

/* Owes a little, so that it launches behind the other card only; its last kernel is long. */
static void *relay_second(void *unused) {
    use_card(1);
    launch(1, RANKS_SPIN, 60000000);
    synchronize();
    __atomic_store_n(&relay, 1, __ATOMIC_RELEASE);
    relay_wait(2);
    launch(1, RANKS_SPIN, 60000000);
    synchronize();
    launch(1, RANKS_SPIN, 200000000);
    synchronize();
    return unused;
}

static void *relay_first(void *unused) {
    use_card(0);
    relay_wait(1);
    launch(0, RANKS_SPIN, 25000000);
    __atomic_store_n(&relay, 2, __ATOMIC_RELEASE);
    synchronize();
    launch(0, RANKS_SPIN, 95000000);
    synchronize();
    uint64_t begin = now_ns();
    launch(0, RANKS_SPIN, 1000000);
    relay_held = now_ns() - begin;
    synchronize();
    return unused;
}

static void load(void) {
    CHECK((library = dlopen(text("%s/lib/libcuda.so.1", ranks_box), RTLD_NOW)) != NULL);
}

static void make_box(void) {
    ranks_box = scratch_folder();
    make_folders(text("%s/lib/partita", ranks_box));
    copy_file(shadow_cuda(), text("%s/lib/libcuda.so.1", ranks_box));
    copy_file(RANKS_DRIVER, text("%s/lib/partita/libcuda-real.so.1", ranks_box));
    for (unsigned int i = 0; i < program.count; i++) {
        const char *key = text("share%u", i);
        const char *gpu = text("GPU-%1$02x%1$02x%1$02x%1$02x-%1$02x%1$02x-%1$02x%1$02x-%1$02x%1$02x-"
                               "%1$02x%1$02x%1$02x%1$02x%1$02x%1$02x",
                               i);
        write_quota_with(ranks_box, key, gpu, UINT64_C(1) << 30, 1, text("cores %u\ncore-limit hard\n", program.cores));
        make_region(ranks_box, key);
    }
    const char *path = text("%s/machine", ranks_box);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    CHECK(file >= 0 && ftruncate(file, sizeof *shared) == 0);
    CHECK((shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)) != MAP_FAILED);
    shared->machine.ranks = program.count;
    CHECK_EQUAL(setenv("RANKS_MACHINE", path, 1), 0);
}

static void busy(uint64_t ns[RANKS_CARDS]) {
    for (int i = 0; i < RANKS_CARDS; i++) {
        uint64_t since = __atomic_load_n(&shared->machine.cards[i].busy_since, __ATOMIC_ACQUIRE), now = now_ns();
        ns[i] = __atomic_load_n(&shared->machine.cards[i].busy_ns, __ATOMIC_ACQUIRE) +
                (since && since < now ? now - since : 0);
    }
}

/* Reports of the first card until all is over, as the plugin writes them. */
static void *want_first_card(void *unused) {
    int out = open(text("%s" PARTITA_SHARES_FOLDER "/share0/" PARTITA_REPORT_NAME, ranks_box),
                   O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    CHECK(out >= 0);
    for (unsigned long long number = 1; !__atomic_load_n(&shared->machine.over, __ATOMIC_ACQUIRE); number++) {
        char words[PARTITA_REPORT_LIMIT];
        int length = snprintf(words, sizeof words,
                              PARTITA_REPORT_MAGIC "\nreport %020llu\nat %020llu\nbusy %020u\nothers 100\nwanted 1\n"
                                                   "sampled %020u\nend %020llu\n",
                              number, number * 150000000, 0, 0, number);
        CHECK(pwrite(out, words, (size_t)length, 0) == length);
        pass_ns(150000000);
    }
    close(out);
    return unused;
}

/* ns of kernels that have ended, less what of their time the limit has not paid for. */
static double paid(unsigned int card) {
    const double burst = -20e6;
    int file = open(region_path(ranks_box, text("share%u", card)), O_RDONLY | O_CLOEXEC);
    struct partita_compute compute;
    CHECK(file >= 0 &&
          pread(file, &compute, sizeof compute, offsetof(struct partita_region, compute)) == sizeof compute);
    close(file);
    double owed = ((double)compute.account.paid_until - (double)now_ns()) * program.cores / 100;
    return (double)__atomic_load_n(&shared->machine.cards[card].busy_ns, __ATOMIC_ACQUIRE) -
           (owed < burst ? burst : owed);
}

struct ranks_outcome ranks_watch(unsigned int ms) {
    uint64_t before[RANKS_CARDS], after[RANKS_CARDS], steps[RANKS_CARDS], begin = now_ns();
    double paid_before[RANKS_CARDS] = {0};
    struct ranks_outcome outcome = {.least = 1000, .steps = 1e9};
    for (unsigned int i = 0; i < program.count; i++) {
        steps[i] = __atomic_load_n(&shared->ranks[i].steps, __ATOMIC_RELAXED);
        __atomic_store_n(&shared->ranks[i].longest_ns, 0, __ATOMIC_RELAXED);
        paid_before[i] = paid(i);
    }
    busy(before);
    __atomic_store_n(&shared->watched, 1, __ATOMIC_RELAXED);
    pass_ns((uint64_t)ms * 1000000);
    busy(after);
    double passed = (double)(now_ns() - begin);
    for (unsigned int i = 0; i < program.count; i++) {
        double percent = (double)(after[i] - before[i]) * 100 / passed;
        double rate = (double)(__atomic_load_n(&shared->ranks[i].steps, __ATOMIC_RELAXED) - steps[i]) * 1e9 / passed;
        double longest = (double)__atomic_load_n(&shared->ranks[i].longest_ns, __ATOMIC_RELAXED) / 1e6;
        double paid_percent = (paid(i) - paid_before[i]) * 100 / passed;
        outcome.paid = i == 0 || paid_percent > outcome.paid ? paid_percent : outcome.paid;
        outcome.mean += percent / program.count;
        outcome.most = percent > outcome.most ? percent : outcome.most;
        outcome.least = percent < outcome.least ? percent : outcome.least;
        outcome.steps = rate < outcome.steps ? rate : outcome.steps;
        outcome.longest_ms = longest > outcome.longest_ms ? longest : outcome.longest_ms;
    }
    return outcome;
}

double ranks_held_behind_the_last_turn(void) {
    pthread_t first, second;
    if (!library) {
        program = (struct ranks){.count = 2, .cores = 10};
        make_box();
        load();
    }
    relay = 0;
    CHECK_EQUAL(pthread_create(&first, NULL, relay_first, NULL), 0);
    CHECK_EQUAL(pthread_create(&second, NULL, relay_second, NULL), 0);
    CHECK_EQUAL(pthread_join(first, NULL), 0);
    CHECK_EQUAL(pthread_join(second, NULL), 0);
    return (double)relay_held / 1e6;
}

static pthread_t threads[RANKS_CARDS], wanting;
static pid_t children[RANKS_CARDS];

void ranks_begin(const struct ranks *ranks) {
    program = *ranks;
    make_box();
    if (!program.processes)
        load();
    for (unsigned int i = 0; i < program.count; i++) {
        if (!program.processes) {
            CHECK_EQUAL(pthread_create(&threads[i], NULL, run_rank, (void *)(uintptr_t)i), 0);
            continue;
        }
        CHECK((children[i] = fork()) >= 0);
        if (children[i] == 0) {
            load();
            run_rank((void *)(uintptr_t)i);
            _exit(0);
        }
    }
    if (program.paused)
        CHECK_EQUAL(pthread_create(&wanting, NULL, want_first_card, NULL), 0);
}

void ranks_end(void) {
    __atomic_store_n(&shared->machine.over, 1, __ATOMIC_RELEASE);
    if (program.paused)
        CHECK_EQUAL(pthread_join(wanting, NULL), 0);
    for (unsigned int i = 0; i < program.count; i++) {
        if (!program.processes)
            CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
        else
            CHECK(kill(children[i], SIGKILL) == 0 && waitpid(children[i], NULL, 0) == children[i]);
    }
}

struct ranks_outcome ranks_run(const struct ranks *ranks, unsigned int settle_ms, unsigned int ms) {
    ranks_begin(ranks);
    pass_ns((uint64_t)settle_ms * 1000000);
    struct ranks_outcome outcome = ranks_watch(ms);
    ranks_end();
    return outcome;
}
