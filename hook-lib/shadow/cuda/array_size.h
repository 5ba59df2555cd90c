/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory an array takes. Pure. */
#ifndef PARTITA_ARRAY_SIZE_H
#define PARTITA_ARRAY_SIZE_H

#include <stdint.h>

#include "cuda_arrays.h"

/*
 * Bytes of an array with so many mip levels (1: a plain array; more than there can be count as all): elements times
 * their size, without the driver's own padding. A format that is not known counts 16 bytes an element, the most that
 * there is. UINT64_MAX: more than can be counted.
 */
uint64_t array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *descriptor, unsigned int levels);

#endif
