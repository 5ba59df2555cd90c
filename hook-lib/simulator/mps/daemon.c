/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The control daemon. One server at a time, of the user whose client came first; clients of another user wait until it
 * has no client any more. A client is connected as long as its socket is open, which it is as long as it lives.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mps.h"

enum { MOST_CONNECTIONS = 128, MOST_CLIENTS = 48, TICK_MS = 100 };

enum state { FREE, NEW, WAITING, CLIENT, QUITTING };

struct connection {
    enum state state;
    int socket;
    pid_t pid;
    uid_t uid;
    char shared[64];
};

static struct {
    const char *pipe;
    FILE *log;
    struct connection connections[MOST_CONNECTIONS];
    pid_t server;
    double server_percentage;
    uid_t server_uid;
    int server_end;
    double percentage;
    char limit[32];
    time_t quit_at; /* 0: nobody has said quit; without -t it is never reached */
    int quitting;
} mps = {.server_end = -1, .percentage = 100};

__attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
    va_list words;

    fprintf(mps.log, "[Control %5d] ", (int)getpid());
    va_start(words, format);
    vfprintf(mps.log, format, words);
    va_end(words);
    fputc('\n', mps.log);
    fflush(mps.log);
}

static void drop(struct connection *connection) {
    close(connection->socket);
    *connection = (struct connection){.state = FREE, .socket = -1};
}

