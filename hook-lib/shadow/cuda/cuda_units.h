/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver takes of the card for an allocation, in the ledger's units (PARTITA_UNIT). Pure. */
#ifndef PARTITA_CUDA_UNITS_H
#define PARTITA_CUDA_UNITS_H

#include <stdint.h>

/* Units that an allocation of this many bytes is charged. */
uint64_t units_of(uint64_t bytes);

/* The same for memory that comes in whole pages of the card, however small it is. */
uint64_t units_of_pages(uint64_t bytes);

#endif
