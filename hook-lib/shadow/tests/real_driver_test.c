/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shadows before NVIDIA's own libraries, which load and resolve names without a card: every export is the driver's
 * own or exactly its wrapper, by every way to look it up. Run for each version that outside/fetch.sh drivers has
 * fetched.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "cases.h"
#include "check.h"
#include "cuda/cuda_driver.h"
#include "scratch.h"
#undef DRIVER
#undef NEED
#include "nvml/nvml_driver.h"

#define NAME(name) #name,
static const char *const cuda_intercepted[] = {CUDA_INTERCEPTED(NAME)};
static const char *const nvml_intercepted[] = {NVML_INTERCEPTED(NAME)};
#undef NAME

enum { EXPORTS_MAX = 4096 };

/* One driver library, the shadow that stands before it, and the functions of both. */
static struct {
    const char *version;
    char shadow_path[300];
    void *real, *shadow;
    const char *exports[EXPORTS_MAX];
    size_t count;
    const char *const *intercepted;
    size_t intercepted_count;
    void *functions[256], *wrappers[256]; /* of the intercepted; NULL: this driver does not have it */
} library;

#define EXPLAIN(condition, ...)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "driver %s: ", library.version);                                                           \
            fprintf(stderr, __VA_ARGS__);                                                                              \
            fputc('\n', stderr);                                                                                       \
            CHECK(condition);                                                                                          \
        }                                                                                                              \
    } while (0)

/* The names of the functions that the file exports. */
static void read_exports(const char *path) {
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(file >= 0 && fstat(file, &status) == 0);
    const char *image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    CHECK(image != MAP_FAILED);
    close(file);
    const Elf64_Ehdr *head = (const void *)image;
    const Elf64_Shdr *sections = (const void *)(image + head->e_shoff);
    for (int i = 0; i < head->e_shnum; i++) {
        if (sections[i].sh_type != SHT_DYNSYM)
            continue;
        const Elf64_Sym *symbols = (const void *)(image + sections[i].sh_offset);
        const char *strings = image + sections[sections[i].sh_link].sh_offset;
        for (size_t j = 0; j < sections[i].sh_size / sizeof *symbols; j++)
            if (symbols[j].st_shndx != SHN_UNDEF && symbols[j].st_name &&
                ELF64_ST_BIND(symbols[j].st_info) != STB_LOCAL) {
                CHECK(library.count < EXPORTS_MAX);
                library.exports[library.count++] = strings + symbols[j].st_name;
            }
    }
}

/* Lays a container out as the plugin does, with the real library, and opens both. */
static void open_libraries(const char *version, const char *name, const char *shadow, const char *const *intercepted,
                           size_t count) {
    const char *real = text("%s/%s/lib/partita/%s-real.so.1", scratch_folder(), version, name);
    library.version = version;
    library.intercepted = intercepted;
    library.intercepted_count = count;
    snprintf(library.shadow_path, sizeof library.shadow_path, "%s/%s/lib/%s.so.1", scratch_folder(), version, name);
    make_folders(text("%s/%s/lib/partita", scratch_folder(), version));
    copy_file(shadow, library.shadow_path);
    CHECK(symlink(text(OUTSIDE_DRIVERS "/%s/%s.so.1", version, name), real) == 0);
    read_exports(real);
    CHECK(library.count > 300); /* less was in no driver */
    library.shadow = dlopen(library.shadow_path, RTLD_NOW);
    EXPLAIN(library.shadow, "%s", dlerror());
    library.real = dlopen(real, RTLD_NOW | RTLD_NOLOAD);
    EXPLAIN(library.real, "%s is not what the shadow loaded", real);
    CHECK(count < sizeof library.functions / sizeof *library.functions);
    for (size_t i = 0; i < count; i++) {
        library.functions[i] = dlsym(library.real, intercepted[i]);
        library.wrappers[i] = dlsym(library.shadow, intercepted[i]);
        CHECK(library.wrappers[i]);
    }
}

static bool is_intercepted(const char *name) {
    for (size_t i = 0; i < library.intercepted_count; i++)
        if (strcmp(library.intercepted[i], name) == 0)
            return true;
    return false;
}

