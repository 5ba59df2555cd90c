#include "region_file.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* glibc exports fstat only since 2.33; the kernel's structure is the same as the C library's on 64-bit machines. */
static bool status(int descriptor, struct stat *to) {
    return syscall(SYS_fstat, descriptor, to) == 0;
}

/*
 * Once this succeeded the descriptor stays open, even when it is not the one in use: the other shadow library of this
 * process may hold its locks in the same file, and closing any descriptor of the file would drop them.
 */
static int open_region(const char *path) {
    return open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
}

static bool usable(const struct stat *s) {
    return S_ISREG(s->st_mode) && s->st_size == (off_t)PARTITA_USAGE_SIZE;
}

bool region_file_open(struct region_file *file, const char *path) {
    struct stat s;
    int descriptor = open_region(path);
    if (descriptor < 0)
        return false;
    void *at = MAP_FAILED;
    if (status(descriptor, &s) && usable(&s))
        at = mmap(NULL, PARTITA_USAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (at == MAP_FAILED) {
        close(descriptor); /* an unusable file: nobody has locks in it */
        return false;
    }
    /*
     * A first access that reads would map sixteen pages around it; few processes need more than the first slots' page. A fetch_or of
     * nothing will not do: clang makes a load of it.
     */
    struct partita_region *region = at;
    __typeof__(region->slots[0].reserved) nothing = 0;
    __atomic_compare_exchange_n(&region->slots[0].reserved, &nothing, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    *file = (struct region_file){region, descriptor, (uint64_t)s.st_dev, (uint64_t)s.st_ino};
    return true;
}

static bool same_file(const struct region_file *file, struct stat *s) {
    return status(file->descriptor, s) && (uint64_t)s->st_dev == file->device && (uint64_t)s->st_ino == file->inode;
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

bool region_file_keep(struct region_file *file, const char *path, bool *renewed) {
    struct stat s;
    *renewed = false;
    if (same_file(file, &s))
        return usable(&s);
    int descriptor = open_region(path); /* the old number belongs to the program now: leave it alone */
    if (descriptor < 0)
        return false;
    int lost = file->descriptor;
    file->descriptor = descriptor;
    if (same_file(file, &s) && usable(&s)) {
        *renewed = true;
        return true;
    }
    file->descriptor = lost;
    close(descriptor);
    return false;
}
