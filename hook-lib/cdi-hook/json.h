/* SPDX-License-Identifier: Apache-2.0 */
/*
 * As much of a JSON reader as the OCI state, config.json and the note of a compat library need. It never reads beyond
 * the text, whatever that is.
 */
#ifndef PARTITA_CDI_HOOK_JSON_H
#define PARTITA_CDI_HOOK_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* A place in a text. Once bad, it stays bad and everything reads as nothing. */
struct json {
    const char *at, *end;
    unsigned depth;
    bool bad;
};

/* Called with the place of a value, which it must read or skip. */
typedef void json_member(struct json *json, const char *key, void *context);
typedef void json_element(struct json *json, void *context);

void json_object(struct json *json, json_member *member, void *context);
void json_array(struct json *json, json_element *element, void *context);

/* A string, to be freed; NULL, and bad, if there is none or it holds a NUL. */
char *json_string(struct json *json);

/* A whole number below 1,000,000,000; 0, and bad, if there is none. */
unsigned json_unsigned(struct json *json);

void json_skip(struct json *json);

#endif
