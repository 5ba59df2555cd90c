package dev.partita.controller.preempt;

import dev.partita.api.DeviceName;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.state.ClaimLedger;
import dev.partita.controller.state.Nominations;
import dev.partita.controller.state.Victim;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Of a node's pods those that a guarantee may take what they have from: as many as may go together, each of them as
 * long as its namespace borrows without those before. Otherwise what is guaranteed to one namespace would be taken for
 * another one, and back again. For one thread.
 */
public final class Borrowers {
  private final ClaimLedger ledger;
  private final Nominations nominations;
  private final int priority;

  /** @param priority of the pod that makes them go: whoever has a lower one goes whatever is borrowed */
  public Borrowers(ClaimLedger ledger, Nominations nominations, int priority) {
    this.ledger = ledger;
    this.nominations = nominations;
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
  public Set<Victim> smallestFirst(VictimsOnNode onNode) {
    return among(onNode, Comparator.naturalOrder());
  }

  public Set<Victim> largestFirst(VictimsOnNode onNode) {
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
    return ledger.without(
        nominations.claims(),
        () -> {
          add(inOrder.iterator(), gone, onNode);
          return gone;
        });
  }

  /** Adds those of the rest that may go, too; what the others have is out of the books. */
  private void add(Iterator<Victim> rest, Set<Victim> gone, VictimsOnNode onNode) {
    while (rest.hasNext()) {
      Victim victim = rest.next();
      if (victim.priority() < priority || onNode.claimsOf(victim).stream().anyMatch(ledger.quotas()::isBorrowed)) {
        Set<String> freed = new HashSet<>(onNode.freedBy(gone));
        gone.add(victim);
        Set<String> more = new HashSet<>(onNode.freedBy(gone));
        more.removeAll(freed);
        ledger.without(
            more,
            () -> {
              add(rest, gone, onNode);
              return gone;
            });
        return;
      }
    }
  }

  private Size size(VictimsOnNode onNode, Victim victim) {
    List<Booking> bookings =
        onNode.claimsOf(victim).stream().flatMap(claim -> ledger.bookings(claim).stream()).toList();
    return new Size(
        bookings.stream().filter(booking -> booking.device() instanceof DeviceName.Whole).count(), bookings.size(),
        bookings.stream().mapToLong(Booking::memory).sum());
  }
}
