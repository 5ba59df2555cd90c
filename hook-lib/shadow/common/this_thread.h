/* SPDX-License-Identifier: Apache-2.0 */
/* The running thread as a number that no other living thread of the process has. */
#ifndef PARTITA_THIS_THREAD_H
#define PARTITA_THIS_THREAD_H

#include <stdint.h>

static inline uint64_t this_thread(void) {
    uint64_t pointer;
#if defined(__x86_64__)
    __asm__("mov %%fs:0, %0" : "=r"(pointer));
#elif defined(__aarch64__)
    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#else
#error "no cheap name of a thread known for this machine"
#endif
    return pointer;
}

#endif