static void expect_itself_or_its_wrapper(const char *how, const char *name, void *real, void *got) {
    EXPLAIN(real && got, "%s does not find %s", how, name);
    if (!is_intercepted(name)) {
        EXPLAIN(got == real, "%s: %s is not the driver's own", how, name);
        return;
    }
    Dl_info info;
    CHECK(got != real && dladdr(got, &info));
    EXPLAIN(strcmp(info.dli_fname, library.shadow_path) == 0, "%s: %s is in %s", how, name, info.dli_fname);
    EXPLAIN(info.dli_sname && strcmp(info.dli_sname, name) == 0, "%s: %s is %s", how, name, info.dli_sname);
}

static void expect_every_export(void) {
    for (size_t i = 0; i < library.count; i++) {
        const char *name = library.exports[i];
        void *real = dlsym(library.real, name);
        expect_itself_or_its_wrapper("dlsym", name, real, dlsym(library.shadow, name));
        void *versioned = dlvsym(library.real, name, "ANY"); /* none: the drivers so far define no versions */
        if (versioned)
            expect_itself_or_its_wrapper("dlvsym", name, versioned, dlvsym(library.shadow, name, "ANY"));
        else
            EXPLAIN(!dlvsym(library.shadow, name, "ANY"), "%s has a version that the driver's has not", name);
    }
    CHECK(!dlsym(library.shadow, "cuNoSuchThing") && !dlsym(library.shadow, "nvmlNoSuchThing"));
}

/* What the shadow must answer where the driver answers this. */
static void *expected(void *function) {
    for (size_t i = 0; function && i < library.intercepted_count; i++)
        if (library.functions[i] == function)
            return library.wrappers[i];
    return function;
}

static void compare(const char *symbol, int version, cuuint64_t flags) {
    static __typeof__(&cuGetProcAddress_v2) ours, theirs;
    static __typeof__(&cuGetProcAddress) ours_v1, theirs_v1;
    if (!ours) {
        ours = (__typeof__(ours))dlsym(library.shadow, "cuGetProcAddress_v2");
        theirs = (__typeof__(theirs))dlsym(library.real, "cuGetProcAddress_v2");
        ours_v1 = (__typeof__(ours_v1))dlsym(library.shadow, "cuGetProcAddress");
        theirs_v1 = (__typeof__(theirs_v1))dlsym(library.real, "cuGetProcAddress");
        CHECK(ours && theirs && ours_v1 && theirs_v1);
    }
    void *real = (void *)1, *got = (void *)1;
    CUdriverProcAddressQueryResult real_status = 77, status = 77;
    CUresult answer = theirs(symbol, &real, version, flags, &real_status);
    CUresult result = ours(symbol, &got, version, flags, &status);
    EXPLAIN(result == answer && status == real_status, "%s %d %d: %d, status %d instead of %d, %d", symbol, version,
            (int)flags, (int)result, (int)status, (int)answer, (int)real_status);
    EXPLAIN(got == expected(real), "%s %d %d: another function", symbol, version, (int)flags);
    real = got = (void *)1;
    answer = theirs_v1(symbol, &real, version, flags);
    EXPLAIN(ours_v1(symbol, &got, version, flags) == answer && got == expected(real), "v1 %s %d %d", symbol, version,
            (int)flags);
}

/* The name that programs ask for: without _v2, _ptsz and the like. */
static void base_name(const char *name, char base[128]) {
    snprintf(base, 128, "%s", name);
    for (char *end = strrchr(base, '_'); end; end = strrchr(base, '_')) {
        if (strcmp(end, "_ptsz") != 0 && strcmp(end, "_ptds") != 0 &&
            !(end[1] == 'v' && end[2] >= '0' && end[2] <= '9'))
            break;
        *end = '\0';
    }
}

static void compare_every_name(void) {
    static const char *const unknown[] = {"cuNoSuchThing", "", "cuMemAlloc_v9", "cuda", "nvmlInit"};
    static const int odd[] = {-1, 0, 1, 2000, 3000, 3020, 6050, 9020, 10000, 10020, 99999};
    for (size_t i = 0; i < library.count + sizeof unknown / sizeof *unknown; i++) {
        const char *name = i < library.count ? library.exports[i] : unknown[i - library.count];
        char base[128], other[128];
        base_name(name, base);
        bool first = true; /* of its base name */
        for (size_t j = 0; first && j < i && j < library.count; j++) {
            base_name(library.exports[j], other);
            first = strcmp(base, other) != 0;
        }
        for (cuuint64_t flags = 0; flags < 4; flags++) {
            for (int version = 11000; first && version <= 13000; version += 10)
                compare(base, version, flags);
            for (size_t v = 0; v < sizeof odd / sizeof *odd; v++)
                compare(base, odd[v], flags);
            compare(name, 12000, flags);
        }
    }
}

