/*
 * What root in a container can do with the files of its claim: it takes leases on each of them whenever it can, has a child
 * that shares its descriptors lock all of the usage region and end, and lets the region grow. Goes on until it is killed.
 *
 * usage: hostile USAGE [FILE ...]
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int usage;

static int lock_all(void *unused) {
    (void)unused;
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    return fcntl(usage, F_SETLK, &all) == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: hostile USAGE [FILE ...]\n");
        return 2;
    }
    signal(SIGIO, SIG_IGN); /* of leases that are being broken: they are not given up */
    usage = open(argv[1], O_RDWR);
    if (usage < 0) {
        perror(argv[1]);
        return 1;
    }
    char *stack = malloc(65536);
    int child = clone(lock_all, stack + 65536, CLONE_FILES | SIGCHLD, NULL);
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        perror("clone");
        return 1;
    }
    printf("a dead process %s the region's locks\n", status == 0 ? "has" : "was refused");
    int files[16], count = 0;
    for (int i = 1; i < argc && count < 16; i++) {
        int file = open(argv[i], O_RDONLY);
        if (file >= 0) {
            files[count++] = file;
        }
    }
    printf("holding on to %d files\n", count);
    fflush(stdout);
    for (;;) {
        for (int i = 0; i < count; i++) {
            if (fcntl(files[i], F_SETLEASE, F_RDLCK) != 0) {
                fcntl(files[i], F_SETLEASE, F_WRLCK);
            }
        }
        if (ftruncate(usage, 32 << 20) != 0) {
            perror("ftruncate");
        }
        usleep(1000);
    }
}
