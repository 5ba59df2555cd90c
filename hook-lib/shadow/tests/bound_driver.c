/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver of pages_driver.c, and what may be bound to multicast objects and mapped into arrays. What a stream has to
 * unmap is done when the test says so.
 */
#include "pages_driver.c"

#include <stdbool.h>

#include "cuda_capture.h"
#include "cuda_events.h"
#include "cuda_graphs.h"

/* Owner: a multicast object's number, an array's address. */
enum { BINDINGS = 1024, MULTICAST = 100000 };
static struct {
    unsigned long long owner, place, size;
    int object;        /* with 1 added; 0: free */
    int leaves;        /* when the stream has come so far */
    CUcontext context; /* an array's */
} bindings[BINDINGS];
static unsigned long long multicasts;
static int records, runs;

static CUresult bind(unsigned long long owner, unsigned long long place, unsigned long long size, int object) {
    int b = 0;
    if (object < 0)
        return CUDA_ERROR_INVALID_VALUE;
    while (bindings[b].object)
        b++;
    bindings[b].owner = owner;
    bindings[b].place = place;
    bindings[b].size = size;
    bindings[b].object = object + 1;
    bindings[b].leaves = 0;
    bindings[b].context = NULL;
    objects[object].bindings++;
    return CUDA_SUCCESS;
}

static void unbind(int b) {
    int object = bindings[b].object - 1;
    bindings[b].object = 0;
    objects[object].bindings--;
    settle(object);
}

static int by_address(CUdeviceptr address) {
    for (int m = 0; m < MAPPINGS; m++)
        if (mappings[m].size && address >= mappings[m].address && address - mappings[m].address < mappings[m].size)
            return mappings[m].object;
    return -1;
}

CUresult cuMulticastCreate(CUmemGenericAllocationHandle *handle, const CUmulticastObjectProp *prop) {
    *handle = MULTICAST + ++multicasts;
    return prop->size ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Each device has places of its own. */
static unsigned long long place_of(CUdevice device, size_t offset) {
    return (unsigned long long)device << 40 | offset;
}

CUresult cuMulticastBindMem_v2(CUmemGenericAllocationHandle multicast, CUdevice device, size_t offset,
                               CUmemGenericAllocationHandle memory, size_t memoryOffset, size_t size,
                               unsigned long long flags) {
    if (memoryOffset || flags)
        return CUDA_ERROR_INVALID_VALUE;
    return bind(multicast, place_of(device, offset), size, by_handle(memory));
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle multicast, size_t offset, CUmemGenericAllocationHandle memory,
                            size_t memoryOffset, size_t size, unsigned long long flags) {
    return cuMulticastBindMem_v2(multicast, 0, offset, memory, memoryOffset, size, flags);
}

CUresult cuMulticastBindAddr_v2(CUmemGenericAllocationHandle multicast, CUdevice device, size_t offset,
                                CUdeviceptr address, size_t size, unsigned long long flags) {
    return flags ? CUDA_ERROR_INVALID_VALUE : bind(multicast, place_of(device, offset), size, by_address(address));
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle multicast, size_t offset, CUdeviceptr address, size_t size,
                             unsigned long long flags) {
    return cuMulticastBindAddr_v2(multicast, 0, offset, address, size, flags);
}

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle multicast, CUdevice device, size_t offset, size_t size) {
    for (int b = 0; b < BINDINGS; b++)
        if (bindings[b].object && bindings[b].owner == multicast && bindings[b].place == place_of(device, offset) &&
            bindings[b].size == size) {
            unbind(b);
            return CUDA_SUCCESS;
        }
    return CUDA_ERROR_INVALID_VALUE;
}

static void unbind_all_of(unsigned long long owner) {
    for (int b = 0; b < BINDINGS; b++)
        if (bindings[b].object && bindings[b].owner == owner)
            unbind(b);
}

/* Their numbers are above those of multicast objects. */
static unsigned long long endpoint_of(CUlogicalEndpointId endpoint) {
    return 2 * MULTICAST + (unsigned long long)endpoint;
}

