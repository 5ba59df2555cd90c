package dev.partita.plugin.usage.verdict;

import dev.partita.plugin.claimstatus.DeviceCondition.Reason;
import dev.partita.plugin.usage.region.UsageRegion;
import java.util.List;

/**
 * Whether a share's core limit holds, by what its processes say ({@code compute} of usage_region.h).
 */
public sealed interface CoreState {
  /** Nothing was launched that the limit is for. */
  record Unused() implements CoreState {}

  /** Every process that launches keeps to it. */
  record Enforced() implements CoreState {}

  /**
   * Some or all of what a process launches is not limited.
   *
   * @param message for people
   */
  record NotEnforced(Reason reason, String message) implements CoreState {}

  /** Of a share with these slots. */
  static CoreState of(List<UsageRegion.Slot> slots) {
    CoreState state = new Unused();
    for (UsageRegion.Slot slot : slots) {
      switch (slot.compute() & 0xff) {
        case 0 -> {}
        case 1 -> state = new Enforced();
        default -> {
          return notEnforced(slot.compute() >>> 8 & 0xff);
        }
      }
    }
    return state;
  }

  private static NotEnforced notEnforced(int reason) {
    return switch (reason) {
      case 1 -> new NotEnforced(Reason.NoEvents,
          "the driver lacks the functions that GPU time is measured with; a newer driver has them");
      case 2 -> new NotEnforced(Reason.EventFailed,
          "the driver did not make, record or read an event that GPU time is measured with");
      case 3 -> new NotEnforced(Reason.TooManyStreams,
          "a process uses more contexts or streams at a time than are kept account of");
      case 4 -> new NotEnforced(Reason.CaptureStateUnknown,
          "the driver does not tell whether a stream is being captured; a newer driver does");
      default ->
          new NotEnforced(Reason.Other, "a process says that its launches are not limited, and gives reason " + reason
              + ", which this plugin does not know");
    };
  }
}
