/* SPDX-License-Identifier: Apache-2.0 */
/* The parser of card reports, on any bytes. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "share/card_report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct card_report report;
    char *text = malloc(size ? size : 1);
    EXPECT(text);
    memcpy(text, data, size);
    if (card_report_parse(text, size, &report)) {
        EXPECT(size <= PARTITA_REPORT_LIMIT);
        EXPECT(report.number > 0);
        EXPECT(report.others <= 100);
    }
    free(text);
    return 0;
}
