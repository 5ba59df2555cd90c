package dev.partita.controller.web.view;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.partita.api.DeviceName;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.fleet.CardState;
import dev.partita.controller.fleet.ClaimDevice;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * What somebody has of a card; memory in bytes.
 *
 * @param kind what it is
 * @param namespace of the claim; empty where the viewer may not see it
 * @param claim its name; empty where the viewer may not see it
 * @param memory that it has
 * @param memoryUsed what of it its processes hold; null if nobody knows
 * @param cores percent of the card's time that are set aside for it
 * @param coresUsed percent of it that its processes had; null if nobody knows
 * @param users who uses it, such as names of pods
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Part(
    Kind kind,
    String namespace,
    String claim,
    long memory,
    @Nullable Long memoryUsed,
    int cores,
    @Nullable Long coresUsed,
    List<String> users) {
  /** The constants are spelt as they are shown. */
  public enum Kind {
    share,
    whole,
    mig,
    /** All of it in turn with others, by time-slicing. */
    turn,
    /** Of one claim or several that the viewer may not see. */
    others,
    /** The node holds it for claims that are gone. */
    held
  }

  public Part {
    users = List.copyOf(users);
  }

  static Part of(CardState card, ClaimDevice device) {
    return new Part(kind(device.booking()), device.namespace(), device.claim(), card.memoryOf(device),
        boxed(device.measured().memoryUsed()), card.coresOf(device), boxed(device.measured().coresUsed()),
        device.users());
  }

  /** Of that kind, without a name. */
  static Part nameless(Kind kind, long memory, int cores) {
    return new Part(kind, "", "", memory, null, cores, null, List.of());
  }

  private static Kind kind(Booking booking) {
    return switch (booking.device()) {
      case DeviceName.Whole _ -> Kind.whole;
      case DeviceName.Shared _ -> booking.isTurn() ? Kind.turn : Kind.share;
      case DeviceName.Opaque _,DeviceName.MigShared _ -> Kind.share;
      case DeviceName.Mig _ -> Kind.mig;
    };
  }

  static @Nullable Long boxed(OptionalLong amount) {
    return amount.isPresent() ? amount.getAsLong() : null;
  }
}
