package dev.partita.plugin.leftover;

import dev.partita.plugin.allocation.AllocationDecoder;
import dev.partita.plugin.checkpoint.ForeignRecord;
import dev.partita.plugin.claim.PreparedClaim.Phase;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claim.ThisNode;
import dev.partita.plugin.claimread.ClaimReader;
import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.held.ClaimNames;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.loop.Loops;
import dev.partita.plugin.prepare.ClaimOperations;
import dev.partita.plugin.store.ClaimStore;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at the start, and then again and again, for state that no claim needs, and for claims whose record or CDI spec
 * is missing. Kubelet normally asks for every removal. This is for what kubelet cannot know of: crashes, unreadable
 * records, and a kubelet that lost its own state.
 */
public final class LeftoverSweep {
  private static final Logger LOG = LoggerFactory.getLogger(LeftoverSweep.class);

  /** A sweep asks the API server for every claim in turn. */
  private static final Duration ALLOWED = Duration.ofMinutes(30);

  private final ThisNode here;
  private final Duration grace;
  private final ClaimReader api;
  private final ClaimStore store;
  private final ClaimOperations claims;
  private final Holdings holdings;
  private final SpecRenewal specs;
  private final LibrarySweep libraries;
  private final ClaimNames names;
  private final Clock clock;
  private final Map<String, Instant> goneSince = new HashMap<>();
  private Optional<Instant> swept = Optional.empty();

  /** @param grace how long a claim must have been gone */
  public LeftoverSweep(
      ThisNode here,
      Duration grace,
      ClaimReader api,
      ClaimStore store,
      ClaimOperations claims,
      Holdings holdings,
      LibrarySweep libraries,
      Clock clock) {
    this.here = here;
    this.grace = grace;
    this.api = api;
    this.store = store;
    this.claims = claims;
    this.holdings = holdings;
    this.specs = new SpecRenewal(holdings.inventory()::current, store, claims.rewriter());
    this.libraries = libraries;
    this.names = new ClaimNames(store.cdi(), store.folders(), store.checkpoint().notes());
    this.clock = clock;
  }

  /**
   * Sweeps now and then every period.
   *
   * @param specPeriod between two looks at whether the driver is another one
   */
  public void start(Loops loops, Duration period, Duration specPeriod) {
    holdings.inventory().afterReadings(specs::cardsWereRead);
    loops
        .makeAskingDriver(
            "leftovers",
            ALLOWED.plus(period),
            () -> {
              look(period);
              return specPeriod.compareTo(period) < 0 ? specPeriod : period;
            })
        .start();
  }

  private void look(Duration period) {
    Instant now = clock.instant();
    if (swept.filter(last -> now.isBefore(last.plus(period))).isPresent()) {
      orExplain(specs::lookIfDriverChanged);
    } else {
      orExplain(this::sweep);
      swept = Optional.of(clock.instant());
    }
  }

  /** Sweeps once. It first tells which claims are gone, since what is removed or rebuilt depends on that. */
  void sweep() throws IOException {
    Map<String, PreparedClaim> records = new TreeMap<>();
    store.checkpoint().readAll().forEach(record -> records.put(record.claim().uid(), record));
    Set<String> unrecorded = new TreeSet<>(store.folders().uids());
    unrecorded.addAll(store.withSpecOrNote());
    unrecorded.removeAll(records.keySet());
    Set<String> foreign = // not this version's to judge
        store.checkpoint().foreign().stream().map(ForeignRecord::uid).collect(Collectors.toSet());
    unrecorded.removeAll(foreign);
    Map<String, ClaimRef> needed = new HashMap<>();
    for (PreparedClaim record : records.values()) {
      Optional<ResourceClaim> claim = api.claim(record.claim()).filter(this::isAllocatedHere);
      if (claim.isPresent()) {
        Set<String> unnamed = // whom kubelet does not tell of now, the next sweep notes
            holdings.devices().unnamedIn(claim.get(), record.claim()).orElse(Set.of());
        claims.preparer().noteReservations(claim.get(), unnamed);
        needed.put(record.claim().uid(), record.claim());
      }
    }
    Set<String> nameless = new TreeSet<>();
    for (String uid : unrecorded) {
      try {
        names.of(uid).filter(claim -> api.claim(claim).filter(this::isAllocatedHere).isPresent())
            .ifPresent(claim -> needed.put(uid, claim));
      } catch (IOException e) {
        nameless.add(uid); // what it has counts as held without a claim, and stays
        LOG.warn("claim {}: its record is missing and its files do not name it, so its state is kept: {}", uid,
            e.getMessage());
      }
    }
    Set<String> there = new TreeSet<>(records.keySet());
    there.addAll(unrecorded);
    Set<String> gone = new TreeSet<>(there);
    gone.removeAll(needed.keySet());
    holdings.reportGone(gone);
    for (String uid : there) {
      if (!nameless.contains(uid)) {
        settle(uid, Optional.ofNullable(records.get(uid)), Optional.ofNullable(needed.get(uid)));
      }
    }
    goneSince.keySet().retainAll(there);
    Set<String> known = new TreeSet<>(there);
    known.addAll(foreign);
    holdings.retain(known);
    removeLoneMetadata(there);
    specs.look();
    libraries.sweep();
  }

