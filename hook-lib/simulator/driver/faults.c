/* SPDX-License-Identifier: Apache-2.0 */
/* Orders faults, raises XID errors, and resets cards. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../state/state.h"
#include "cuda_api.h"
#include "driver.h"

#define XID_RECOVERY_CHANGED 154

static int complain(const char *what, const char *why) {
    fprintf(stderr, "partita-sim-driver: %s: %s\n", what, why);
    return EXIT_USAGE;
}

static bool open_node(const char *root, struct sim_node *node, struct sim_state *state) {
    char error[PATH_MAX + 128];

    if (!sim_node_read(root, node, error, sizeof error)) {
        fprintf(stderr, "partita-sim-driver: %s\n", error);
        return false;
    }
    if (sim_state_open(state, node, true) && sim_state_join(state))
        return true;
    fprintf(stderr, "partita-sim-driver: %s/" SIM_STATE_DIR ": %s\n", root, strerror(errno));
    return false;
}

/* A name that no library has would make a test believe in a fault that never comes. */
static bool exists(const char *root, const char *function) {
    const char *file = strncmp(function, "nvml", 4) == 0 ? "libnvidia-ml.so.1" : "libcuda.so.1";
    char path[2 * PATH_MAX];
    void *library;

    snprintf(path, sizeof path, "%s/" LIBRARY_DIR "/%s", root, file);
    library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    return library && dlsym(library, function);
}

/* A number, or the name of a CUDA error. -1: neither. */
static int error_number(const char *text) {
    char *end;
    long number = strtol(text, &end, 10);
    const char *name;

    if (end != text && *end == '\0')
        return number > 0 && number < 10000 ? (int)number : -1;
    for (int code = 1; code < 1000; code++)
        if (cuGetErrorName((CUresult)code, &name) == CUDA_SUCCESS && strcmp(name, text) == 0)
            return code;
    return -1;
}

static bool number(const char *text, uint64_t least, uint64_t *value) {
    char *end;

    if (!text)
        return true;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return end != text && *end == '\0' && *text != '-' && errno == 0 && *value >= least;
}

static int list(const struct sim_state *state) {
    for (unsigned i = 0; i < SIM_MAX_FAULTS; i++) {
        const struct sim_fault *fault = &state->region->faults[i];

        if (!fault->active)
            continue;
        printf("%s", fault->function);
        if (fault->error)
            printf(" error %d", fault->error);
        if (fault->delay_us)
            printf(" delay %" PRIu64 " us", fault->delay_us);
        printf(" from %" PRIu64 " every %" PRIu64, fault->from, fault->every);
        if (fault->times)
            printf(" times %" PRIu64, fault->times);
        if (fault->pid)
            printf(" pid %" PRIu32, fault->pid);
        printf(": %" PRIu64 " of %" PRIu64 " calls met it\n", (uint64_t)fault->met, (uint64_t)fault->calls);
    }
    return EXIT_DONE;
}

static int order(const char *root, const struct fault_order *wanted, struct sim_state *state) {
    struct sim_fault fault = {.from = 1, .every = 1};
    uint64_t pid = 0;

    if (!wanted->function)
        return complain("fault", "--function NAME, --list or --clear is missing");
    if (strlen(wanted->function) >= sizeof fault.function || !exists(root, wanted->function))
        return complain(wanted->function, "neither libcuda nor libnvidia-ml has this function");
    strcpy(fault.function, wanted->function);
    if (!wanted->error && !wanted->delay_us)
        return complain("fault", "--error CODE or --delay-us N says what is to happen");
    if (wanted->error && (fault.error = error_number(wanted->error)) < 0)
        return complain("--error", "a number, or a name such as CUDA_ERROR_OUT_OF_MEMORY, is wanted");
    if (!number(wanted->delay_us, 1, &fault.delay_us) || !number(wanted->from, 1, &fault.from) ||
        !number(wanted->every, 1, &fault.every) || !number(wanted->times, 1, &fault.times) ||
        !number(wanted->pid, 1, &pid))
        return complain("fault", "--delay-us, --from, --every, --times and --pid take a whole number above 0");
    fault.pid = (uint32_t)pid;
    if (sim_fault_order(state, &fault))
        return EXIT_DONE;
    fprintf(stderr, "partita-sim-driver: 64 faults are ordered already; --clear ends them\n");
    return EXIT_FAILED;
}

int order_fault(const char *root, const struct fault_order *wanted) {
    static struct sim_node node;
    struct sim_state state;
    int status = EXIT_DONE;

    if (!open_node(root, &node, &state))
        return EXIT_FAILED;
    if (wanted->clear)
        sim_faults_clear(&state);
    else
        status = wanted->list ? list(&state) : order(root, wanted, &state);
    sim_state_close(&state);
    return status;
}

/* "RESET_GPU" in NVIDIA's catalogue of XID errors. */
static bool asks_for_reset(uint64_t xid) {
    static const uint64_t errors[] = {46, 62, 64, 95, 109, 110, 119, 120, 136, 140, 143, 155, 156, 158};

    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i] == xid)
            return true;
    return false;
}

/* As in the driver, first comes the error, and then the action that it asks for. */
static void raise_on(const struct sim_node *node, struct sim_state *state, unsigned card, uint64_t xid) {
    sim_event_raise(state, card, xid);
    if (!asks_for_reset(xid) || state->region->recovery[card] == SIM_RECOVERY_RESET)
        return;
    state->region->recovery[card] = SIM_RECOVERY_RESET;
    if (node->tells_recovery)
        sim_event_raise(state, card, XID_RECOVERY_CHANGED);
}

int raise_xid(const char *root, const char *gpu, const char *xid) {
    static struct sim_node node;
    struct sim_state state;
    uint64_t value = 0;
    int card;

    if (!number(xid, 1, &value))
        return complain("--xid", "an XID error's number is wanted, as in NVIDIA's list of them");
    if (!open_node(root, &node, &state))
        return EXIT_FAILED;
    card = find_card(&node, gpu);
    if (card >= 0)
        raise_on(&node, &state, (unsigned)card, value);
    sim_state_close(&state);
    return card >= 0 ? EXIT_DONE : EXIT_USAGE;
}

int reset_card(const char *root, const char *gpu, bool even_in_use) {
    static struct sim_node node;
    struct sim_state state;
    int card, status = EXIT_DONE;

    if (!open_node(root, &node, &state))
        return EXIT_FAILED;
    card = find_card(&node, gpu);
    if (card < 0) {
        status = EXIT_USAGE;
    } else if (!even_in_use && sim_card_in_use(&state, (unsigned)card)) {
        fprintf(stderr, "partita-sim-driver: reset: GPU %d is in use by a process: end it first\n", card);
        status = EXIT_FAILED;
    } else {
        state.region->recovery[card] = SIM_RECOVERY_NONE;
    }
    sim_state_close(&state);
    return status;
}
