/* SPDX-License-Identifier: Apache-2.0 */
/* partita-probe: asks the CUDA driver for what a program would, and prints what it got, one plain line a step. */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "caching.h"
#include "driver.h"

enum { EXIT_DONE = 0, EXIT_OTHER_ERROR = 1, EXIT_USAGE = 2, EXIT_OUT_OF_MEMORY = 3 };

static const char usage[] =
    "usage: partita-probe info                                      the devices that CUDA sees\n"
    "       partita-probe mem [--device I]                          cuMemGetInfo\n"
    "       partita-probe alloc BYTES [--device I] [--every S]      allocate and free; exit status 3: out of memory;\n"
    "                                                               with --every instead try again every S seconds\n"
    "       partita-probe hold BYTES [--device I] [--seconds S]     allocate and keep until SIGTERM or S seconds\n"
    "       partita-probe fill BYTES [--device I] [--every S]       take so much piece by piece, as PyTorch's caching "
    "allocator does;\n"
    "                                                               out of memory, with --every try again every S "
    "seconds\n"
    "       partita-probe spin SECONDS [--device I] [--every S]     keep the device busy, and say how much of its time "
    "that got;\n"
    "                                                               with --every also every S seconds, of these\n"
    "BYTES: 4Gi, 512Mi, 64Ki or a number of bytes; SECONDS: 5s, 5 or 0.5\n";

static struct driver driver;

static const char *name_of(CUresult result) {
    const char *name;

    return driver.error_name(result, &name) == CUDA_SUCCESS ? name : "an unknown error";
}

static int failed(const char *what, CUresult result) {
    fprintf(stderr, "partita-probe: %s: %s\n", what, name_of(result));
    return EXIT_OTHER_ERROR;
}

static bool parse_bytes(const char *text, size_t *bytes) {
    static const struct {
        const char *suffix;
        unsigned shift;
    } units[] = {{"", 0}, {"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}};
    char *end;
    unsigned long long number;

    errno = 0;
    number = strtoull(text, &end, 10);
    if (errno || end == text || *text == '-')
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].suffix) == 0) {
            *bytes = (size_t)number << units[i].shift;
            return *bytes >> units[i].shift == number && number > 0;
        }
    return false;
}

static CUresult open_device(int ordinal, CUdevice *device) {
    CUcontext context;
    CUresult result = driver.init(0);

    if (result == CUDA_SUCCESS)
        result = driver.device_get(device, ordinal);
    if (result == CUDA_SUCCESS)
        result = driver.primary_retain(&context, *device);
    return result == CUDA_SUCCESS ? driver.set_current(context) : result;
}

