/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the simulated libcuda: semaphores of other APIs. */
#ifndef PARTITA_SIM_SEMAPHORES_H
#define PARTITA_SIM_SEMAPHORES_H

#include "capture.h"

bool semaphore_lives(CUexternalSemaphore semaphore);

/* In a stream that is not captured. `value`: of a timeline semaphore. */
void semaphore_signal(CUexternalSemaphore semaphore, uint64_t value, const struct CUctx_st *context, CUstream stream);
CUresult semaphore_wait(CUexternalSemaphore semaphore, uint64_t value, const struct CUctx_st *context, CUstream stream);

#endif
