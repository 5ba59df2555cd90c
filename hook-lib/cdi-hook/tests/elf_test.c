/* SPDX-License-Identifier: Apache-2.0 */
/* What is read of libraries that somebody else has made: right, and within bounds whatever they hold. */
#define _GNU_SOURCE
#include "elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int failures;

static void check(bool holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "elf_test: %s\n", what);
        failures++;
    }
}

static int open_fixture(const char *folder, const char *name) {
    char path[4096];
    int fd;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        perror(path);
        exit(1);
    }
    return fd;
}

static void put(int fd, const void *bytes, size_t size, off_t at) {
    if (pwrite(fd, bytes, size, at) != (ssize_t)size) {
        perror("pwrite");
        exit(1);
    }
}

/* A copy that can be written, in memory. */
static int copy_of(int fd, size_t *size) {
    int copy = memfd_create("copy", MFD_CLOEXEC);
    struct stat status;
    char *bytes;

    fstat(fd, &status);
    *size = (size_t)status.st_size;
    bytes = malloc(*size);
    if (copy < 0 || !bytes || pread(fd, bytes, *size, 0) != (ssize_t)*size)
        exit(1);
    put(copy, bytes, *size, 0);
    free(bytes);
    return copy;
}

static void the_note_lists_drivers(int noted, int silent) {
    check(elf_is_native(noted) && elf_is_native(silent), "a library of this machine is none");
    check(elf_compat_note(noted, 535) == COMPAT_LISTED, "the first driver is not listed");
    check(elf_compat_note(noted, 580) == COMPAT_LISTED, "the last driver is not listed");
    check(elf_compat_note(noted, 525) == COMPAT_NOT_LISTED, "a driver is listed that is not");
    check(elf_compat_note(noted, 53) == COMPAT_NOT_LISTED, "a part of a number is taken for it");
    check(elf_compat_note(silent, 535) == COMPAT_SILENT, "a library without a note says something");
}

static void what_is_no_library_is_none(int noted) {
    size_t size;
    int fd = copy_of(noted, &size);

    put(fd, "\1", 1, EI_CLASS);
    check(!elf_is_native(fd), "a 32-bit library is native");
    put(fd, "\2", 1, EI_CLASS);
    put(fd, "\0\0", 2, offsetof(Elf64_Ehdr, e_machine));
    check(!elf_is_native(fd), "a library for another machine is native");
    if (ftruncate(fd, sizeof(Elf64_Ehdr) - 1) != 0)
        exit(1);
    check(!elf_is_native(fd), "half a header is native");
    close(fd);
}

/* The sanitizers see what is read beyond. */
static void damage_stays_within_bounds(int noted) {
    size_t size;
    int fd = copy_of(noted, &size);
    Elf64_Ehdr header;
    unsigned char byte;

    if (pread(fd, &header, sizeof header, 0) != sizeof header)
        exit(1);
    for (size_t i = 0; i < size; i++) {
        static const unsigned char values[] = {0, 1, 4, 0x7f, 0x80, 0xff};
        bool matters = i < sizeof header || i >= header.e_shoff || i < 0x800;

        if (!matters || pread(fd, &byte, 1, (off_t)i) != 1)
            continue;
        for (size_t j = 0; j < sizeof values; j++) {
            put(fd, &values[j], 1, (off_t)i);
            elf_compat_note(fd, 535);
        }
        put(fd, &byte, 1, (off_t)i);
    }
    check(elf_compat_note(fd, 535) == COMPAT_LISTED, "the copy was not mended");
    for (size_t left = size; left > 0; left -= left > 64 ? 64 : left) {
        if (ftruncate(fd, (off_t)left) != 0)
            exit(1);
        elf_compat_note(fd, 535);
    }
    close(fd);
}

/* Every byte of the note itself. */
static void a_damaged_note_is_none_or_says_something(int noted) {
    static const char owner[] = "NVIDIA Corporation";
    size_t size;
    int fd = copy_of(noted, &size);
    char *bytes = malloc(size), *at, *driver;
    unsigned huge = 0xfffffff0;

    if (!bytes || pread(fd, bytes, size, 0) != (ssize_t)size)
        exit(1);
    at = memmem(bytes, size, owner, sizeof owner);
    driver = at ? memmem(at, size - (size_t)(at - bytes), "\"driver\"", 8) : NULL;
    if (!driver) {
        check(false, "the fixture has no note");
        exit(1);
    }
    for (int word = 3; word > 1; word--) {
        put(fd, &huge, sizeof huge, at - bytes - 4 * word);
        check(elf_compat_note(fd, 535) == COMPAT_SILENT, "a length beyond the note is believed");
        put(fd, at - 4 * word, sizeof huge, at - bytes - 4 * word);
    }
    put(fd, "n", 1, at - bytes);
    check(elf_compat_note(fd, 535) == COMPAT_SILENT, "a note of somebody else's counts");
    put(fd, "N", 1, at - bytes);
    put(fd, "\"driven\"", 8, driver - bytes);
    check(elf_compat_note(fd, 535) == COMPAT_SILENT, "a note without drivers counts");
    put(fd, "\"driver\"=", 9, driver - bytes);
    check(elf_compat_note(fd, 535) == COMPAT_SILENT, "what is no JSON counts");
    put(fd, driver, 9, driver - bytes);
    check(elf_compat_note(fd, 535) == COMPAT_LISTED, "the copy was not mended");
    free(bytes);
    close(fd);
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : ".";
    int noted = open_fixture(folder, "noted-libcuda.so"), silent = open_fixture(folder, "image-libcuda.so");

    the_note_lists_drivers(noted, silent);
    what_is_no_library_is_none(noted);
    damage_stays_within_bounds(noted);
    a_damaged_note_is_none_or_says_something(noted);
    close(noted);
    close(silent);
    return failures > 0;
}
