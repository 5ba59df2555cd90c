/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations of every kind: what the share is charged against what NVML says that the card holds. */
#include "memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "card.h"
#include "cuda_arrays.h"
#include "cuda_graphs.h"
#include "cuda_pages.h"

static CUdeviceptr pointers[164];
static CUmemGenericAllocationHandle pages;
static CUarray array;
static CUgraphExec graph;

static CUresult make_allocations(void) {
    CUresult result = CUDA_SUCCESS;
    for (int i = 0; i < 164 && result == CUDA_SUCCESS; i++)
        result = CUDA(cuMemAlloc_v2)(&pointers[i], i < 64 ? 3 * MIB : 100 * 1024);
    return result;
}

static void end_allocations(void) {
    for (int i = 0; i < 164; i++)
        DO(CUDA(cuMemFree_v2)(pointers[i]));
}

static CUresult make_pitched(void) {
    size_t pitch;
    return CUDA(cuMemAllocPitch_v2)(&pointers[0], &pitch, 10000, 10000, 4);
}

static void end_one(void) {
    DO(CUDA(cuMemFree_v2)(pointers[0]));
}

static CUresult make_pooled(void) {
    CUresult result = CUDA(cuMemAllocAsync)(&pointers[0], 200 * MIB, NULL);
    if (result == CUDA_SUCCESS)
        result = CUDA(cuMemAllocAsync)(&pointers[1], 50 * MIB, NULL);
    return result == CUDA_SUCCESS ? CUDA(cuStreamSynchronize)(NULL) : result;
}

static void end_pooled(void) {
    DO(CUDA(cuMemFreeAsync)(pointers[0], NULL));
    DO(CUDA(cuMemFreeAsync)(pointers[1], NULL));
    DO(CUDA(cuStreamSynchronize)(NULL));
}

static CUresult make_pages(void) {
    CUmemAllocationProp prop;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 0};
    return CUDA(cuMemCreate)(&pages, 128 * MIB, &prop, 0);
}

static void end_pages(void) {
    DO(CUDA(cuMemRelease)(pages));
}

/* A mapping keeps what it maps: the handle goes at once, as programs do it. */
static CUresult make_mapped(void) {
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUresult result = make_pages();
    if (result != CUDA_SUCCESS)
        return result;
    DO(CUDA(cuMemAddressReserve)(&pointers[0], 128 * MIB, 0, 0, 0));
    DO(CUDA(cuMemMap)(pointers[0], 128 * MIB, 0, pages, 0));
    DO(CUDA(cuMemRelease)(pages));
    DO(CUDA(cuMemSetAccess)(pointers[0], 128 * MIB, &access, 1));
    return CUDA(cuMemsetD8_v2)(pointers[0], 1, 128 * MIB);
}

static void end_mapped(void) {
    DO(CUDA(cuCtxSynchronize)());
    DO(CUDA(cuMemUnmap)(pointers[0], 128 * MIB));
    DO(CUDA(cuMemAddressFree)(pointers[0], 128 * MIB));
}

/* Managed memory is on the card once the card has used it. */
static CUresult make_managed(void) {
    CUresult result = CUDA(cuMemAllocManaged)(&pointers[0], 128 * MIB, CU_MEM_ATTACH_GLOBAL);
    if (result != CUDA_SUCCESS)
        return result;
    DO(CUDA(cuMemsetD8_v2)(pointers[0], 1, 128 * MIB));
    return CUDA(cuCtxSynchronize)();
}

static CUresult make_array(void) {
    CUDA_ARRAY_DESCRIPTOR description;
    memset(&description, 0, sizeof description);
    description.Width = description.Height = 4096;
    description.Format = CU_AD_FORMAT_FLOAT;
    description.NumChannels = 4;
    return CUDA(cuArrayCreate_v2)(&array, &description);
}

static void end_array(void) {
    DO(CUDA(cuArrayDestroy)(array));
}

