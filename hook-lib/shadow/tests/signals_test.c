/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals that come while calls are under way, often and without SA_RESTART: their handler calls CUDA itself, before a
 * driver that allows it. A handler that waited for the call that it interrupts would never end.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "cases.h"
#include "check.h"
#include "cuda_launch.h"
#include "cuda_pools.h"
#include "scratch.h"

#define MIB (UINT64_C(1) << 20)
#define MS UINT64_C(1000000)

enum { QUOTA_MIB = 256, HELD_BY_HANDLER_MIB = 4, SENTINEL = 4711 };

static struct {
    __typeof__(&cuMemAlloc_v2) alloc;
    __typeof__(&cuMemFree_v2) free;
    __typeof__(&cuMemGetInfo_v2) info;
    __typeof__(&cuLaunchKernel) launch;
    __typeof__(&cuMemAllocAsync) alloc_async;
    __typeof__(&cuMemFreeAsync) free_async;
    __typeof__(&cuMemPoolTrimTo) trim;
    __typeof__(&cuDeviceGetMemPool) pool;
    uint64_t (*used)(void), (*most)(void), (*busy)(void);
    uint64_t *kernel_ns;
} cuda;

static uint32_t handled;
static const char *box;

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    CHECK(found);
    return found;
}

static void start(unsigned int cores) {
    box = scratch_folder();
    make_folders(text("%s/lib/partita", box));
    copy_file(shadow_cuda(), text("%s/lib/libcuda.so.1", box));
    copy_file(SIGNALS_DRIVER, text("%s/lib/partita/libcuda-real.so.1", box));
    write_quota_with(box, "share", "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f", QUOTA_MIB * MIB, 1,
                     cores ? text("cores %u\ncore-limit hard\n", cores) : "");
    make_region(box, "share");
    void *library = dlopen(text("%s/lib/libcuda.so.1", box), RTLD_NOW),
         *driver = dlopen(text("%s/lib/partita/libcuda-real.so.1", box), RTLD_NOW);
    CHECK(library && driver);
    cuda.alloc = (__typeof__(cuda.alloc))symbol(library, "cuMemAlloc_v2");
    cuda.free = (__typeof__(cuda.free))symbol(library, "cuMemFree_v2");
    cuda.info = (__typeof__(cuda.info))symbol(library, "cuMemGetInfo_v2");
    cuda.launch = (__typeof__(cuda.launch))symbol(library, "cuLaunchKernel");
    cuda.alloc_async = (__typeof__(cuda.alloc_async))symbol(library, "cuMemAllocAsync");
    cuda.free_async = (__typeof__(cuda.free_async))symbol(library, "cuMemFreeAsync");
    cuda.trim = (__typeof__(cuda.trim))symbol(library, "cuMemPoolTrimTo");
    cuda.pool = (__typeof__(cuda.pool))symbol(driver, "cuDeviceGetMemPool");
    cuda.used = (uint64_t (*)(void))symbol(driver, "signals_driver_used");
    cuda.most = (uint64_t (*)(void))symbol(driver, "signals_driver_most");
    cuda.busy = (uint64_t (*)(void))symbol(driver, "signals_driver_busy");
    cuda.kernel_ns = symbol(driver, "signals_driver_kernel_ns");
}

/* Every call keeps errno, whatever it met. */
#define KEEPS_ERRNO(call)                                                                                              \
    do {                                                                                                               \
        errno = SENTINEL;                                                                                              \
        call;                                                                                                          \
        CHECK_EQUAL(errno, SENTINEL);                                                                                  \
    } while (0)

static __thread CUdeviceptr held_by_handler; /* several threads may be interrupted at once */

static void ask_and_allocate(int signal) {
    int error = errno;
    size_t free = 0, total = 0;
    (void)signal;
    KEEPS_ERRNO(CHECK_EQUAL(cuda.info(&free, &total), CUDA_SUCCESS));
    CHECK(total == QUOTA_MIB * MIB && free <= total);
    if (held_by_handler) {
        KEEPS_ERRNO(CHECK_EQUAL(cuda.free(held_by_handler), CUDA_SUCCESS));
        held_by_handler = 0;
    } else {
        CUresult result;
        KEEPS_ERRNO(result = cuda.alloc(&held_by_handler, HELD_BY_HANDLER_MIB * MIB));
        CHECK(result == CUDA_SUCCESS || result == CUDA_ERROR_OUT_OF_MEMORY);
        if (result != CUDA_SUCCESS)
            held_by_handler = 0;
    }
    CHECK(cuda.most() <= QUOTA_MIB * MIB);
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
    errno = error;
}

