/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <ftw.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "check.h"
#include "partita/quota_file.h"
#include "partita/usage_region.h"
#include "scratch.h"

static char folder[256];
static int owner;

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk) {
    (void)status, (void)type, (void)walk;
    return remove(path);
}

static void remove_folder(void) {
    if (getpid() == owner)
        nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *scratch_folder(void) {
    if (!folder[0]) {
        const char *base = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/partita-test-XXXXXX", base ? base : "/tmp");
        CHECK(mkdtemp(folder));
        owner = getpid();
        atexit(remove_folder);
    }
    return folder;
}

const char *text(const char *format, ...) {
    static char buffers[32][512];
    static unsigned int next;
    char *buffer = buffers[next++ % 32];
    va_list arguments;
    va_start(arguments, format);
    CHECK(vsnprintf(buffer, sizeof *buffers, format, arguments) < (int)sizeof *buffers);
    va_end(arguments);
    return buffer;
}

static const char *shadow(char path[512], const char *name, const char *built) {
    const char *others = getenv("PARTITA_TEST_SHADOWS");
    if (!others)
        return built;
    CHECK(snprintf(path, 512, "%s/%s", others, name) < 512);
    return path;
}

const char *shadow_cuda(void) {
    static char path[512];
    return shadow(path, "libcuda-shadow.so", SHADOW_CUDA);
}

const char *shadow_nvml(void) {
    static char path[512];
    return shadow(path, "libnvidia-ml-shadow.so", SHADOW_NVML);
}

void make_folders(const char *path) {
    char copy[512];
    snprintf(copy, sizeof copy, "%s/", path);
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(copy, 0777);
        *slash = '/';
    }
}

void write_file(const char *path, const void *bytes, size_t length) {
    const char *fresh = text("%s.new", path);
    int file = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    CHECK(file >= 0 && write(file, bytes, length) == (ssize_t)length && close(file) == 0);
    CHECK(rename(fresh, path) == 0);
}

void copy_file(const char *from, const char *to) {
    static char bytes[1 << 22];
    int file = open(from, O_RDONLY | O_CLOEXEC);
    CHECK(file >= 0);
    ssize_t length = read(file, bytes, sizeof bytes);
    CHECK(length > 0 && length < (ssize_t)sizeof bytes);
    close(file);
    write_file(to, bytes, (size_t)length);
}

void write_quota(const char *prefix, const char *key, const char *gpu, uint64_t memory, uint64_t generation) {
    write_quota_with(prefix, key, gpu, memory, generation, "");
}

void write_quota_with(const char *prefix, const char *key, const char *gpu, uint64_t memory, uint64_t generation,
                      const char *lines) {
    const char *path = text("%s" PARTITA_SHARES_FOLDER "/%s", prefix, key);
    const char *quota = text("partita-quota 1\ngeneration %llu\nclaim default/test\nclaim-uid 1\ngpu %s\nmemory %llu\n"
                             "context 0\ncores 25\ncore-limit hard\npriority 1\n%send\n",
                             (unsigned long long)generation, gpu, (unsigned long long)memory, lines);
    make_folders(path);
    write_file(text("%s/" PARTITA_QUOTA_NAME, path), quota, strlen(quota));
}

const char *region_path(const char *prefix, const char *key) {
    return text("%s" PARTITA_USAGE_FOLDER "/%s/" PARTITA_USAGE_NAME, prefix, key);
}

void make_region(const char *prefix, const char *key) {
    make_folders(text("%s" PARTITA_USAGE_FOLDER "/%s", prefix, key));
    int file = open(region_path(prefix, key), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    CHECK(file >= 0 && ftruncate(file, PARTITA_USAGE_SIZE) == 0 && close(file) == 0);
}

void reap_well(int pid) {
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status));
    CHECK_EQUAL(WEXITSTATUS(status), 0);
}
