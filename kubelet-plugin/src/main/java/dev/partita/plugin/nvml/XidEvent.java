package dev.partita.plugin.nvml;

import java.util.Set;

/**
 * NVML's event of an XID error.
 *
 * @param card UUID of the card
 * @param xid number of the error
 */
public record XidEvent(String card, long xid) {
  /**
   * Errors that a program causes, after which the card works as before: 13 (graphics engine exception), 31 (memory page
   * fault), 43 (the card stopped processing), 45 (clean-up after an earlier error), 68 (video processor exception), 109
   * (context switch timeout). NVIDIA's device plugin for Kubernetes passes over the same ones (internal/rm/health.go).
   * 154 only says which recovery another error asks for, and says so again when none is needed any more. What the
   * others mean is in NVIDIA's catalogue, https://docs.nvidia.com/deploy/xid-errors/.
   */
  private static final Set<Long> HARMLESS = Set.of(13L, 31L, 43L, 45L, 68L, 109L, 154L);

  private static final String REASON = "XID ";

  /** Whether the card should get no more work. An error that is not known counts against the card. */
  public boolean isFatal() {
    return !HARMLESS.contains(xid);
  }

  /** {@code XID 79}. */
  public String reason() {
    return REASON + xid;
  }

  /** Whether a text is the {@link #reason} of some event. */
  public static boolean isReason(String text) {
    return text.startsWith(REASON);
  }
}
