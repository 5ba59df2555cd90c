/* SPDX-License-Identifier: Apache-2.0 */
/* The green contexts that there are: parts of a device's primary context. Lock-free; keeps errno. */
#ifndef PARTITA_GREENS_H
#define PARTITA_GREENS_H

#include "cuda_api.h"

/* Where there are too many, a context counts as one of its own. */
void greens_add(CUcontext context, CUdevice device);

/* The device of a green context; negative: it is none. */
CUdevice greens_device(CUcontext context);

/* The handle may be another context's from now on. */
void greens_drop(CUcontext context);
void greens_drop_of(CUdevice device);

#endif
