package dev.partita.plugin.prepare;

import dev.partita.plugin.allocation.AllocationDecoder;
import dev.partita.plugin.claim.CdiName;
import dev.partita.plugin.claim.PreparedClaim.Phase;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claim.ThisNode;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.claimstatus.WaitingCalls;
import dev.partita.plugin.container.ContainerView;
import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.held.HeldClaims;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.inventory.NodeInventory;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.step.Step;
import dev.partita.plugin.store.ClaimStore;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.grpc.Context;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Prepares claims: it reads what the decision needs, decides, and has the steps carried out. Every call may be
 * repeated, and then gives the same answer.
 */
public final class ClaimPreparer implements ClaimService {
  private static final Logger LOG = LoggerFactory.getLogger(ClaimPreparer.class);

  private final ThisNode here;
  private final NodeInventory inventory;
  private final AllocationReader reader;
  private final ClaimStore store;
  private final LockedSteps steps;
  private final ClaimReleaser releaser;
  private final ClaimReports reports;
  private final Obstacles obstacles;
  private final HeldClaims held;
  private final Loans loans;

  ClaimPreparer(
      ThisNode here,
      NodeInventory inventory,
      AllocationReader reader,
      ClaimStore store,
      LockedSteps steps,
      ClaimReleaser releaser,
      Obstacles obstacles,
      ClaimReports reports,
      HeldClaims held,
      Loans loans) {
    this.here = here;
    this.inventory = inventory;
    this.reader = reader;
    this.store = store;
    this.steps = steps;
    this.releaser = releaser;
    this.reports = reports;
    this.obstacles = obstacles;
    this.held = held;
    this.loans = loans;
  }

  @Override
  public Map<ClaimRef, Outcome> prepare(Collection<ClaimRef> claims) {
    Call call = new Call(Patience.ofKubelet(), reader.newReads(), new ConcurrentLinkedQueue<>());
    try (WaitingCalls.Call _ = reports.kubeletWaits()) {
      return AtOnce.each(claims, claim -> prepare(claim, Goal.ALL, call).orElseThrow());
    } finally {
      // not before: they would take the API server from claims that kubelet still waits for
      call.reports().forEach(Runnable::run);
    }
  }

  @Override
  public Map<ClaimRef, Optional<String>> unprepare(Collection<ClaimRef> claims) {
    return AtOnce.each(claims, releaser::unprepare);
  }

  /** Prepares a single claim. */
  Outcome prepare(ClaimRef claim) {
    return Objects.requireNonNull(prepare(Set.of(claim)).get(claim));
  }

  /**
   * Prepares a claim whose record is missing and whose containers may be running. If that fails, the containers keep
   * what they have. Of the claim only the record is removed, so that it is missed again.
   *
   * @return empty if the claim has no files here any more: kubelet has had it released since its record was missed, and
   *         would not ask for its release once more, so that nothing is prepared
   */
  public Optional<Outcome> rebuild(ClaimRef claim) {
    Call call = new Call(Patience.NONE, reader.newReads(), new ConcurrentLinkedQueue<>());
    Optional<Outcome> outcome = prepare(claim, Goal.RECORD, call);
    call.reports().forEach(Runnable::run);
    return outcome;
  }

  /**
   * Makes the MIG instances of a claim whose pod is not bound yet: the beginning of its preparation, from which
   * kubelet's call goes on. Its record is STARTED then, so what it has here goes as soon as it is not allocated here
   * any more. It waits for nobody. Throws KubernetesClientException where the API server does not answer as it should.
   */
  public Provision makeInstances(ClaimRef ref) {
    try {
      Optional<ReadClaim> claim = reader.read(ref, reader.newReads(), false);
      if (claim.isEmpty()) {
        return new Provision.Impossible("claim " + ref + " does not exist any more");
      }
      switch (tryOnce(claim.get(), Goal.INSTANCES)) {
        case Refused(String reason) -> {
          return new Provision.Impossible(reason);
        }
        case Released _ -> throw new IllegalStateException("only what is rebuilt can have been released");
        case Obstructed(Obstacle obstacle) -> {
          obstacles.recall(obstacle);
          return new Provision.NotYet(obstacle.clash().reason());
        }
        case Prepared(PreparedClaim prepared) -> {
          LOG.info("claim {}: its MIG instances are there: {}", ref, AllocationDecoder.deviceKeys(prepared.grants()));
          held.isThere(ref.uid());
          return new Provision.Made();
        }
      }
    } catch (KubernetesClientException e) {
      throw e;
    } catch (IOException | IllegalStateException e) {
      return new Provision.Impossible(e.getMessage() == null ? e.toString() : e.getMessage());
    }
  }

  /** How far a claim is prepared. */
  private enum Goal {
    /** As far as is to be done before its pod is bound. */
    INSTANCES,
    ALL,
    /** The same of a claim that was prepared before, as its containers know, and has lost its record. */
    RECORD
  }

  /**
   * What the claims of one call have in common.
   *
   * @param patience of who waits for the answer
   * @param reads what has been read of the API server
   * @param reports what is to be told when all claims are through
   */
  private record Call(Patience patience, CallReads reads, Queue<Runnable> reports) {}

