/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and fills. A copy that the host waits for waits for the work before it; none takes time itself, unless
 * node.conf says copies-take-time. Those in streams are done at once, since kernels do not touch memory. Bounds are
 * checked over the whole allocation; bytes are kept for its first 64 MiB (managed memory: for all of it), so that a
 * test may fill a simulated card without filling the machine.
 */
#include <string.h>

#include "capture.h"
#include "cuda_copies.h"
#include "timeline.h"

#define COPY_BEGIN_NS 10000 /* copies that take time: what one takes to begin, and its speed over PCIe 4 */
#define COPY_BYTES_A_NS 25

static CUresult reach(CUdeviceptr address, uint64_t bytes, unsigned char **content, uint64_t *kept) {
    CUresult result;

    pthread_mutex_lock(&driver_lock);
    result = block_content(address, bytes, content, kept);
    pthread_mutex_unlock(&driver_lock);
    return result;
}

static CUresult fill(const CUDA_MEMSET_NODE_PARAMS *fill) {
    for (size_t row = 0; row < fill->height; row++) {
        unsigned char *content;
        uint64_t kept;
        CUresult result = reach(fill->dst + row * fill->pitch, fill->width * fill->elementSize, &content, &kept);

        if (result != CUDA_SUCCESS)
            return result;
        if (fill->elementSize == 1)
            memset(content, (int)fill->value, kept);
        else
            for (size_t i = 0; i < kept; i++)
                content[i] = (unsigned char)(fill->value >> 8 * (i % fill->elementSize));
    }
    return CUDA_SUCCESS;
}

static CUresult copy(const struct work *work) {
    uint64_t room = work->copy.bytes, kept = work->copy.bytes;
    unsigned char *to = work->copy.to;
    const unsigned char *from = work->copy.from;
    CUresult result = CUDA_SUCCESS;

    if (work->copy.destination)
        result = reach(work->copy.destination, room, &to, &room);
    if (result == CUDA_SUCCESS && work->copy.source) {
        unsigned char *content;

        result = reach(work->copy.source, kept, &content, &kept);
        from = content;
    }
    if (result != CUDA_SUCCESS)
        return result;
    if (!to || !from)
        return CUDA_ERROR_INVALID_VALUE;
    if (kept > room)
        kept = room;
    memmove(to, from, kept);
    memset(to + kept, 0, room - kept);
    return CUDA_SUCCESS;
}

static CUresult copy_now(const struct work *work) {
    return work->type == CU_GRAPH_NODE_TYPE_MEMSET ? fill(&work->memset) : copy(work);
}

static uint64_t time_of(const struct work *work) {
    uint64_t bytes = work->type == CU_GRAPH_NODE_TYPE_MEMSET
                         ? work->memset.width * work->memset.elementSize * work->memset.height
                         : work->copy.bytes;

    return COPY_BEGIN_NS + bytes / COPY_BYTES_A_NS;
}

CUresult copy_in_stream(const struct work *work, struct CUctx_st *context, CUstream stream) {
    CUresult result = copy_now(work);

    return result == CUDA_SUCCESS && sim_contrary(&driver_node, SIM_COPIES_TAKE_TIME)
               ? host_take(context, stream, time_of(work))
               : result;
}

/* In a stream. */
static CUresult push(const struct work *work, CUstream stream) {
    struct CUctx_st *context;
    CUresult result = driver_stream(&stream, &context);
    bool taken;

    if (result != CUDA_SUCCESS)
        return result;
    result = captured_work(context, stream, work, &taken);
    return result == CUDA_SUCCESS && !taken ? copy_in_stream(work, context, stream) : result;
}

/* In a default stream, waited for. */
static CUresult wait_for(const struct work *work, CUstream stream) {
    struct CUctx_st *context;
    CUresult result = driver_stream(&stream, &context);

    if (result == CUDA_SUCCESS)
        result = unsafe_call();
    if (result == CUDA_SUCCESS)
        result = stream_call(context, stream);
    if (result != CUDA_SUCCESS)
        return result;
    if (sim_contrary(&driver_node, SIM_LEGACY_BARRIERS))
        point_wait(context->ordinal, stream_point(context, stream));
    else
        driver_settle(context);
    result = copy_in_stream(work, context, stream);
    if (result == CUDA_SUCCESS && sim_contrary(&driver_node, SIM_COPIES_TAKE_TIME))
        point_wait(context->ordinal, stream_point(context, stream));
    return result;
}

static struct work upload(CUdeviceptr destination, const void *source, size_t bytes) {
    return (struct work){.type = CU_GRAPH_NODE_TYPE_MEMCPY, .copy = {destination, 0, NULL, source, bytes}};
}

static struct work download(void *destination, CUdeviceptr source, size_t bytes) {
    return (struct work){.type = CU_GRAPH_NODE_TYPE_MEMCPY, .copy = {0, source, destination, NULL, bytes}};
}

static struct work inside(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
    return (struct work){.type = CU_GRAPH_NODE_TYPE_MEMCPY, .copy = {destination, source, NULL, NULL, bytes}};
}

static struct work filling(CUdeviceptr destination, unsigned value, unsigned size, size_t count) {
    return (struct work){.type = CU_GRAPH_NODE_TYPE_MEMSET, .memset = {destination, 0, value, size, count, 1}};
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr destination, const void *source, size_t bytes) {
    FAULT_POINT();
    struct work work = upload(destination, source, bytes);

    return wait_for(&work, NULL);
}

