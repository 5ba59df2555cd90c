/* SPDX-License-Identifier: Apache-2.0 */
/* What the hook reads of ELF files of an image. They are hostile: nothing is believed, and little is read. */
#ifndef PARTITA_CDI_HOOK_ELF_FILE_H
#define PARTITA_CDI_HOOK_ELF_FILE_H

#include <stdbool.h>

/* Whether a file that is open for reading begins as a 64-bit library, or a program that is one, for this machine. */
bool elf_is_native(int fd);

/* What a compat libcuda says of the drivers that it works with. */
enum compat_note { COMPAT_SILENT, COMPAT_LISTED, COMPAT_NOT_LISTED };

/*
 * Reads the note .note.cuda.fwd_compatibility, in which NVIDIA's compat libraries list the major versions of the
 * drivers that they work with (readelf -p shows it). COMPAT_SILENT: there is none, as in libraries of CUDA 12.8 and
 * before, or none that can be read.
 */
enum compat_note elf_compat_note(int fd, unsigned driver);

#endif
