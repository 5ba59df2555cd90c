/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points at which the fault-injection build can end the process. In the shipped build they are nothing.
 * The test defines fault_point to count and to SIGKILL itself at the wanted one.
 */
#ifndef PARTITA_FAULT_H
#define PARTITA_FAULT_H

#ifdef PARTITA_FAULT_INJECTION
void fault_point(const char *where);
#define FAULT_POINT(where) fault_point(where)
#else
#define FAULT_POINT(where) ((void)0)
#endif

#endif
