/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "share/region_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "common/atomics.h"

#ifndef F_OFD_SETLK
#define F_OFD_SETLK 37
#endif

enum { ENTER_PATIENCE_MS = 100 };

/* glibc exports fstat only since 2.33; the kernel's structure is the same as the C library's on 64-bit machines. */
static bool status(int descriptor, struct stat *to) {
    return syscall(SYS_fstat, descriptor, to) == 0;
}

/*
 * Once this succeeded the descriptor stays open, even when it is not the one in use: the other shadow library of this
 * process may hold its locks in the same file, and closing any descriptor of the file would drop them.
 */
static int open_descriptor(const char *path) {
    return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

static bool usable(const struct stat *s) {
    return S_ISREG(s->st_mode) && s->st_size == (off_t)PARTITA_USAGE_SIZE;
}

static bool same_file(const struct region_file *file, struct stat *s) {
    return status(file->descriptor, s) && (uint64_t)s->st_dev == file->device && (uint64_t)s->st_ino == file->inode;
}

/* The descriptor is kept where the file could not be mapped: it serves the next time. */
static bool open_usable(struct region_file *file, const char *path) {
    struct stat s;
    if (file->inode != 0 && same_file(file, &s))
        return usable(&s);
    int descriptor = open_descriptor(path);
    if (descriptor < 0)
        return false;
    if (!status(descriptor, &s) || !usable(&s)) {
        close(descriptor); /* an unusable file: nobody has locks in it */
        return false;
    }
    file->descriptor = descriptor;
    file->device = (uint64_t)s.st_dev;
    file->inode = (uint64_t)s.st_ino;
    return true;
}

bool region_file_open(struct region_file *file, const char *path) {
    if (!open_usable(file, path))
        return false;
    void *at = mmap(NULL, PARTITA_USAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file->descriptor, 0);
    if (at == MAP_FAILED)
        return false;
    /*
     * A first access that reads would map sixteen pages around it; few processes need more than the first slots' page.
     * A fetch_or of nothing will not do: clang makes a load of it.
     */
    struct partita_region *region = at;
    __typeof__(region->slots[0].reserved1) nothing = 0;
    __atomic_compare_exchange_n(&region->slots[0].reserved1, &nothing, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    store_release(&file->region, region);
    return true;
}

bool region_file_intact(const struct region_file *file) {
    struct stat s;
    return same_file(file, &s) && usable(&s);
}

static struct flock lock_of(uint32_t slot, uint32_t slots) {
    return (struct flock){
        .l_type = F_WRLCK,
        .l_whence = SEEK_SET,
        .l_start = (off_t)(offsetof(struct partita_region, slots) + slot * sizeof(struct partita_slot)),
        .l_len = (off_t)((slots - 1) * sizeof(struct partita_slot) + 1),
    };
}

bool region_file_lock(const struct region_file *file, uint32_t slot) {
    struct flock lock = lock_of(slot, 1);
    return fcntl(file->descriptor, F_SETLK, &lock) == 0;
}

void region_file_unlock(const struct region_file *file, uint32_t slot) {
    struct flock lock = lock_of(slot, 1);
    lock.l_type = F_UNLCK;
    fcntl(file->descriptor, F_SETLK, &lock);
}

/*
 * A byte behind the file's end, so that other processes do not wait: one that is stopped meanwhile would hold them up.
 */
static bool lock_join(const struct region_file *file, short type) {
    struct flock lock = {
        .l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)PARTITA_USAGE_SIZE + getpid(), .l_len = 1};
    /* Linux before 3.15 has no such locks: then nobody waits. */
    return fcntl(file->descriptor, F_OFD_SETLK, &lock) == 0 || (errno != EAGAIN && errno != EACCES);
}

void region_file_enter(const struct region_file *file) {
    const struct timespec pause = {0, 1000000};
    for (int ms = 0; ms < ENTER_PATIENCE_MS && !lock_join(file, F_WRLCK); ms++)
        nanosleep(&pause, NULL);
}

void region_file_leave(const struct region_file *file) {
    lock_join(file, F_UNLCK);
}

bool region_file_locked_by_another(const struct region_file *file, uint32_t slot) {
    struct flock lock = lock_of(slot, 1);
    return fcntl(file->descriptor, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

/* The kernel names any lock in the range, not the first: so look again before it until there is none. */
uint32_t region_file_next_locked(const struct region_file *file, uint32_t from) {
    uint32_t found = PARTITA_SLOTS;
    while (from < found) {
        struct flock lock = lock_of(from, found - from);
        if (fcntl(file->descriptor, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
            break;
        off_t at = lock.l_start - (off_t)offsetof(struct partita_region, slots);
        uint64_t slot = at < 0 ? 0 : (uint64_t)at / sizeof(struct partita_slot);
        if (slot >= found)
            break;
        found = slot < from ? from : (uint32_t)slot;
    }
    return found;
}

bool region_file_keep(struct region_file *file, const char *path) {
    struct stat s;
    if (same_file(file, &s))
        return usable(&s);
    int descriptor = open_descriptor(path); /* the old number belongs to the program now: leave it alone */
    if (descriptor < 0)
        return false;
    int lost = file->descriptor;
    file->descriptor = descriptor;
    if (same_file(file, &s) && usable(&s))
        return true;
    file->descriptor = lost;
    close(descriptor);
    return false;
}