  /** Empty if the claim was released meanwhile: as for {@link #rebuild}, and for no other goal. */
  private Optional<Outcome> prepare(ClaimRef claim, Goal goal, Call call) {
    Optional<Outcome> outcome;
    try {
      outcome = tryToPrepare(claim, goal, call);
    } catch (KubernetesClientException e) {
      outcome = Optional.of(new Failed("the API server does not answer as it should: " + ApiCalls.explain(e)));
    } catch (IOException | IllegalStateException e) {
      outcome = Optional.of(new Failed(e.getMessage() == null ? e.toString() : e.getMessage()));
    } catch (RuntimeException e) { // kubelet asks for several claims at once, and the others are to have their answers
      LOG.error("claim {}: cannot prepare it, because of an error in the plugin", claim, e);
      outcome = Optional.of(new Failed(e.toString()));
    }
    if (outcome.isPresent() && outcome.get() instanceof Failed failed) {
      LOG.warn("claim {}: not prepared: {}", claim, failed.error());
      call.reports().add(() -> reports.failed(claim, failed.error()));
    }
    return outcome;
  }

  /**
   * Takes note of whom a prepared claim is reserved for. It does not for a claim that was released since it was read,
   * since nobody would remove that note.
   *
   * @param unnamed UIDs of pods that have its devices though it is not reserved for them by name
   */
  public void noteReservations(ResourceClaim claim, Set<String> unnamed) throws IOException {
    String uid = claim.getMetadata().getUid();
    store.lock().onClaim(
        uid,
        () -> {
          if (store.checkpoint().read(uid).isPresent()) {
            store.pods().see(claim, unnamed);
          }
          return true;
        });
  }

  /** Tries until the claim is prepared, refused, or kubelet has waited long enough for another claim to be released. */
  private Optional<Outcome> tryToPrepare(ClaimRef ref, Goal goal, Call call) throws IOException {
    CallReads reads = call.reads();
    while (true) {
      Optional<ReadClaim> claim = reader.read(ref, reads, true);
      if (claim.isEmpty()) {
        return Optional.of(new Failed("claim " + ref + " does not exist any more"));
      }
      switch (tryOnce(claim.get(), goal)) {
        case Released _ -> {
          return Optional.empty();
        }
        case Refused refused -> {
          return Optional.of(new Failed(refused.reason()));
        }
        case Obstructed(Obstacle obstacle) -> {
          if (!obstacles.await(obstacle, call.patience())) {
            return Optional.of(new Failed(obstacle.refusal()));
          }
          reads = reader.newReads(); // what was read before the wait may not be so any more
        }
        case Prepared(PreparedClaim prepared) -> {
          return Optional.of(answer(claim.get(), prepared, call));
        }
      }
    }
  }

  private PreparedOrRefused tryOnce(ReadClaim claim, Goal goal) throws IOException {
    return store.lock().onClaim(claim.ref().uid(), () -> decideAndExecute(claim, goal));
  }

  private Outcome answer(ReadClaim claim, PreparedClaim prepared, Call call) {
    ClaimRef ref = claim.ref();
    LOG.info("claim {}: prepared: {}", ref, AllocationDecoder.deviceKeys(prepared.grants()));
    held.isThere(ref.uid());
    call.reports().add(() -> reports.prepared(asItIsNow(prepared)));
    return new Ready(prepared.grants().stream().map(grant -> ready(ref, claim.claim(), grant)).toList());
  }

  /** Reports of a call wait for all of its claims; meanwhile a claim may have been resized, or lent memory. */
  private PreparedClaim asItIsNow(PreparedClaim prepared) {
    try {
      return store.checkpoint().read(prepared.claim().uid()).orElse(prepared);
    } catch (IOException e) {
      return prepared;
    }
  }

  private sealed interface PreparedOrRefused {}

  private record Prepared(PreparedClaim claim) implements PreparedOrRefused {}

  private record Refused(String reason) implements PreparedOrRefused {}

  /** Kubelet has had the claim released while its lost record was being rebuilt. */
  private record Released() implements PreparedOrRefused {}

  private record Obstructed(Obstacle by) implements PreparedOrRefused {}

