/*
 * Inside of the fake libcuda. One mutex a process (`driver_lock`) guards contexts, blocks and pages; the state's own lock
 * is taken inside it, never the other way round. Launches take no lock.
 */
#ifndef PARTITA_SIM_DRIVER_H
#define PARTITA_SIM_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "cuda_api.h"
#include "../node/node.h"
#include "../state/state.h"

#define MIB (1024ull * 1024)
#define GRANULARITY (2 * MIB)
#define SMALL_MAX (1 * MIB) /* requests up to here share 2 MiB slabs */
#define SMALL_MIN 512

struct CUfunc_st {
    struct CUmod_st *module;
};

struct CUmod_st {
    struct CUctx_st *context;
    struct CUfunc_st function; /* one stands for all of its kernels */
    struct CUmod_st *next;
};

struct CUstream_st {
    struct CUctx_st *context;
    bool alive;
    struct CUstream_st *next;
};

/* Never given back to malloc, so that a stale handle is told from a wrong one. */
struct CUctx_st {
    int ordinal; /* CUDA's number of the device */
    bool primary;
    _Atomic bool alive; /* read without driver_lock */
    unsigned flags;
    unsigned retained; /* primary: how often */
    struct block *blocks, *slabs;
    struct array *arrays;
    struct CUmod_st *modules;
    struct CUstream_st *streams;
    struct CUctx_st *next;
};

/* What CUDA sees as one device. */
struct device {
    const struct sim_card *card;
    struct CUctx_st *primary;
    struct CUmemPoolHandle_st *default_pool, *current_pool; /* made when first asked for */
    unsigned primary_flags;
};

/* One stretch of device addresses: a large allocation, or a slab of small ones. */
struct block {
    CUdeviceptr base;
    uint64_t size;     /* whole granules */
    uint64_t resident; /* of it, charged to the card (managed memory may be more) */
    uint64_t requested;
    bool managed;
    unsigned piece;      /* slab: bytes of a piece, else 0 */
    unsigned pieces_used;
    uint32_t *pieces; /* slab: requested bytes of each piece, 0 if it is free */
    unsigned char *content;
    struct CUctx_st *context;
    struct CUmemPoolHandle_st *pool; /* which pays for it; else NULL */
    struct block *next, **link;
};

extern struct sim_node driver_node;
extern struct sim_state driver_state;
extern struct device driver_devices[SIM_MAX_CARDS];
extern int driver_device_count;
extern pthread_mutex_t driver_lock;

/* CUDA_SUCCESS once cuInit has succeeded in this very process, else CUDA_ERROR_NOT_INITIALIZED. */
CUresult driver_ready(void);

/* Checks readiness and the ordinal. */
CUresult driver_device(CUdevice ordinal, struct device **device);

/* The calling thread's context, if it has one that lives. */
CUresult driver_current(struct CUctx_st **context);

/* Bytes of the device that CUDA can give out. */
uint64_t device_capacity(const struct device *device);

/* Everything that a dying context still holds. Under driver_lock. */
void context_release_memory(struct CUctx_st *context);
void context_release_handles(struct CUctx_st *context);
void context_release_arrays(struct CUctx_st *context);

/* Address space: which block an address lies in. Under driver_lock. */
struct block *page_block(CUdeviceptr address);
bool page_assign(CUdeviceptr base, uint64_t size, struct block *block);

/* Blocks of a context. Under driver_lock. `low`: below 4 GiB, for the 32-bit functions. */
CUresult block_allocate(struct CUctx_st *context, uint64_t bytes, bool low, bool managed, CUdeviceptr *pointer);
CUresult block_free(CUdeviceptr pointer);
/* Addresses of a pool's memory, for which the pool pays. */
CUresult block_place(struct CUmemPoolHandle_st *pool, uint64_t bytes, struct block **list, CUdeviceptr *pointer);
/* The allocation that holds an address. */
CUresult block_range(CUdeviceptr address, CUdeviceptr *base, uint64_t *size);
/* Where `bytes` at an address are kept; *kept: how many of them are (see copy.c). */
CUresult block_content(CUdeviceptr address, uint64_t bytes, unsigned char **content, uint64_t *kept);

/* Pools, under driver_lock: memory comes back by cuMemFree; the host sees that all streams are done; the device is reset. */
void pool_take_back(struct CUmemPoolHandle_st *pool, uint64_t bytes);
void pool_observe(void);
void pool_reset(int ordinal);
void graph_memory_reset(int ordinal);

#endif
