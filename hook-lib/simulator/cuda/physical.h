/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the simulated libcuda: physical allocations of cuMemCreate, and what is like them. One lives as long as it
 * has a handle, a mapping, or a multicast object that it is bound to. Everything under driver_lock.
 */
#ifndef PARTITA_SIM_PHYSICAL_H
#define PARTITA_SIM_PHYSICAL_H

#include "cuda_pages.h"
#include "driver.h"

#define CONTENT_MAX (64 * MIB) /* of one block or allocation, kept for copies */

struct physical {
    uint64_t size;
    unsigned handles, uses; /* uses: mappings and bindings */
    int ordinal;            /* whose card pays; -1: none (host memory, multicast objects) */
    uint64_t shared;        /* its number in the state, once it was exported or imported */
    CUmemAllocationProp prop;
    struct team *team; /* a multicast object */
    unsigned char *content;
    struct physical *next;
};

struct physical *physical_of(CUmemGenericAllocationHandle handle);
CUmemGenericAllocationHandle physical_handle(struct physical *physical);
struct physical *physical_make(uint64_t size, int ordinal, const CUmemAllocationProp *prop);
void physical_settle(struct physical *physical); /* ends it if nothing holds it any more */
uint64_t physical_size(const struct physical *physical);
unsigned char **physical_content(struct physical *physical);

/* Ends addresses that stand for memory of somebody else (sharing.c). */
CUresult foreign_close(CUdeviceptr pointer);

/* A multicast object ends (multicast.c). */
void team_disband(struct team *team);

#endif
