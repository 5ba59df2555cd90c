package dev.partita.plugin.mps;

import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.CardIdentity;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.store.OperationLock;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sees to it that the cards of claims by MPS have their daemons. One that has ended, or does not answer, is begun anew,
 * and the claims of its card are told ({@link MpsDaemons#provide}); that it cannot be, they are told once. Those of a
 * plugin that was killed are found again, and told their limits, or begun anew, in the same way.
 */
public final class MpsWatch {
  private static final Logger LOG = LoggerFactory.getLogger(MpsWatch.class);
  private static final Duration PERIOD = Duration.ofSeconds(5);
  private static final int MOST_CARDS = 16; // of a node
  private static final Duration ALLOWED = NvidiaMps.LONGEST_LOOK.multipliedBy(MOST_CARDS).plus(PERIOD);

  private final Checkpoint checkpoint;
  private final OperationLock lock;
  private final MpsDaemons daemons;
  private final Set<String> provided = new HashSet<>(); // UUIDs of cards whose daemon this plugin has given its limits
  private final Set<String> failing = new HashSet<>();

  public MpsWatch(Checkpoint checkpoint, OperationLock lock, MpsDaemons daemons) {
    this.checkpoint = checkpoint;
    this.lock = lock;
    this.daemons = daemons;
  }

  /** Looks every few seconds. */
  public void start(Loops loops) {
    loops.make("mps-daemons", ALLOWED, () -> {
      look();
      return PERIOD;
    }).start();
  }

  /** Looks once. */
  void look() throws IOException {
    Map<String, CardIdentity> cards = new TreeMap<>();
    checkpoint.readAll().stream().filter(claim -> claim.phase() == PreparedClaim.Phase.COMPLETED)
        .flatMap(claim -> claim.grants().stream()).filter(grant -> grant.use().mps().isPresent())
        .forEach(grant -> cards.put(grant.card().uuid(), grant.card()));
    provided.retainAll(cards.keySet());
    failing.retainAll(cards.keySet());
    for (CardIdentity card : cards.values()) {
      try {
        daemons.boundLogs(card);
      } catch (IOException e) {
        LOG.warn("card {}: the log of its MPS daemon cannot be emptied: {}", card.uuid(), e.toString());
      }
      try {
        Optional<Boolean> runs = answers(card);
        if (runs.isPresent() && !(runs.get() && provided.contains(card.uuid()))) {
          provided.remove(card.uuid());
          lock.onCards(List.of(card.uuid()), () -> provide(card)); // one that runs may have begun without its limits
          provided.add(card.uuid());
          failing.remove(card.uuid());
        }
      } catch (IOException e) {
        LOG.warn("card {}: {}", card.uuid(), e.getMessage());
        if (failing.add(card.uuid())) {
          String note = "the MPS daemon of its card has ended, and cannot be begun anew: " + e.getMessage();
          MpsDaemons.having(card, checkpoint.readAll())
              .forEach(claim -> daemons.reports().accept(claim.claim(), note));
        }
      }
    }
  }

  /** Empty if the daemon cannot be asked, as while a driver is replaced: it may serve its clients all the same. */
  private Optional<Boolean> answers(CardIdentity card) {
    try {
      return Optional.of(daemons.answers(card));
    } catch (IOException e) {
      LOG.warn("card {}: whether its MPS daemon runs is not known now: {}", card.uuid(), e.getMessage());
      return Optional.empty();
    }
  }

  private boolean provide(CardIdentity card) throws IOException {
    List<PreparedClaim> claims = checkpoint.readAll(); // the last one may have been released meanwhile
    if (MpsDaemons.having(card, claims).findAny().isPresent()) {
      daemons.provide(card, claims);
    }
    return true;
  }
}
