/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A driver of eight cards that do all at once, and whose calls for events take time or do not come back: a driver waits
 * for the card, or for a lock of its own, that is the context's.
 */
#include "cards_driver.h"

#include <stdlib.h>
#include <time.h>

#include "common/now.h"
#include "cuda_events.h"
#include "cuda_launch.h"

struct CUevent_st {
    uint64_t at;
};

PARTITA_EXPORT struct cards_machine cards_machine;

static void pass_us(uint32_t us) {
    struct timespec pause = {0, (long)us * 1000};
    nanosleep(&pause, NULL);
}

static void take_time(void) {
    uint32_t us = __atomic_load_n(&cards_machine.call_us, __ATOMIC_RELAXED);
    if (us > 0)
        pass_us(us);
    if (current_context() != 1 || !__atomic_load_n(&cards_machine.blocked, __ATOMIC_ACQUIRE))
        return;
    __atomic_fetch_add(&cards_machine.waiting, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&cards_machine.blocked, __ATOMIC_ACQUIRE))
        pass_us(100);
    __atomic_fetch_sub(&cards_machine.waiting, 1, __ATOMIC_RELEASE);
}

CUresult cuLaunchKernel(CUfunction function, unsigned int gridX, unsigned int gridY, unsigned int gridZ,
                        unsigned int blockX, unsigned int blockY, unsigned int blockZ, unsigned int sharedBytes,
                        CUstream stream, void **parameters, void **extra) {
    (void)function, (void)gridX, (void)gridY, (void)gridZ, (void)blockX, (void)blockY, (void)blockZ;
    (void)sharedBytes, (void)stream, (void)parameters, (void)extra;
    return current_context() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuStreamQuery(CUstream stream) {
    (void)stream;
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned int flags) {
    (void)flags;
    *event = calloc(1, sizeof **event);
    return *event ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuEventDestroy_v2(CUevent event) {
    free(event);
    return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    (void)stream;
    take_time();
    event->at = now_ns();
    __atomic_fetch_add(&cards_machine.recorded[device_of_current_context()], 1, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent event) {
    take_time();
    return event->at ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventElapsedTime(float *ms, CUevent start, CUevent end) {
    *ms = (float)((double)(int64_t)(end->at - start->at) / 1e6);
    return CUDA_SUCCESS;
}