static void answer(struct connection *connection, const char *words) {
    send(connection->socket, words, strlen(words), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static int count(enum state state) {
    int found = 0;

    for (int i = 0; i < MOST_CONNECTIONS; i++)
        found += mps.connections[i].state == state;
    return found;
}

/* It ends when the socket does. */
static int start_server(uid_t uid) {
    int ends[2];
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return 0;
    child = fork();
    if (child == 0) {
        dup2(ends[1], STDIN_FILENO);
        if (uid != geteuid() && setuid(uid) != 0)
            _exit(1);
        execlp(MPS_SERVER, MPS_SERVER, (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    if (child < 0) {
        close(ends[0]);
        return 0;
    }
    mps.server = child;
    mps.server_uid = uid;
    mps.server_percentage = mps.percentage;
    mps.server_end = ends[0];
    note("Starting new server %d for user %u", (int)child, uid);
    return 1;
}

static void stop_server(void) {
    if (mps.server_end >= 0)
        close(mps.server_end);
    mps.server_end = -1;
}

/* The server and its clients share memory by name: it must be there where the daemon looks, too. */
static int sees(const char *shared) {
    int object = shm_open(shared, O_RDONLY | O_CLOEXEC, 0);

    if (object >= 0)
        close(object);
    return object >= 0;
}

static void serve(struct connection *client) {
    char words[64];

    client->state = WAITING;
    if (mps.server && mps.server_uid != client->uid) {
        if (count(CLIENT) == 0)
            stop_server();
        return;
    }
    if (!sees(client->shared)) {
        answer(client, "ERROR Failed to allocate shared memory region in /dev/shm.");
        note("client %d: no %s in /dev/shm", (int)client->pid, client->shared);
        drop(client);
    } else if (count(CLIENT) >= MOST_CLIENTS) {
        answer(client, "ERROR the hardware resources required to create MPS client have been exhausted");
        drop(client);
    } else if (mps.server || start_server(client->uid)) {
        snprintf(words, sizeof words, "SERVER %d", (int)mps.server);
        answer(client, words);
        note("NEW CLIENT %d from user %u", (int)client->pid, client->uid);
        client->state = CLIENT;
    }
}

static void bury_server(void) {
    int status;

    if (!mps.server || waitpid(mps.server, &status, WNOHANG) != mps.server)
        return;
    note("Server %d exited with status %d", (int)mps.server, WIFEXITED(status) ? WEXITSTATUS(status) : 128);
    mps.server = 0;
    stop_server();
    for (int i = 0; i < MOST_CONNECTIONS; i++) /* they cannot go on without it */
        if (mps.connections[i].state == CLIENT)
            drop(&mps.connections[i]);
}

static void list_clients(long server, char words[MPS_PACKET]) {
    size_t length = 0;

    for (int i = 0; i < MOST_CONNECTIONS && server == mps.server; i++)
        if (mps.connections[i].state == CLIENT && length < MPS_PACKET - 16)
            length += (size_t)snprintf(words + length, MPS_PACKET - length, "%d\n", (int)mps.connections[i].pid);
}

static void command(struct connection *front, const char *said) {
    char words[MPS_PACKET] = "", limit[sizeof mps.limit];
    double percentage;
    long number;

    note("Cmd:%s", said);
    if (strcmp(said, "get_server_list") == 0) {
        if (mps.server)
            snprintf(words, sizeof words, "%d\n", (int)mps.server);
    } else if (sscanf(said, "get_client_list %ld", &number) == 1) {
        list_clients(number, words);
    } else if (strcmp(said, "get_default_active_thread_percentage") == 0) {
        snprintf(words, sizeof words, "%.1f\n", mps.percentage);
    } else if (sscanf(said, "set_default_active_thread_percentage %lf", &percentage) == 1) {
        mps.percentage = percentage;
        snprintf(words, sizeof words, "%.1f\n", mps.percentage);
    } else if (sscanf(said, "get_active_thread_percentage %ld", &number) == 1 && number == mps.server) {
        snprintf(words, sizeof words, "%.1f\n", mps.server_percentage);
    } else if (sscanf(said, "set_active_thread_percentage %ld %lf", &number, &percentage) == 2 &&
               number == mps.server) {
        mps.server_percentage = percentage;
        snprintf(words, sizeof words, "%.1f\n", mps.server_percentage);
    } else if (sscanf(said, "set_device_pinned_mem_limit %ld 0 %31s", &number, limit) == 2 && number == mps.server) {
        ; /* what a server's clients may pin is not simulated */
    } else if (sscanf(said, "set_default_device_pinned_mem_limit %ld %31s", &number, limit) == 2) {
        memcpy(mps.limit, limit, sizeof mps.limit);
    } else if (sscanf(said, "get_default_device_pinned_mem_limit %ld", &number) == 1) {
        snprintf(words, sizeof words, "%s\n",
                 *mps.limit ? mps.limit : "No default pinned memory limit set for the device!");
    } else if (strncmp(said, "quit", 4) == 0) {
        mps.quitting = 1;
        if (sscanf(said, "quit -t %ld", &number) == 1)
            mps.quit_at = time(NULL) + number;
        front->state = QUITTING; /* which is answered when all is over */
        return;
    } else {
        snprintf(words, sizeof words, "Unknown command \"%.200s\"\n", said);
    }
    answer(front, words);
    drop(front);
}

static void hear(struct connection *connection) {
    char said[MPS_PACKET];
    ssize_t length = recv(connection->socket, said, sizeof said - 1, MSG_DONTWAIT);

    if (length <= 0) {
        if (length == 0 || errno != EAGAIN)
            drop(connection);
        return;
    }
    said[length] = '\0';
    if (connection->state == NEW && strncmp(said, "UI ", 3) == 0)
        command(connection, said + 3);
    else if (connection->state == NEW && sscanf(said, "CLIENT %63s", connection->shared) == 1 && !mps.quitting)
        serve(connection);
    else
        drop(connection);
}

static void welcome(int listener) {
    struct ucred whose;
    socklen_t length = sizeof whose;
    int accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

    if (accepted < 0)
        return;
    for (int i = 0; i < MOST_CONNECTIONS; i++)
        if (mps.connections[i].state == FREE && getsockopt(accepted, SOL_SOCKET, SO_PEERCRED, &whose, &length) == 0) {
            mps.connections[i] =
                (struct connection){.state = NEW, .socket = accepted, .pid = whose.pid, .uid = whose.uid};
            return;
        }
    close(accepted);
}

static void wait_for_something(int listener) {
    struct pollfd polled[MOST_CONNECTIONS + 1] = {{.fd = listener, .events = POLLIN}};

    for (int i = 0; i < MOST_CONNECTIONS; i++)
        polled[i + 1] =
            (struct pollfd){.fd = mps.connections[i].state == FREE ? -1 : mps.connections[i].socket, .events = POLLIN};
    if (poll(polled, MOST_CONNECTIONS + 1, TICK_MS) <= 0)
        return;
    for (int i = 0; i < MOST_CONNECTIONS; i++)
        if (polled[i + 1].revents)
            hear(&mps.connections[i]);
    if (polled[0].revents)
        welcome(listener);
}

static int is_over(void) {
    return mps.quitting && (count(CLIENT) + count(WAITING) == 0 || (mps.quit_at && time(NULL) >= mps.quit_at));
}

static void run(int listener) {
    while (!is_over()) {
        wait_for_something(listener);
        bury_server();
        for (int i = 0; i < MOST_CONNECTIONS; i++)
            if (mps.connections[i].state == WAITING)
                serve(&mps.connections[i]);
    }
    stop_server();
    if (mps.server)
        waitpid(mps.server, NULL, 0);
}

static int file_in(const char *folder, const char *name, int flags, mode_t mode) {
    char path[PATH_MAX];
    int opened;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    opened = open(path, flags | O_CLOEXEC, mode);
    if (opened >= 0)
        fchmod(opened, mode);
    return opened;
}

static int listen_at(const char *name, mode_t mode) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    if (snprintf(address.sun_path, sizeof address.sun_path, "%s/%s", mps.pipe, name) >= (int)sizeof address.sun_path) {
        fprintf(stderr, "The pipe directory's name is too long\n");
        return -1;
    }
    unlink(address.sun_path);
    if (bind(listener, (const struct sockaddr *)&address, sizeof address) != 0 || chmod(address.sun_path, mode) != 0 ||
        listen(listener, 64) != 0) {
        fprintf(stderr, "Cannot listen at %s: %s\n", address.sun_path, strerror(errno));
        close(listener);
        return -1;
    }
    return listener;
}

static void leave(void) {
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/nvidia-cuda-mps-control.pid", mps.pipe);
    unlink(path);
    snprintf(path, sizeof path, "%s/log", mps.pipe);
    unlink(path);
    for (int i = 0; i < MOST_CONNECTIONS; i++)
        if (mps.connections[i].state == QUITTING)
            drop(&mps.connections[i]); /* an empty answer: it has been done */
}

static void in_background(int ready) {
    int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    setsid();
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(nothing, STDERR_FILENO);
    if (write(ready, "", 1) != 1)
        _exit(EXIT_FAILURE);
    close(ready);
}

static int serve_until_quit(int ready) {
    struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int lock = file_in(mps.pipe, "control_lock", O_RDWR | O_CREAT, 0666), listener, pid;
    char path[PATH_MAX];

    if (lock < 0 || fcntl(lock, F_SETLK, &all) != 0) {
        fprintf(stderr,
                lock < 0 ? "Cannot use the pipe directory\n" : "An instance of this daemon is already running\n");
        return EXIT_FAILURE;
    }
    snprintf(path, sizeof path, "%s/log", mps.pipe);
    unlink(path);
    listener = listen_at("control", 0666);
    if (listener < 0 || listen_at("control_privileged", 0755) < 0 || mkfifo(path, 0777) != 0)
        return EXIT_FAILURE;
    pid = file_in(mps.pipe, "nvidia-cuda-mps-control.pid", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dprintf(pid, "%d", (int)getpid());
    close(pid);
    note("Starting control daemon using socket %s/control", mps.pipe);
    if (ready >= 0)
        in_background(ready);
    run(listener);
    leave();
    return EXIT_SUCCESS;
}

/* In the background the parent ends when the daemon listens. */
int mps_daemon(const char *pipe, const char *log, int foreground) {
    int logged, ends[2];
    char began;
    pid_t child;

    mps.pipe = pipe;
    logged = file_in(log, "control.log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    mps.log = logged < 0 ? NULL : fdopen(logged, "a");
    if (!mps.log) {
        fprintf(stderr, "Cannot use the log directory %s\n", log);
        return EXIT_FAILURE;
    }
    signal(SIGPIPE, SIG_IGN);
    if (foreground)
        return serve_until_quit(-1);
    if (pipe2(ends, O_CLOEXEC) != 0)
        return EXIT_FAILURE;
    child = fork();
    if (child == 0) {
        close(ends[0]);
        _exit(serve_until_quit(ends[1]));
    }
    close(ends[1]);
    return child > 0 && read(ends[0], &began, 1) == 1 ? EXIT_SUCCESS : EXIT_FAILURE;
}
