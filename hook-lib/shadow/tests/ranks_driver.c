/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver of eight cards whose kernels can wait for each other across cards, as those of collectives do: one that is
 * to meet its peers runs until all ranks' kernels of that number have begun, and then for as long as it says. Each card
 * does what was launched one after another, in real time, by a thread of the process that uses it.
 * What processes share is in the file that RANKS_MACHINE names.
 */
#include "ranks_driver.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/now.h"
#include "cuda_events.h"
#include "cuda_launch.h"

enum { QUEUE = 1024, EVENTS = 4096 };

struct CUevent_st {
    uint64_t at; /* 0: not yet */
};

struct work {
    enum ranks_kernel kernel; /* 0: the event */
    uint64_t ns;
    struct CUevent_st *event;
};

static struct card {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct work queue[QUEUE];
    uint64_t submitted, done;
    bool started;
    uint32_t met;
} cards[RANKS_CARDS] = {
    [0 ... RANKS_CARDS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER}};

static struct ranks_machine *machine;

static void open_machine(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!machine) {
        int file = open(getenv("RANKS_MACHINE"), O_RDWR | O_CLOEXEC);
        void *mapped = mmap(NULL, sizeof *machine, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (file < 0 || mapped == MAP_FAILED)
            abort();
        machine = mapped;
        close(file);
    }
    pthread_mutex_unlock(&lock);
}

static void wait_for_peers(uint32_t number) {
    uint32_t *arrived = &machine->arrived[number % RANKS_MEETINGS], seen;
    if (__atomic_add_fetch(arrived, 1, __ATOMIC_ACQ_REL) == machine->ranks)
        syscall(SYS_futex, arrived, FUTEX_WAKE, RANKS_CARDS, NULL, NULL, 0);
    while ((seen = __atomic_load_n(arrived, __ATOMIC_ACQUIRE)) < machine->ranks &&
           !__atomic_load_n(&machine->over, __ATOMIC_ACQUIRE))
        syscall(SYS_futex, arrived, FUTEX_WAIT, seen, &(struct timespec){0, 50000000}, NULL, 0);
}

static void sleep_until(uint64_t ns) {
    struct timespec at = {(time_t)(ns / 1000000000), (long)(ns % 1000000000)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) != 0) {
    }
}

static void run(int index, const struct work *work) {
    if (work->kernel) {
        uint64_t begin = now_ns();
        __atomic_store_n(&machine->cards[index].busy_since, begin, __ATOMIC_RELEASE);
        if (work->kernel == RANKS_MEET)
            wait_for_peers(cards[index].met++);
        sleep_until(now_ns() + work->ns);
        __atomic_store_n(&machine->cards[index].busy_since, 0, __ATOMIC_RELEASE);
        __atomic_fetch_add(&machine->cards[index].busy_ns, now_ns() - begin, __ATOMIC_ACQ_REL);
    } else {
        __atomic_store_n(&work->event->at, now_ns(), __ATOMIC_RELEASE);
    }
}

static void *execute(void *argument) {
    struct card *card = argument;
    prctl(PR_SET_TIMERSLACK, 1);
    pthread_mutex_lock(&card->lock);
    for (;;) {
        while (card->done == card->submitted)
            pthread_cond_wait(&card->changed, &card->lock);
        struct work work = card->queue[card->done % QUEUE];
        pthread_mutex_unlock(&card->lock);
        run((int)(card - cards), &work);
        pthread_mutex_lock(&card->lock);
        card->done++;
        pthread_cond_broadcast(&card->changed);
    }
    return NULL;
}

static struct card *current_card(void) {
    return current_context() ? &cards[device_of_current_context()] : NULL;
}

static CUresult submit(struct work work) {
    struct card *card = current_card();
    if (!card)
        return CUDA_ERROR_INVALID_CONTEXT;
    open_machine();
    pthread_mutex_lock(&card->lock);
    pthread_t thread;
    if (!card->started)
        card->started = pthread_create(&thread, NULL, execute, card) == 0;
    while (card->submitted - card->done == QUEUE)
        pthread_cond_wait(&card->changed, &card->lock);
    card->queue[card->submitted++ % QUEUE] = work;
    pthread_cond_broadcast(&card->changed);
    pthread_mutex_unlock(&card->lock);
    return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                        unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes,
                        CUstream stream, void **parameters, void **extra) {
    (void)gridX, (void)gridY, (void)gridZ, (void)blockX, (void)blockY, (void)blockZ, (void)sharedBytes;
    (void)stream, (void)extra;
    return submit((struct work){.kernel = (enum ranks_kernel)(uintptr_t)function, .ns = *(uint64_t *)parameters[0]});
}

CUresult cuCtxSynchronize(void) {
    struct card *card = current_card();
    if (!card)
        return CUDA_ERROR_INVALID_CONTEXT;
    pthread_mutex_lock(&card->lock);
    while (card->done != card->submitted)
        pthread_cond_wait(&card->changed, &card->lock);
    pthread_mutex_unlock(&card->lock);
    return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream stream) {
    struct card *card = current_card();
    (void)stream;
    return card && __atomic_load_n(&card->done, __ATOMIC_ACQUIRE) == __atomic_load_n(&card->submitted, __ATOMIC_ACQUIRE)
               ? CUDA_SUCCESS
               : CUDA_ERROR_NOT_READY;
}

CUresult cuEventCreate(CUevent *event, unsigned int flags) {
    (void)flags;
    *event = calloc(1, sizeof **event);
    return *event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuEventDestroy_v2(CUevent event) {
    free(event);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    (void)stream;
    __atomic_store_n(&event->at, 0, __ATOMIC_RELEASE);
    return submit((struct work){.event = event});
}

CUresult cuEventQuery(CUevent event) {
    return __atomic_load_n(&event->at, __ATOMIC_ACQUIRE) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end) {
    uint64_t from = __atomic_load_n(&start->at, __ATOMIC_ACQUIRE), to = __atomic_load_n(&end->at, __ATOMIC_ACQUIRE);
    *ms = (float)((double)(int64_t)(to - from) / 1e6);
    return from && to ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}
