/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a thread from being cancelled within a stretch of code that holds something which others wait for: most system
 * calls are points at which pthread_cancel takes effect, none of the driver's functions is said to be one.
 */
#ifndef PARTITA_CANCELLING_H
#define PARTITA_CANCELLING_H

#include <pthread.h>

static inline int cancelling_off(void) {
    int state = PTHREAD_CANCEL_ENABLE;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    return state;
}

/* `state`: what cancelling_off gave. */
static inline void cancelling_back(int state) {
    pthread_setcancelstate(state, &state);
}

#endif
