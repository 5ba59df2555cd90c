package dev.partita.controller.schedule;

import dev.partita.api.Annotations;
import dev.partita.api.Driver;
import dev.partita.api.resize.GrantedSizes;
import dev.partita.api.resize.ResizeAnswer;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.ClaimReader;
import dev.partita.controller.events.ClaimEvent;
import dev.partita.controller.events.ClaimEvents;
import dev.partita.controller.lru.LruMap;
import dev.partita.controller.resize.ResizeDecider;
import dev.partita.controller.resize.ResizeDecision;
import dev.partita.controller.resize.ResizeWriter;
import dev.partita.controller.state.ClaimLedger;
import dev.partita.controller.watch.Backoff;
import dev.partita.controller.watch.ClusterView;
import dev.partita.controller.watch.ObjectKey;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Follows claims whose owners ask for another size: decides when the claim or what is free changes, and has the answer
 * written. Whoever changes his mind all the time, and claims that wait while much is given back, cost a bounded number
 * of decisions and writes a second. For one thread.
 */
public final class Resizes {
  private static final Duration BETWEEN_WRITES = Duration.ofSeconds(1);
  private static final Duration BETWEEN_TURNS = Duration.ofSeconds(1);
  private static final int OF_ONE_TURN = 50;
  private static final int MOST_DOUBLINGS = 6;
  private static final int REMEMBERED = 10_000;

  private final ClusterView view;
  private final ClaimLedger ledger;
  private final ResizeDecider decider;
  private final Consumer<ResizeWriter.Write> writer;
  private final ClaimEvents events;
  private final Retries retries;
  private final Clock monotonicClock;
  private final Set<ObjectKey> waiting = new LinkedHashSet<>(); // who has waited longest stands first
  private final Set<String> underWay = new HashSet<>(); // UIDs of claims that are being written
  private final Map<String, Instant> written = new LruMap<>(REMEMBERED); // by UID
  private final Backoff<ObjectKey> failures = new Backoff<>(BETWEEN_WRITES, MOST_DOUBLINGS);
  private boolean turnIsComing;

  /** @param writer is told later, by {@link #written}, how each write ended */
  public Resizes(
      ClusterView view,
      ClaimLedger ledger,
      ResizeDecider decider,
      Consumer<ResizeWriter.Write> writer,
      ClaimEvents events,
      Retries retries,
      Clock monotonicClock) {
    this.view = view;
    this.ledger = ledger;
    this.decider = decider;
    this.writer = writer;
    this.events = events;
    this.retries = retries;
    this.monotonicClock = monotonicClock;
  }

  /** Looks whether the claim is to have another size, and whether it can. */
  public void look(ObjectKey key) {
    waiting.remove(key);
    @Nullable ResourceClaim claim = view.claim(key);
    if (claim == null || ResizeDecider.asked(claim).isEmpty() || isUnderWay(claim.getMetadata().getUid())) {
      return;
    }
    String uid = claim.getMetadata().getUid();
    @Nullable Instant last = written.get(uid);
    Instant now = monotonicClock.instant();
    if (last != null && now.isBefore(last.plus(BETWEEN_WRITES))) {
      lookLater(key);
      return;
    }
    Optional<ResizeDecision> decision = decider.decide(claim);
    if (decision.isPresent()) {
      if (decision.get() instanceof ResizeDecision.Waits) {
        waiting.add(key);
      }
      if (!isSaid(claim, decision.get())) {
        written.put(uid, now);
        write(claim, decision.get());
      }
    }
  }

  /** Whether its size is being written, or was granted and the claim is not seen so yet. */
  private boolean isUnderWay(String claimUid) {
    return underWay.contains(claimUid) || ledger.isResizing(claimUid);
  }

  private void write(ResourceClaim claim, ResizeDecision decision) {
    if (decision instanceof ResizeDecision.Granted granted) {
      ledger.resize(ClaimReader.ref(claim), granted.bookings());
    }
    underWay.add(claim.getMetadata().getUid());
    writer.accept(new ResizeWriter.Write(claim, decision, answer(claim, decision).toString()));
  }

  private static ClaimEvent.Reason reason(ResizeDecision decision) {
    return switch (decision) {
      case ResizeDecision.Granted _ -> ClaimEvent.Reason.ResizeGranted;
      case ResizeDecision.Waits _ -> ClaimEvent.Reason.ResizeWaits;
      case ResizeDecision.Refused _ -> ClaimEvent.Reason.ResizeRefused;
    };
  }

  private static boolean isSaid(ResourceClaim claim, ResizeDecision decision) {
    boolean same = !(decision instanceof ResizeDecision.Granted granted)
        || GrantedSizes.of(claim).equals(granted.sizes());
    return same && Annotations.value(claim, Driver.RESIZE_ANSWER_ANNOTATION)
        .equals(Optional.of(answer(claim, decision).toString()));
  }

  private static ResizeAnswer answer(ResourceClaim claim, ResizeDecision decision) {
    return new ResizeAnswer(ResizeDecider.asked(claim).orElse(""), decision.words());
  }

  /**
   * A write came to its end.
   *
   * @return whether something that was taken for it is free again
   */
  public boolean written(ResizeWriter.Write write, Optional<String> version) {
    ResourceClaim claim = write.claim();
    ObjectKey key = ObjectKey.of(claim);
    String uid = claim.getMetadata().getUid();
    underWay.remove(uid);
    boolean granted = write.decision() instanceof ResizeDecision.Granted;
    boolean isLess = false;
    if (granted) {
      ledger.resized(uid, version);
      @Nullable ResourceClaim now = view.claim(key);
      if (now != null && now.getMetadata().getUid().equals(uid) && AllocatedClaim.isAllocated(now)) {
        isLess = ledger.observe(uid, now) instanceof ClaimLedger.Change.Shrunk;
      }
    }
    if (version.isPresent()) {
      failures.succeeded(key);
      events.tell(new ClaimEvent(ClaimReader.ref(claim), reason(write.decision()), write.answer(), true));
      look(key); // what was asked for while this was being written was left alone until now
    } else {
      failures.failed(key).ifPresent(pause -> retries.after(pause, new WorkItem.ResizeRetry(key)));
    }
    return isLess || (version.isEmpty() && granted);
  }

  /** The pause after a write that failed is over. */
  public void again(ObjectKey key) {
    failures.tried(key);
    look(key);
    if (view.claim(key) == null) {
      failures.succeeded(key);
    }
  }

  /** Something was given back that waiting claims may have. */
  public void helps() {
    if (!waiting.isEmpty()) {
      comeAgain();
    }
  }

  /** The pause is over: looks at those that have waited longest. */
  public void turn() {
    turnIsComing = false;
    List<ObjectKey> first = waiting.stream().limit(OF_ONE_TURN).toList();
    boolean more = waiting.size() > first.size();
    first.forEach(this::look);
    if (more) {
      comeAgain();
    }
  }

  private void lookLater(ObjectKey key) {
    waiting.add(key);
    comeAgain();
  }

  private void comeAgain() {
    if (!turnIsComing) {
      turnIsComing = true;
      retries.after(BETWEEN_TURNS, new WorkItem.ResizeCheck());
    }
  }
}