static CUresult make_graph(void) {
    CUgraph made;
    CUgraphNode node, freeing;
    CUDA_MEM_ALLOC_NODE_PARAMS params;
    memset(&params, 0, sizeof params);
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 0};
    params.bytesize = 128 * MIB;
    DO(CUDA(cuGraphCreate)(&made, 0));
    DO(CUDA(cuGraphAddMemAllocNode)(&node, made, NULL, 0, &params));
    DO(CUDA(cuGraphAddMemFreeNode)(&freeing, made, &node, 1, params.dptr));
    DO(CUDA(cuGraphInstantiateWithFlags)(&graph, made, 0));
    DO(CUDA(cuGraphDestroy)(made));
    CUresult result = CUDA(cuGraphLaunch)(graph, NULL);
    return result == CUDA_SUCCESS ? CUDA(cuCtxSynchronize)() : result;
}

/* What is mapped already is not charged once more. */
static CUresult make_graph_launched_again(void) {
    CUresult result = make_graph();
    for (int i = 0; i < 3 && result == CUDA_SUCCESS; i++)
        result = CUDA(cuGraphLaunch)(graph, NULL);
    return result;
}

static void end_graph(void) {
    DO(CUDA(cuCtxSynchronize)());
    DO(CUDA(cuGraphExecDestroy)(graph));
    DO(CUDA(cuDeviceGraphMemTrim)(0));
}

static const struct kind {
    const char *name, *needs;
    CUresult (*make)(void);
    void (*end)(void);
} kinds[] = {
    {"cuMemAlloc: 64 of 3 MiB, 100 of 100 KiB", "cuMemAlloc_v2", make_allocations, end_allocations},
    {"cuMemAllocPitch: 10000 rows of 10000 bytes", "cuMemAllocPitch_v2", make_pitched, end_one},
    {"cuMemAllocAsync: 200 and 50 MiB", "cuMemAllocAsync", make_pooled, end_pooled},
    {"cuMemCreate: 128 MiB", "cuMemCreate", make_pages, end_pages},
    {"cuMemCreate: 128 MiB, mapped and written", "cuMemAddressReserve", make_mapped, end_mapped},
    {"cuMemAllocManaged: 128 MiB, written by the card", "cuMemAllocManaged", make_managed, end_one},
    {"cuArrayCreate: 4096 x 4096 x 4 floats", "cuArrayCreate_v2", make_array, end_array},
    {"graph with an allocation of 128 MiB", "cuGraphAddMemAllocNode", make_graph, end_graph},
    {"the same, launched again and again", "cuGraphAddMemAllocNode", make_graph_launched_again, end_graph},
};

static uint64_t charged(void) {
    size_t free, total;
    DO(CUDA(cuMemGetInfo_v2)(&free, &total));
    return total - free;
}

static double mib(int64_t bytes) {
    return (double)bytes / (double)MIB;
}

/* Whether they are the same but for the slack of the driver's slabs. */
static bool close_to(int64_t charge, int64_t truth) {
    int64_t slack = truth / 50 > (int64_t)(4 * MIB) ? truth / 50 : (int64_t)(4 * MIB);
    return llabs(charge - truth) <= slack;
}

static void try(const struct kind *kind) {
    /* The shadow alone has all that it wraps: whether the driver has it shows in the answer. */
    if (!card_function(kind->needs)) {
        printf("memory\t%s\tnot run\tthe driver lacks it\n", kind->name);
        return;
    }
    int64_t charge = (int64_t)charged(), truth = (int64_t)truth_used();
    CUresult result = kind->make();
    if (result != CUDA_SUCCESS) {
        printf("memory\t%s\t%s\terror %d\n", kind->name, result == CUDA_ERROR_NOT_SUPPORTED ? "not run" : "FAIL",
               (int)result);
        return;
    }
    int64_t charge_held = (int64_t)charged() - charge, truth_held = (int64_t)truth_used() - truth;
    kind->end();
    int64_t charge_left = (int64_t)charged() - charge, truth_left = (int64_t)truth_used() - truth;
    bool good = close_to(charge_held, truth_held) && close_to(charge_left, truth_left);
    printf("memory\t%s\t%s\tcharged %.1f MiB, NVML %.1f MiB; after: %.1f, %.1f MiB\n", kind->name,
           good ? "pass" : "FAIL", mib(charge_held), mib(truth_held), mib(charge_left), mib(truth_left));
}

static void beyond(const char *name, CUresult result) {
    printf("memory\tbeyond the quota: %s\t%s\terror %d\n", name,
           result == CUDA_ERROR_OUT_OF_MEMORY   ? "pass"
           : result == CUDA_ERROR_NOT_SUPPORTED ? "not run"
                                                : "FAIL",
           (int)result);
}

