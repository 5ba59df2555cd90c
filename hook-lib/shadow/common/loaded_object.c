/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "common/loaded_object.h"

#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

struct path_search {
    uintptr_t address;
    char *path;
    size_t room;
    bool found;
};

static bool holds(const struct dl_phdr_info *object, uintptr_t address) {
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && address - object->dlpi_addr - segment->p_vaddr < segment->p_memsz)
            return true;
    }
    return false;
}

static int find_path(struct dl_phdr_info *object, size_t size, void *data) {
    (void)size;
    struct path_search *search = data;
    if (!holds(object, search->address))
        return 0;
    size_t length = strlen(object->dlpi_name);
    if (length > 0 && length < search->room) {
        memcpy(search->path, object->dlpi_name, length + 1);
        search->found = true;
    }
    return 1;
}

bool loaded_object_path(const void *address, char *path, size_t room) {
    struct path_search search = {(uintptr_t)address, path, room, false};
    dl_iterate_phdr(find_path, &search);
    return search.found;
}

struct tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    const uint32_t *gnu_hash;
    const Elf32_Word *hash;
};

/* glibc relocates the addresses in the dynamic section, musl does not. */
static const void *relocated(const struct dl_phdr_info *object, ElfW(Addr) address) {
    return (const void *)(address < object->dlpi_addr ? object->dlpi_addr + address : address);
}

static bool tables_of(const struct dl_phdr_info *object, struct tables *tables) {
    memset(tables, 0, sizeof *tables);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        const ElfW(Dyn) *entry = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_SYMTAB)
                tables->symbols = relocated(object, entry->d_un.d_ptr);
            else if (entry->d_tag == DT_STRTAB)
                tables->strings = relocated(object, entry->d_un.d_ptr);
            else if (entry->d_tag == DT_GNU_HASH)
                tables->gnu_hash = relocated(object, entry->d_un.d_ptr);
            else if (entry->d_tag == DT_HASH)
                tables->hash = relocated(object, entry->d_un.d_ptr);
        }
    }
    return tables->symbols && tables->strings && (tables->gnu_hash || tables->hash);
}

static bool is_function(const struct tables *tables, uint32_t index, const char *name) {
    const ElfW(Sym) *symbol = &tables->symbols[index];
    unsigned int type = symbol->st_info & 0xf;
    unsigned int binding = symbol->st_info >> 4;
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 && (type == STT_FUNC || type == STT_NOTYPE) &&
           (binding == STB_GLOBAL || binding == STB_WEAK) && strcmp(tables->strings + symbol->st_name, name) == 0;
}

static const ElfW(Sym) * by_gnu_hash(const struct tables *tables, const char *name) {
    const uint32_t *head = tables->gnu_hash;
    uint32_t bucket_count = head[0], first = head[1], bloom_words = head[2];
    const uint32_t *buckets = (const uint32_t *)((const ElfW(Addr) *)(head + 4) + bloom_words);
    const uint32_t *chain = buckets + bucket_count;
    uint32_t hash = 5381;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        hash = hash * 33 + *c;
    if (bucket_count == 0)
        return NULL;
    uint32_t index = buckets[hash % bucket_count];
    if (index < first)
        return NULL;
    for (;; index++) {
        uint32_t entry = chain[index - first];
        if ((entry | 1) == (hash | 1) && is_function(tables, index, name))
            return &tables->symbols[index];
        if (entry & 1)
            return NULL;
    }
}

static const ElfW(Sym) * by_hash(const struct tables *tables, const char *name) {
    Elf32_Word bucket_count = tables->hash[0];
    const Elf32_Word *buckets = tables->hash + 2, *chain = buckets + bucket_count;
    Elf32_Word hash = 0;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        hash = (hash << 4) + *c;
        Elf32_Word top = hash & 0xf0000000;
        hash = (hash ^ top >> 24) & ~top;
    }
    if (bucket_count == 0)
        return NULL;
    for (Elf32_Word index = buckets[hash % bucket_count]; index != STN_UNDEF; index = chain[index])
        if (is_function(tables, index, name))
            return &tables->symbols[index];
    return NULL;
}

struct symbol_search {
    const char *file;
    const char *const *names;
    void **addresses;
    size_t count;
    bool found;
};

static int find_symbols(struct dl_phdr_info *object, size_t size, void *data) {
    (void)size;
    struct symbol_search *search = data;
    const char *slash = strrchr(object->dlpi_name, '/');
    struct tables tables;
    if (strcmp(slash ? slash + 1 : object->dlpi_name, search->file) != 0 || !tables_of(object, &tables))
        return 0;
    for (size_t i = 0; i < search->count; i++) {
        const ElfW(Sym) *symbol =
            tables.gnu_hash ? by_gnu_hash(&tables, search->names[i]) : by_hash(&tables, search->names[i]);
        search->addresses[i] = symbol ? (void *)(object->dlpi_addr + symbol->st_value) : NULL;
    }
    search->found = true;
    return 1;
}

bool loaded_object_symbols(const char *file, const char *const *names, void **addresses, size_t count) {
    struct symbol_search search = {file, names, addresses, count, false};
    dl_iterate_phdr(find_symbols, &search);
    return search.found;
}
