/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a thread from being cancelled and from running signal handlers within a stretch of code that others, or a
 * handler of its own, would wait for forever, and whose waits a signal must not cut short. What tells of a fault of the
 * code itself goes on to the program. Nests; may change errno.
 */
#ifndef PARTITA_INTERRUPTIONS_H
#define PARTITA_INTERRUPTIONS_H

#include <signal.h>

#include "common/cancelling.h"

struct interruptions {
    int cancelling;
    sigset_t signals;
};

static inline void interruptions_off(struct interruptions *former) {
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t all;
    former->cancelling = cancelling_off();
    sigfillset(&all);
    for (unsigned int i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&all, faults[i]);
    /* Linux: of this thread. pthread_sigmask was not in libc for long */
    sigprocmask(SIG_BLOCK, &all, &former->signals);
}

static inline void interruptions_back(const struct interruptions *former) {
    sigprocmask(SIG_SETMASK, &former->signals, NULL);
    cancelling_back(former->cancelling);
}

#endif
