/* SPDX-License-Identifier: Apache-2.0 */
/* --query-gpu and --query-compute-apps. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"

#define MAX_FIELDS 64

struct query {
    const struct field *fields[MAX_FIELDS];
    size_t count;
    bool header, units;
};

static bool parse_format(struct query *query, const char *csv) {
    char copy[64], *rest = copy, *word;
    bool is_csv = false;

    query->header = query->units = true;
    if (!csv || strlen(csv) >= sizeof copy)
        return false;
    memcpy(copy, csv, strlen(csv) + 1);
    while ((word = strsep(&rest, ","))) {
        if (strcmp(word, "csv") == 0)
            is_csv = true;
        else if (strcmp(word, "noheader") == 0)
            query->header = false;
        else if (strcmp(word, "nounits") == 0)
            query->units = false;
        else
            return false;
    }
    return is_csv;
}

static bool parse_fields(struct query *query, const struct field *known, const char *names) {
    char copy[1024], *rest = copy, *name;

    snprintf(copy, sizeof copy, "%s", names);
    query->count = 0;
    while ((name = strsep(&rest, ","))) {
        const struct field *field = known;

        name += strspn(name, " ");
        while (field->name && strcmp(field->name, name) != 0)
            field++;
        if (!field->name || query->count == MAX_FIELDS) {
            printf("Field \"%s\" is not a valid field to query.\n", name);
            return false;
        }
        query->fields[query->count++] = field;
    }
    return true;
}

static void print_header(const struct query *query) {
    for (size_t i = 0; i < query->count; i++) {
        const struct field *field = query->fields[i];

        printf("%s%s", i ? ", " : "", field->title);
        if (*field->unit)
            printf(" [%s]", field->unit);
    }
    putchar('\n');
}

static void print_row(const struct query *query, const struct row *row) {
    for (size_t i = 0; i < query->count; i++) {
        const struct field *field = query->fields[i];
        struct text text;
        bool unit;

        field->value(row, &text);
        unit = *field->unit && query->units && text.bytes[0] != '['; /* "[N/A]" has none */
        printf("%s%s%s%s", i ? ", " : "", text.bytes, unit ? " " : "", unit ? field->unit : "");
    }
    putchar('\n');
}

static void print_gpu(const struct smi_card *card, void *context) {
    print_row(context, &(struct row){.card = card});
}

static void print_apps(const struct smi_card *card, void *context) {
    unsigned count;
    nvmlProcessInfo_t *processes = card_processes(card, &count);

    for (unsigned i = 0; i < count; i++)
        print_row(context, &(struct row){.card = card, .process = &processes[i]});
    free(processes);
}

static int run(const char *only, const struct field *known, const char *names, const char *csv,
               void (*visit)(const struct smi_card *card, void *context)) {
    struct query query;

    if (!parse_format(&query, csv)) {
        puts("Invalid combination of input arguments: a query needs --format=csv[,noheader][,nounits].");
        return SMI_USAGE;
    }
    if (!parse_fields(&query, known, names))
        return SMI_USAGE;
    if (query.header)
        print_header(&query);
    return each_card(only, visit, &query);
}

int print_query(const char *only, const char *fields, const char *csv) {
    return run(only, gpu_fields, fields, csv, print_gpu);
}

int print_process_query(const char *only, const char *fields, const char *csv) {
    return run(only, process_fields, fields, csv, print_apps);
}
