#include "common/atomics.h"
#include "cuda/page_books.h"

#include <sched.h>
#include <string.h>

#include "share/cards.h"
#include "common/growing.h"
#include "common/ranges.h"

struct object {
    uint64_t units;
    int card, device;
    uint32_t refs; /* handles, mappings, parts, and calls under way; 0: free */
    uint32_t next; /* of those that are free */
};

/* A handle's number, and how often cuMemRelease can be called with it. In a chain by its hash, or among the free ones. */
struct handle {
    uint64_t number;
    page_object object;
    uint32_t count, next;
};

/* Arrays that grow; place 0 stays empty. All guarded by `lock`, which is held for a search at most. */
static struct object *objects;
static struct handle *handles;
static uint32_t object_room, object_count, free_object, handle_room, handle_count, free_handle;
static uint32_t objects_live, handles_live;
enum { CHAINS = 4096 };
static uint32_t chains[CHAINS];
static struct ranges mappings;
static uint32_t lock;

void page_books_enter(void) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

void page_books_leave(void) {
    store_release(&lock, 0);
}

/* Units of objects without any reference, to be given back outside the lock: by card, for what one call frees may lie on several. */
enum { CARDS = 64 };
static uint64_t waiting[CARDS];

void page_books_drop(page_object object) {
    struct object *o = &objects[object];
    if (--o->refs > 0)
        return;
    if (o->card >= 0 && o->card < CARDS)
        waiting[o->card] += o->units;
    o->next = free_object;
    free_object = object;
    objects_live--;
    if (o->card == PAGE_NO_CARD)
        page_parts_drop_of(object, NULL); /* a multicast object that ends lets go of what is bound to it */
}

void page_books_leave_and_give_back(void) {
    uint64_t freed[CARDS];
    memcpy(freed, waiting, sizeof freed);
    memset(waiting, 0, sizeof waiting);
    page_books_leave();
    for (int card = 0; card < CARDS; card++)
        if (freed[card])
            cards_release(card, SHARE_RESIDENT, freed[card]);
}

static uint32_t *chain_of(uint64_t number) {
    return &chains[(number ^ number >> 12 ^ number >> 24) % CHAINS];
}

static struct handle *by_number(uint64_t number) {
    for (uint32_t i = *chain_of(number); i; i = handles[i].next)
        if (handles[i].number == number)
            return &handles[i];
    return NULL;
}

enum { CALLS_AT_ONCE = 64 }; /* threads between page_room and what they add */

static bool room(void **array, uint32_t *room, size_t size, uint32_t live) {
    while (live + CALLS_AT_ONCE >= *room)
        if (!growing_more(array, room, size))
            return false;
    return true;
}

bool page_room(uint32_t more_parts) {
    page_books_enter();
    bool enough = room((void **)&objects, &object_room, sizeof *objects, objects_live) &&
                  room((void **)&handles, &handle_room, sizeof *handles, handles_live) &&
                  ranges_room(&mappings, CALLS_AT_ONCE) &&
                  (more_parts == 0 || page_parts_room(more_parts + CALLS_AT_ONCE));
    page_books_leave();
    return enough;
}

/* One more of that number for the object; without memory for the entry the object stays for ever: never too little is counted. */
static void add_handle(uint64_t number, page_object object) {
    struct handle *known = by_number(number);
    if (known) {
        bool same = known->object == object; /* else the former was released in a way that we did not see, and stays charged */
        known->count = same ? known->count + 1 : 1;
        known->object = object;
        return;
    }
    uint32_t i = free_handle;
    if (i)
        free_handle = handles[i].next;
    else if (handle_count + 1 < handle_room || growing_more((void **)&handles, &handle_room, sizeof *handles))
        i = ++handle_count;
    if (i) {
        uint32_t *chain = chain_of(number);
        handles[i] = (struct handle){number, object, 1, *chain};
        *chain = i;
        handles_live++;
    }
}

static page_object remove_handle(uint64_t number) {
    for (uint32_t *link = chain_of(number); *link; link = &handles[*link].next) {
        uint32_t i = *link;
        if (handles[i].number != number)
            continue;
        page_object object = handles[i].object;
        if (--handles[i].count == 0) {
            *link = handles[i].next;
            handles[i].next = free_handle;
            free_handle = i;
            handles_live--;
        }
        return object;
    }
    return 0;
}

page_object page_created(uint64_t handle, int card, int device, uint64_t units) {
    page_books_enter();
    page_object object = free_object;
    if (object)
        free_object = objects[object].next;
    else if (object_count + 1 < object_room || growing_more((void **)&objects, &object_room, sizeof *objects))
        object = ++object_count;
    if (object) {
        objects_live++;
        objects[object] = (struct object){units, card, device, 1, 0};
        add_handle(handle, object);
    }
    page_books_leave();
    return object;
}

page_object page_release_begin(uint64_t handle) {
    page_books_enter();
    page_object object = remove_handle(handle);
    page_books_leave();
    return object;
}

void page_release_end(page_object object, uint64_t handle, bool released) {
    if (!object)
        return;
    page_books_enter();
    if (released)
        page_books_drop(object);
    else
        add_handle(handle, object);
    page_books_leave_and_give_back();
}

static page_object more(page_object object) {
    if (object)
        objects[object].refs++;
    return object;
}

page_object page_map_begin(uint64_t handle) {
    page_books_enter();
    struct handle *known = by_number(handle);
    page_object object = more(known ? known->object : 0);
    page_books_leave();
    return object;
}

page_object page_bind_begin(uint64_t address) {
    page_books_enter();
    page_object object = more(ranges_at(&mappings, address));
    page_books_leave();
    return object;
}

/* Without memory for the entry the reference stays: too much is counted rather than too little. */
void page_map_end(page_object object, uint64_t address, uint64_t size, bool mapped) {
    if (!object)
        return;
    page_books_enter();
    if (mapped)
        ranges_add(&mappings, address, size, object);
    else
        page_books_drop(object);
    page_books_leave_and_give_back();
}

uint32_t page_unmap_begin(uint64_t address, uint64_t size) {
    page_books_enter();
    uint32_t list = ranges_take(&mappings, address, size);
    page_books_leave();
    return list;
}

void page_unmap_end(uint32_t unmapping, bool unmapped) {
    if (!unmapping)
        return;
    page_books_enter();
    if (!unmapped)
        ranges_put_back(&mappings, unmapping);
    while (unmapped && unmapping) {
        page_object object;
        unmapping = ranges_drop(&mappings, unmapping, &object);
        page_books_drop(object);
    }
    page_books_leave_and_give_back();
}

void page_retained(uint64_t handle, uint64_t address) {
    page_books_enter();
    page_object object = more(ranges_at(&mappings, address));
    if (object)
        add_handle(handle, object);
    page_books_leave();
}

void page_imported(uint64_t handle) {
    page_books_enter();
    struct handle *known = by_number(handle);
    if (known) {
        known->count++;
        more(known->object);
    }
    page_books_leave();
}

int page_device(page_object object) {
    page_books_enter();
    int device = object ? objects[object].device : -1;
    page_books_leave();
    return device;
}

void page_refs_forget(void) {
    object_count = free_object = handle_count = free_handle = 0;
    objects_live = handles_live = 0;
    memset(chains, 0, sizeof chains);
    memset(waiting, 0, sizeof waiting);
    page_parts_forget();
    ranges_clear(&mappings);
    lock = 0;
}
