/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "container.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "json.h"
#include "report.h"

enum { STATE_LIMIT = 1 << 20, CONFIG_LIMIT = 16 << 20 };

struct config {
    struct container *container;
    char *root;
};

static void keep_string(struct json *json, char **into) {
    free(*into);
    *into = json_string(json);
}

static void state_member(struct json *json, const char *key, void *context) {
    if (strcmp(key, "bundle") == 0)
        keep_string(json, context);
    else
        json_skip(json);
}

static void root_member(struct json *json, const char *key, void *context) {
    struct config *config = context;

    if (strcmp(key, "path") == 0)
        keep_string(json, &config->root);
    else
        json_skip(json);
}

static void variable(struct json *json, void *context) {
    struct container *container = context;
    char **more = realloc(container->environment, (container->variables + 1) * sizeof *more);
    char *text = json_string(json);

    if (more)
        container->environment = more;
    if (!more || !text) {
        json->bad = true;
        free(text);
        return;
    }
    container->environment[container->variables++] = text;
}

static void process_member(struct json *json, const char *key, void *context) {
    struct config *config = context;

    if (strcmp(key, "env") == 0)
        json_array(json, variable, config->container);
    else if (strcmp(key, "cwd") == 0)
        keep_string(json, &config->container->working_folder);
    else
        json_skip(json);
}

static void config_member(struct json *json, const char *key, void *context) {
    if (strcmp(key, "root") == 0)
        json_object(json, root_member, context);
    else if (strcmp(key, "process") == 0)
        json_object(json, process_member, context);
    else
        json_skip(json);
}

static bool read_object(char *text, size_t length, json_member *member, void *context) {
    struct json json = {.at = text, .end = text + length};

    json_object(&json, member, context);
    return !json.bad;
}

static char *read_file(int folder, const char *name, size_t limit, size_t *length) {
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC), error;
    char *text = fd < 0 ? NULL : read_all(fd, limit, length);

    error = errno;
    if (fd >= 0)
        close(fd);
    errno = error;
    return text;
}

static bool open_root(struct container *container, const char *bundle) {
    struct config config = {.container = container};
    size_t length;
    int folder = open(bundle, O_PATH | O_DIRECTORY | O_CLOEXEC);
    char *text = folder < 0 ? NULL : read_file(folder, "config.json", CONFIG_LIMIT, &length);

    if (!text) {
        problem("%s/config.json cannot be read: %s", bundle, strerror(errno));
    } else if (!read_object(text, length, config_member, &config) || !config.root) {
        problem("%s/config.json is no OCI configuration with a root.path", bundle);
    } else {
        container->root.fd = openat(folder, config.root, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (container->root.fd < 0)
            problem("the container's root %s cannot be opened: %s", config.root, strerror(errno));
    }
    free(text);
    free(config.root);
    if (folder >= 0)
        close(folder);
    return !problems();
}

bool container_read(struct container *container, int state) {
    size_t length;
    char *bundle = NULL, *text = read_all(state, STATE_LIMIT, &length);
    bool done = false;

    if (!text)
        problem("the container's state cannot be read from stdin: %s", strerror(errno));
    else if (!read_object(text, length, state_member, &bundle) || !bundle || bundle[0] != '/')
        problem("stdin holds no OCI state with an absolute bundle: this program is for container runtimes to call");
    else
        done = open_root(container, bundle);
    free(text);
    free(bundle);
    if (done && !container->working_folder)
        container->working_folder = strdup("/");
    return done;
}
