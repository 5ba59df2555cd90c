/* SPDX-License-Identifier: Apache-2.0 */
/* The quota file: what is usable and what is not. */
#include <string.h>

#include "cases.h"
#include "check.h"
#include "partita/quota_file.h"
#include "scratch.h"
#include "share/quota.h"

#define HEAD "partita-quota 1\n"
#define GPU "gpu GPU-5c1f\n"

static bool parses(const char *text, struct quota *quota) {
    return quota_parse(text, strlen(text), quota);
}

static void every_key_is_read(void) {
    struct quota quota;
    CHECK(parses(
        HEAD "generation 7\nclaim default/a\nclaim-uid 0b5e\n" GPU
             "memory 8589934592\noverhead 432013312\nphysical 4294967296\ncores 25\ncore-limit hard\npriority 0\nend\n",
        &quota));
    CHECK_EQUAL(quota.generation, 7);
    CHECK(strcmp(quota.gpu, "GPU-5c1f") == 0);
    CHECK_EQUAL(quota.memory, 8589934592);
    CHECK_EQUAL(quota.overhead, 432013312);
    CHECK_EQUAL(quota.physical, 4294967296);
    CHECK_EQUAL(quota.cores, 25);
    CHECK_EQUAL(quota.core_limit, CORE_LIMIT_HARD);
    CHECK_EQUAL(quota.priority, 0);
}

static void unknown_keys_and_what_follows_the_end_are_skipped(void) {
    struct quota quota;
    CHECK(parses(HEAD "later thing\nflag\n" GPU "memory 1\nend\nmemory 99999\n", &quota));
    CHECK_EQUAL(quota.memory, 1);
    CHECK_EQUAL(quota.overhead, 0);
    CHECK(quota.physical == UINT64_MAX);
    CHECK_EQUAL(quota.priority, 1);
    CHECK_EQUAL(quota.core_limit, CORE_LIMIT_NONE);
}

static void a_file_that_breaks_a_rule_is_unusable(void) {
    static const char *const bad[] = {
        "",
        "\n",
        "partita-quota 2\n" GPU "memory 1\nend\n",
        "partita-quota 10\n" GPU "memory 1\nend\n",
        GPU "memory 1\nend\n",
        HEAD GPU "memory 1\noverhead -1\nend\n",
        HEAD GPU "memory 1\nphysical many\nend\n",
        HEAD GPU "memory 1\n",
        HEAD GPU "memory 1\nend",
        HEAD "memory 1\nend\n",
        HEAD GPU "end\n",
        HEAD GPU "memory 0\nend\n",
        HEAD GPU "memory -1\nend\n",
        HEAD GPU "memory 8Gi\nend\n",
        HEAD GPU "memory  8\nend\n",
        HEAD GPU "memory 8 \nend\n",
        HEAD GPU "memory 8\r\nend\r\n",
        HEAD GPU "memory 99999999999999999999999\nend\n",
        HEAD GPU "memory \nend\n",
        HEAD "gpu \nmemory 1\nend\n",
        HEAD "gpu GPU a\nmemory 1\nend\n",
        HEAD GPU "memory 1\noverhead -1\nend\n",
        HEAD GPU "memory 1\noverhead 99999999999999999999999\nend\n",
        HEAD GPU "memory 1\ncores 101\nend\n",
        HEAD GPU "memory 1\ncore-limit firm\nend\n",
        HEAD GPU "memory 1\npriority 2\nend\n",
    };
    struct quota quota;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (parses(bad[i], &quota)) {
            fprintf(stderr, "usable: %s\n", bad[i]);
            CHECK(!"a bad file was taken");
        }
    char uuid[200] = HEAD "gpu ";
    memset(uuid + strlen(uuid), 'x', 100);
    strcat(uuid, "\nmemory 1\nend\n");
    CHECK(!parses(uuid, &quota));
}

static void a_file_that_is_too_long_or_gone_or_holds_zero_bytes_is_unusable(void) {
    static char bytes[PARTITA_QUOTA_LIMIT + 1];
    struct quota quota;
    const char good[] = HEAD GPU "memory 1\nend\n";
    memset(bytes, 'x', sizeof bytes);
    memcpy(bytes, good, sizeof good - 1);
    CHECK(quota_parse(bytes, PARTITA_QUOTA_LIMIT, &quota));
    CHECK(!quota_parse(bytes, PARTITA_QUOTA_LIMIT + 1, &quota));
    memset(bytes, 0, sizeof bytes);
    CHECK(!quota_parse(bytes, 100, &quota));
    const char *path = text("%s/quota", scratch_folder());
    CHECK_EQUAL(quota_read(path, &quota), QUOTA_UNUSABLE); /* its folder is there */
    CHECK_EQUAL(quota_read(text("%s/folder/quota", scratch_folder()), &quota), QUOTA_UNREACHABLE);
    write_file(path, good, sizeof good - 1);
    CHECK_EQUAL(quota_read(path, &quota), QUOTA_READ);
    CHECK_EQUAL(quota_read(scratch_folder(), &quota), QUOTA_UNUSABLE);
    write_file(path, good, sizeof good - 2);
    CHECK_EQUAL(quota_read(path, &quota), QUOTA_UNUSABLE);
}

/* Every byte of a good file changed to something else: no crash, and never a larger quota out of a cut one. */
static void damaged_files_never_crash_the_reader(void) {
    const char good[] = HEAD "generation 7\n" GPU "memory 8589934592\ncores 25\nend\n";
    char bytes[sizeof good];
    struct quota quota;
    for (size_t length = 0; length < sizeof good - 1; length++)
        CHECK(!quota_parse(good, length, &quota));
    unsigned int random = 1;
    for (int round = 0; round < 100000; round++) {
        memcpy(bytes, good, sizeof good);
        for (int i = 0; i < 3; i++) {
            random = random * 1103515245 + 12345;
            bytes[(random >> 16) % (sizeof good - 1)] = (char)(random >> 8);
        }
        quota_parse(bytes, sizeof good - 1, &quota);
    }
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(every_key_is_read),
        CASE(unknown_keys_and_what_follows_the_end_are_skipped),
        CASE(a_file_that_breaks_a_rule_is_unusable),
        CASE(a_file_that_is_too_long_or_gone_or_holds_zero_bytes_is_unusable),
        CASE(damaged_files_never_crash_the_reader),
    };
    return RUN_CASES(cases, argc, argv);
}
