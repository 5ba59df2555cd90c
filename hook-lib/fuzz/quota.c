/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of quota files, on any bytes. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "partita/quota_file.h"
#include "share/quota.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct quota quota;
    memset(&quota, 0xa5, sizeof quota);
    char *text = malloc(size ? size : 1); /* so that a read beyond its end is found */
    EXPECT(text);
    memcpy(text, data, size);
    if (quota_parse(text, size, &quota)) {
        EXPECT(size <= PARTITA_QUOTA_LIMIT);
        EXPECT(quota.memory > 0);
        EXPECT(quota.gpu[0] && memchr(quota.gpu, '\0', sizeof quota.gpu));
        EXPECT(quota.cores <= 100);
        EXPECT(quota.priority <= 1);
        EXPECT(quota.core_limit <= CORE_LIMIT_HARD);
    }
    free(text);
    return 0;
}
