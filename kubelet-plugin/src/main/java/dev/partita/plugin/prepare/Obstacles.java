package dev.partita.plugin.prepare;

import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.Clash;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.held.HeldClaims;
import dev.partita.plugin.inventory.Inventory;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Finds what stands in the way of a claim that is to be prepared, and waits until it is gone. A refusal would cost the
 * claim's pod much longer, since kubelet tries again only after a minute or more.
 *
 * @param checkpoint what is prepared
 * @param held what takes something of cards without a record
 * @param releases waits for claims that kubelet is about to release
 * @param loans asks for memory back that others were lent
 */
record Obstacles(Checkpoint checkpoint, HeldClaims held, ReleasesUnderWay releases, Loans loans) {
  /**
   * What is in the way now; empty if nothing is. The caller holds the locks of the claim's cards.
   *
   * @param wanted the claim as it is to be
   * @param cards this node's
   */
  Optional<Obstacle> find(PreparedClaim wanted, Inventory.Cards cards) throws IOException {
    List<PreparedClaim> records = checkpoint.readAll();
    List<PreparedClaim> others = held.withoutRecord(wanted.claim().uid(), records, cards);
    List<PreparedClaim> prepared = Stream.concat(records.stream(), others.stream()).toList();
    return Clash.between(wanted.grants(), wanted.claim(), prepared)
        .map(clash -> Loans.areAllThatClashes(wanted, clash, prepared)
            ? new Obstacle.Lent(clash, wanted, others)
            : new Obstacle.Taken(clash, clash.others().stream().filter(records::contains).toList()));
  }

  /** Asks for it back if it is memory that others were lent. */
  void recall(Obstacle obstacle) {
    if (obstacle instanceof Obstacle.Lent lent) {
      loans.recall(lent.wanted());
    }
  }

  /**
   * Waits without a lock until it is gone, and recalls it before.
   *
   * @return whether it is, so that the claim may be tried again; otherwise that is not to be expected, or patience is
   *         over
   */
  boolean await(Obstacle obstacle, Patience patience) throws IOException {
    recall(obstacle);
    return switch (obstacle) {
      case Obstacle.Taken taken -> releases.await(taken.recorded(), patience);
      case Obstacle.Lent lent -> awaitLoans(lent, patience);
    };
  }

  private boolean awaitLoans(Obstacle.Lent lent, Patience patience) throws IOException {
    PreparedClaim wanted = lent.wanted();
    while (!patience.isOver() && Patience.pause()) {
      List<PreparedClaim> prepared = Stream.concat(checkpoint.readAll().stream(), lent.others().stream()).toList();
      if (Clash.between(wanted.grants(), wanted.claim(), prepared).isEmpty()) {
        return true;
      }
    }
    return false;
  }
}
