package dev.partita.controller.preempt;

import dev.partita.api.DeviceName;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.state.SchedulerState;
import dev.partita.controller.state.Victim;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Chooses the pods of a node from which a guarantee may take what they have: as many as may go together. A pod may go
 * as long as its namespace still borrows without the pods before it. Otherwise what is guaranteed to one namespace
 * would be taken for another, and back again. For one thread.
 */
final class Borrowers {
  private final SchedulerState state;
  private final int priority;

  /** @param priority of the pod that makes them go: whoever has a lower one goes whatever is borrowed */
  Borrowers(SchedulerState state, int priority) {
    this.state = state;
    this.priority = priority;
  }

  private record Size(long whole, long devices, long memory) implements Comparable<Size> {
    private static final Comparator<Size> ORDER =
        Comparator.comparingLong(Size::whole).thenComparingLong(Size::devices).thenComparingLong(Size::memory);

    @Override
    public int compareTo(Size other) {
      return ORDER.compare(this, other);
    }
  }

  /** So that no more is taken than is borrowed, where that will do. */
  Set<Victim> smallestFirst(VictimsOnNode onNode) {
    return among(onNode, Comparator.naturalOrder());
  }

  Set<Victim> largestFirst(VictimsOnNode onNode) {
    return among(onNode, Comparator.reverseOrder());
  }

  private Set<Victim> among(VictimsOnNode onNode, Comparator<Size> order) {
    Map<Victim, Size> sizes = new HashMap<>();
    onNode.victims().keySet().forEach(victim -> sizes.put(victim, size(onNode, victim)));
    List<Victim> inOrder =
        sizes.keySet().stream()
            .sorted(
                Comparator.comparing((Victim victim) -> victim.priority() >= priority)
                    .thenComparing(victim -> Objects.requireNonNull(sizes.get(victim)), order)
                    .thenComparing(Victim::started, Comparator.reverseOrder())
                    .thenComparing(Victim::uid))
            .toList();
    Set<Victim> gone = new LinkedHashSet<>();
    // What is being given back for others is not borrowed any longer.
    try (SchedulerState.Scope scope = state.without(state.claimsOfVictims())) {
      for (Victim victim : inOrder) {
        if (victim.priority() < priority || borrows(onNode, victim)) {
          Set<String> freed = onNode.freedBy(gone);
          gone.add(victim);
          Set<String> more = new HashSet<>(onNode.freedBy(gone));
          more.removeAll(freed);
          scope.without(more);
        }
      }
    }
    return gone;
  }

  private boolean borrows(VictimsOnNode onNode, Victim victim) {
    return onNode.claimsOf(victim).stream().anyMatch(state.claims().quotas()::isBorrowed);
  }

  private Size size(VictimsOnNode onNode, Victim victim) {
    List<Booking> bookings =
        onNode.claimsOf(victim).stream().flatMap(claim -> state.claims().bookings(claim).stream()).toList();
    return new Size(
        bookings.stream().filter(booking -> booking.device() instanceof DeviceName.Whole).count(), bookings.size(),
        bookings.stream().mapToLong(Booking::memory).sum());
  }
}
