package dev.partita.controller.proposal;

import dev.partita.controller.request.ClaimRequest;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Says how far proposals count that this instance has not made: another controller's, or an annotation that a user
 * wrote. A controller allocates what it proposed within moments. So the proposals of a namespace count for {@link #AGE}
 * from the first one on, and then for {@link #PAUSE} not at all. A proposal of more than the claim could be given never
 * counts. For one thread, except where it says otherwise.
 *
 * <p>A proposal that stands for longer is withdrawn, however claim or proposal have changed meanwhile; after that those
 * of its namespace are withdrawn on sight. So a user who writes proposals without end, on any number of claims, takes
 * what his claims ask for during 2 s in 10 min.
 */
public final class OthersProposals {
  /**
   * How long a proposal is let be: longer than it takes to make an allocation of it, so that two instances that both
   * believe that they lead do not keep taking back each other's.
   */
  public static final Duration AGE = Duration.ofSeconds(2);

  /** How long the proposals in a namespace do not count after they did. */
  static final Duration PAUSE = Duration.ofMinutes(10);

  private final Function<ResourceClaim, Optional<ClaimRequest>> requests;
  private final Clock clock;
  private final Map<String, Instant> countedSince = new HashMap<>(); // by namespace
  private final Map<String, Instant> standsSince = new HashMap<>(); // by the claim's UID
  private final Map<String, Instant> abandonedSince = new HashMap<>(); // by namespace
  // by the claim's UID, as the annotation says it
  private final Map<String, String> refused = new ConcurrentHashMap<>();

  /**
   * @param requests what a claim asks for; empty if it is not for our devices, or asks for what nobody can give it
   * @param clock one for how long something lasts
   */
  public OthersProposals(Function<ResourceClaim, Optional<ClaimRequest>> requests, Clock clock) {
    this.requests = requests;
    this.clock = clock;
  }

  /** What is proposed for a claim, if it counts. */
  public Optional<Proposal> counted(ResourceClaim claim) {
    Optional<Proposal> proposal = Proposal.of(claim);
    String uid = claim.getMetadata().getUid();
    if (proposal.isEmpty() || requests.apply(claim).filter(proposal.get()::isWithin).isEmpty()) {
      Proposal.textOf(claim).ifPresent(text -> refused.put(uid, text));
      return Optional.empty();
    }
    refused.remove(uid);
    Instant now = clock.instant();
    countedSince.values().removeIf(since -> !now.isBefore(since.plus(PAUSE)));
    Instant since = countedSince.computeIfAbsent(claim.getMetadata().getNamespace(), namespace -> now);
    return now.isBefore(since.plus(AGE)) ? proposal : Optional.empty();
  }

  /** Whether a claim's proposal is known to be more than it could be given. For any thread. */
  public boolean isRefused(ResourceClaim claim) {
    @Nullable String text = refused.get(claim.getMetadata().getUid());
    return text != null && Proposal.textOf(claim).filter(text::equals).isPresent();
  }

  /**
   * Takes note that something is proposed for a claim, whatever its id is by now.
   *
   * @return whether nothing was when this was last called
   */
  public boolean stands(String claimUid) {
    return standsSince.putIfAbsent(claimUid, clock.instant()) == null;
  }

  /**
   * Whether something has been proposed for the claim for so long that nobody can be about to make an allocation of it.
   */
  public boolean isOld(String claimUid) {
    @Nullable Instant since = standsSince.get(claimUid);
    return since != null && !clock.instant().isBefore(since.plus(AGE));
  }

  /** Something that was proposed in the namespace stood for so long that it is withdrawn. */
  public void abandoned(String namespace) {
    Instant now = clock.instant();
    abandonedSince.values().removeIf(since -> !now.isBefore(since.plus(PAUSE)));
    abandonedSince.put(namespace, now);
  }

  /** Whether proposals of the namespace are to be withdrawn on sight. */
  public boolean areAbandoned(String namespace) {
    @Nullable Instant since = abandonedSince.get(namespace);
    return since != null && clock.instant().isBefore(since.plus(PAUSE));
  }

  /** Nothing of another instance is proposed for the claim now. */
  public void ended(String claimUid) {
    standsSince.remove(claimUid);
  }

  /** The claim is gone. */
  public void forget(String claimUid) {
    standsSince.remove(claimUid);
    refused.remove(claimUid);
  }
}