  /**
   * Removes device metadata of claims that have nothing else here: it says nothing of what is used, so nobody needs to
   * be asked. A plugin that wrote none has released the claim.
   *
   * @param judged claims that were looked at
   */
  private void removeLoneMetadata(Set<String> judged) throws IOException {
    Set<String> alone = store.metadata().uids();
    alone.removeAll(judged);
    store.checkpoint().foreign().forEach(record -> alone.remove(record.uid()));
    for (String uid : alone) {
      store.lock().onClaim(
          uid,
          () -> store.checkpoint().read(uid).isEmpty() // one that was prepared since has a record
              && !store.cdi().ids().contains(uid)
              && store.metadata().remove(uid));
    }
  }

  private void settle(String uid, Optional<PreparedClaim> record, Optional<ClaimRef> neededBy) {
    try {
      settleNow(uid, record, neededBy);
    } catch (IOException | UncheckedIOException e) { // the others are looked at all the same
      LOG.warn("claim {}: cannot find out whether it still needs its state; trying again later: {}", uid, e.toString());
    }
  }

  private void settleNow(String uid, Optional<PreparedClaim> record, Optional<ClaimRef> neededBy) throws IOException {
    Instant now = clock.instant();
    if (neededBy.isPresent()) {
      goneSince.remove(uid);
    }
    Duration goneFor =
        neededBy.isPresent() ? Duration.ZERO : Duration.between(goneSince.computeIfAbsent(uid, u -> now), now);
    boolean sameBoot = record.map(r -> r.bootId().equals(here.bootId())).orElse(true);
    Optional<Phase> phase = record.map(PreparedClaim::phase);
    Verdict verdict =
        Verdict.of(phase, neededBy.isPresent(), sameBoot, goneFor, grace, () -> isInUse(uid, record));
    switch (verdict) {
      case KEEP -> {}
      case WAIT -> LOG.debug("claim {} is gone, its state is kept for now", uid);
      case REMOVE -> {
        // Between the look and now kubelet may have come: a record that changed is not the one that was judged.
        String name = record.map(r -> r.claim().toString()).orElse(uid);
        try {
          if (claims.releaser().releaseIfStill(uid, record)) {
            goneSince.remove(uid);
            holdings.released();
            LOG.info("claim {}: it is gone; removed its state", name);
          }
        } catch (IOException e) { // a MIG instance that a process still uses cannot be ended
          LOG.warn("claim {}: it is gone, but its state cannot be removed yet: {}", name,
              e.getMessage());
        }
      }
      case REBUILD -> rebuild(neededBy.orElseThrow());
    }
  }

  private boolean isInUse(String uid, Optional<PreparedClaim> record) throws IOException {
    Optional<String> use = holdings.use(uid, record);
    use.ifPresent(why -> LOG.info("claim {}: it is gone, but keeps its devices: {}", uid, why));
    return use.isPresent();
  }

  private void rebuild(ClaimRef claim) {
    Optional<ClaimService.Outcome> outcome = claims.preparer().rebuild(claim);
    if (outcome.isEmpty()) {
      LOG.info("claim {}: its record was missing, and it was released meanwhile", claim);
      return;
    }
    switch (outcome.get()) {
      case ClaimService.Ready ignored -> LOG.info("claim {}: its record was missing and has been rebuilt", claim);
      case ClaimService.Failed failed ->
          LOG.warn("claim {}: its record is missing and cannot be rebuilt: {}", claim, failed.error());
    }
  }

  /**
   * Whether the claim has any devices of this node, be it those that are prepared or others: one that was allocated
   * anew is no leftover. Kubelet asks for it, and what it had before is released then. For whom it is reserved says
   * less: kubelet releases before that changes.
   */
  private boolean isAllocatedHere(ResourceClaim claim) {
    return !AllocationDecoder.deviceKeys(claim, here.pool()).isEmpty();
  }

  private interface Look {
    void run() throws IOException;
  }

  private static void orExplain(Look look) {
    try {
      look.run();
    } catch (KubernetesClientException e) {
      LOG.info("cannot search for leftovers now; trying again later: {}", ApiCalls.explain(e));
    } catch (IOException | RuntimeException e) {
      LOG.warn("the search for leftovers failed; trying again later: {}", e.toString());
    }
  }
}
