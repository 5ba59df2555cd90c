/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PARTITA_TEST_PLUGIN_H
#define PARTITA_TEST_PLUGIN_H

#include "cuda_api.h"

/* 0: the one allocation was granted and the other refused. */
PARTITA_EXPORT int plugin_run(size_t granted, size_t refused);

#endif
