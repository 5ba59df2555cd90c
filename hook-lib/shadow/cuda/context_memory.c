/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver tells only NVML, and that only outside the container, what a context takes. The node's plugin measures it:
 * what a context on cards of the model takes at least stands in the quota file, and what this process' contexts take in
 * its slot, which share_tend compares with what they are charged. Until the first context of a model is measured, they
 * are charged the guess below; one that is too large is corrected a measurement later.
 */
#include "cuda/context_memory.h"

#include <stdbool.h>
#include <stddef.h>

#include "cuda/cuda_charge.h"
#include "cuda/cuda_driver.h"
#include "cuda/cuda_units.h"
#include "share/cards.h"

/*
 * KiB for each multiprocessor, which is what a context grows with (ggml-org/llama.cpp pull request 23604 has 555 MiB on
 * 188 of them and 107 MiB on 34), a little above what was seen. An architecture without a figure counts as the one
 * before it.
 */
static const struct {
    int capability; /* major * 10 + minor, and above up to the next */
    uint64_t kib;
} guesses[] = {
    {0, 4096},   /* older ones: the largest below */
    {70, 4096},  /* Volta: Titan V, 80 multiprocessors, 319 MiB (pytorch/pytorch issue 28394, PyCuda) */
    {80, 3328},  /* Ampere: RTX 3090, 82, 256 MiB, driver 610 (invoke-ai/InvokeAI issue 9413) */
    {89, 3328},  /* Ada: RTX 4060 Ti, 34, 107 MiB (ggml-org/llama.cpp pull request 23604) */
    {90, 4096},  /* Hopper: H200, 132, 520 MiB (clemsgrs/slide2vec issue 326, idle contexts) */
    {120, 3072}, /* Blackwell: RTX PRO 6000, 188, 555 MiB (ggml-org/llama.cpp pull request 23604) */
};

uint64_t context_memory_guess(int major, int minor, int multiprocessors) {
    uint64_t kib = guesses[0].kib;
    for (size_t i = 0; i < sizeof guesses / sizeof *guesses; i++)
        if (major * 10 + minor >= guesses[i].capability)
            kib = guesses[i].kib;
    return multiprocessors > 0 ? kib * 1024 * (uint64_t)multiprocessors : 0;
}

static int attribute(CUdevice_attribute which, CUdevice device) {
    int value = 0;
    if (DRIVER(cuDeviceGetAttribute) && DRIVER(cuDeviceGetAttribute)(&value, which, device) != CUDA_SUCCESS)
        value = 0;
    return value;
}

static uint64_t guess_of(CUdevice device) {
    return units_of_pages(context_memory_guess(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
                                               attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
                                               attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device)));
}

/*
 * Whether contexts may take as little as the quota file says: the plugin learns the figure of all containers, and one
 * that forges its account makes it as small as it likes.
 */
static bool is_plausible(uint64_t measured, uint64_t guess) {
    return measured != SHARE_CONTEXT_UNKNOWN && (measured == 0 || measured >= guess / 2);
}

/*
 * A share that may hold less of the card than the guess is not refused for it: all that is left is charged until it is
 * measured.
 */
static bool charge_all_that_is_left(struct context_memory *memory) {
    if (memory->units <= cards_physical(memory->card))
        return false;
    memory->units = cards_charge_part(memory->card, SHARE_CONTEXT, memory->units);
    return true;
}

CUresult context_memory_begin(struct context_memory *memory, CUdevice device) {
    *memory = (struct context_memory){cuda_is_device(device) ? cuda_card_of(device) : CARD_UNLIMITED, 0};
    if (memory->card < 0)
        return CUDA_SUCCESS; /* the driver's own error comes first; where everything is refused, allocations are */
    uint64_t measured = cards_context(memory->card), guess = guess_of(device);
    bool known = is_plausible(measured, guess);
    memory->units = known ? measured : guess;
    cards_context_begins(memory->card);
    if (memory->units == 0 || charge_try(memory->card, SHARE_CONTEXT, memory->units) ||
        (!known && charge_all_that_is_left(memory)))
        return CUDA_SUCCESS;
    cards_context_begun(memory->card, false);
    cards_refuse(memory->card);
    return CUDA_ERROR_OUT_OF_MEMORY;
}

void context_memory_end(const struct context_memory *memory, CUresult result) {
    if (memory->card < 0)
        return;
    if (result != CUDA_SUCCESS)
        cards_release(memory->card, SHARE_CONTEXT, memory->units);
    cards_context_begun(memory->card, result == CUDA_SUCCESS);
}

void context_memory_gone(int card) {
    if (card >= 0)
        cards_context_gone(card);
}
