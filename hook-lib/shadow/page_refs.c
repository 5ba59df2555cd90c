#define _GNU_SOURCE
#include "page_refs.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#include "cards.h"

struct object {
    uint64_t handle; /* valid while handles > 0 */
    uint64_t units;
    int card;
    uint32_t handles; /* references that cuMemRelease can drop */
    uint32_t refs;    /* handles, mappings, and calls under way; 0: free */
};

struct mapping {
    uint64_t address, size; /* size 0: free */
    page_object object;
    uint32_t unmapping; /* the call that is taking it away; 0: none */
};

/* Arrays that grow by halves; indexes stay. Guarded by `lock`, which is held for a search at most. */
static struct object *objects;
static struct mapping *mappings;
static uint32_t object_room, object_count, mapping_room, mapping_count, unmappings;
static uint32_t lock;

static void enter(void) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void leave(void) {
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
}

static bool grow(void **array, uint32_t *room, size_t size) {
    uint32_t more = *room ? *room * 2 : 512;
    int error = errno;
    void *fresh = *room ? mremap(*array, *room * size, more * size, MREMAP_MAYMOVE)
                        : mmap(NULL, more * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = error;
    if (fresh == MAP_FAILED)
        return false;
    *array = fresh;
    *room = more;
    return true;
}

/* The charge of an object without any reference, to be given back outside the lock. */
struct freed {
    int card;
    uint64_t units;
};

static struct freed drop(page_object object) {
    struct object *o = &objects[object - 1];
    return --o->refs == 0 ? (struct freed){o->card, o->units} : (struct freed){-1, 0};
}

static void give_back(struct freed freed) {
    if (freed.card >= 0)
        cards_release(freed.card, freed.units);
}

static page_object by_handle(uint64_t handle) {
    for (uint32_t i = 0; i < object_count; i++)
        if (objects[i].refs > 0 && objects[i].handles > 0 && objects[i].handle == handle)
            return i + 1;
    return 0;
}

page_object page_created(uint64_t handle, int card, uint64_t units) {
    page_object object = 0;
    enter();
    for (uint32_t i = 0; i < object_count && !object; i++)
        if (objects[i].refs == 0)
            object = i + 1;
    if (!object && (object_count < object_room || grow((void **)&objects, &object_room, sizeof *objects)))
        object = ++object_count;
    if (object)
        objects[object - 1] = (struct object){handle, units, card, 1, 1};
    leave();
    return object;
}

page_object page_release_begin(uint64_t handle) {
    enter();
    page_object object = by_handle(handle);
    if (object)
        objects[object - 1].handles--;
    leave();
    return object;
}

void page_release_end(page_object object, uint64_t handle, bool released) {
    struct freed freed = {-1, 0};
    if (!object)
        return;
    enter();
    if (released) {
        freed = drop(object);
    } else {
        objects[object - 1].handle = handle;
        objects[object - 1].handles++;
    }
    leave();
    give_back(freed);
}

page_object page_map_begin(uint64_t handle) {
    enter();
    page_object object = by_handle(handle);
    if (object)
        objects[object - 1].refs++;
    leave();
    return object;
}

/* Without memory for the entry the reference stays: too much is counted rather than too little. */
void page_map_end(page_object object, uint64_t address, uint64_t size, bool mapped) {
    struct freed freed = {-1, 0};
    if (!object)
        return;
    enter();
    if (mapped) {
        uint32_t i = 0;
        while (i < mapping_count && mappings[i].size != 0)
            i++;
        if (i < mapping_room || grow((void **)&mappings, &mapping_room, sizeof *mappings)) {
            mappings[i] = (struct mapping){address, size, object, 0};
            if (i == mapping_count)
                mapping_count++;
        }
    } else {
        freed = drop(object);
    }
    leave();
    give_back(freed);
}

uint32_t page_unmap_begin(uint64_t address, uint64_t size) {
    enter();
    uint32_t unmapping = ++unmappings ? unmappings : ++unmappings;
    for (uint32_t i = 0; i < mapping_count; i++) {
        struct mapping *m = &mappings[i];
        if (m->size && !m->unmapping && m->address >= address && m->address - address < size &&
            m->size <= size - (m->address - address))
            m->unmapping = unmapping;
    }
    leave();
    return unmapping;
}

void page_unmap_end(uint32_t unmapping, bool unmapped) {
    for (bool more = true; more;) {
        struct freed freed = {-1, 0};
        more = false;
        enter();
        for (uint32_t i = 0; i < mapping_count && freed.card < 0; i++) {
            struct mapping *m = &mappings[i];
            if (!m->size || m->unmapping != unmapping)
                continue;
            m->unmapping = 0;
            if (unmapped) {
                m->size = 0;
                freed = drop(m->object);
            }
        }
        more = freed.card >= 0;
        leave();
        give_back(freed);
    }
}

void page_retained(uint64_t handle, uint64_t address) {
    enter();
    for (uint32_t i = 0; i < mapping_count; i++) {
        struct mapping *m = &mappings[i];
        if (m->size && address >= m->address && address - m->address < m->size) {
            struct object *o = &objects[m->object - 1];
            o->handle = handle;
            o->handles++;
            o->refs++;
            break;
        }
    }
    leave();
}

void page_imported(uint64_t handle) {
    enter();
    page_object object = by_handle(handle);
    if (object) {
        objects[object - 1].handles++;
        objects[object - 1].refs++;
    }
    leave();
}

void page_refs_forget(void) {
    object_count = mapping_count = 0;
    lock = 0;
}
