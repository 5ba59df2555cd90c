/* SPDX-License-Identifier: Apache-2.0 */
/* The books of pools by themselves. */
#include "cuda/pool_books.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include "cases.h"
#include "check.h"

enum { POOL = 0x1000, NO_CARD = -1 };

static pool_id pool;

/* That it ends is put off again: AddressSanitizer cannot follow. */
static void *wait_to_be_alone_when_cancelled(void *nothing) {
    int state;
    CHECK_EQUAL(pthread_cancel(pthread_self()), 0);
    CHECK(!pool_call_alone(pool)); /* it gives up */
    CHECK_EQUAL(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state), 0);
    CHECK_EQUAL(state, PTHREAD_CANCEL_ENABLE);
    return nothing;
}

static void a_thread_that_is_cancelled_while_it_waits_to_be_alone_leaves_the_pool_to_others(void) {
    pthread_t thread;
    pool = pool_open(POOL, NO_CARD, 0);
    CHECK(pool);
    pool_call_begin(pool);
    CHECK_EQUAL(pthread_create(&thread, NULL, wait_to_be_alone_when_cancelled, NULL), 0);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    pool_call_end(pool);
    CHECK(pool_call_alone(pool));
    pool_call_alone_end(pool);
}

static void interrupt(int signal) {
    (void)signal;
}

static void a_wait_that_signals_interrupt_keeps_errno(void) {
    enum { SENTINEL = 4711 };
    const struct sigaction action = {.sa_handler = interrupt};
    const struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    pool = pool_open(POOL, NO_CARD, 0);
    pool_call_begin(pool);
    CHECK_EQUAL(sigaction(SIGALRM, &action, NULL), 0);
    CHECK_EQUAL(setitimer(ITIMER_REAL, &every, NULL), 0);
    errno = SENTINEL;
    CHECK(!pool_call_alone(pool)); /* it gives up */
    CHECK_EQUAL(errno, SENTINEL);
    CHECK_EQUAL(setitimer(ITIMER_REAL, &never, NULL), 0);
    pool_call_end(pool);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(a_thread_that_is_cancelled_while_it_waits_to_be_alone_leaves_the_pool_to_others),
        CASE(a_wait_that_signals_interrupt_keeps_errno),
    };
    return RUN_CASES(cases, argc, argv);
}
