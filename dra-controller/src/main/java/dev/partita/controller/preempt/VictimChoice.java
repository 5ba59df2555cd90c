package dev.partita.controller.preempt;

import dev.partita.controller.state.Victim;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the cheapest pods to evict. On every node it first takes all candidates away. Then it gives back, the most
 * important first, every one without which there is still a place; all that remain are needed. It chooses the node
 * whose most important victim has the lowest priority; of these the one where the sum of priorities, then the number of
 * victims, is lowest; then the one where they have run the shortest.
 */
final class VictimChoice {
  /**
   * How many nodes' victims are compared in full, where the most important victim matters as much as elsewhere. To find
   * a node where it matters less takes one question a node, and all nodes are asked.
   */
  static final int MOST_COMPARED = 100;

  private VictimChoice() {}

  /** Whether there is a place on a node once some of the pods there are gone. */
  @FunctionalInterface
  interface Place {
    boolean isOn(String node, Set<Victim> gone);
  }

  /**
   * What was chosen.
   *
   * @param victims at least one, the most important first
   */
  record Chosen(String node, List<Victim> victims) {
    public Chosen {
      victims = List.copyOf(victims);
    }

    private static final Comparator<Chosen> CHEAPEST =
        Comparator.comparingInt((Chosen chosen) -> chosen.victims().getFirst().priority())
            .thenComparingLong(
                chosen -> chosen.victims().stream().mapToLong(v -> (long) v.priority() - Integer.MIN_VALUE).sum())
            .thenComparingInt(chosen -> chosen.victims().size())
            .thenComparing(
                chosen -> chosen.victims().stream().map(Victim::started).min(Comparator.naturalOrder()).orElse(""),
                Comparator.reverseOrder())
            .thenComparing(Chosen::node);
  }

  /**
   * @param candidates by node
   * @return empty if no eviction would help
   */
  static Optional<Chosen> choose(SortedMap<String, ? extends Collection<Victim>> candidates, Place place) {
    @Nullable Chosen best = null;
    int compared = 0;
    for (Map.Entry<String, ? extends Collection<Victim>> node : candidates.entrySet()) {
      @Nullable Chosen chosen = null;
      if (best == null) {
        chosen = among(node.getKey(), node.getValue(), place);
      } else {
        int most = best.victims().getFirst().priority();
        chosen =
            among(node.getKey(), node.getValue().stream().filter(victim -> victim.priority() < most).toList(), place);
        if (chosen == null && compared < MOST_COMPARED) {
          chosen = among(node.getKey(), node.getValue().stream().filter(victim -> victim.priority() <= most).toList(),
              place);
          compared += chosen == null ? 0 : 1;
        }
      }
      if (chosen != null && (best == null || Chosen.CHEAPEST.compare(chosen, best) < 0)) {
        best = chosen;
      }
    }
    return Optional.ofNullable(best);
  }

  /** The pods of these that have to go; null if it would not help that all do, or nobody has to. */
  private static @Nullable Chosen among(String node, Collection<Victim> candidates, Place place) {
    if (candidates.isEmpty() || !place.isOn(node, new LinkedHashSet<>(candidates))) {
      return null;
    }
    Chosen chosen = onNode(node, candidates, place);
    return chosen.victims().isEmpty() ? null : chosen;
  }

  private static Chosen onNode(String node, Collection<Victim> candidates, Place place) {
    List<Victim> inOrder = new ArrayList<>(candidates);
    inOrder.sort(Victim.MOST_IMPORTANT);
    Set<Victim> gone = new LinkedHashSet<>(inOrder);
    for (Victim victim : inOrder) {
      gone.remove(victim);
      if (!place.isOn(node, Set.copyOf(gone))) {
        gone.add(victim);
      }
    }
    return new Chosen(node, gone.stream().sorted(Victim.MOST_IMPORTANT).toList());
  }
}
