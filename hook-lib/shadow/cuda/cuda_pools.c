/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream-ordered allocation. A pool is charged what the driver says that it has reserved, whatever is allocated from
 * it: memory that a pool keeps after a free is charged until the pool gives it up, and serves later allocations without
 * a charge. Where the driver cannot be asked, each allocation is charged for itself. In a capture nothing is allocated.
 */
#include "cuda_pools.h"

#include <errno.h>

#include "common/lifetime.h"
#include "common/table.h"
#include "cuda/cuda_charge.h"
#include "cuda/cuda_driver.h"
#include "cuda/cuda_units.h"
#include "cuda/pool_books.h"
#include "cuda/pools.h"
#include "cuda/timing_calls.h"
#include "share/cards.h"

static struct table loans; /* address -> bits 0-31 units, 32-63 pool */

struct request {
    enum { ASYNC, ASYNC_PTSZ, FROM_POOL, FROM_POOL_PTSZ } function;
    CUdeviceptr *pointer;
    size_t bytes;
    CUmemoryPool pool; /* FROM_POOL */
    CUstream stream;
};

static CUresult ask_driver_in_order(const struct request *r) {
    switch (r->function) {
    case ASYNC:
        return DRIVER(cuMemAllocAsync)(r->pointer, r->bytes, r->stream);
    case ASYNC_PTSZ:
        return DRIVER(cuMemAllocAsync_ptsz)(r->pointer, r->bytes, r->stream);
    case FROM_POOL:
        return DRIVER(cuMemAllocFromPoolAsync)(r->pointer, r->bytes, r->pool, r->stream);
    default:
        return DRIVER(cuMemAllocFromPoolAsync_ptsz)(r->pointer, r->bytes, r->pool, r->stream);
    }
}

static bool per_thread(const struct request *r) {
    return r->function == ASYNC_PTSZ || r->function == FROM_POOL_PTSZ;
}

/* An error where the stream cannot be used while another one is captured; asking ends no capture. */
static CUresult ask_capturing(CUstream stream, bool per_thread, bool *capturing) {
    int status = CU_STREAM_CAPTURE_STATUS_NONE;
    __typeof__(&cuStreamIsCapturing) ask = per_thread ? DRIVER(cuStreamIsCapturing_ptsz) : DRIVER(cuStreamIsCapturing);
    CUresult result = ask ? ask(stream, &status) : CUDA_SUCCESS;
    *capturing = result == CUDA_SUCCESS && status != CU_STREAM_CAPTURE_STATUS_NONE;
    return result;
}

static bool capturing(const struct request *r) {
    bool so;
    ask_capturing(r->stream, per_thread(r), &so);
    return so;
}

/* The device of the stream; the default streams are the current context's. */
static CUresult device_of(CUstream stream, CUdevice *device) {
    struct stream_contexts contexts;
    bool pushed = false;
    if (!DRIVER(cuCtxGetDevice))
        return CUDA_ERROR_NOT_SUPPORTED;
    if (stream && !stream_is_default(stream) && DRIVER(cuCtxGetCurrent) && stream_contexts(stream, &contexts))
        stream_enter(stream, &contexts, &pushed);
    CUresult result = DRIVER(cuCtxGetDevice)(device);
    context_leave(pushed);
    return result;
}

static bool is_default_or_current(CUmemoryPool pool, CUdevice device) {
    CUmemoryPool found;
    return (DRIVER(cuDeviceGetDefaultMemPool) && DRIVER(cuDeviceGetDefaultMemPool)(&found, device) == CUDA_SUCCESS &&
            found == pool) ||
           (DRIVER(cuDeviceGetMemPool)(&found, device) == CUDA_SUCCESS && found == pool);
}

/* A pool that was not made here: some device's default or current one, or else the current context's. */
static CUdevice device_of_pool(CUmemoryPool pool) {
    int count = 0;
    CUdevice device = 0;
    if (DRIVER(cuDeviceGetCount))
        DRIVER(cuDeviceGetCount)(&count);
    for (int i = 0; i < count; i++)
        if (is_default_or_current(pool, i))
            return i;
    return DRIVER(cuCtxGetDevice) && DRIVER(cuCtxGetDevice)(&device) == CUDA_SUCCESS ? device : 0;
}

/* 0: there is no memory for the account, or, as *known says, no such pool. */
static pool_id pool_account(CUmemoryPool handle, int *card, bool *known) {
    pool_id id = pool_find((uint64_t)(uintptr_t)handle, card);
    if (id && *card == CARD_REFUSED) { /* its quota may have become readable */
        *card = cuda_card_of(pool_device(id));
        pool_set_card(id, *card);
    }
    *known = id || pools_known(handle);
    if (id || !*known)
        return id;
    CUdevice device = device_of_pool(handle);
    *card = cuda_card_of(device);
    return pool_open((uint64_t)(uintptr_t)handle, *card, device);
}

static bool keep_loan(uint64_t address, uint64_t value) {
    uint64_t former;
    int error = errno;
    bool kept = table_put(&loans, address, value, &former);
    if (former)
        pool_returned((pool_id)(former >> 32), former & UINT32_MAX);
    errno = error;
    return kept;
}

