/* SPDX-License-Identifier: Apache-2.0 */
/* A container with a share of each of eight cards, before the driver of cards_driver.c. */
#ifndef PARTITA_CARDS_STAGE_H
#define PARTITA_CARDS_STAGE_H

#include "cards_driver.h"
#include "cuda_launch.h"

extern struct cards_machine *cards_machine;

/* Once in a process. */
void cards_start(void);

/* Makes the card's primary context the thread's. */
void cards_use(unsigned int card);

/* Another context of the card. */
void cards_use_another(unsigned int card);

void cards_launch(void);

/* Asks whether the stream is done, as pollers do. */
void cards_poll(void);

#endif
