#ifndef PARTITA_HARDWARE_MEMORY_H
#define PARTITA_HARDWARE_MEMORY_H

/* Prints a row for each kind of memory: group, what, pass|FAIL|not run, figures; with tabs between. In a context of a limited share. */
void memory_check(void);

#endif
