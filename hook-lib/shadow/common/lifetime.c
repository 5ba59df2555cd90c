/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "common/lifetime.h"

#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/atomics.h"
#include "common/interruptions.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

enum { PAGE = 4096, UNKNOWN = 0, BUSY = 1 };

uint32_t *lifetime_word;
static uint32_t without_page; /* stands in for the page where none can be had */
static uint32_t process;      /* whose state this is, where the kernel does not wipe; 0: it wipes */
static bool opened;

static void make_word(void) {
    uint32_t *none = NULL;
    uint32_t *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool wipes = page != MAP_FAILED && madvise(page, PAGE, MADV_WIPEONFORK) == 0;
    uint32_t *word = wipes ? page : &without_page;
    if (!__atomic_compare_exchange_n(&lifetime_word, &none, word, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        word = none;
    if (page != MAP_FAILED && page != word)
        munmap(page, PAGE);
}

/* Without a wiped page the word never becomes READY, so that every call comes here and compares process ids. */
void lifetime_begin(void) {
    int error = errno;
    struct interruptions interruptions;
    interruptions_off(&interruptions);
    if (!load_acquire(&lifetime_word))
        make_word();
    uint32_t *word = load_acquire(&lifetime_word);
    bool wiped = word != &without_page;
    uint32_t pid = wiped ? 0 : (uint32_t)getpid();
    for (;;) {
        uint32_t state = UNKNOWN;
        if (!wiped && load_acquire(&process) == pid)
            break;
        if (__atomic_compare_exchange_n(word, &state, BUSY, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
            if (opened)
                lifetime_forked();
            else
                lifetime_opened();
            opened = true;
            store_release(&process, pid);
            store_release(word, wiped ? LIFETIME_READY : UNKNOWN);
            break;
        }
        if (state == LIFETIME_READY)
            break;
        sched_yield();
    }
    interruptions_back(&interruptions);
    errno = error;
}
