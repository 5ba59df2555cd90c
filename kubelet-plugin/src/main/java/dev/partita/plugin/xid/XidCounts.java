package dev.partita.plugin.xid;

import dev.partita.plugin.nvml.XidEvent;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/** Counts the XID errors of each card since the plugin started. For any thread. */
public final class XidCounts {
  /**
   * The XID errors of one card.
   *
   * @param last number of the newest one; 0 if there was none
   * @param counts how many there were, by number
   */
  public record OfCard(long last, Map<Long, Long> counts) {
    static final OfCard NONE = new OfCard(0, Map.of());

    public OfCard {
      counts = Map.copyOf(counts);
    }

    OfCard plus(long xid) {
      Map<Long, Long> more = new TreeMap<>(counts);
      more.merge(xid, 1L, Long::sum);
      return new OfCard(xid, more);
    }
  }

  private final Map<String, OfCard> cards = new ConcurrentHashMap<>();

  /** Adds one. */
  void add(XidEvent event) {
    cards.merge(event.card(), OfCard.NONE.plus(event.xid()), (before, first) -> before.plus(event.xid()));
  }

  /** Those of a card, by its UUID. */
  public OfCard of(String card) {
    return cards.getOrDefault(card, OfCard.NONE);
  }
}
