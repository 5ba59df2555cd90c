/* SPDX-License-Identifier: Apache-2.0 */
/* A 16-byte compare-and-swap without libatomic. Full barrier. */
#ifndef PARTITA_ATOMIC16_H
#define PARTITA_ATOMIC16_H

#include <stdbool.h>
#include <stdint.h>

struct pair {
    uint64_t low, high;
};

#ifdef __SANITIZE_THREAD__ /* it does not see that what is written in assembly is a barrier */
void __tsan_acquire(void *at);
void __tsan_release(void *at);
#define PAIR_TELL(how, at) (__tsan_##how(at), __tsan_##how((char *)(at) + 8))
#else
#define PAIR_TELL(how, at) ((void)0)
#endif

/* Writes `to` to the 16-byte aligned `at` if it holds `from`; whether it did. */
static inline bool pair_swap(void *at, struct pair from, struct pair to) {
#if defined(__x86_64__)
    bool swapped;
    PAIR_TELL(release, at);
    __asm__ volatile("lock cmpxchg16b %1"
                     : "=@ccz"(swapped), "+m"(*(volatile struct pair *)at), "+a"(from.low), "+d"(from.high)
                     : "b"(to.low), "c"(to.high)
                     : "memory");
    PAIR_TELL(acquire, at);
    return swapped;
#elif defined(__aarch64__)
    uint64_t low, high;
    uint32_t failed;
    do {
        __asm__ volatile("ldaxp %0, %1, %2" : "=&r"(low), "=&r"(high) : "Q"(*(struct pair *)at) : "memory");
        /* A store of what was read makes the two loads one: ldaxp alone is not single-copy atomic. */
        bool same = low == from.low && high == from.high;
        struct pair next = same ? to : (struct pair){low, high};
        __asm__ volatile("stlxp %w0, %1, %2, %3"
                         : "=&r"(failed), "+r"(next.low), "+r"(next.high), "=Q"(*(struct pair *)at)
                         :
                         : "memory");
        if (!failed) {
            __asm__ volatile("dmb ish" ::: "memory");
            return same;
        }
    } while (1);
#else
#error "no 16-byte compare-and-swap for this processor"
#endif
}

#endif
