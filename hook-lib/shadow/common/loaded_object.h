/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the dynamic linker has loaded, read from its own tables: no dlsym, which older C libraries keep in a library of
 * its own, and which other interception libraries replace. No allocation, no lock but the linker's own list lock.
 */
#ifndef PARTITA_LOADED_OBJECT_H
#define PARTITA_LOADED_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

/* The path of the file that holds this address, as the linker knows it; false if unknown or longer than room. */
bool loaded_object_path(const void *address, char *path, size_t room);

/*
 * Looks the names up in the loaded library whose file is called `file`; an absent one gives NULL. False: no such
 * library.
 */
bool loaded_object_symbols(const char *file, const char *const *names, void **addresses, size_t count);

#endif