  private PreparedOrRefused decideAndExecute(ReadClaim read, Goal goal) throws IOException {
    ClaimRef ref = read.ref();
    ResourceClaim claim = read.claim();
    Inventory.Cards cards = read.cards();
    ContainerView view = read.view();
    if (Context.current().isCancelled()) {
      return new Refused("kubelet did not wait for the answer; it asks again if it still wants the claim");
    }
    Optional<PreparedClaim> earlier = store.checkpoint().read(ref.uid());
    if (goal == Goal.RECORD && earlier.isEmpty() && !hasFiles(ref.uid())) {
      return new Released();
    }
    if (earlier.isPresent() && isSameAllocation(earlier.get(), claim)) {
      if (earlier.get().phase() == Phase.COMPLETED) {
        if (goal == Goal.INSTANCES) {
          return new Prepared(earlier.get());
        }
        PreparedClaim again = renewed(earlier.get(), read);
        Optional<String> lost = new PresentCards(cards).lost(again.grants());
        if (lost.isPresent()) {
          return new Refused(lost.get());
        }
        if (!earlier.get().bootId().equals(here.bootId())) {
          // a region that outlived its kernel has pids and times that mean nothing now
          steps.execute(List.of(new Step.RemoveShares(ref.uid())));
        }
        store.pods().see(claim);
        steps.onCards(again.grants(), Step.files(again));
        return complete(again);
      }
    } else if (earlier.isPresent()) {
      LOG.info("claim {}: its allocation has changed since it was prepared; releasing the earlier one", ref);
      releaser.releaseNow(ref.uid(), earlier);
    }
    if (read.allocation() instanceof AllocationDecoder.Refused refused) {
      return new Refused(refused.reason());
    }
    AllocationDecoder.Granted granted = (AllocationDecoder.Granted) read.allocation();
    List<Grant> grants = granted.grants();
    if (grants.isEmpty()) {
      return new Refused("claim " + ref + " has no device of pool " + here.pool() + " allocated");
    }
    Optional<String> lost = new PresentCards(cards).lost(grants);
    if (lost.isPresent()) {
      return new Refused(lost.get());
    }
    PreparedClaim wanted = new PreparedClaim(
        ref, Phase.COMPLETED, here.bootId(), grants, view.env(), view.mixed(), Optional.of(granted.names()));
    try {
      store.pods().see(claim); // before the first step: one of them limits the pods
      Optional<Obstacle> obstacle =
          store.lock().onCards(LockedSteps.cardsOf(grants), () -> beginUnlessObstructed(wanted, cards, goal));
      if (obstacle.isPresent()) {
        return new Obstructed(obstacle.get());
      }
      // without the cards: from its first record on the others count with it, so nobody waits for this one's disk
      return goal == Goal.INSTANCES ? new Prepared(wanted.in(Phase.STARTED)) : complete(wanted);
    } catch (IOException | RuntimeException e) {
      rollBack(wanted, goal == Goal.RECORD ? Step.forget(ref.uid()) : Step.undo(ref.uid()), e);
      throw e;
    }
  }

  private boolean hasFiles(String uid) throws IOException {
    return store.cdi().ids().contains(uid) || store.folders().uids().contains(uid)
        || store.checkpoint().notes().of(uid).isPresent();
  }

  /**
   * Completes a preparation. The claim is not read once more: one that was deleted meanwhile is no other case than one
   * that is deleted a moment later. Kubelet releases it with its pod, and the search for leftovers does where kubelet
   * has forgotten it.
   */
  private Prepared complete(PreparedClaim wanted) throws IOException {
    steps.execute(Step.complete(wanted));
    loans.changed();
    return new Prepared(wanted);
  }

  /** Begins; gives what stands in the way instead, if something does. */
  private Optional<Obstacle> beginUnlessObstructed(PreparedClaim wanted, Inventory.Cards cards, Goal goal)
      throws IOException {
    Optional<Obstacle> obstacle = obstacles.find(wanted, cards);
    if (obstacle.isEmpty()) {
      steps.execute(switch (goal) {
        case INSTANCES -> Step.beginInstances(wanted);
        case ALL -> Step.begin(wanted);
        case RECORD -> Step.beginAgain(wanted);
      });
    }
    return obstacle;
  }

  /** An earlier preparation as it would be now. */
  private PreparedClaim renewed(PreparedClaim earlier, ReadClaim now) {
    PreparedClaim present = new PresentCards(now.cards()).onPresentNodes(earlier);
    return now.allocation() instanceof AllocationDecoder.Granted granted
        ? new PreparedClaim(
            earlier.claim(), Phase.COMPLETED, here.bootId(), present.grants(), now.view().env(), now.view().mixed(),
            Optional.of(granted.names()))
        : present.in(Phase.COMPLETED).under(here.bootId());
  }

  private boolean isSameAllocation(PreparedClaim earlier, ResourceClaim claim) {
    return AllocationDecoder.deviceKeys(earlier.grants()).equals(AllocationDecoder.deviceKeys(claim, here.pool()));
  }

  private void rollBack(PreparedClaim wanted, List<Step> takeBack, Exception cause) {
    try {
      steps.onCards(wanted.grants(), takeBack);
      store.pods().forget(wanted.claim().uid());
    } catch (IOException | RuntimeException e) {
      cause.addSuppressed(e);
      LOG.warn("claim {}: cannot undo a failed preparation yet: {}", wanted.claim(), e.toString());
    }
  }

  private ReadyDevice ready(ClaimRef ref, ResourceClaim claim, Grant grant) {
    List<String> cdi = new ArrayList<>(List.of(CdiName.idOf(ref, grant)));
    if (inventory.current() instanceof Inventory.Cards cards) {
      cards.opaque().of(grant.card().uuid()).ifPresent(card -> cdi.addAll(card.cdiDevices()));
    }
    return new ReadyDevice(
        grant.requests(), here.pool(), grant.device(), cdi,
        AllocationDecoder.shareIdOf(claim, here.pool(), grant));
  }
}
