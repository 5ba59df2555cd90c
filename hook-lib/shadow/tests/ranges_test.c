/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of addresses, against a plain list of them. */
#include "cases.h"
#include "check.h"
#include "common/ranges.h"

enum { PLACES = 512, STEPS = 40000 };

static void what_was_added_is_found_until_it_is_dropped(void) {
    static struct {
        uint64_t size;
        uint32_t value;
    } model[PLACES]; /* by address, one to a unit */
    struct ranges ranges = {0};
    unsigned int random = 3;
    for (int step = 0; step < STEPS; step++) {
        random = random * 1103515245 + 12345;
        uint32_t place = (random >> 16) % PLACES, span = (random >> 8) % 9 + 1;
        if (random & 1 << 5) {
            bool empty = place + span <= PLACES;
            for (uint32_t i = 0; i < PLACES && empty; i++)
                empty = !model[i].size || i >= place + span || i + model[i].size <= place;
            if (empty) {
                CHECK(ranges_add(&ranges, place, span, (uint32_t)step + 1));
                model[place].size = span;
                model[place].value = (uint32_t)step + 1;
            }
        } else {
            uint32_t list = ranges_take(&ranges, place, span), value;
            if (random & 1 << 7) {
                ranges_put_back(&ranges, list);
                list = 0;
            } else {
                for (uint32_t i = place; i < place + span && i < PLACES; i++)
                    if (model[i].size && i + model[i].size <= place + span) {
                        model[i].size = 0;
                        CHECK(list);
                        list = ranges_drop(&ranges, list, &value);
                    }
            }
            CHECK_EQUAL(list, 0);
        }
        uint32_t expected = 0;
        for (uint32_t i = 0; i <= place; i++)
            if (model[i].size && place - i < model[i].size)
                expected = model[i].value;
        CHECK_EQUAL(ranges_at(&ranges, place), expected);
    }
}

static void the_whole_space_can_be_taken(void) {
    struct ranges ranges = {0};
    uint32_t value;
    CHECK(ranges_add(&ranges, UINT64_MAX - 5, 5, 7));
    CHECK(ranges_add(&ranges, 0, 5, 8));
    uint32_t list = ranges_take(&ranges, 0, UINT64_MAX);
    list = ranges_drop(&ranges, list, &value);
    list = ranges_drop(&ranges, list, &value);
    CHECK_EQUAL(list, 0);
    CHECK_EQUAL(ranges_at(&ranges, 0), 0);
    CHECK_EQUAL(ranges_take(&ranges, 0, UINT64_MAX), 0);
}

static void two_ranges_at_one_address_are_both_kept(void) {
    struct ranges ranges = {0};
    uint32_t values[2];
    CHECK(ranges_add(&ranges, 100, 5, 7) && ranges_add(&ranges, 100, 5, 8));
    uint32_t list = ranges_take(&ranges, 90, 50);
    list = ranges_drop(&ranges, list, &values[0]);
    list = ranges_drop(&ranges, list, &values[1]);
    CHECK_EQUAL(list, 0);
    CHECK_EQUAL(values[0] + values[1], 15);
}

static void many_are_added_in_order_and_taken_one_by_one(void) {
    enum { MANY = 100000 };
    struct ranges ranges = {0};
    uint32_t value;
    for (uint32_t i = 0; i < MANY; i++)
        CHECK(ranges_add(&ranges, (uint64_t)i << 21, 1 << 21, i + 1));
    for (uint32_t i = 0; i < MANY; i++) {
        CHECK_EQUAL(ranges_at(&ranges, ((uint64_t)i << 21) + 5), i + 1);
        CHECK_EQUAL(ranges_drop(&ranges, ranges_take(&ranges, (uint64_t)i << 21, 1 << 21), &value), 0);
        CHECK_EQUAL(value, i + 1);
    }
    CHECK_EQUAL(ranges.count, MANY);
    CHECK(ranges_add(&ranges, 1, 1, 1)); /* a place that is used again */
    CHECK_EQUAL(ranges.count, MANY);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(what_was_added_is_found_until_it_is_dropped),
        CASE(the_whole_space_can_be_taken),
        CASE(two_ranges_at_one_address_are_both_kept),
        CASE(many_are_added_in_order_and_taken_one_by_one),
    };
    return RUN_CASES(cases, argc, argv);
}