/* Runs the work in a process of its own for each driver: a driver's library is never unloaded. */
static void for_each_driver(const char *name, const char *shadow, const char *const *intercepted, size_t count,
                            void (*work)(void)) {
    int drivers = 0;
    scratch_folder(); /* this process' own: it outlives the children */
    DIR *folder = opendir(OUTSIDE_DRIVERS);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        if (entry->d_name[0] == '.')
            continue;
        drivers++;
        fflush(NULL);
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            open_libraries(entry->d_name, name, shadow, intercepted, count);
            work();
            printf("%s %s: %zu exports\n", name, entry->d_name, library.count);
            exit(0);
        }
        reap_well(pid);
    }
    if (drivers)
        return;
    fputs("NVIDIA's libraries are not here: sh hook-lib/build.sh fetch\n", stderr);
    exit(getenv("PARTITA_REQUIRE_OUTSIDE") ? 1 : 77);
}

#define CUDA "libcuda", shadow_cuda(), cuda_intercepted, sizeof cuda_intercepted / sizeof *cuda_intercepted
#define NVML "libnvidia-ml", shadow_nvml(), nvml_intercepted, sizeof nvml_intercepted / sizeof *nvml_intercepted

static void every_export_of_libcuda_is_itself_or_its_wrapper(void) {
    for_each_driver(CUDA, expect_every_export);
}

static void every_export_of_nvml_is_itself_or_its_wrapper(void) {
    for_each_driver(NVML, expect_every_export);
}

static void cuGetProcAddress_answers_as_the_driver_for_every_name_version_and_flag(void) {
    for_each_driver(CUDA, compare_every_name);
}

/* The driver's file has the SONAME of the shadow, which was loaded first. */
static void expect_the_shadow_by_its_plain_name(void) {
    const char *slash = strrchr(library.shadow_path, '/');
    void *again = dlopen(slash + 1, RTLD_NOW | RTLD_NOLOAD);
    CHECK(again && dlsym(again, library.intercepted[0]) == library.wrappers[0]);
}

static void the_plain_name_is_the_shadow(void) {
    for_each_driver(CUDA, expect_the_shadow_by_its_plain_name);
    for_each_driver(NVML, expect_the_shadow_by_its_plain_name);
}

/* Without a card the driver's own errors come through. */
static void expect_no_device(void) {
    size_t free, total;
    CUdeviceptr pointer;
    CUdevice device = 0;
#define SHADOW(name) ((__typeof__(&name))dlsym(library.shadow, #name))
#define REAL(name) ((__typeof__(&name))dlsym(library.real, #name))
    CUresult started = SHADOW(cuInit)(0);
    CHECK_EQUAL(started, REAL(cuInit)(0));
    if (started == CUDA_SUCCESS)
        return; /* a machine with a card */
    CHECK_EQUAL(SHADOW(cuMemAlloc_v2)(&pointer, 1 << 20), REAL(cuMemAlloc_v2)(&pointer, 1 << 20));
    CHECK_EQUAL(SHADOW(cuMemGetInfo_v2)(&free, &total), REAL(cuMemGetInfo_v2)(&free, &total));
    CHECK_EQUAL(SHADOW(cuMemFree_v2)(pointer), REAL(cuMemFree_v2)(pointer));
    CHECK_EQUAL(SHADOW(cuDeviceTotalMem_v2)(&total, device), REAL(cuDeviceTotalMem_v2)(&total, device));
    CHECK_EQUAL(SHADOW(cuCtxSynchronize)(), REAL(cuCtxSynchronize)());
}

static void without_a_card_the_drivers_own_errors_come_through(void) {
    for_each_driver(CUDA, expect_no_device);
}

int main(int argc, char **argv) {
    static const struct test_case cases[] = {
        CASE(every_export_of_libcuda_is_itself_or_its_wrapper),
        CASE(every_export_of_nvml_is_itself_or_its_wrapper),
        CASE(cuGetProcAddress_answers_as_the_driver_for_every_name_version_and_flag),
        CASE(the_plain_name_is_the_shadow),
        CASE(without_a_card_the_drivers_own_errors_come_through),
    };
    return RUN_CASES(cases, argc, argv);
}
