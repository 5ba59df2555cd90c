/* SPDX-License-Identifier: Apache-2.0 */
/* --gpus: "h200x4,t4x1". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

static void name_profiles(FILE *out) {
    for (size_t i = 0; i < profile_count; i++)
        fprintf(out, "%s%s", i ? ", " : "", profiles[i].model);
}

static bool refuse(const char *entry, int length, const char *why) {
    fprintf(stderr, "partita-sim-driver: --gpus: '%.*s' %s; the form is MODELxCOUNT[,MODELxCOUNT], the models are ",
            length, entry, why);
    name_profiles(stderr);
    fputc('\n', stderr);
    return false;
}

bool parse_gpus(const char *gpus, const struct profile *cards[SIM_MAX_CARDS], unsigned *count) {
    *count = 0;
    for (const char *entry = gpus;; entry++) {
        int length = (int)strcspn(entry, ",");
        const struct profile *profile;
        const char *times = entry + length;
        unsigned long wanted = 1;
        char *end;

        /* The last x separates: "rtx4090x2", "rtx4090". */
        while (times > entry && *times != 'x')
            times--;
        profile = profile_find(entry, (size_t)length);
        if (!profile) {
            profile = profile_find(entry, (size_t)(times - entry));
            if (!profile)
                return refuse(entry, length, "names no known model");
            wanted = strtoul(times + 1, &end, 10);
            if (end != entry + length || times[1] < '0' || times[1] > '9' || wanted == 0)
                return refuse(entry, length, "has no count from 1 to 16");
        }
        if (wanted > SIM_MAX_CARDS - *count)
            return refuse(entry, length, "is too much: a node has at most 16 cards");
        while (wanted--)
            cards[(*count)++] = profile;
        entry += length;
        if (!*entry)
            return true;
    }
}
