/* SPDX-License-Identifier: Apache-2.0 */
#include "elf_file.h"

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "json.h"
#include "search.h"

enum { SECTIONS_LIMIT = 4096, NOTE_LIMIT = 64 << 10 };

struct listing {
    unsigned driver;
    bool said, listed;
};

static bool read_at(int fd, void *to, size_t size, uint64_t offset) {
    return offset <= INT64_MAX - size && pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

static bool read_header(int fd, Elf64_Ehdr *header) {
    return read_at(fd, header, sizeof *header, 0) && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB &&
           header->e_machine == MACHINE && header->e_type == ET_DYN;
}

bool elf_is_native(int fd) {
    Elf64_Ehdr header;

    return read_header(fd, &header);
}

static void one_driver(struct json *json, void *context) {
    struct listing *listing = context;
    unsigned driver = json_unsigned(json);

    listing->listed |= !json->bad && driver == listing->driver;
}

static void member(struct json *json, const char *key, void *context) {
    struct listing *listing = context;

    if (strcasecmp(key, "driver") == 0) {
        listing->said = true;
        json_array(json, one_driver, context);
    } else {
        json_skip(json);
    }
}

static size_t aligned(size_t size, size_t to) {
    return (size + to - 1) / to * to;
}

/* A note: its header, NVIDIA's name, and a JSON object. */
static enum compat_note read_note(const char *note, size_t size, size_t alignment, unsigned driver) {
    static const char owner[] = "NVIDIA Corporation";
    struct listing listing = {.driver = driver};
    Elf64_Nhdr header;
    struct json json;
    size_t name;

    if (size < sizeof header)
        return COMPAT_SILENT;
    memcpy(&header, note, sizeof header);
    note += sizeof header;
    size -= sizeof header;
    name = aligned(header.n_namesz, alignment);
    if (header.n_namesz != sizeof owner || name > size || header.n_descsz > size - name ||
        memcmp(note, owner, sizeof owner) != 0)
        return COMPAT_SILENT;
    json = (struct json){.at = note + name, .end = note + name + header.n_descsz};
    json_object(&json, member, &listing);
    if (json.bad || !listing.said)
        return COMPAT_SILENT;
    return listing.listed ? COMPAT_LISTED : COMPAT_NOT_LISTED;
}

enum compat_note elf_compat_note(int fd, unsigned driver) {
    static const char wanted[] = ".note.cuda.fwd_compatibility";
    enum compat_note said = COMPAT_SILENT;
    Elf64_Ehdr header;
    Elf64_Shdr names, section;

    if (!read_header(fd, &header) || header.e_shentsize != sizeof section || header.e_shnum > SECTIONS_LIMIT ||
        header.e_shstrndx >= header.e_shnum || header.e_shoff > INT64_MAX / 2 ||
        !read_at(fd, &names, sizeof names, header.e_shoff + header.e_shstrndx * sizeof names) ||
        names.sh_offset > INT64_MAX / 2)
        return COMPAT_SILENT;
    for (size_t i = 0; i < header.e_shnum && said == COMPAT_SILENT; i++) {
        char name[sizeof wanted], *note;

        if (!read_at(fd, &section, sizeof section, header.e_shoff + i * sizeof section))
            break;
        if (section.sh_type != SHT_NOTE || section.sh_size > NOTE_LIMIT ||
            !read_at(fd, name, sizeof name, names.sh_offset + section.sh_name) ||
            memcmp(name, wanted, sizeof wanted) != 0)
            continue;
        note = malloc(section.sh_size + 1);
        if (note && read_at(fd, note, section.sh_size, section.sh_offset))
            said = read_note(note, section.sh_size, section.sh_addralign == 8 ? 8 : 4, driver);
        free(note);
    }
    return said;
}
