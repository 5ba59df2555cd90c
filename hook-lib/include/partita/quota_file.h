/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The quota file: what one share of a card may hold. The plugin writes it, everybody in the container may read it.
 *
 * One file a share, <shares>/<share key>/quota below PARTITA_SHARES_FOLDER; ASCII text, LF, at most PARTITA_QUOTA_LIMIT
 * bytes, replaced by rename only:
 *
 *   partita-quota 1
 *   generation 1
 *   claim default/quarter-h200-x7k2p
 *   claim-uid 0b5e...
 *   gpu GPU-5c1f...             UUID of the card as CUDA and NVML give it; MIG-... of a MIG instance: the share is one
 *                               of that instance
 *   memory 8589934592           bytes that the share may hold, > 0
 *   overhead 432013312          of these, bytes that NVML shows for the share's processes beyond the ledger: modules,
 *                               local memory, contexts beyond what they are charged; default 0. The ledger grants what
 *                               is left
 *   context 545259520           bytes that a context takes on cards of this model, as NVML has shown: charged when one
 *                               is made. Default: nobody has measured it, and the library guesses
 *   physical 4294967296         bytes of the card that the share may hold; what is allocated beyond, up to `memory`, is
 *                               managed memory. Default: all of `memory`
 *   cores 25                    percent of the card, 0-100; 0: no core limit
 *   core-limit hard             hard | soft | none
 *   priority 1                  0 high, 1 default
 *   end
 *
 * The first line, `end`, `gpu` and `memory` are mandatory; an unknown key is skipped, so that a later plugin may add
 * some. A file that breaks a rule is unusable, and an unusable file grants nothing. While the file cannot be opened,
 * what a process read of it last holds.
 */
#ifndef PARTITA_QUOTA_FILE_H
#define PARTITA_QUOTA_FILE_H

#define PARTITA_SHARES_FOLDER "/etc/partita/shares"
#define PARTITA_QUOTA_NAME "quota"
#define PARTITA_QUOTA_MAGIC "partita-quota 1"
#define PARTITA_QUOTA_LIMIT 4096

#endif
