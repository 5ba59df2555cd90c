/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the fake libcuda. One mutex a process (`driver_lock`) guards contexts, blocks and pages; the state's own
 * lock is taken inside it, never the other way round. Launches that take no time take no lock; what waits holds none.
 */
#ifndef PARTITA_SIM_DRIVER_H
#define PARTITA_SIM_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "../node/node.h"
#include "../state/state.h"
#include "cuda_api.h"

#define MIB (1024ull * 1024)
#define GRANULARITY (2 * MIB)
#define SMALL_MAX (1 * MIB) /* requests up to here share 2 MiB slabs */
#define SMALL_MIN 512

/* What kernels do: those that are not named take kernel-time and do nothing. */
enum kernel_kind {
    KERNEL_ANY,
    KERNEL_SPIN, /* partita_spin: takes the ns that its first parameter says */
    /* partita_set_conditional: gives the conditional handle, its first parameter, the value of the second */
    KERNEL_SET_CONDITIONAL,
    KERNEL_COUNT_DOWN, /* partita_count_down: takes one from the value of the conditional handle, its parameter */
    KERNEL_KINDS
};

/* A kernel. Block shape and parameters are those of the launches before CUDA 4, which are set on the function. */
#define PARAMETERS_MAX 4096
struct CUfunc_st {
    struct CUmod_st *module; /* NULL: of a library, for any context */
    enum kernel_kind kind;
    int block[3];
    unsigned shared_bytes, parameter_bytes;
    unsigned char parameters[PARAMETERS_MAX];
};

struct CUmod_st {
    struct CUctx_st *context;
    struct CUlib_st *library; /* NULL: loaded for itself */
    struct CUfunc_st functions[KERNEL_KINDS];
    struct CUmod_st *next;
};

struct CUstream_st {
    struct CUctx_st *context;
    unsigned flags;
    int priority;
    int default_of;          /* thread whose default stream it is, else 0 */
    _Atomic uint64_t end;    /* the card's work time at which all of it is done */
    _Atomic uint64_t host;   /* number of its last host function */
    struct capture *capture; /* that it is part of, and the nodes after which its next one comes (capture.c) */
    struct CUgraphNode_st **needs;
    size_t need_count;
    struct CUstream_st *next_captured;
    struct CUstream_st *next;
};

/* Never given back to malloc, so that a stale handle is told from a wrong one. */
struct CUctx_st {
    int ordinal; /* CUDA's number of the device */
    bool primary;
    struct CUctx_st *whole; /* of a green context: the primary one; else NULL */
    _Atomic bool alive;     /* read without driver_lock */
    unsigned flags;
    struct block *blocks, *slabs;
    struct array *arrays;
    struct CUmod_st *modules;
    struct CUstream_st *streams;
    _Atomic uint64_t barrier, host_barrier; /* where the legacy stream has come to (stream.c) */
    _Atomic int holder;                     /* green: the thread in whose stack it is, and how often */
    unsigned holds;
    struct CUctx_st *next;
};

/* What CUDA sees as one device. */
struct device {
    const struct sim_card *card; /* of a compute instance of MIG: its part of the card */
    const struct sim_card *whole;
    struct sim_mig_instance instance; /* serial 0: the whole card */
    struct CUctx_st *primary;
    unsigned retained; /* how often the primary context is, which a reset does not change */
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
    unsigned piece; /* slab: bytes of a piece, else 0 */
    unsigned pieces_used;
    uint32_t *pieces; /* slab: requested bytes of each piece, 0 if it is free */
    unsigned char *content;
    struct CUctx_st *context;
    struct CUmemPoolHandle_st *pool; /* which pays for it; else NULL */
    struct physical *physical;       /* mapped: what is behind the addresses, from `offset` on */
    uint64_t offset;
    int access;                   /* mapped: CU_MEM_ACCESS_FLAGS_… */
    bool foreign, foreign_buffer; /* opened by IPC; or of external memory, which cuMemFree ends */
    struct block *next, **link;
};

extern struct sim_node driver_node;
extern struct sim_state driver_state;
extern struct device driver_devices[SIM_MAX_CARDS];
extern int driver_device_count;
extern pthread_mutex_t driver_lock;

/* Begins every function: does what an ordered fault says (partita-sim-driver fault). One read while there is none. */
#define FAULT_POINT()                                                                                                  \
    do {                                                                                                               \
        if (driver_state.region && driver_state.region->fault_count) {                                                 \
            int fault = sim_fault_met(driver_state.region, __func__);                                                  \
                                                                                                                       \
            if (fault)                                                                                                 \
                return (CUresult)fault;                                                                                \
        }                                                                                                              \
    } while (0)

/* CUDA_SUCCESS once cuInit has succeeded in this very process, else CUDA_ERROR_NOT_INITIALIZED. */
CUresult driver_ready(void);

/* Makes the process a client of the MPS daemon that it finds; without one nothing is done. */
CUresult driver_join_mps(void);