static CUresult print_device(int ordinal) {
    size_t free = 0, total = 0, visible;
    unsigned char uuid[sizeof(CUuuid)];
    char name[128];
    CUdevice device;
    CUuuid id;
    CUresult result = open_device(ordinal, &device);

    if (result == CUDA_SUCCESS)
        result = driver.device_get_name(name, sizeof name, device);
    if (result == CUDA_SUCCESS)
        result = driver.device_get_uuid(&id, device);
    if (result == CUDA_SUCCESS)
        result = driver.device_total_mem(&total, device);
    if (result == CUDA_SUCCESS)
        result = driver.mem_get_info(&free, &visible);
    if (result != CUDA_SUCCESS)
        return result;
    memcpy(uuid, id.bytes, sizeof uuid);
    printf("device %d uuid=GPU-", ordinal);
    for (int i = 0; i < 16; i++)
        printf("%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
    printf(" name=\"%s\" total=%zu free=%zu\n", name, total, free);
    return driver.primary_release(device);
}

static int info(void) {
    int count;
    CUresult result = driver.init(0);

    if (result == CUDA_SUCCESS)
        result = driver.device_get_count(&count);
    if (result != CUDA_SUCCESS)
        return failed("cuInit", result);
    for (int ordinal = 0; ordinal < count; ordinal++) {
        result = print_device(ordinal);
        if (result != CUDA_SUCCESS)
            return failed("device", result);
    }
    return EXIT_DONE;
}

static int mem(int ordinal) {
    size_t free, total;
    CUdevice device;
    CUresult result = open_device(ordinal, &device);

    if (result != CUDA_SUCCESS)
        return failed("context", result);
    result = driver.mem_get_info(&free, &total);
    if (result != CUDA_SUCCESS)
        return failed("cuMemGetInfo", result);
    printf("free=%zu total=%zu\n", free, total);
    return EXIT_DONE;
}

/* Prints the line of an allocation, whatever becomes of it. */
static int allocate(int ordinal, size_t bytes, CUdeviceptr *pointer) {
    CUdevice device;
    CUresult result = open_device(ordinal, &device);

    if (result == CUDA_SUCCESS)
        result = driver.mem_alloc(pointer, bytes);
    if (result != CUDA_SUCCESS)
        printf("alloc %zu %s\n", bytes, name_of(result));
    return result == CUDA_SUCCESS               ? EXIT_DONE
           : result == CUDA_ERROR_OUT_OF_MEMORY ? EXIT_OUT_OF_MEMORY
                                                : EXIT_OTHER_ERROR;
}

static struct timespec span(double seconds) {
    return (struct timespec){(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
}

static int alloc(int ordinal, size_t bytes, double every) {
    const struct timespec pause = span(every);
    CUdeviceptr pointer;
    int status = allocate(ordinal, bytes, &pointer);
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

    fflush(stdout);
    while (status == EXIT_OUT_OF_MEMORY && every > 0 && result == CUDA_ERROR_OUT_OF_MEMORY) {
        nanosleep(&pause, NULL);
        result = driver.mem_alloc(&pointer, bytes);
        if (result == CUDA_SUCCESS)
            status = EXIT_DONE;
        else if (result != CUDA_ERROR_OUT_OF_MEMORY)
            return failed("cuMemAlloc", result);
    }
    if (status != EXIT_DONE)
        return status;
    printf("alloc %zu CUDA_SUCCESS\n", bytes);
    result = driver.mem_free(pointer);
    return result == CUDA_SUCCESS ? EXIT_DONE : failed("cuMemFree", result);
}

static int hold(int ordinal, size_t bytes, double seconds) {
    struct timespec limit = span(seconds);
    CUdeviceptr pointer;
    CUresult result;
    sigset_t ends;
    int status;

    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    sigprocmask(SIG_BLOCK, &ends, NULL);
    status = allocate(ordinal, bytes, &pointer);
    if (status != EXIT_DONE)
        return status;
    printf("holding %zu\n", bytes);
    fflush(stdout);
    while ((seconds > 0 ? sigtimedwait(&ends, NULL, &limit) : sigwaitinfo(&ends, NULL)) < 0 && errno == EINTR)
        ;
    result = driver.mem_free(pointer);
    if (result != CUDA_SUCCESS)
        return failed("cuMemFree", result);
    printf("released\n");
    return EXIT_DONE;
}

/* One step of a training that grows: memory for a moment, and some that it keeps. */
static CUresult step(struct caching *caching, size_t piece) {
    enum { SCRATCH = 24 << 20 };
    struct caching_block scratch, kept;
    CUresult result = caching_take(caching, SCRATCH, &scratch);

    if (result == CUDA_SUCCESS)
        result = caching_put(caching, scratch);
    return result == CUDA_SUCCESS ? caching_take(caching, piece, &kept) : result;
}

static int fill(int ordinal, size_t bytes, double every) {
    enum { PIECE = 64 << 20 };
    const struct timespec pause = span(every);
    struct caching caching = {.driver = &driver};
    struct timespec now;
    bool full = false;
    CUdevice device;
    CUresult result = open_device(ordinal, &device);
    size_t held = 0;

    while (result == CUDA_SUCCESS && held < bytes) {
        result = step(&caching, PIECE);
        if (result == CUDA_SUCCESS) {
            held += PIECE;
            if (full) {
                clock_gettime(CLOCK_REALTIME, &now);
                printf("filled %zu, more at %lld.%09ld\n", held, (long long)now.tv_sec, now.tv_nsec);
            }
            full = false;
        } else if (result == CUDA_ERROR_OUT_OF_MEMORY) {
            if (!full) {
                printf("filled %zu, out of memory\n", held);
                fflush(stdout);
            }
            if (every <= 0)
                return EXIT_OUT_OF_MEMORY;
            full = true;
            nanosleep(&pause, NULL);
            result = CUDA_SUCCESS;
        }
    }
    if (result != CUDA_SUCCESS)
        return failed("fill", result);
    printf("filled %zu\n", held);
    return EXIT_DONE;
}

/* Waits so many nanoseconds on the device. Simulated cards know the kernel by its name. */
static const char spin_image[] = ".version 6.0\n.target sm_50\n.address_size 64\n"
                                 ".visible .entry partita_spin(.param .u64 ns)\n{\n"
                                 "    .reg .u64 %rd<4>;\n    .reg .pred %p;\n"
                                 "    ld.param.u64 %rd1, [ns];\n    mov.u64 %rd2, %globaltimer;\n"
                                 "again:\n    mov.u64 %rd3, %globaltimer;\n    sub.u64 %rd3, %rd3, %rd2;\n"
                                 "    setp.lt.u64 %p, %rd3, %rd1;\n    @%p bra again;\n    ret;\n}\n";

static double clock_seconds(void) {
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool parse_seconds(const char *text, double *seconds) {
    char *end;

    *seconds = strtod(text, &end);
    return end != text && (*end == '\0' || strcmp(end, "s") == 0) && *seconds > 0 && *seconds < 1e6;
}

static int no_seconds(const char *text) {
    fprintf(stderr, "partita-probe: '%s' is no number of seconds; 5s, 5 and 0.5 are\n", text);
    return EXIT_USAGE;
}

enum { SPIN_KERNEL_NS = 1000000 };

static void print_spin(const char *verb, unsigned long kernels, double seconds) {
    printf("%s kernels=%lu seconds=%.3f share=%.1f%%\n", verb, kernels, seconds,
           (double)kernels * SPIN_KERNEL_NS * 1e-7 / seconds);
    fflush(stdout);
}

/* Kernels of 1 ms, as many as the device takes. */
static int spin(int ordinal, double seconds, double every) {
    enum { AHEAD = 16 };
    uint64_t ns = SPIN_KERNEL_NS;
    void *parameters[] = {&ns};
    CUfunction function;
    CUmodule module;
    CUdevice device;
    unsigned long kernels = 0, told = 0;
    CUresult result = open_device(ordinal, &device);
    double begin, now, last;

    if (result == CUDA_SUCCESS)
        result = driver.module_load_data(&module, spin_image);
    if (result == CUDA_SUCCESS)
        result = driver.module_get_function(&function, module, "partita_spin");
    begin = now = last = clock_seconds();
    while (result == CUDA_SUCCESS && now - begin < seconds) {
        for (int i = 0; result == CUDA_SUCCESS && i < AHEAD; i++, kernels++)
            result = driver.launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL);
        if (result == CUDA_SUCCESS)
            result = driver.synchronize();
        now = clock_seconds();
        if (result == CUDA_SUCCESS && every > 0 && now - last >= every) {
            print_spin("spinning", kernels - told, now - last);
            told = kernels;
            last = now;
        }
    }
    if (result != CUDA_SUCCESS)
        return failed("spin", result);
    print_spin("spin", kernels, now - begin);
    return EXIT_DONE;
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"device", required_argument, NULL, 'd'},
        {"seconds", required_argument, NULL, 's'},
        {"every", required_argument, NULL, 'e'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *command;
    double seconds = 0, every = 0;
    int ordinal = 0, option;
    size_t bytes = 0;
    bool sized, timed;

    while ((option = getopt_long(argc, argv, "h", options, NULL)) != -1)
        switch (option) {
        case 'd':
            ordinal = atoi(optarg);
            break;
        case 's':
            seconds = atof(optarg);
            break;
        case 'e':
            if (!parse_seconds(optarg, &every))
                return no_seconds(optarg);
            break;
        case 'h':
            fputs(usage, stdout);
            return EXIT_DONE;
        default:
            return EXIT_USAGE;
        }
    command = optind < argc ? argv[optind] : "";
    sized = strcmp(command, "alloc") == 0 || strcmp(command, "hold") == 0 || strcmp(command, "fill") == 0;
    timed = strcmp(command, "spin") == 0;
    if (argc - optind != (sized || timed ? 2 : 1) ||
        (!sized && !timed && strcmp(command, "info") != 0 && strcmp(command, "mem") != 0)) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    if (sized && !parse_bytes(argv[optind + 1], &bytes)) {
        fprintf(stderr, "partita-probe: '%s' is no number of bytes; 4Gi, 512Mi and 1048576 are\n", argv[optind + 1]);
        return EXIT_USAGE;
    }
    if (timed && !parse_seconds(argv[optind + 1], &seconds))
        return no_seconds(argv[optind + 1]);
    if (!driver_load(&driver))
        return EXIT_OTHER_ERROR;
    if (timed)
        return spin(ordinal, seconds, every);
    if (strcmp(command, "info") == 0)
        return info();
    if (strcmp(command, "mem") == 0)
        return mem(ordinal);
    if (strcmp(command, "fill") == 0)
        return fill(ordinal, bytes, every);
    return strcmp(command, "alloc") == 0 ? alloc(ordinal, bytes, every) : hold(ordinal, bytes, seconds);
}
