package dev.partita.plugin.usage.verdict;

import dev.partita.plugin.usage.measure.ProcessIdentity;

/**
 * What a process holds of a share.
 *
 * @param bytes of the card, by NVML, less what is counted to another share of the same container
 * @param ledgerBytes what the share's ledger has, as far as the share can have granted it
 * @param pagedBytes of the ledger's, managed memory, which may be on the card or not
 * @param overheadBytes of the card's, what its contexts and modules take, by estimate; counted to the first share of
 *        its container
 * @param contextBytes of the overhead, what ledgers have charged for its contexts; counted to the first share, too
 * @param inLedger whether it owns a slot of a share of the card: it goes through the interception library
 * @param gpuNanos of the card's time that it had since the last reading, by NVML's samples; counted to the first share
 *        of its container
 */
public record ProcessUse(
    ProcessIdentity identity,
    long bytes,
    long ledgerBytes,
    long pagedBytes,
    long overheadBytes,
    long contextBytes,
    boolean inLedger,
    long gpuNanos) {
  /** As this pid namespace names it. */
  public long pid() {
    return identity.pid();
  }

  /** What it holds of the card besides managed memory, at least: as if all of that were on the card. */
  long pinnedBytes() {
    return Math.max(bytes, ledgerBytes) - pagedBytes;
  }

  /** What its contexts and modules take beyond what it is charged for contexts. */
  long uncharged() {
    return Math.max(0, overheadBytes - contextBytes);
  }

  /** What no ledger knows of. */
  long unaccounted() {
    return Math.max(0, bytes - ledgerBytes);
  }
}
