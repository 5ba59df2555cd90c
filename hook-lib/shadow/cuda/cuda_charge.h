/* SPDX-License-Identifier: Apache-2.0 */
/* One allocation's way: charged before the driver is called, kept or given back after. */
#ifndef PARTITA_CUDA_CHARGE_H
#define PARTITA_CUDA_CHARGE_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda_api.h"
#include "share/cards.h"

struct charge {
    int card;                 /* negative: nothing is charged; CHARGE_UNKNOWN: nor is anything kept */
    enum share_memory memory; /* PAGED: the memory is to be managed */
    uint64_t units;
    uint32_t context; /* number of the context that the memory ends with (cuda_contexts.h); 0: with none */
};

#define CHARGE_NOTHING ((struct charge){-1, SHARE_RESIDENT, 0, 0})

/* There is no current context: the driver says why. What it gave all the same would be in no account. */
enum { CHARGE_UNKNOWN = -3 };

/*
 * Charges the units, if need be after the process' pools gave up what nobody uses. False: the quota does not allow it;
 * that counts as refused.
 */
bool charge_card(int card, enum share_memory memory, uint64_t units);

/* The same; but where the quota does not allow it, nothing is counted yet. */
bool charge_try(int card, enum share_memory memory, uint64_t units);

/*
 * Charges the current card. CUDA_SUCCESS: call the driver, then charge_end. Anything else is what the caller gets:
 * CUDA_ERROR_OUT_OF_MEMORY beyond the quota.
 */
CUresult charge_begin(struct charge *charge, uint64_t bytes);

/* The same for memory that ends with the current context if it is not freed before. */
CUresult charge_begin_in_context(struct charge *charge, uint64_t bytes);

/*
 * The same for memory that may be made managed instead: where the share oversubscribes and its part of the card is
 * full, charge->memory is PAGED, and that is what the caller has to do.
 */
CUresult charge_begin_movable(struct charge *charge, uint64_t bytes);

/* The same for managed memory, in whole pages. */
CUresult charge_begin_managed(struct charge *charge, uint64_t bytes);

/* Makes the charge this many bytes. False if the quota does not allow it; the charge is then as it was. */
bool charge_change(struct charge *charge, uint64_t bytes);

/*
 * Keeps the charge under the address, or gives it back where the driver failed. False: there is no memory for the
 * entry, and nothing would give the charge back, or nothing is charged for what the driver gave; the caller lets the
 * driver free that, then charge_undo.
 */
bool charge_end(const struct charge *charge, CUresult result, uint64_t address);

/* Gives the charge back if the driver could free it. Returns what the caller gets: CUDA_ERROR_OUT_OF_MEMORY. */
CUresult charge_undo(const struct charge *charge, CUresult freed);

/* Both for linear memory with an address of 64 bits; *pointer becomes `former` where it is undone. */
CUresult charge_end_linear(const struct charge *charge, CUresult result, CUdeviceptr *pointer, CUdeviceptr former);

void charge_drop(const struct charge *charge);

/* What was charged for the address, before the driver is asked to free it; 0: nothing that we know. */
uint64_t charge_take(uint64_t address);

/* Whether what was taken is managed memory. */
bool charge_is_paged(uint64_t taken);

/* Gives that back, or keeps it where the driver failed. Returns the driver's result. */
CUresult charge_return(uint64_t taken, CUresult result, uint64_t address);

/*
 * The same where the driver frees it when the stream has come so far: it is given back then. Where that cannot be
 * watched, the stream is waited for.
 */
CUresult charge_return_in_order(uint64_t taken, CUresult result, uint64_t address, CUstream stream, bool per_thread);

/* Gives back all that was allocated in a context that is gone; the number that it had. */
void charge_context_gone(uint32_t context);

/* In a child of fork: nothing that the parent allocated is the child's. */
void charge_forget(void);

#endif