CUresult cuMemcpyHtoD_v2_ptds(CUdeviceptr destination, const void *source, size_t bytes) {
    FAULT_POINT();
    struct work work = upload(destination, source, bytes);

    return wait_for(&work, CU_STREAM_PER_THREAD);
}

CUresult cuMemcpyHtoD(CUdeviceptr_v1 destination, const void *source, unsigned int bytes) {
    FAULT_POINT();
    return cuMemcpyHtoD_v2(destination, source, bytes);
}

CUresult cuMemcpyDtoH_v2(void *destination, CUdeviceptr source, size_t bytes) {
    FAULT_POINT();
    struct work work = download(destination, source, bytes);

    return wait_for(&work, NULL);
}

CUresult cuMemcpyDtoH_v2_ptds(void *destination, CUdeviceptr source, size_t bytes) {
    FAULT_POINT();
    struct work work = download(destination, source, bytes);

    return wait_for(&work, CU_STREAM_PER_THREAD);
}

CUresult cuMemcpyDtoH(void *destination, CUdeviceptr_v1 source, unsigned int bytes) {
    FAULT_POINT();
    return cuMemcpyDtoH_v2(destination, source, bytes);
}

/* Between places of a device, copies and fills do not keep the host waiting: they are in the default stream. */
CUresult cuMemcpyDtoD_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
    FAULT_POINT();
    return cuMemcpyDtoDAsync_v2(destination, source, bytes, NULL);
}

CUresult cuMemcpyDtoD_v2_ptds(CUdeviceptr destination, CUdeviceptr source, size_t bytes) {
    FAULT_POINT();
    return cuMemcpyDtoDAsync_v2(destination, source, bytes, CU_STREAM_PER_THREAD);
}

CUresult cuMemsetD8_v2(CUdeviceptr destination, unsigned char value, size_t count) {
    FAULT_POINT();
    return cuMemsetD8Async(destination, value, count, NULL);
}

CUresult cuMemsetD8_v2_ptds(CUdeviceptr destination, unsigned char value, size_t count) {
    FAULT_POINT();
    return cuMemsetD8Async(destination, value, count, CU_STREAM_PER_THREAD);
}

CUresult cuMemsetD8(CUdeviceptr_v1 destination, unsigned char value, unsigned int count) {
    FAULT_POINT();
    return cuMemsetD8_v2(destination, value, count);
}

CUresult cuMemsetD32_v2(CUdeviceptr destination, unsigned int value, size_t count) {
    FAULT_POINT();
    return cuMemsetD32Async(destination, value, count, NULL);
}

CUresult cuMemsetD32_v2_ptds(CUdeviceptr destination, unsigned int value, size_t count) {
    FAULT_POINT();
    return cuMemsetD32Async(destination, value, count, CU_STREAM_PER_THREAD);
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr destination, const void *source, size_t bytes, CUstream stream) {
    FAULT_POINT();
    struct work work = upload(destination, source, bytes);

    return push(&work, stream);
}

CUresult cuMemcpyHtoDAsync_v2_ptsz(CUdeviceptr destination, const void *source, size_t bytes, CUstream stream) {
    FAULT_POINT();
    return cuMemcpyHtoDAsync_v2(destination, source, bytes, PTSZ(stream));
}

CUresult cuMemcpyDtoHAsync_v2(void *destination, CUdeviceptr source, size_t bytes, CUstream stream) {
    FAULT_POINT();
    struct work work = download(destination, source, bytes);

    return push(&work, stream);
}

CUresult cuMemcpyDtoHAsync_v2_ptsz(void *destination, CUdeviceptr source, size_t bytes, CUstream stream) {
    FAULT_POINT();
    return cuMemcpyDtoHAsync_v2(destination, source, bytes, PTSZ(stream));
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream) {
    FAULT_POINT();
    struct work work = inside(destination, source, bytes);

    return push(&work, stream);
}

CUresult cuMemcpyDtoDAsync_v2_ptsz(CUdeviceptr destination, CUdeviceptr source, size_t bytes, CUstream stream) {
    FAULT_POINT();
    return cuMemcpyDtoDAsync_v2(destination, source, bytes, PTSZ(stream));
}

CUresult cuMemsetD8Async(CUdeviceptr destination, unsigned char value, size_t count, CUstream stream) {
    FAULT_POINT();
    struct work work = filling(destination, value, 1, count);

    return push(&work, stream);
}

CUresult cuMemsetD8Async_ptsz(CUdeviceptr destination, unsigned char value, size_t count, CUstream stream) {
    FAULT_POINT();
    return cuMemsetD8Async(destination, value, count, PTSZ(stream));
}

CUresult cuMemsetD32Async(CUdeviceptr destination, unsigned int value, size_t count, CUstream stream) {
    FAULT_POINT();
    struct work work = filling(destination, value, 4, count);

    return push(&work, stream);
}

CUresult cuMemsetD32Async_ptsz(CUdeviceptr destination, unsigned int value, size_t count, CUstream stream) {
    FAULT_POINT();
    return cuMemsetD32Async(destination, value, count, PTSZ(stream));
}
