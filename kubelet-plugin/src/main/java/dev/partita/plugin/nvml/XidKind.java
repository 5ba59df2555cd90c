package dev.partita.plugin.nvml;

import java.util.Set;

/**
 * Whom an XID error is about. By what NVIDIA's catalogue says is to be done at once
 * (https://docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html).
 */
public enum XidKind {
  /** A program caused it, or has to be started again because of it; the card goes on working. */
  PROGRAM,
  /** Nothing is to be done. */
  NOTE,
  /** The driver asks for something else than before to be done with the card: {@link CardSigns#recovery} says what. */
  RECOVERY,
  /** Something is wrong with the card. What nobody knows counts as this. */
  CARD;

  /**
   * "RESTART_APP" in the catalogue, such as 13 (graphics engine exception), 31 (memory page fault), 69 (graphics engine
   * class error) or 94 (contained memory error: what it leaves of the card is told by ECC and row remapping); and 45
   * (clean-up after an earlier error) and 109 (context switch timeout), which NVIDIA's device plugin for Kubernetes
   * passes over, too (internal/rm/health.go).
   */
  private static final Set<Long> OF_PROGRAMS =
      Set.of(
          8L, 11L, 13L, 25L, 31L, 32L, 39L, 40L, 41L, 45L, 60L, 68L, 69L, 70L, 71L, 72L, 75L, 76L, 77L, 80L, 82L, 83L,
          84L, 85L, 86L, 88L, 89L, 94L, 96L, 97L, 98L, 99L, 100L, 101L, 102L, 103L, 104L, 105L, 109L, 126L, 127L, 128L,
          129L, 130L, 131L, 132L, 133L, 134L, 135L, 139L);

  /**
   * "IGNORE" in the catalogue, such as 43 (the card stopped processing for a program), 63 (a row is remapped) or 92
   * (many corrected errors).
   */
  private static final Set<Long> NOTES =
      Set.of(
          14L, 37L, 38L, 43L, 44L, 63L, 66L, 67L, 92L, 93L, 106L, 107L, 108L, 121L, 137L, 141L, 152L, 153L, 157L,
          160L, 161L);

  private static final long RECOVERY_ACTION_CHANGED = 154;

  /** Of an XID's number. */
  public static XidKind of(long xid) {
    if (xid == RECOVERY_ACTION_CHANGED) {
      return RECOVERY;
    }
    return OF_PROGRAMS.contains(xid) ? PROGRAM : NOTES.contains(xid) ? NOTE : CARD;
  }
}
