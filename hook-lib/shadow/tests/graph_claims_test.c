/* SPDX-License-Identifier: Apache-2.0 */
/* The account of a device's graph memory by itself. */
#include "cases.h"
#include "check.h"
#include "cuda/graph_claims.h"

enum { DEVICE = 0, UNITS = 100 };

static struct graph_reading reading(uint64_t reserved, uint64_t used) {
    return (struct graph_reading){graph_reading_number(), reserved, used, true};
}

/* A launch that begins; gives what is known of its graph. */
static uint64_t launch(uint64_t note, struct graph_reading before, struct graph_reading after, uint64_t more) {
    struct graph_claim claim;
    uint64_t claimed;
    CHECK(graph_claim(DEVICE, &before, UNITS, note, &claim, &claimed));
    CHECK_EQUAL(claimed, more);
    return graph_claim_launched(DEVICE, &claim, &after);
}

static void launches_again_that_do_not_begin_leave_nothing(void) {
    struct graph_claim claim;
    uint64_t more, note = launch(0, reading(0, 0), reading(UNITS, UNITS), UNITS);
    launch(0, reading(UNITS, UNITS), reading(2 * UNITS, 2 * UNITS), UNITS);
    for (int i = 0; i < 5; i++) {
        struct graph_reading before = reading(2 * UNITS, 2 * UNITS);
        CHECK(graph_claim(DEVICE, &before, UNITS, note, &claim, &more));
        CHECK_EQUAL(more, 0);
        graph_claim_undo(DEVICE, &claim);
    }
    launch(0, reading(2 * UNITS, 0), reading(2 * UNITS, UNITS), 0); /* both are done: another one has their memory */
}

static void a_graph_that_may_wait_to_run_again_has_its_memory_still(void) {
    uint64_t note = launch(0, reading(0, 0), reading(UNITS, UNITS), UNITS);
    launch(0, reading(UNITS, UNITS), reading(2 * UNITS, 2 * UNITS), UNITS);
    launch(note, reading(2 * UNITS, 2 * UNITS), reading(2 * UNITS, 2 * UNITS), 0);
    struct graph_reading done = reading(2 * UNITS, 0);
    struct graph_claim claim;
    uint64_t more;
    CHECK(graph_claim(DEVICE, &done, 2 * UNITS, 0, &claim, &more));
    CHECK_EQUAL(more, UNITS);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(launches_again_that_do_not_begin_leave_nothing),
        CASE(a_graph_that_may_wait_to_run_again_has_its_memory_still),
    };
    return RUN_CASES(cases, argc, argv);
}
