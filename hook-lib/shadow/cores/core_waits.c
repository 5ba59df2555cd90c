/* SPDX-License-Identifier: Apache-2.0 */
#include "cores/core_waits.h"

/* A free card begins sooner, and the rest of another's slice is seldom shorter. */
static const uint64_t WAITED_NS = 100000;

enum core_begin core_waits_add(uint64_t *busy_until, uint64_t launched, uint64_t from, uint64_t to) {
    bool begins = launched >= *busy_until;
    *busy_until = to > *busy_until ? to : *busy_until;
    return !begins ? CORE_GOES_ON : from >= launched + WAITED_NS ? CORE_WAITED : CORE_BEGINS;
}