CUresult cuLogicalEndpointBindMem(CUlogicalEndpointId endpoint, CUdevice device, cuuint64_t offset,
                                  CUmemGenericAllocationHandle memory, cuuint64_t memoryOffset, cuuint64_t size,
                                  unsigned long long flags) {
    return cuMulticastBindMem_v2(endpoint_of(endpoint), device, offset, memory, memoryOffset, size, flags);
}

CUresult cuLogicalEndpointBindAddr(CUlogicalEndpointId endpoint, CUdevice device, cuuint64_t offset, void *pointer,
                                   cuuint64_t size, unsigned long long flags) {
    return cuMulticastBindAddr_v2(endpoint_of(endpoint), device, offset, (CUdeviceptr)(uintptr_t)pointer, size, flags);
}

CUresult cuLogicalEndpointUnbind(CUlogicalEndpointId endpoint, CUdevice device, cuuint64_t offset, cuuint64_t size) {
    return cuMulticastUnbind(endpoint_of(endpoint), device, offset, size);
}

CUresult cuLogicalEndpointDestroy(CUlogicalEndpointId endpoint) {
    unbind_all_of(endpoint_of(endpoint));
    return endpoint ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUcontext context_of(CUstream stream);

/* What reaches beyond the place is a binding of its own from there on. */
static void cut(unsigned long long owner, unsigned long long place) {
    for (int b = 0; b < BINDINGS; b++) {
        if (!bindings[b].object || bindings[b].leaves || bindings[b].owner != owner || bindings[b].place >= place ||
            place - bindings[b].place >= bindings[b].size)
            continue;
        unsigned long long rest = bindings[b].place + bindings[b].size - place;
        bindings[b].size -= rest;
        bind(owner, place, rest, bindings[b].object - 1);
    }
}

CUresult cuMemMapArrayAsync(CUarrayMapInfo *list, unsigned int count, CUstream stream) {
    for (unsigned int i = 0; i < count; i++) {
        unsigned long long owner = (unsigned long long)(uintptr_t)list[i].resource.array;
        unsigned long long place = list[i].subresource.sparseLevel.offsetX;
        unsigned long long size = list[i].subresource.sparseLevel.extentWidth;
        cut(owner, place);
        cut(owner, place + size);
        for (int b = 0; b < BINDINGS; b++)
            if (bindings[b].object && bindings[b].owner == owner && bindings[b].place >= place &&
                bindings[b].place + bindings[b].size <= place + size)
                bindings[b].leaves = 1;
        if (list[i].memOperationType == CU_MEM_OPERATION_TYPE_MAP &&
            bind(owner, place, size, by_handle(list[i].memHandle.memHandle)) != CUDA_SUCCESS)
            return CUDA_ERROR_INVALID_VALUE;
        for (int b = 0; b < BINDINGS; b++)
            if (bindings[b].object && bindings[b].owner == owner)
                bindings[b].context = context_of(stream);
    }
    return CUDA_SUCCESS;
}

CUresult cuMemMapArrayAsync_ptsz(CUarrayMapInfo *list, unsigned int count, CUstream stream) {
    return cuMemMapArrayAsync(list, count, stream);
}

/* The stream does all that it was given. */
PARTITA_EXPORT void bound_driver_run(void);
void bound_driver_run(void) {
    runs = records;
    for (int b = 0; b < BINDINGS; b++)
        if (bindings[b].object && bindings[b].leaves)
            unbind(b);
}

CUresult cuStreamSynchronize(CUstream stream) {
    (void)stream;
    bound_driver_run();
    return CUDA_SUCCESS;
}

/* What another thread does when an array has been destroyed, before the call that destroyed it returns. */
PARTITA_EXPORT extern void (*bound_driver_meanwhile)(void);
void (*bound_driver_meanwhile)(void);

CUresult cuArrayDestroy(CUarray array) {
    if (!array)
        return CUDA_ERROR_INVALID_HANDLE;
    unbind_all_of((unsigned long long)(uintptr_t)array);
    void (*meanwhile)(void) = bound_driver_meanwhile;
    bound_driver_meanwhile = NULL;
    if (meanwhile)
        meanwhile();
    return CUDA_SUCCESS;
}

/* Two contexts; streams but the default ones are the second's. Events are their context's, and dead with it. */
static int users = 1, other;
static CUcontext now = (CUcontext)&users;
enum { EVENTS = 64 };
static struct {
    CUcontext context;
    int dead;
} events[EVENTS];
static int events_made, dead_asked;

PARTITA_EXPORT CUcontext bound_driver_other(void);
CUcontext bound_driver_other(void) {
    return (CUcontext)&other;
}

PARTITA_EXPORT int bound_driver_dead_asked(void);
int bound_driver_dead_asked(void) {
    return dead_asked;
}

static CUcontext context_of(CUstream stream) {
    return (uintptr_t)stream > 2 ? (CUcontext)&other : now;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
    *context = context_of(stream);
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
    *context = now;
    return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
    now = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    *context = now;
    now = (CUcontext)&users;
    return CUDA_SUCCESS;
}

/* Ends the second one only, with what its streams had to do, and its arrays. */
CUresult cuCtxDestroy_v2(CUcontext context) {
    if (context != (CUcontext)&other)
        return CUDA_ERROR_INVALID_CONTEXT;
    for (int i = 0; i < EVENTS; i++)
        events[i].dead |= events[i].context == context;
    bound_driver_run();
    for (int b = 0; b < BINDINGS; b++)
        if (bindings[b].object && bindings[b].context == context)
            unbind(b);
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned int flags) {
    events[events_made % EVENTS].context = now;
    *event = (CUevent)&events[events_made++ % EVENTS];
    return flags == CU_EVENT_DISABLE_TIMING ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
    if (*(CUcontext *)event != context_of(stream))
        return CUDA_ERROR_INVALID_HANDLE;
    records++;
    return CUDA_SUCCESS;
}

CUresult cuEventRecord_ptsz(CUevent event, CUstream stream) {
    return cuEventRecord(event, stream);
}

static int capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
static int captures_ended;

PARTITA_EXPORT int bound_driver_captures_ended(void);
int bound_driver_captures_ended(void) {
    return captures_ended;
}

CUresult cuThreadExchangeStreamCaptureMode(int *mode) {
    int former = capture_mode;
    capture_mode = *mode;
    *mode = former;
    return CUDA_SUCCESS;
}

/* As if another thread captured all the time: in any other mode the question would end its capture. */
CUresult cuEventQuery(CUevent event) {
    for (int i = 0; i < EVENTS; i++)
        dead_asked += (CUevent)&events[i] == event && events[i].dead;
    if (capture_mode != CU_STREAM_CAPTURE_MODE_RELAXED) {
        captures_ended++;
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return runs == records ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

CUresult cuEventDestroy_v2(CUevent event) {
    (void)event;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize_v2(CUcontext context) {
    (void)context;
    return CUDA_SUCCESS;
}

/* Linear memory ends with the first context. */
static size_t linear;

CUresult cuMemAllocManaged(CUdeviceptr *pointer, size_t bytes, unsigned int flags) {
    *pointer = next;
    next += bytes;
    used += bytes;
    linear += bytes;
    return flags == CU_MEM_ATTACH_GLOBAL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Rows as far apart as the test says, and how much the card held at most. */
static size_t row_step = 512, most_used, pitched;

PARTITA_EXPORT void bound_driver_rows(size_t step);
void bound_driver_rows(size_t step) {
    row_step = step;
}

PARTITA_EXPORT size_t bound_driver_most_used(void);
size_t bound_driver_most_used(void) {
    return most_used;
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *pointer, size_t *pitch, size_t width, size_t height, unsigned int element) {
    *pitch = (width + row_step - 1) / row_step * row_step;
    CUresult result =
        element == 4 ? cuMemAllocManaged(pointer, *pitch * height, CU_MEM_ATTACH_GLOBAL) : CUDA_ERROR_INVALID_VALUE;
    most_used = used > most_used ? used : most_used;
    pitched = *pitch * height;
    return result;
}

CUresult cuMemFree_v2(CUdeviceptr pointer) {
    used -= pitched; /* the last one */
    linear -= pitched;
    pitched = 0;
    return pointer ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuCtxAttach(CUcontext *context, unsigned int flags) {
    users++;
    return flags ? CUDA_ERROR_INVALID_VALUE : cuCtxGetCurrent(context);
}

CUresult cuCtxDetach(CUcontext context) {
    if (--users == 0) {
        used -= linear;
        linear = 0;
    }
    return context ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

/* Every kind of place has a pool of its own. */
CUresult cuMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location, int type) {
    *pool = (CUmemoryPool)(uintptr_t)(0x1000 + 0x100 * location->type);
    return type == CU_MEM_ALLOCATION_TYPE_PINNED ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemGetMemPool(CUmemoryPool *pool, CUmemLocation *location, int type) {
    return cuMemGetDefaultMemPool(pool, location, type);
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device) {
    *pool = (CUmemoryPool)(uintptr_t)(0x1000 + 0x100 * CU_MEM_LOCATION_TYPE_DEVICE);
    return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

/* What a pool has reserved: only the card's is asked for here. */
CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
    *(cuuint64_t *)value = used;
    return pool && attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/*
 * Graphs with one node each. OUTER has nothing but MIDDLE in it, MIDDLE nothing but INNER, and INNER allocates. The
 * real driver allows that where the inner graph was moved into the outer one. LOOP has a conditional node, whose second
 * body is INNER, as no driver allows yet. DEEP has a graph in it that has one in it, and so on to DEEPEST, which
 * allocates.
 */
enum { OUTER = 1, MIDDLE, INNER, LOOP, EMPTY, DEEP = 1000, DEEPEST = 2000, GRAPH_BYTES = 6 << 20 };
static size_t graph_memory;

static uintptr_t number(const void *handle) {
    return (uintptr_t)handle;
}

static bool allocates(CUgraphNode node) {
    return number(node) == INNER || number(node) == DEEPEST;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count) {
    if (nodes && number(graph) != EMPTY)
        *nodes = (CUgraphNode)graph; /* a node has its graph's number */
    *count = number(graph) != EMPTY;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, int *type) {
    *type = allocates(node)        ? CU_GRAPH_NODE_TYPE_MEM_ALLOC
            : number(node) == LOOP ? CU_GRAPH_NODE_TYPE_CONDITIONAL
                                   : CU_GRAPH_NODE_TYPE_GRAPH;
    return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetParams(CUgraphNode node, CUgraphNodeParams *params) {
    static CUgraph bodies[] = {(CUgraph)(uintptr_t)EMPTY, (CUgraph)(uintptr_t)INNER};
    *params = (CUgraphNodeParams){.type = CU_GRAPH_NODE_TYPE_CONDITIONAL,
                                  .conditional = {.type = CU_GRAPH_COND_TYPE_IF, .size = 2, .phGraph_out = bodies}};
    return number(node) == LOOP ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph) {
    *graph = (CUgraph)(number(node) + 1);
    return CUDA_SUCCESS;
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params) {
    *params = (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
        .bytesize = GRAPH_BYTES,
        .dptr = 1 << 30};
    return allocates(node) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
    *exec = (CUgraphExec)(uintptr_t)0x7000;
    return graph && !flags ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
    (void)stream;
    if (graph_memory == 0)
        used += GRAPH_BYTES;
    graph_memory = GRAPH_BYTES;
    return exec ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, int attribute, void *value) {
    *(cuuint64_t *)value = attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT ? graph_memory : 0;
    return device == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
