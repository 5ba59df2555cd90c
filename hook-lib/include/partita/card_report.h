/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The card report: what a share and the rest of its card did of late. The plugin writes it, everybody in the container
 * may read it. It divides the card's time by when shares had launches pending (`stretches` of usage_region.h), and asks
 * NVML how busy the card was and what processes use that belong to no share.
 *
 * One file a share, <shares>/<share key>/card, beside the quota; ASCII text, LF, at most PARTITA_REPORT_LIMIT bytes:
 *
 *   partita-card 1
 *   report 42             number of this report, > 0, one more each time
 *   at 912345000000       ns: the time up to which the figures go; only differences count
 *   busy 81235000000      ns of GPU time that the share's processes, and those of nobody known, have used since the
 *                         first report
 *   others 35             percent of the card's time that all other processes used in the time since the last report
 *   wanted 0              1: shares with a higher priority used the card in that time, by as much as the plugin's
 *                         settings say
 *   sampled 812345000000  ns, CLOCK_MONOTONIC of the node: the time up to which the figures go; 0: it is not known
 *   end 42                the number again
 *
 * While NVML tells what processes use of the card, and that has several claims or a share with a core limit below 100
 * percent, the plugin writes it anew seven times a second, or 13 times while several use the card, in place and with
 * one write(2), so that it costs no file a time. A reader who sees two numbers, or no end, has met a write and keeps
 * what it had. A report that has not changed for PARTITA_REPORT_STALE_MS is none. Without reports a share counts all
 * time between two events as its own, a soft limit lends nothing, and nobody pauses.
 */
#ifndef PARTITA_CARD_REPORT_H
#define PARTITA_CARD_REPORT_H

#define PARTITA_REPORT_NAME "card"
#define PARTITA_REPORT_MAGIC "partita-card 1"
#define PARTITA_REPORT_LIMIT 512
#define PARTITA_REPORT_STALE_MS 1000

#endif
