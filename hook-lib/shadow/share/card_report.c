/* SPDX-License-Identifier: Apache-2.0 */
#include "share/card_report.h"

#include "common/text_file.h"
#include "common/text_lines.h"

static bool take_report_line(struct text key, struct text value, struct card_report *report) {
    uint64_t n;
    if (text_is(key, "report"))
        return text_number(value, &report->number) && report->number > 0;
    if (text_is(key, "at"))
        return text_number(value, &report->at);
    if (text_is(key, "busy"))
        return text_number(value, &report->busy);
    if (text_is(key, "sampled"))
        return text_number(value, &report->sampled);
    if (text_is(key, "others")) {
        if (!text_number(value, &n) || n > 100)
            return false;
        report->others = (unsigned int)n;
        return true;
    }
    if (text_is(key, "wanted")) {
        if (!text_number(value, &n) || n > 1)
            return false;
        report->wanted = n == 1;
        return true;
    }
    return true; /* a later plugin's key */
}

bool card_report_parse(const char *text, size_t length, struct card_report *report) {
    struct text rest = {text, length}, line, key, value;
    uint64_t end;
    memset(report, 0, sizeof *report);
    if (length > PARTITA_REPORT_LIMIT || !text_line(&rest, &line) || !text_is(line, PARTITA_REPORT_MAGIC))
        return false;
    while (text_line(&rest, &line)) {
        if (!text_key_value(line, &key, &value))
            continue;
        if (text_is(key, "end"))
            return text_number(value, &end) && report->number > 0 && end == report->number;
        if (!take_report_line(key, value, report))
            return false;
    }
    return false;
}

bool card_report_read(const char *path, struct card_report *report) {
    char text[PARTITA_REPORT_LIMIT + 1];
    long length = text_file_read(path, text, sizeof text);
    return length >= 0 && card_report_parse(text, (size_t)length, report);
}
