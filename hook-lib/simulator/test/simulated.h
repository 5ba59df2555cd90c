/* SPDX-License-Identifier: Apache-2.0 */
/* For the simulator's tests: a simulated node in a folder of its own, its libraries loaded, child processes, checks. */
#ifndef PARTITA_SIM_TEST_H
#define PARTITA_SIM_TEST_H

#define _GNU_SOURCE
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "cuda_api.h"
#include "nvml_api.h"

#define MIB (1024ull * 1024)
#define GIB (1024 * MIB)

/* The folder of the node that install_node laid out; removed at exit. */
extern char node_root[PATH_MAX];

void install_node(const char *gpus);

/* Runs partita-sim-driver with arguments that end with NULL; it must succeed. */
void run_driver_tool(const char *const *arguments);
#define DRIVER_TOOL(command, ...)                                                                                      \
    run_driver_tool((const char *[]){SIM_DRIVER, command, "--root", node_root, __VA_ARGS__, NULL})

/* Sets a key wherever node.conf has it: of the node, or of every card. Before the libraries are initialised. */
void configure(const char *key, const char *value);

/* Runs `partita-sim-driver COMMAND --root node_root --gpu GPU`. */
void break_card(const char *gpu);
void heal_card(const char *gpu);

/* A function of the node's libcuda or libnvidia-ml; loaded at the first use in a process. */
void *cuda_symbol(const char *name);
void *nvml_symbol(const char *name);
#define CU(function) (*(__typeof__(function) *)cuda_symbol(#function))
#define NV(function) (*(__typeof__(function) *)nvml_symbol(#function))

/* cuInit, and the primary context of a device made current. */
void begin_cuda(int ordinal);

/* What NVML calls used on the card, without what the driver reserves. */
uint64_t nvml_used(unsigned index);

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            failed(__FILE__, __LINE__, #condition);                                                                    \
    } while (0)
#define CHECK_EQUAL(actual, expected)                                                                                  \
    do {                                                                                                               \
        long long actual_ = (long long)(actual), expected_ = (long long)(expected);                                    \
        if (actual_ != expected_) {                                                                                    \
            fprintf(stderr, "%lld is not %lld\n", actual_, expected_);                                                 \
            failed(__FILE__, __LINE__, #actual " == " #expected);                                                      \
        }                                                                                                              \
    } while (0)
__attribute__((noreturn)) void failed(const char *file, int line, const char *what);
__attribute__((noreturn)) void skip(const char *reason);

/* Lines at the end of node.conf, which are of the card that comes last. */
void add_to_node_conf(const char *lines);

/* A child that runs `body` with one end of a socket pair; it ends when body returns. */
struct child {
    pid_t pid;
    int link;
};
struct child start_child(void (*body)(int link, long argument), long argument);
void tell(int link, char word);
char hear(int link); /* 0 at the end of the link */
void kill_child(struct child *child);
void join_child(struct child *child); /* checks that it ended well */

struct test {
    const char *name;
    void (*run)(void);
};
int run_test(int argc, char **argv, const struct test *tests);
#define TEST(name) {#name, name}
#define RUN(...)                                                                                                       \
    int main(int argc, char **argv) {                                                                                  \
        const struct test tests[] = {__VA_ARGS__, {NULL, NULL}};                                                       \
        return run_test(argc, argv, tests);                                                                            \
    }

#endif
