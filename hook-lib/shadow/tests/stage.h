/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated driver and containers on it, in the test's scratch folder:
 *   <scratch>/usr/lib/...            the driver's libraries, <scratch>/etc/partita-simulator its cards
 *   <scratch>/<container>/lib        the shadow libraries, with the driver's in lib/partita
 *   <scratch>/<container>/etc|run    quota files and usage regions
 */
#ifndef PARTITA_STAGE_H
#define PARTITA_STAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../../simulator/node/contrary.h"
#include "cuda_api.h"
#include "cuda_green.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/*
 * Installs the simulated driver with these cards ("h200x2"). It reads NVIDIA's documentation the other way where
 * PARTITA_TEST_CONTRARY says so (simulator/README.md).
 */
void stage_driver(const char *gpus);

/* Whether it reads it so; what holds under both readings needs no asking. */
bool stage_contrary(enum sim_reading reading);

/* What a pool keeps of what it has reserved when the host has synchronised: a driver "tries" to release it (cuda.h). */
uint64_t stage_pool_keeps(uint64_t reserved);

/* From now on the driver's function takes that much longer, and no other one; 0: as long as ever. */
void stage_delay(const char *function, unsigned int us);

/* How often that function was called since. */
uint64_t stage_delayed(void);

/* From now on this function of the driver gives this error, and no other one does; 0: none. */
void stage_fail(const char *function, int error);

/*
 * Makes a MIG instance of the profile on the card, of which programs see its instances alone then. The UUID of the
 * instance, which is at the same place for every call.
 */
const char *stage_instance(int gpu, const char *profile);

/* The UUID of a card. */
const char *stage_gpu(int index);

/* Makes a container with the shadow libraries; its folder. */
const char *stage_container(const char *name);

/* A share of a card in the container. */
void stage_share(const char *container, const char *key, int gpu, uint64_t memory);

/* A share of the card or the MIG instance with that UUID. */
void stage_share_of(const char *container, const char *key, const char *uuid, uint64_t memory);

/* Bytes of the card that processes' allocations take, as the hardware knows it: without contexts. */
uint64_t stage_hardware_used(int gpu);

/* Bytes of the card that are in use, as NVML shows them outside containers: with what contexts take. */
uint64_t stage_card_used(int gpu);

/* The functions of a libcuda under test, found by dlopen and dlsym as a runtime does. */
struct cuda {
    void *library;
    __typeof__(&cuInit) init;
    __typeof__(&cuDeviceGet) device_get;
    __typeof__(&cuCtxCreate_v2) context_create;
    __typeof__(&cuCtxDestroy_v2) context_destroy;
    __typeof__(&cuMemAlloc_v2) alloc;
    __typeof__(&cuMemFree_v2) free;
    __typeof__(&cuMemGetInfo_v2) info;
    __typeof__(&cuDeviceTotalMem_v2) total;
    CUcontext context;
};

extern struct cuda cuda;

/* Loads the container's libcuda with these dlopen flags, without initialising it. */
void cuda_load(const char *container, int flags);

/* cuda_load, cuInit and a context on the device. */
void cuda_start(const char *container, int device);
void *cuda_function(const char *name);

/* A green context of the device; its handle as a context, not made current. */
CUgreenCtx cuda_green(CUdevice device, CUcontext *context);

/* What cuMemGetInfo says. */
uint64_t cuda_free(void);
uint64_t cuda_total(void);

/* How often the share's quota did not allow an allocation. */
uint64_t stage_refusals(const char *container, const char *share);

/*
 * A child process that runs `work` and then, if `work` returns, waits to be told to end. stage_go_on: it has come so
 * far.
 */
struct child {
    pid_t pid;
    int from, to;
};
struct child stage_child(void (*work)(void));
void stage_ready(void);               /* in the child: tells the parent, and waits for its go */
void child_wait(struct child *child); /* until the child is ready */
void child_go(struct child *child);
void child_kill(struct child *child); /* SIGKILL, and waited for */
void child_end(struct child *child);  /* lets it go on, and expects it to end well */

#endif