static CUresult free_in_order(const struct request *r) {
    __typeof__(&cuMemFreeAsync) free_async = per_thread(r) ? DRIVER(cuMemFreeAsync_ptsz) : DRIVER(cuMemFreeAsync);
    return free_async ? free_async(*r->pointer, r->stream) : CUDA_ERROR_NOT_SUPPORTED;
}

/*
 * The driver's call, when `begun` units are charged for it. *refused: the quota does not allow what it came to, and it
 * was undone.
 */
static CUresult allocate_begun(const struct request *r, pool_id id, int card, uint64_t begun, bool *refused) {
    CUdeviceptr former = *r->pointer;
    CUresult result = ask_driver_in_order(r);
    uint64_t units = units_of(r->bytes), handle = (uint64_t)(uintptr_t)r->pool;
    if (result == CUDA_SUCCESS && !pool_lent(id, units)) { /* another thread has reset the device meanwhile */
        id = pool_open(handle, card, device_of_pool(r->pool));
        begun = 0;
        pool_lent(id, units);
    }
    uint64_t loan = (uint64_t)id << 32 | units;
    bool kept = result != CUDA_SUCCESS || (id && keep_loan(*r->pointer, loan));
    bool covered = pools_end_call(id, handle, begun, result);
    if (result != CUDA_SUCCESS || (covered && kept))
        return result;
    if (kept && pools_trim(card) && pools_read_one(id, handle, 0)) /* it grew by more than was asked for */
        return result;
    loan = kept ? pools_take(*r->pointer) : loan;
    pools_return(loan, *r->pointer, free_in_order(r));
    *r->pointer = former;
    *refused = kept;
    return CUDA_ERROR_OUT_OF_MEMORY;
}

/* A pool that the program chose itself stays what it is. */
static bool may_be_managed(const struct request *r, int card) {
    return (r->function == ASYNC || r->function == ASYNC_PTSZ) && DRIVER(cuMemAllocManaged) &&
           cards_oversubscribe(card);
}

/*
 * What the share's part of the card does not hold any more is made managed, where the share oversubscribes: for the
 * current context, and there at once, whatever the stream has still to do.
 */
static CUresult allocate_managed(const struct request *r) {
    struct charge charge;
    CUresult result = charge_begin_managed(&charge, r->bytes);
    if (result != CUDA_SUCCESS)
        return result;
    CUdeviceptr former = *r->pointer;
    int mode = timing_calls_begin(); /* unlike cuMemAllocAsync this would end the capture of another stream */
    result = DRIVER(cuMemAllocManaged)(r->pointer, r->bytes, CU_MEM_ATTACH_GLOBAL);
    result = charge_end_linear(&charge, result, r->pointer, former);
    timing_calls_end(mode);
    return result;
}

/*
 * The driver frees such memory by cuMemFree only: when the stream has come so far. In a capture only what a graph
 * allocates can be freed, as cuda.h says of cuMemFreeAsync.
 */
static CUresult free_managed(CUdeviceptr pointer, CUstream stream, bool per_thread) {
    __typeof__(&cuStreamSynchronize) synchronize =
        per_thread ? DRIVER(cuStreamSynchronize_ptsz) : DRIVER(cuStreamSynchronize);
    bool capturing;
    CUresult result = ask_capturing(stream, per_thread, &capturing);
    if (result != CUDA_SUCCESS || capturing)
        return capturing ? CUDA_ERROR_INVALID_VALUE : result;
    int mode = timing_calls_begin();
    result = synchronize ? synchronize(stream) : CUDA_ERROR_NOT_SUPPORTED;
    if (result == CUDA_SUCCESS)
        result = DRIVER(cuMemFree_v2) ? DRIVER(cuMemFree_v2)(pointer) : CUDA_ERROR_NOT_SUPPORTED;
    timing_calls_end(mode);
    return result;
}

/* False: the quota does not allow what it may take. */
static bool allocate_charged(const struct request *r, pool_id id, int card, uint64_t units, CUresult *result,
                             bool *refused) {
    pool_call_begin(id);
    bool begun = pool_begin(id, units);
    if (begun)
        *result = allocate_begun(r, id, card, units, refused);
    pool_call_end(id);
    return begun;
}

