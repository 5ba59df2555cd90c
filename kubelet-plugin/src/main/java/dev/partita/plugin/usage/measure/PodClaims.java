package dev.partita.plugin.usage.measure;

import dev.partita.plugin.claimread.ClaimReader;
import dev.partita.plugin.grant.ClaimRef;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimStatus;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells which claims a pod has. This is for a process that hides its mounts: it cannot leave its pod's cgroup. The API
 * server is asked in the background, so a first question gets no answer yet. Of each claim it is asked once in a few
 * seconds, however many pods have such processes.
 */
public final class PodClaims {
  private static final Logger LOG = LoggerFactory.getLogger(PodClaims.class);
  private static final Duration GOOD_FOR = Duration.ofSeconds(30);

  /**
   * How long questions about a claim are answered with what was read for another pod, and when one is asked again that
   * had no answer.
   */
  private static final Duration ASKED_AGAIN_AFTER = Duration.ofSeconds(5);

  private record Question(String podUid, String claimUid) {}

  /**
   * @param until it is asked again after that
   */
  private record Answer(boolean reserved, Instant until) {}

  /**
   * What was read of a claim.
   *
   * @param pods UIDs of what it is reserved for, and of pods that have its devices
   * @param all whether these are all: false where kubelet did not tell
   */
  private record Reading(Set<String> pods, boolean all, Instant when) {}

  /** What was read last of one claim. Of several threads that ask, one reads and the others take what it read. */
  private final class Asked {
    private volatile Instant tried = Instant.MIN; // when that began or, once it has ended, when it ended
    private Optional<Reading> last = Optional.empty();

    /** What was read within the last seconds; empty if that did not succeed. */
    synchronized Optional<Reading> read(ClaimRef claim) {
      Instant now = clock.instant();
      if (tried.isBefore(now.minus(ASKED_AGAIN_AFTER))) {
        tried = now;
        last = Optional.empty();
        try {
          last = Optional.of(reading(claim, now));
        } finally {
          tried = clock.instant();
        }
      }
      return last;
    }

    /** Does not wait for the API server. */
    boolean isOld(Instant now) {
      Instant then = tried;
      return !then.equals(Instant.MIN) && then.isBefore(now.minus(GOOD_FOR));
    }
  }

  private final ClaimReader api;
  private final DevicePods devices;
  private final Clock clock;
  private final Map<Question, Answer> known = new ConcurrentHashMap<>();
  private final Map<String, Asked> claimsAsked = new ConcurrentHashMap<>(); // by UID

  /** @param devices asked about claims that are reserved for a PodGroup */
  public PodClaims(ClaimReader api, DevicePods devices, Clock clock) {
    this.api = api;
    this.devices = devices;
    this.clock = clock;
  }

  /** UIDs of those of the claims that are reserved for the pod, as far as that is known. */
  Set<String> of(String podUid, Collection<ClaimRef> claims) {
    Instant now = clock.instant();
    Set<String> found = new HashSet<>();
    Set<ClaimRef> due = new HashSet<>();
    for (ClaimRef claim : claims) {
      Question question = new Question(podUid, claim.uid());
      Answer last = known.get(question);
      if (last != null && last.reserved()) {
        found.add(claim.uid());
      }
      if (last == null || last.until().isBefore(now)) {
        known.put(question, new Answer(last != null && last.reserved(), now.plus(ASKED_AGAIN_AFTER)));
        due.add(claim);
      }
    }
    if (!due.isEmpty()) {
      known.values().removeIf(answer -> answer.until().plus(GOOD_FOR.multipliedBy(10)).isBefore(now));
      claimsAsked.values().removeIf(asked -> asked.isOld(now));
      Thread.ofVirtual().name("pod-claims").start(() -> ask(podUid, due, now));
    }
    return found;
  }

  private void ask(String podUid, Set<ClaimRef> claims, Instant since) {
    try {
      for (ClaimRef claim : claims) {
        claimsAsked.computeIfAbsent(claim.uid(), uid -> new Asked()).read(claim)
            .ifPresent(read -> known.compute(new Question(podUid, claim.uid()),
                (_, last) -> answer(podUid, read, since, last != null && last.reserved())));
      }
    } catch (RuntimeException e) { // a client that was closed meanwhile throws others than KubernetesClientException
      LOG.debug("which claims pod {} has is not known", podUid, e);
    }
  }

  /**
   * The claim may have been reserved for the pod after it was read for another one: that is looked up soon. So is what
   * kubelet did not tell; until then it is as it was.
   */
  private static Answer answer(String podUid, Reading read, Instant since, boolean before) {
    boolean named = read.pods().contains(podUid);
    boolean holds = named || (read.all() && !read.when().isBefore(since));
    return new Answer(named || (before && !read.all()),
        holds ? read.when().plus(GOOD_FOR) : since.plus(ASKED_AGAIN_AFTER));
  }

  private Reading reading(ClaimRef ref, Instant now) {
    Set<String> pods = new HashSet<>();
    Optional<ResourceClaim> claim = api.claim(ref);
    claim.map(ResourceClaim::getStatus).map(ResourceClaimStatus::getReservedFor).stream().flatMap(List::stream)
        .forEach(consumer -> pods.add(consumer.getUid()));
    Optional<Set<String>> unnamed =
        claim.isEmpty() ? Optional.of(Set.of()) : devices.unnamedIn(claim.get(), ref);
    unnamed.ifPresent(pods::addAll);
    return new Reading(Set.copyOf(pods), unnamed.isPresent(), now);
  }
}
