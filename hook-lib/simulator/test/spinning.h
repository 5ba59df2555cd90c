/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of the card's time: kernels that take a given time, and the ground truth of card 0. */
#ifndef PARTITA_SIM_SPINNING_H
#define PARTITA_SIM_SPINNING_H

#include "../state/state.h"
#include "simulated.h"

#define MS UINT64_C(1000000)

/* partita_spin, once begin_spinning was called: begin_cuda(0), a module. */
extern CUfunction spin;
extern CUmodule spin_module;
void begin_spinning(void);
void spin_for(uint64_t ns, CUstream stream);

struct sim_state *truth(void);
struct sim_process_use use_of(pid_t pid);
uint64_t card_busy(void);

#endif
