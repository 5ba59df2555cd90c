#include "cuda/cuda_contexts.h"
#include "common/growing.h"
#include "cuda/page_books.h"

/* Arrays that grow, guarded by the lock of the books. */
static struct page_part *parts;
static page_object *part_objects; /* 0: the part is free */
static uint32_t part_room, part_object_room, part_count, parts_free; /* free: below part_count */

static bool part_within(const struct page_part *inner, const struct page_part *outer) {
    bool so = inner->kind == outer->kind;
    for (int i = 0; i < 3 && so; i++)
        so = inner->from[i] >= outer->from[i] && inner->from[i] - outer->from[i] <= outer->extent[i] &&
             inner->extent[i] <= outer->extent[i] - (inner->from[i] - outer->from[i]);
    return so;
}

static void drop_part(uint32_t part) {
    page_object object = part_objects[part];
    part_objects[part] = 0;
    parts_free++;
    page_books_drop(object);
}

/* Those of an owner, all or within one. */
void page_parts_drop_of(uint64_t owner, const struct page_part *outer) {
    for (uint32_t i = 0; i < part_count; i++)
        if (part_objects[i] && parts[i].owner == owner && (!outer || part_within(&parts[i], outer)))
            drop_part(i);
}

bool page_parts_room(uint32_t more) {
    uint64_t need = (uint64_t)part_count - parts_free + more;
    while (need > part_room)
        if (!growing_more((void **)&parts, &part_room, sizeof *parts))
            return false;
    while (need > part_object_room)
        if (!growing_more((void **)&part_objects, &part_object_room, sizeof *part_objects))
            return false;
    return true;
}

static void keep_part(page_object object, const struct page_part *part) {
    uint32_t i = 0;
    if (!page_parts_room(1))
        return;
    while (i < part_count && part_objects[i])
        i++;
    parts[i] = *part;
    part_objects[i] = object;
    if (i == part_count)
        part_count++;
    else
        parts_free--;
}

void page_part_end(page_object object, const struct page_part *part, bool kept) {
    if (!object)
        return;
    page_books_enter();
    if (kept)
        keep_part(object, part);
    else
        page_books_drop(object);
    page_books_leave_and_give_back();
}

void page_part_gone(const struct page_part *part) {
    page_books_enter();
    page_parts_drop_of(part->owner, part);
    page_books_leave_and_give_back();
}

bool page_part_moved(const struct page_part *part, uint64_t to) {
    bool any = false;
    page_books_enter();
    for (uint32_t i = 0; i < part_count; i++)
        if (part_objects[i] && parts[i].owner == part->owner && part_within(&parts[i], part)) {
            parts[i].owner = to;
            any = true;
        }
    page_books_leave();
    return any;
}

void page_parts_gone(uint64_t owner) {
    page_books_enter();
    page_parts_drop_of(owner, NULL);
    page_books_leave_and_give_back();
}

void page_parts_of_context_gone(uint32_t context) {
    page_books_enter();
    for (uint32_t i = 0; i < part_count; i++)
        if (part_objects[i] && cuda_context_ended_with(parts[i].context, context))
            drop_part(i);
    page_books_leave_and_give_back();
}

void page_parts_forget(void) {
    part_count = parts_free = 0;
}
