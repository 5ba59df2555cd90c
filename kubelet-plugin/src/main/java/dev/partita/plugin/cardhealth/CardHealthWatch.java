package dev.partita.plugin.cardhealth;

import dev.partita.api.gpu.GpuHealth;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.diagnosis.CardState;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.inventory.NodeInventory;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.loop.PeriodicLoop;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells every claim that has a card prepared when the card's health changes: its conditions, and an event. At the
 * plugin's start all claims are looked at, since an earlier plugin may have said something else.
 */
public final class CardHealthWatch {
  private static final Logger LOG = LoggerFactory.getLogger(CardHealthWatch.class);
  private static final Duration PERIOD = Duration.ofSeconds(10);
  private static final Duration ALLOWED = Duration.ofMinutes(2);

  private final NodeInventory inventory;
  private final Checkpoint checkpoint;
  private final ClaimReports reports;

  /** What was told of each card that a claim has, and of each MIG instance of somebody else. */
  private Map<String, GpuHealth> told = Map.of();
  private Optional<Inventory> seen = Optional.empty();

  /**
   * @param checkpoint which claims have which cards
   * @param reports tells the claims
   */
  public CardHealthWatch(NodeInventory inventory, Checkpoint checkpoint, ClaimReports reports) {
    this.inventory = inventory;
    this.checkpoint = checkpoint;
    this.reports = reports;
  }

  /** Watches from now on. */
  public void start(Loops loops) {
    PeriodicLoop loop = loops.make("card-health", ALLOWED, this::lookNow).start();
    inventory.afterReadings(loop::soon);
  }

  private Duration lookNow() {
    Optional<Inventory> state = inventory.state();
    if (state.isPresent() && !state.equals(seen)) {
      try {
        look(state.get(), checkpoint.readAll().stream()
            .filter(claim -> claim.phase() == PreparedClaim.Phase.COMPLETED).toList()); // the others have no container
        seen = state;
      } catch (IOException e) {
        LOG.warn("cannot read which claims have which cards, so they are not told of their health; trying again: {}",
            e.toString());
      }
    }
    return PERIOD;
  }

  private void look(Inventory state, List<PreparedClaim> claims) {
    Map<String, GpuHealth> now = new HashMap<>();
    for (PreparedClaim claim : claims) {
      boolean changed = false;
      for (Grant grant : claim.grants()) {
        Optional<GpuHealth> health = state.healthOf(grant);
        health.ifPresent(known -> now.put(partOf(grant), known));
        changed |= health.isPresent() && !health.get().equals(told.get(partOf(grant)));
      }
      if (changed) {
        reports.cardChanged(claim);
        claim.grants().stream().filter(grant -> isFirstOfItsPart(claim, grant))
            .forEach(grant -> tell(claim, grant, now));
      }
    }
    told = now;
  }

  /** A claim with several shares of a card is told once. */
  private static boolean isFirstOfItsPart(PreparedClaim claim, Grant grant) {
    return claim.grants().stream().filter(other -> partOf(other).equals(partOf(grant))).findFirst()
        .filter(first -> first.equals(grant)).isPresent();
  }

  private void tell(PreparedClaim claim, Grant grant, Map<String, GpuHealth> now) {
    GpuHealth health = now.get(partOf(grant));
    Optional<GpuHealth> before = Optional.ofNullable(told.get(partOf(grant)));
    if (health == null || before.filter(same -> isSame(same, health)).isPresent()) {
      return;
    }
    String card = grant.card().productName() + " (" + grant.card().uuid() + ")";
    switch (CardState.of(health)) {
      case UNHEALTHY, UNKNOWN ->
          reports.cardFailed(
              claim.claim(), card + ": " + health.message()
                  + "; programs on it may fail or give wrong results, and it gets no new claims");
      case DEGRADED ->
          reports.cardFailed(
              claim.claim(), card + ": " + health.message() + "; programs on it go on, and it gets no new claims");
      case HEALTHY -> before.ifPresent(wrong -> reports.cardHealed(claim.claim(), card + " is healthy again"));
    }
  }

  /** What of the node has a health of its own: the card, or the instance of it that somebody else may end. */
  private static String partOf(Grant grant) {
    String card = grant.card().uuid();
    return grant.use().made().isPresent() ? card : grant.mig().map(its -> card + " " + its.slot()).orElse(card);
  }

  /** Whether one event says both. */
  private static boolean isSame(GpuHealth one, GpuHealth other) {
    return one.state() == other.state() && Objects.equals(one.reason(), other.reason());
  }
}
