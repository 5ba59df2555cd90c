package dev.partita.plugin.diagnosis;

import dev.partita.plugin.nvml.CardSigns.Recovery;
import dev.partita.plugin.nvml.XidEvent;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * The cards' fatal XID errors that are not over. NVML says when an error comes, and never that it is over; that follows
 * from other things: <ul> <li>The card has stopped answering and answers again, as when it is reset.</li> <li>The
 * driver has asked to have something done with the card since, and asks for nothing any more: it was done, however
 * short that took.</li> <li>The driver, which would say so, has asked for nothing for {@link #SETTLES} after the
 * error.</li> </ul> A driver before 565 does not tell what it asks for; there only the first one holds.
 */
final class OpenXids {
  /**
   * How long a driver may take to ask for something after an error. The error comes first, and what it asks for, with
   * XID 154, when the driver has tried what it can: 90 s later in the log of a card whose firmware did not answer, for
   * the driver waits 45 s for each answer (XID 119).
   */
  static final Duration SETTLES = Duration.ofMinutes(5);

  private final Map<String, OpenXid> open = new HashMap<>();
  private final Map<String, XidEvent> earlier = new HashMap<>();

  /**
   * A fatal XID error of a card.
   *
   * @param nanos when it was heard of, by a clock that cannot be set
   * @param gone whether the card has not answered since
   * @param asked whether the driver has asked for something since
   */
  private record OpenXid(XidEvent event, long nanos, boolean gone, boolean asked) {
    OpenXid withGone() {
      return new OpenXid(event, nanos, true, asked);
    }

    OpenXid withAsked() {
      return new OpenXid(event, nanos, gone, true);
    }

    boolean isOver(Recovery recovery, long now) {
      return gone || (recovery == Recovery.NONE && (asked || now - nanos >= SETTLES.toNanos()));
    }
  }

  /**
   * Takes in an error.
   *
   * @param gone whether the card does not answer: the event may come after that was seen
   * @param nanos now, by a clock that cannot be set
   * @return whether it was not known already, as an error of the same number on a card that has answered ever since
   */
  boolean add(XidEvent event, boolean gone, long nanos) {
    OpenXid earlier = open.get(event.card());
    open.put(event.card(), new OpenXid(event, nanos, gone, earlier != null && earlier.asked()));
    return earlier == null || earlier.event().xid() != event.xid() || (earlier.gone() && !gone);
  }

  /**
   * Tells of an error that the plugin before this one knew. It goes on if the driver asks for something when the card
   * is first seen to answer: that is then for this error. Otherwise the card may have been reset meanwhile.
   */
  void remember(XidEvent event) {
    earlier.put(event.card(), event);
  }

  /** No card answers: the driver is not there. */
  void allGone() {
    earlier.clear();
    open.replaceAll((card, xid) -> xid.withGone());
  }

  /** The error of a card that does not answer. */
  Optional<XidEvent> ofAbsent(String card) {
    return Optional.ofNullable(open.computeIfPresent(card, (uuid, xid) -> xid.withGone())).map(OpenXid::event);
  }

  /**
   * The error of a card that answers; one that is over is forgotten.
   *
   * @param recovery what the driver asks for now
   */
  Optional<XidEvent> ofPresent(String card, Recovery recovery, long nanos) {
    XidEvent before = earlier.remove(card);
    if (before != null && recovery.isAsked()) {
      open.putIfAbsent(card, new OpenXid(before, nanos, false, true));
    }
    return Optional
        .ofNullable(
            open.computeIfPresent(
                card,
                (uuid, xid) -> xid.isOver(recovery, nanos) ? null : recovery.isAsked() ? xid.withAsked() : xid))
        .map(OpenXid::event);
  }
}
