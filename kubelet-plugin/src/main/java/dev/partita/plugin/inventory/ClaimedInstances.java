package dev.partita.plugin.inventory;

import dev.partita.api.MigSlot;
import dev.partita.plugin.grant.MigInstance;
import java.io.IOException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which MIG instances claims have, by the UUIDs of their cards. By it the instances that a card has are told apart:
 * whatever Partita did not make is somebody else's.
 *
 * @param made those that were made for a claim, or are about to be
 * @param given those of somebody else that a claim has
 * @param unknown cards of which claims may have instances that nobody can tell
 */
public record ClaimedInstances(
    Map<String, Set<MigSlot>> made,
    Map<String, List<MigInstance>> given,
    Set<String> unknown) {
  public static final ClaimedInstances NONE = new ClaimedInstances(Map.of(), Map.of(), Set.of());

  /** Tells them as they are now. */
  public interface Source {
    /** @throws IOException if they are not known of any card */
    ClaimedInstances now() throws IOException;
  }

  public ClaimedInstances {
    made = Map.copyOf(made);
    given = Map.copyOf(given);
    unknown = Set.copyOf(unknown);
  }

  /** Where Partita has made an instance of the card, or is about to. */
  public Set<MigSlot> madeOf(String card) {
    return made.getOrDefault(card, Set.of());
  }

  /** The instances of the card that claims have and somebody else made. */
  public List<MigInstance> givenOf(String card) {
    return given.getOrDefault(card, List.of());
  }

  /** Whether it is known which instances of the card were made for claims. */
  public boolean areKnownOf(String card) {
    return !unknown.contains(card);
  }

  /**
   * What was made at one of two times: an instance that is seen between the two was made by Partita if it is in either.
   */
  ClaimedInstances orLater(ClaimedInstances later) {
    Map<String, Set<MigSlot>> either = new HashMap<>(made);
    later.made.forEach((card, slots) -> either.merge(card, slots, ClaimedInstances::union));
    return new ClaimedInstances(either, later.given, union(unknown, later.unknown));
  }

  private static <T> Set<T> union(Set<T> some, Set<T> others) {
    Set<T> all = new HashSet<>(some);
    all.addAll(others);
    return Set.copyOf(all);
  }
}
