/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contrary readings. Where NVIDIA's documentation can be read in two ways, or drivers differ, the simulator plays one
 * reading by itself, and the other one where node.conf names it ("contrary all", "contrary NAME NAME",
 * "contrary all -NAME"). Each is a decision in one place; README.md lists both readings, with their sources.
 */
#ifndef PARTITA_SIM_CONTRARY_H
#define PARTITA_SIM_CONTRARY_H

#include <stdbool.h>

#define SIM_READINGS(X)                                                                                                \
    X(SIM_GRAPH_MEMORY_STAYS_USED, "graph-memory-stays-used")                                                          \
    X(SIM_POOLS_KEEP, "pools-keep")                                                                                    \
    X(SIM_MANAGED_ON_HOST, "managed-on-host")                                                                          \
    X(SIM_GREEN_ONE_THREAD, "green-one-thread")                                                                        \
    X(SIM_GREEN_STREAMS_UNTOLD, "green-streams-untold")                                                                \
    X(SIM_GREEN_EVENTS, "green-events")                                                                                \
    X(SIM_LEGACY_BARRIERS, "legacy-barriers")                                                                          \
    X(SIM_COPIES_TAKE_TIME, "copies-take-time")                                                                        \
    X(SIM_FREES_DO_NOT_WAIT, "frees-do-not-wait")                                                                      \
    X(SIM_EVENTS_WANT_CONTEXT, "events-want-context")                                                                  \
    X(SIM_QUERIES_ARE_SAFE, "queries-are-safe")                                                                        \
    X(SIM_FOLDED_STUBS, "folded-stubs")                                                                                \
    X(SIM_SLOW_SAMPLES, "slow-samples")                                                                                \
    X(SIM_NO_PROCESS_SAMPLES, "no-process-samples")                                                                    \
    X(SIM_SAMPLES_NAME_ONE, "samples-name-one")                                                                        \
    X(SIM_TIME_SLICES, "time-slices")                                                                                  \
    X(SIM_CONTAINER_PIDS, "container-pids")

#define SIM_READING_NUMBER(number, name) number,
enum sim_reading { SIM_READINGS(SIM_READING_NUMBER) SIM_READING_COUNT };
#undef SIM_READING_NUMBER

/* Ends with NULL. */
extern const char *const sim_reading_names[SIM_READING_COUNT + 1];

/* A bit a reading. False: `text` names one that there is not, or none. */
bool sim_contrary_parse(const char *text, unsigned *readings);

#endif
