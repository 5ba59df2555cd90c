package dev.partita.controller.events;

import dev.partita.api.event.EventObject;
import dev.partita.controller.request.ClaimRef;

/**
 * An event to write on a claim.
 *
 * @param note for people; cut to what the API takes
 * @param lasting whether it is to be said even if an allocation follows at once: it says what was done
 */
public record ClaimEvent(ClaimRef claim, Reason reason, String note, boolean lasting) {
  public ClaimEvent {
    note = EventObject.cut(note); // here, as thousands of them may wait to be written
  }

  /** One that an allocation makes needless, or is one. */
  public ClaimEvent(ClaimRef claim, Reason reason, String note) {
    this(claim, reason, note, false);
  }

  /** The constants are spelt as they are in the event. */
  public enum Reason {
    Allocated(false),
    Unallocatable(true),
    ResizeGranted(false),
    ResizeWaits(true),
    ResizeRefused(true);

    private final boolean warning;

    Reason(boolean warning) {
      this.warning = warning;
    }

    boolean isWarning() {
      return warning;
    }
  }
}
