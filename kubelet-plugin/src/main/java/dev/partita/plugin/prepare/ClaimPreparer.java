package dev.partita.plugin.prepare;

import dev.partita.plugin.allocation.AllocationDecoder;
import dev.partita.plugin.claim.CdiName;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claim.ThisNode;
import dev.partita.plugin.claimread.AllocationReader;
import dev.partita.plugin.claimread.AtOnce;
import dev.partita.plugin.claimread.CallReads;
import dev.partita.plugin.claimread.ClaimReading;
import dev.partita.plugin.claimstatus.ClaimReports;
import dev.partita.plugin.claimstatus.WaitingCalls;
import dev.partita.plugin.dra.ClaimService;
import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.inventory.Inventory;
import dev.partita.plugin.inventory.NodeInventory;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.store.ClaimStore;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClientException;
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
 * Prepares claims: it reads what is decided by ({@link AllocationReader}) and attempts it ({@link Preparation}), again
 * when what stood in the way is gone ({@link Obstacles}). Every call may be repeated, and then gives the same answer.
 */
public final class ClaimPreparer implements ClaimService {
  private static final Logger LOG = LoggerFactory.getLogger(ClaimPreparer.class);

  private final ThisNode here;
  private final NodeInventory inventory;
  private final AllocationReader reader;
  private final Preparation preparation;
  private final Obstacles obstacles;
  private final ClaimStore store;
  private final ClaimReleaser releaser;
  private final ClaimReports reports;

  ClaimPreparer(
      ThisNode here,
      NodeInventory inventory,
      AllocationReader reader,
      Preparation preparation,
      Obstacles obstacles,
      ClaimStore store,
      ClaimReleaser releaser,
      ClaimReports reports) {
    this.here = here;
    this.inventory = inventory;
    this.reader = reader;
    this.preparation = preparation;
    this.obstacles = obstacles;
    this.store = store;
    this.releaser = releaser;
    this.reports = reports;
  }

  @Override
  public Map<ClaimRef, Outcome> prepare(Collection<ClaimRef> claims) {
    Call call = new Call(Patience.ofKubelet(), reader.newReads(), new ConcurrentLinkedQueue<>());
    try (WaitingCalls.Call _ = reports.kubeletWaits()) {
      return AtOnce.each(claims, claim -> prepare(claim, Preparation.Goal.ALL, call).orElseThrow());
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
    Optional<Outcome> outcome = prepare(claim, Preparation.Goal.RECORD, call);
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
      Optional<ClaimReading> claim = reader.read(ref, reader.newReads(), false);
      if (claim.isEmpty()) {
        return new Provision.Impossible("claim " + ref + " does not exist any more");
      }
      switch (preparation.attempt(claim.get(), Preparation.Goal.INSTANCES)) {
        case Attempt.Refused(String reason) -> {
          return new Provision.Impossible(reason);
        }
        case Attempt.Released _ -> throw new IllegalStateException("only what is rebuilt can have been released");
        case Attempt.Obstructed(Obstacle obstacle) -> {
          obstacles.recall(obstacle);
          return new Provision.NotYet(obstacle.clash().reason());
        }
        case Attempt.Prepared(PreparedClaim prepared) -> {
          LOG.info("claim {}: its MIG instances are there: {}", ref, AllocationDecoder.deviceKeys(prepared.grants()));
          return new Provision.Made();
        }
      }
    } catch (KubernetesClientException e) {
      throw e;
    } catch (IOException | IllegalStateException e) {
      return new Provision.Impossible(e.getMessage() == null ? e.toString() : e.getMessage());
    }
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
  private Optional<Outcome> prepare(ClaimRef claim, Preparation.Goal goal, Call call) {
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
  private Optional<Outcome> tryToPrepare(ClaimRef ref, Preparation.Goal goal, Call call) throws IOException {
    CallReads reads = call.reads();
    while (true) {
      Optional<ClaimReading> claim = reader.read(ref, reads, true);
      if (claim.isEmpty()) {
        return Optional.of(new Failed("claim " + ref + " does not exist any more"));
      }
      switch (preparation.attempt(claim.get(), goal)) {
        case Attempt.Released _ -> {
          return Optional.empty();
        }
        case Attempt.Refused refused -> {
          return Optional.of(new Failed(refused.reason()));
        }
        case Attempt.Obstructed(Obstacle obstacle) -> {
          if (!obstacles.await(obstacle, call.patience())) {
            return Optional.of(new Failed(obstacle.refusal()));
          }
          reads = reader.newReads(); // what was read before the wait may not be so any more
        }
        case Attempt.Prepared(PreparedClaim prepared) -> {
          return Optional.of(answer(claim.get(), prepared, call));
        }
      }
    }
  }

  private Outcome answer(ClaimReading claim, PreparedClaim prepared, Call call) {
    ClaimRef ref = claim.ref();
    LOG.info("claim {}: prepared: {}", ref, AllocationDecoder.deviceKeys(prepared.grants()));
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
