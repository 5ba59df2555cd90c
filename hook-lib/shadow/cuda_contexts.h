/* Contexts by small numbers, so that an allocation can name the one that it ends with. */
#ifndef PARTITA_CUDA_CONTEXTS_H
#define PARTITA_CUDA_CONTEXTS_H

#include <stdint.h>

#include "cuda_api.h"

/* The number of a context, always the same for the same handle; 0 where there are too many, or for no context. */
uint32_t cuda_context_number(CUcontext context);

#endif
