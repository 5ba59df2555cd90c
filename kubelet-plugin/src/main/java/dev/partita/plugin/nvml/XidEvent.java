package dev.partita.plugin.nvml;

import java.util.Optional;

/**
 * NVML's event of an XID error.
 *
 * @param card UUID of the card
 * @param xid number of the error
 */
public record XidEvent(String card, long xid) {
  private static final String REASON = "XID ";

  /** Whom it is about. */
  public XidKind kind() {
    return XidKind.of(xid);
  }

  /** {@code XID 79}. */
  public String reason() {
    return REASON + xid;
  }

  /**
   * What is to be done about it, by NVIDIA's catalogue of XID errors, where something is wrong with the card.
   */
  public String mend() {
    if (xid == 79) {
      return "it has fallen off the bus: start the machine anew, and if it happens again, look at its seat, power and cooling";
    }
    if (xid == 54) {
      return "its auxiliary power is not connected: look at the cable";
    }
    if (xid == 74 || (xid >= 144 && xid <= 150)) {
      return "an NVLink has failed: reset the card (nvidia-smi --gpu-reset), and look at nvidia-smi nvlink -e";
    }
    return "it is to be reset (nvidia-smi --gpu-reset), and what to do is in NVIDIA's catalogue of XID errors";
  }

  /** Whether a text is the {@link #reason} of some event. */
  public static boolean isReason(String text) {
    return text.startsWith(REASON);
  }

  /** The event of a card with that {@link #reason}; empty if the text is no such reason. */
  public static Optional<XidEvent> ofReason(String card, String text) {
    try {
      return isReason(text)
          ? Optional.of(new XidEvent(card, Long.parseLong(text.substring(REASON.length()))))
          : Optional.empty();
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }
}
