/* SPDX-License-Identifier: Apache-2.0 */
/* Small files, read whole. */
#ifndef PARTITA_TEXT_FILE_H
#define PARTITA_TEXT_FILE_H

#include <stddef.h>

/* Reads at most `room` bytes; the count, or -1 (errno says why). Not terminated. */
long text_file_read(const char *path, char *into, size_t room);

#endif
