/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocation in rows, which the driver lays further apart than they are long. It tells how far only afterwards, and no
 * attribute tells it, so it is asked for a single row before the process' first allocation: that is charged with at
 * most ROW_MOST more than it holds, and all rows then with what was learned. Where the driver gave more all the same,
 * the charge follows, or all is freed again.
 */
#include "common/atomics.h"
#include "common/lifetime.h"
#include "common/numbers.h"
#include "cuda/cuda_charge.h"
#include "cuda/cuda_driver.h"

/* bytes; what drivers give, too: a multiple of every alignment of textures and elements */
enum { MANAGED_PITCH = 512 };
enum { ROW_MOST = 64 << 10 };

/* What the driver rounds rows up to, as far as its answers have shown it: a power of two. */
static uint64_t driver_pitch = 512;
static uint32_t pitch_known;

struct rows {
    bool narrow; /* by the function with 32-bit addresses */
    uint64_t width, height;
    unsigned int element;
    CUdeviceptr at; /* answers */
    uint64_t pitch;
};

static CUresult ask_driver_for_rows(struct rows *rows, uint64_t height) {
    if (rows->narrow) {
        CUdeviceptr_v1 at = 0;
        unsigned int pitch = 0;
        CUresult result =
            DRIVER(cuMemAllocPitch)(&at, &pitch, (unsigned int)rows->width, (unsigned int)height, rows->element);
        rows->at = at;
        rows->pitch = pitch;
        return result;
    }
    size_t pitch = 0;
    CUresult result = DRIVER(cuMemAllocPitch_v2)(&rows->at, &pitch, rows->width, height, rows->element);
    rows->pitch = pitch;
    return result;
}

static CUresult free_rows(const struct rows *rows) {
    if (rows->narrow && DRIVER(cuMemFree))
        return DRIVER(cuMemFree)((CUdeviceptr_v1)rows->at);
    if (!rows->narrow && DRIVER(cuMemFree_v2))
        return DRIVER(cuMemFree_v2)(rows->at);
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult ask_for_managed(struct rows *rows) {
    if (rows->element != 4 && rows->element != 8 && rows->element != 16)
        return CUDA_ERROR_INVALID_VALUE;
    rows->pitch = (rows->width + MANAGED_PITCH - 1) / MANAGED_PITCH * MANAGED_PITCH;
    return DRIVER(cuMemAllocManaged)(&rows->at, rows->pitch * rows->height, CU_MEM_ATTACH_GLOBAL);
}

static uint64_t round_up(uint64_t width, uint64_t step) {
    uint64_t more;
    return __builtin_add_overflow(width, step - 1, &more) ? UINT64_MAX : more & ~(step - 1);
}

static bool is_known(void) {
    return load_relaxed(&pitch_known) != 0;
}

/* What the driver may take: rows of one byte take up to 512 times what they hold. */
static uint64_t most_bytes(const struct rows *rows) {
    uint64_t all = times(round_up(rows->width, load_relaxed(&driver_pitch)), rows->height);
    uint64_t first = is_known() ? 0 : round_up(rows->width, ROW_MOST);
    return first > all ? first : all;
}

/* A pitch above what was expected is expected from now on. */
static void learn_pitch(const struct rows *rows) {
    uint64_t step = load_relaxed(&driver_pitch);
    while (step < UINT64_C(1) << 32 && round_up(rows->width, step) < rows->pitch)
        step *= 2;
    store_relaxed(&driver_pitch, step);
    store_relaxed(&pitch_known, 1);
}

/* Asks for one row, within the charge for all. False: the quota does not allow what was learned. */
static bool try_first(struct rows *rows, struct charge *charge) {
    if (ask_driver_for_rows(rows, 1) == CUDA_SUCCESS) {
        learn_pitch(rows);
        free_rows(rows);
    }
    return charge_change(charge, most_bytes(rows));
}

static CUresult allocate_rows(struct rows *rows) {
    struct charge charge;
    uint64_t most = most_bytes(rows);
    CUresult result = rows->narrow ? charge_begin_in_context(&charge, most) : charge_begin_movable(&charge, most);
    if (result != CUDA_SUCCESS)
        return result;
    if (charge.memory == SHARE_PAGED)
        result = ask_for_managed(rows);
    else if (charge.card >= 0 && !is_known() && !try_first(rows, &charge))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    else
        result = ask_driver_for_rows(rows, rows->height);
    if (result == CUDA_SUCCESS && charge.memory != SHARE_PAGED)
        learn_pitch(rows);
    if (result == CUDA_SUCCESS && !charge_change(&charge, times(rows->pitch, rows->height))) {
        free_rows(rows);
        result = CUDA_ERROR_OUT_OF_MEMORY;
    }
    return charge_end(&charge, result, rows->at) ? result : charge_undo(&charge, free_rows(rows));
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *pointer, size_t *pitch, size_t widthInBytes, size_t height,
                            unsigned int elementSizeBytes) {
    NEED(cuMemAllocPitch_v2);
    if (!pointer || !pitch || widthInBytes == 0 || height == 0)
        return DRIVER(cuMemAllocPitch_v2)(pointer, pitch, widthInBytes, height, elementSizeBytes);
    struct rows rows = {.width = widthInBytes, .height = height, .element = elementSizeBytes};
    CUresult result = allocate_rows(&rows);
    if (result == CUDA_SUCCESS) {
        *pointer = rows.at;
        *pitch = rows.pitch;
    }
    return result;
}

CUresult cuMemAllocPitch(CUdeviceptr_v1 *pointer, unsigned int *pitch, unsigned int widthInBytes, unsigned int height,
                         unsigned int elementSizeBytes) {
    NEED(cuMemAllocPitch);
    if (!pointer || !pitch || widthInBytes == 0 || height == 0)
        return DRIVER(cuMemAllocPitch)(pointer, pitch, widthInBytes, height, elementSizeBytes);
    struct rows rows = {.narrow = true, .width = widthInBytes, .height = height, .element = elementSizeBytes};
    CUresult result = allocate_rows(&rows);
    if (result == CUDA_SUCCESS) {
        *pointer = (CUdeviceptr_v1)rows.at;
        *pitch = (unsigned int)rows.pitch;
    }
    return result;
}