static CUresult allocate_from(const struct request *r, pool_id id, int card, bool *refused) {
    uint64_t units = units_of_pages(r->bytes);
    *refused = units > PARTITA_UNITS_MAX;
    if (*refused)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result;
    if (allocate_charged(r, id, card, units, &result, refused))
        return result;
    if (pool_has_spare(id, units_of(r->bytes)) && pool_call_alone(id)) {
        result =
            pool_has_spare(id, units_of(r->bytes)) ? allocate_begun(r, id, card, 0, refused) : CUDA_ERROR_OUT_OF_MEMORY;
        pool_call_alone_end(id);
        if (result != CUDA_ERROR_OUT_OF_MEMORY)
            return result;
    }
    *refused = true;
    return pools_trim(card) && allocate_charged(r, id, card, units, &result, refused) ? result
                                                                                      : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult allocate_for_itself(const struct request *r) {
    struct charge charge;
    CUresult result = charge_begin(&charge, r->bytes);
    if (result != CUDA_SUCCESS)
        return result;
    CUdeviceptr former = *r->pointer;
    result = ask_driver_in_order(r);
    if (charge_end(&charge, result, *r->pointer))
        return result;
    result = charge_undo(&charge, free_in_order(r));
    *r->pointer = former;
    return result;
}

static CUresult allocate_in_order(struct request r) {
    if (!r.pointer || r.bytes == 0 || capturing(&r))
        return ask_driver_in_order(&r);
    if (!pools_readable())
        return allocate_for_itself(&r);
    if (r.function == ASYNC || r.function == ASYNC_PTSZ) {
        CUdevice device;
        if (device_of(r.stream, &device) != CUDA_SUCCESS || DRIVER(cuDeviceGetMemPool)(&r.pool, device) != CUDA_SUCCESS)
            return allocate_for_itself(&r);
    }
    int card = CARD_UNLIMITED;
    bool refused, known;
    pool_id id = pool_account(r.pool, &card, &known);
    if (!known)
        return allocate_for_itself(&r);
    if (card == CARD_UNLIMITED)
        return ask_driver_in_order(&r);
    if (card == CARD_REFUSED || !id)
        return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = allocate_from(&r, id, card, &refused);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && may_be_managed(&r, card))
        return allocate_managed(&r);
    if (result == CUDA_ERROR_OUT_OF_MEMORY && refused)
        cards_refuse(card);
    return result;
}

uint64_t pools_take(uint64_t address) {
    return table_take(&loans, address);
}

void pools_return(uint64_t taken, uint64_t address, CUresult result) {
    if (!taken)
        return;
    if (result != CUDA_SUCCESS) {
        keep_loan(address, taken);
        return;
    }
    pool_id id = (pool_id)(taken >> 32);
    if (pool_books_interrupted()) {
        pool_returned_later(id, taken & UINT32_MAX);
        return;
    }
    uint64_t handle;
    pool_returned(id, taken & UINT32_MAX);
    if (pool_visit_one(id, &handle)) {
        pools_read_one(id, handle, 0);
        pool_leave(id);
    }
}

static bool of_gone_pool(uint64_t loan, void *data) {
    (void)data;
    return pool_device((pool_id)(loan >> 32)) < 0;
}

static void forget_loan(uint64_t loan, void *data) {
    (void)loan, (void)data;
}

uint64_t pools_before_reset(void) {
    return pool_openings();
}

/*
 * The driver may give the addresses of its pools out again, for memory of no pool. The device's own pools and its graph
 * memory stay, and may hold again what other threads have taken since.
 */
void pools_device_reset(CUdevice device, uint64_t before) {
    uint64_t handle;
    for (uint32_t at = 0; pool_device_gone(&at, device, before, &handle);)
        if (handle == pools_graph_memory_of(device) ||
            (pools_readable() && is_default_or_current((CUmemoryPool)(uintptr_t)handle, device)))
            pools_read_one(pool_open(handle, cuda_card_of(device), device), handle, 0);
    table_sweep(&loans, of_gone_pool, forget_loan, NULL);
}

void pools_forget(void) {
    pool_books_forget();
    table_clear(&loans);
    graphs_forget();
}

CUresult cuMemAllocAsync(CUdeviceptr *pointer, size_t bytes, CUstream stream) {
    NEED(cuMemAllocAsync);
    return allocate_in_order((struct request){ASYNC, pointer, bytes, NULL, stream});
}

CUresult cuMemAllocAsync_ptsz(CUdeviceptr *pointer, size_t bytes, CUstream stream) {
    NEED(cuMemAllocAsync_ptsz);
    return allocate_in_order((struct request){ASYNC_PTSZ, pointer, bytes, NULL, stream});
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream) {
    NEED(cuMemAllocFromPoolAsync);
    return allocate_in_order((struct request){FROM_POOL, pointer, bytes, pool, stream});
}

CUresult cuMemAllocFromPoolAsync_ptsz(CUdeviceptr *pointer, size_t bytes, CUmemoryPool pool, CUstream stream) {
    NEED(cuMemAllocFromPoolAsync_ptsz);
    return allocate_in_order((struct request){FROM_POOL_PTSZ, pointer, bytes, pool, stream});
}

#define FREE_ASYNC(name, per_thread)                                                                                   \
    CUresult name(CUdeviceptr pointer, CUstream stream) {                                                              \
        NEED(name);                                                                                                    \
        uint64_t lent = pools_take(pointer), taken = lent ? 0 : charge_take(pointer);                                  \
        if (charge_is_paged(taken))                                                                                    \
            return charge_return(taken, free_managed(pointer, stream, per_thread), pointer);                           \
        CUresult result = DRIVER(name)(pointer, stream);                                                               \
        pools_return(lent, pointer, result);                                                                           \
        return charge_return_in_order(taken, result, pointer, stream, per_thread);                                     \
    }

FREE_ASYNC(cuMemFreeAsync, false)
FREE_ASYNC(cuMemFreeAsync_ptsz, true)