/* Checks readiness and the ordinal. */
CUresult driver_device(CUdevice ordinal, struct device **device);

/* Set in threads that call host functions: they must not call CUDA. */
extern __thread bool driver_in_host_function;

/* The calling thread's context, if it has one that lives. */
CUresult driver_current(struct CUctx_st **context);

/* To which memory and modules belong: a green context's primary one. */
static inline struct CUctx_st *context_home(struct CUctx_st *context) {
    return context->whole ? context->whole : context;
}

/* driver_current's home. */
CUresult driver_home(struct CUctx_st **context);

/* What the variants for the per-thread default stream mean by a stream. */
#define PTSZ(stream) ((stream) ? (stream) : CU_STREAM_PER_THREAD)

/*
 * The calling thread's context, whose the stream must be. Afterwards *stream is a real one, the thread's own default
 * stream among them, or NULL for the legacy one.
 */
CUresult driver_stream(CUstream *stream, struct CUctx_st **context);

/* As driver_stream, but the stream may be of another context: *context is the stream's. */
CUresult driver_any_stream(CUstream *stream, struct CUctx_st **context);

/* The stream's context, as cuStreamGetCtx tells where it tells of every stream. */
CUresult stream_context(CUstream stream, CUcontext *context);

/* Submits work to a stream; CUDA_SUCCESS at once unless too much is pending. */
void stream_submit(struct CUctx_st *context, CUstream stream, uint64_t cost);

/* Waits until the device has nothing of this process pending. */
void driver_settle(const struct CUctx_st *context);

/* ns of the SMs' time that a launch takes, and the counter of launches. */
uint64_t kernel_cost(const struct CUctx_st *context, CUfunction function, void *const *parameters, void *const *extra);
/* What stands where a kernel's first two parameters are: 8 bytes, and 4 bytes of the second where there is one. */
void kernel_parameters(void *const *parameters, void *const *extra, bool two, uint64_t *first, unsigned *second);
void count_launches(const struct CUctx_st *context, uint64_t count);

/* Bytes of the device that CUDA can give out, and that somebody holds. */
uint64_t device_capacity(const struct device *device);
uint64_t device_used(const struct device *device);

/* False once MIG was switched or the instance ended. */
bool device_present(const struct device *device);

/* Under driver_lock. */
CUresult context_create(CUdevice ordinal, unsigned flags, bool primary, struct CUctx_st **created);
void context_destroy(struct CUctx_st *context);
unsigned context_parts(const struct CUctx_st *primary);     /* green ones that live */
struct CUctx_st *context_part_of(struct CUctx_st *primary); /* a green one */
CUresult primary_retain(CUdevice device, struct CUctx_st **context);
void primary_release(CUdevice device);

CUresult stream_create_in(struct CUctx_st *context, unsigned flags, int priority, CUstream *stream);

/* Everything that a dying context still holds. Under driver_lock. */
void context_release_memory(struct CUctx_st *context);
void context_release_modules(struct CUctx_st *context);
void context_release_handles(struct CUctx_st *context);
void context_release_arrays(struct CUctx_st *context);

/* Address space: which block an address lies in. Under driver_lock. */
struct block *page_block(CUdeviceptr address);
bool page_assign(CUdeviceptr base, uint64_t size, struct block *block);

/* Addresses that nothing else has: whole granules, inaccessible to the host. NULL: none left. */
void *address_reserve(uint64_t size, uint64_t alignment);
void *address_reserve_granules(uint64_t size, bool low, bool managed);
void address_free(CUdeviceptr base, uint64_t size);

static inline uint64_t round_up(uint64_t bytes, uint64_t unit) {
    return (bytes + unit - 1) / unit * unit;
}

/* Blocks of a context. Under driver_lock. `low`: below 4 GiB, for the 32-bit functions. */
CUresult block_allocate(struct CUctx_st *context, uint64_t bytes, bool low, bool managed, CUdeviceptr *pointer);
CUresult block_free(CUdeviceptr pointer);
/* Addresses of a pool's memory, for which the pool pays. */
CUresult block_place(struct CUmemPoolHandle_st *pool, uint64_t bytes, struct block **list, CUdeviceptr *pointer);
/* The allocation that holds an address. */
CUresult block_range(CUdeviceptr address, CUdeviceptr *base, uint64_t *size);
/* Where `bytes` at an address are kept; *kept: how many of them are (see copy.c). */
CUresult block_content(CUdeviceptr address, uint64_t bytes, unsigned char **content, uint64_t *kept);

/*
 * Pools, under driver_lock: memory comes back by cuMemFree; the host sees that all streams are done; the device is
 * reset.
 */
void pool_take_back(struct CUmemPoolHandle_st *pool, uint64_t bytes);
void pool_observe(void);
void pool_reset(int ordinal);
void graph_memory_reset(int ordinal);

#endif
