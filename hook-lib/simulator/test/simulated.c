/* SPDX-License-Identifier: Apache-2.0 */
#include "simulated.h"

#include <dlfcn.h>
#include <ftw.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIPPED 77

char node_root[PATH_MAX];
static pid_t installer;

void failed(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: %s\n", file, line, what);
    exit(1);
}

void skip(const char *reason) {
    printf("skipped: %s\n", reason);
    exit(SKIPPED);
}

static int remove_entry(const char *path, const struct stat *file, int type, struct FTW *walk) {
    (void)file;
    (void)type;
    (void)walk;
    return remove(path);
}

static void remove_node(void) {
    if (getpid() == installer)
        nftw(node_root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void run_driver_tool(const char *const *arguments) {
    pid_t pid = fork();
    int status;

    CHECK(pid >= 0);
    if (pid == 0) {
        execv(SIM_DRIVER, (char *const *)arguments);
        _exit(127);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK_EQUAL(status, 0);
}

void install_node(const char *gpus) {
    const char *folder = getenv("TMPDIR");

    snprintf(node_root, sizeof node_root, "%s/partita-sim-XXXXXX", folder ? folder : "/tmp");
    CHECK(mkdtemp(node_root));
    installer = getpid();
    atexit(remove_node);
    run_driver_tool(
        (const char *[]){SIM_DRIVER, "install", "--root", node_root, "--node", "test-node", "--gpus", gpus, NULL});
    unsetenv("CUDA_VISIBLE_DEVICES");
    unsetenv("CUDA_DEVICE_ORDER");
}

void configure(const char *key, const char *value) {
    char path[PATH_MAX + 64], line[512];
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size), *file;

    snprintf(path, sizeof path, "%s/etc/partita-simulator/node.conf", node_root);
    CHECK(out && (file = fopen(path, "r")));
    while (fgets(line, sizeof line, file)) {
        const char *start = line + strspn(line, " ");

        if (strncmp(start, key, strlen(key)) == 0 && start[strlen(key)] == ' ')
            fprintf(out, "  %s %s\n", key, value);
        else
            fputs(line, out);
    }
    fclose(file);
    CHECK(fclose(out) == 0 && (file = fopen(path, "w")));
    fputs(text, file);
    CHECK(fclose(file) == 0);
    free(text);
}

void break_card(const char *gpu) {
    run_driver_tool((const char *[]){SIM_DRIVER, "break", "--root", node_root, "--gpu", gpu, NULL});
}

void heal_card(const char *gpu) {
    run_driver_tool((const char *[]){SIM_DRIVER, "heal", "--root", node_root, "--gpu", gpu, NULL});
}

static void *symbol(void **library, const char *file, const char *name) {
    char path[PATH_MAX + 64];
    void *found;

    if (!*library) {
        snprintf(path, sizeof path, "%s/usr/lib/x86_64-linux-gnu/%s", node_root, file);
        *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!*library) {
            fprintf(stderr, "%s\n", dlerror());
            exit(1);
        }
    }
    found = dlsym(*library, name);
    if (!found) {
        fprintf(stderr, "%s has no %s\n", file, name);
        exit(1);
    }
    return found;
}

void *cuda_symbol(const char *name) {
    static void *library;

    return symbol(&library, "libcuda.so.1", name);
}

void *nvml_symbol(const char *name) {
    static void *library;

    return symbol(&library, "libnvidia-ml.so.1", name);
}

void begin_cuda(int ordinal) {
    CUcontext context;

    CHECK_EQUAL(CU(cuInit)(0), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuDevicePrimaryCtxRetain)(&context, ordinal), CUDA_SUCCESS);
    CHECK_EQUAL(CU(cuCtxSetCurrent)(context), CUDA_SUCCESS);
}

uint64_t nvml_used(unsigned index) {
    nvmlMemory_v2_t memory = {.version = nvmlMemory_v2};
    nvmlDevice_t device;

    CHECK_EQUAL(NV(nvmlInit_v2)(), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetHandleByIndex_v2)(index, &device), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlDeviceGetMemoryInfo_v2)(device, &memory), NVML_SUCCESS);
    CHECK_EQUAL(NV(nvmlShutdown)(), NVML_SUCCESS);
    return memory.used;
}

struct child start_child(void (*body)(int link, long argument), long argument) {
    int links[2];
    pid_t pid;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, links) == 0);
    fflush(NULL);
    pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        close(links[0]);
        body(links[1], argument);
        fflush(NULL);
        _exit(0);
    }
    close(links[1]);
    return (struct child){pid, links[0]};
}

void tell(int link, char word) {
    CHECK(write(link, &word, 1) == 1);
}

char hear(int link) {
    char word;

    return read(link, &word, 1) == 1 ? word : 0;
}

void kill_child(struct child *child) {
    CHECK(kill(child->pid, SIGKILL) == 0);
    CHECK(waitpid(child->pid, NULL, 0) == child->pid);
    close(child->link);
}

void join_child(struct child *child) {
    int status;

    CHECK(waitpid(child->pid, &status, 0) == child->pid);
    CHECK_EQUAL(status, 0);
    close(child->link);
}

int run_test(int argc, char **argv, const struct test *tests) {
    for (; tests->name; tests++)
        if (argc == 2 && strcmp(argv[1], tests->name) == 0) {
            tests->run();
            return 0;
        }
    fprintf(stderr, "%s: name one test\n", argv[0]);
    return 2;
}

void add_to_node_conf(const char *lines) {
    char path[PATH_MAX + 64];
    FILE *conf;

    snprintf(path, sizeof path, "%s/etc/partita-simulator/node.conf", node_root);
    conf = fopen(path, "ae");
    CHECK(conf != NULL);
    fputs(lines, conf);
    fclose(conf);
}
