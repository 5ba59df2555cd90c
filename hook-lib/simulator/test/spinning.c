/* SPDX-License-Identifier: Apache-2.0 */
#include "spinning.h"

CUfunction spin;
CUmodule spin_module;

void begin_spinning(void) {
    begin_cuda(0);
    CHECK_EQUAL(CU(cuModuleLoadData)(&spin_module, "image"), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuModuleGetFunction)(&spin, spin_module, "partita_spin"), CUDA_SUCCESS);
}

void spin_for(uint64_t ns, CUstream stream) {
    void *parameters[] = {&ns};

    CHECK_EQUAL(CU(cuLaunchKernel)(spin, 1, 1, 1, 1, 1, 1, 0, stream, parameters, NULL), CUDA_SUCCESS);
}

struct sim_state *truth(void) {
    static struct sim_state state = {.locks = -1};
    static struct sim_node node;

    if (!state.region) {
        CHECK(sim_node_read(node_root, &node, NULL, 0));
        CHECK(sim_state_open(&state, &node, false));
    }
    return &state;
}

struct sim_process_use use_of(pid_t pid) {
    static struct sim_process_use uses[SIM_MAX_PROCESSES];
    unsigned count = sim_state_processes(truth(), 0, uses, SIM_MAX_PROCESSES);

    for (unsigned i = 0; i < count; i++)
        if ((pid_t)uses[i].pid == pid)
            return uses[i];
    return (struct sim_process_use){0};
}

uint64_t card_busy(void) {
    return sim_clock_read(truth(), 0).busy;
}