static uint32_t times_handled(void) {
    return __atomic_load_n(&handled, __ATOMIC_RELAXED);
}

/* No signal comes to this thread any more. */
static void handler_lets_go(void) {
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    CHECK_EQUAL(pthread_sigmask(SIG_BLOCK, &alarm, NULL), 0);
    if (held_by_handler)
        CHECK_EQUAL(cuda.free(held_by_handler), CUDA_SUCCESS);
    held_by_handler = 0;
}

static void storm_of(void (*handler)(int), unsigned int us) {
    struct sigaction action = {.sa_handler = handler};
    struct itimerval every = {{0, us}, {0, us}};
    CHECK_EQUAL(sigaction(SIGALRM, &action, NULL), 0);
    CHECK_EQUAL(setitimer(ITIMER_REAL, &every, NULL), 0);
}

static void storm_ends(void) {
    struct itimerval never = {{0, 0}, {0, 0}};
    CHECK_EQUAL(setitimer(ITIMER_REAL, &never, NULL), 0);
    handler_lets_go();
}

static void the_whole_quota_is_free(void) {
    CUdeviceptr pointer;
    size_t free, total;
    CHECK_EQUAL(cuda.used(), 0);
    CHECK_EQUAL(cuda.info(&free, &total), CUDA_SUCCESS);
    CHECK_EQUAL(free, QUOTA_MIB * MIB);
    CHECK_EQUAL(cuda.alloc(&pointer, QUOTA_MIB * MIB), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
}

/*
 * More than the quota is asked for again and again: each refusal looks after the share, which is where a handler finds
 * most of what it could wait for.
 */
static void allocate_and_be_refused(void) {
    CUdeviceptr pointers[8], pointer;
    CUresult result;
    int got = 0;
    for (int i = 0; i < 8; i++) {
        KEEPS_ERRNO(result = cuda.alloc(&pointers[got], i % 2 ? 40 * MIB : 4096));
        CHECK(result == CUDA_SUCCESS || result == CUDA_ERROR_OUT_OF_MEMORY);
        got += result == CUDA_SUCCESS;
    }
    KEEPS_ERRNO(CHECK_EQUAL(cuda.alloc(&pointer, (QUOTA_MIB + 2) * MIB), CUDA_ERROR_OUT_OF_MEMORY));
    while (got > 0)
        KEEPS_ERRNO(CHECK_EQUAL(cuda.free(pointers[--got]), CUDA_SUCCESS));
}

static void a_handler_may_ask_and_allocate_in_the_middle_of_allocations(void) {
    start(0);
    allocate_and_be_refused();
    storm_of(ask_and_allocate, 100);
    while (times_handled() < 200)
        allocate_and_be_refused();
    storm_ends();
    CHECK(cuda.most() <= QUOTA_MIB * MIB);
    the_whole_quota_is_free();
}

static bool over;

static void *allocate_beside(void *unused) {
    while (!__atomic_load_n(&over, __ATOMIC_RELAXED))
        allocate_and_be_refused();
    handler_lets_go();
    return unused;
}

/* Any thread may be the one that is interrupted, also while another waits to be alone. */
static void a_handler_may_ask_and_allocate_while_several_threads_allocate(void) {
    pthread_t threads[3];
    start(0);
    allocate_and_be_refused();
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(pthread_create(&threads[i], NULL, allocate_beside, NULL), 0);
    storm_of(ask_and_allocate, 200);
    while (times_handled() < 20)
        allocate_and_be_refused();
    __atomic_store_n(&over, true, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
    storm_ends();
    CHECK(cuda.most() <= QUOTA_MIB * MIB);
    the_whole_quota_is_free();
}

static CUdeviceptr for_handler; /* memory of a pool, which the handler frees */

static void next_signal(void) {
    const struct itimerval soon = {{0, 0}, {0, 100}};
    CHECK_EQUAL(setitimer(ITIMER_REAL, &soon, NULL), 0);
}

/* Both look at the pools: a refusal lets them give up what they have spare, a free gives it back to them. */
static void be_refused_and_free(int signal) {
    CUdeviceptr pointer;
    int error = errno;
    (void)signal;
    KEEPS_ERRNO(CHECK_EQUAL(cuda.alloc(&pointer, (QUOTA_MIB + 2) * MIB), CUDA_ERROR_OUT_OF_MEMORY));
    CUdeviceptr freed = __atomic_exchange_n(&for_handler, 0, __ATOMIC_RELAXED);
    if (freed)
        CHECK_EQUAL(cuda.free(freed), CUDA_SUCCESS);
    __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
    next_signal(); /* only now: a handler that waits for its patience's end must not be the only one who gets on */
    errno = error;
}

static void a_handler_may_allocate_and_free_in_the_middle_of_what_pools_do(void) {
    CUdeviceptr pointer;
    CUmemoryPool live_pool;
    start(0);
    CHECK_EQUAL(cuda.pool(&live_pool, 0), CUDA_SUCCESS);
    allocate_and_be_refused();
    CHECK_EQUAL(cuda.alloc_async(&pointer, 4 * MIB, NULL), CUDA_SUCCESS);
    CHECK_EQUAL(cuda.free_async(pointer, NULL), CUDA_SUCCESS); /* below the handler may be first each time */
    storm_of(be_refused_and_free, 100);
    while (times_handled() < 200) {
        for (int i = 0; i < 5000; i++) /* mostly in the pools' books, and seldom in the ledger */
            CHECK_EQUAL(cuda.trim(live_pool, SIZE_MAX), CUDA_SUCCESS);
        CHECK_EQUAL(cuda.alloc_async(&pointer, 4 * MIB, NULL), CUDA_SUCCESS);
        pointer = __atomic_exchange_n(&for_handler, pointer, __ATOMIC_RELAXED);
        if (pointer)
            CHECK_EQUAL(cuda.free_async(pointer, NULL), CUDA_SUCCESS);
    }
    storm_ends();
    if (for_handler)
        CHECK_EQUAL(cuda.free_async(for_handler, NULL), CUDA_SUCCESS);
    CHECK(cuda.most() <= QUOTA_MIB * MIB);
    CHECK_EQUAL(cuda.alloc(&pointer, QUOTA_MIB * MIB), CUDA_SUCCESS); /* the pool gives up all of its memory */
    CHECK_EQUAL(cuda.free(pointer), CUDA_SUCCESS);
    the_whole_quota_is_free();
}

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* A launch that waits for its turn sleeps: a signal ends a sleep, not the wait. */
static void a_launch_goes_on_waiting_for_its_turn_whatever_interrupts_it(void) {
    start(20);
    *cuda.kernel_ns = 2 * MS;
    storm_of(ask_and_allocate, 200);
    uint64_t begin = now_ns();
    while (cuda.busy() < 200 * MS)
        KEEPS_ERRNO(CHECK_EQUAL(cuda.launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_SUCCESS));
    uint64_t passed = now_ns() - begin;
    CHECK(times_handled() > 100);
    CHECK(passed >= 500 * MS); /* 1 s, less what may be used at once and is still under way at the end */
    storm_ends();
    the_whole_quota_is_free();
}

/* No function of CUDA's is a point at which a thread is cancelled: the program may hold a lock across it. */
static void *launch_when_cancelled(void *went_on) {
    int state;
    CHECK_EQUAL(pthread_cancel(pthread_self()), 0);
    while (cuda.busy() < 100 * MS)
        CHECK_EQUAL(cuda.launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_SUCCESS);
    *(bool *)went_on = true;
    CHECK_EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state), 0); /* AddressSanitizer cannot follow */
    CHECK_EQUAL(state, PTHREAD_CANCEL_ENABLE);
    return NULL;
}

static void a_thread_is_not_cancelled_while_its_launch_waits_for_its_turn(void) {
    pthread_t thread;
    bool went_on = false;
    start(20);
    *cuda.kernel_ns = 2 * MS;
    CHECK_EQUAL(cuda.launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_SUCCESS); /* what a call does once */
    CHECK_EQUAL(pthread_create(&thread, NULL, launch_when_cancelled, &went_on), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK(went_on);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(a_handler_may_ask_and_allocate_in_the_middle_of_allocations),
        CASE(a_handler_may_ask_and_allocate_while_several_threads_allocate),
        CASE(a_handler_may_allocate_and_free_in_the_middle_of_what_pools_do),
        CASE(a_launch_goes_on_waiting_for_its_turn_whatever_interrupts_it),
        CASE(a_thread_is_not_cancelled_while_its_launch_waits_for_its_turn),
    };
    return RUN_CASES(cases, argc, argv);
}