/* Another process of the share opens what this one holds: it is charged once, to this one. */
static void shared_with_another_process(void) {
    const char *name = "cuIpcOpenMemHandle: 128 MiB of another process of the share";
    CUipcMemHandle handle;
    char words[2 * sizeof handle + 1];
    int status = -1;
    DO(CUDA(cuMemAlloc_v2)(&pointers[0], 128 * MIB));
    CUresult result = CUDA(cuIpcGetMemHandle)(&handle, pointers[0]);
    if (result != CUDA_SUCCESS) {
        printf("memory\t%s\tnot run\tcuIpcGetMemHandle: error %d\n", name, (int)result);
        DO(CUDA(cuMemFree_v2)(pointers[0]));
        return;
    }
    for (size_t i = 0; i < sizeof handle; i++)
        snprintf(words + 2 * i, 3, "%02x", ((const unsigned char *)&handle)[i]);
    printf("memory\t%s\t", name);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "partita-hardware", "open", words, NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
        printf("FAIL\tthe other process ended with status %d\n", status);
    DO(CUDA(cuMemFree_v2)(pointers[0]));
}

void memory_open(const char *words) {
    CUipcMemHandle handle;
    CUdeviceptr pointer;
    unsigned char *bytes = (unsigned char *)&handle;
    for (size_t i = 0; i < sizeof handle; i++) {
        unsigned int byte;
        if (sscanf(words + 2 * i, "%2x", &byte) != 1) {
            fputs("no handle\n", stderr);
            exit(2);
        }
        bytes[i] = (unsigned char)byte;
    }
    int64_t charge = (int64_t)charged(), truth = (int64_t)truth_used();
    CUresult result = CUDA(cuIpcOpenMemHandle_v2)(&pointer, handle, 1);
    if (result != CUDA_SUCCESS) {
        printf("FAIL\tcuIpcOpenMemHandle: error %d\n", (int)result);
        return;
    }
    int64_t charge_more = (int64_t)charged() - charge, truth_more = (int64_t)truth_used() - truth;
    DO(CUDA(cuIpcCloseMemHandle)(pointer));
    int64_t charge_left = (int64_t)charged() - charge;
    bool good = charge >= (int64_t)(128 * MIB) && close_to(charge_more, 0) && close_to(truth_more, 0) &&
                close_to(charge_left, 0);
    printf("%s\tcharged %.1f MiB before, %.1f MiB more by opening it, NVML %.1f MiB more; after closing it %.1f MiB "
           "more\n",
           good ? "pass" : "FAIL", mib(charge), mib(charge_more), mib(truth_more), mib(charge_left));
}

void memory_check(uint64_t used_before) {
    size_t free, total;
    CUdeviceptr pointer;
    printf("memory\ta context\tfigure\tcharged %.1f MiB, NVML %.1f MiB\n", mib((int64_t)charged()),
           mib((int64_t)(truth_used() - used_before)));
    DO(CUDA(cuMemAlloc_v2)(&pointer, MIB)); /* what comes with the first one */
    DO(CUDA(cuMemFree_v2)(pointer));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        try(&kinds[i]);
    shared_with_another_process();
    DO(CUDA(cuMemGetInfo_v2)(&free, &total));
    /* the context takes some of it; what the other process' context was charged is given back for the attempt */
    beyond("cuMemAlloc of all of it", CUDA(cuMemAlloc_v2)(&pointer, total));
    DO(CUDA(cuMemGetInfo_v2)(&free, &total));
    beyond("cuMemAlloc", CUDA(cuMemAlloc_v2)(&pointer, free + MIB));
    beyond("cuMemAllocAsync", CUDA(cuMemAllocAsync)(&pointer, free + 64 * MIB, NULL));
    beyond("cuMemAllocManaged", CUDA(cuMemAllocManaged)(&pointer, free + MIB, 1));
    DO(CUDA(cuMemAlloc_v2)(&pointer, free - 64 * MIB));
    printf("memory\tan allocation after the refusals\tpass\t%.1f MiB\n", mib((int64_t)(free - 64 * MIB)));
    DO(CUDA(cuMemFree_v2)(pointer));
}
