package dev.partita.plugin.usage.measure;

import dev.partita.plugin.grant.ClaimRef;
import dev.partita.plugin.kube.ApiCalls;
import dev.partita.plugin.prepare.ClaimReader;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells which claims a pod has. This is for a process that hides its mounts: it cannot leave its pod's cgroup. The API
 * server is asked in the background, so a first question gets no answer yet.
 */
public final class PodClaims {
  private static final Logger LOG = LoggerFactory.getLogger(PodClaims.class);
  private static final Duration GOOD_FOR = Duration.ofSeconds(30);

  private record Question(String podUid, String claimUid) {}

  /**
   * @param when it was asked last
   */
  private record Answer(boolean reserved, Instant when) {}

  private final ClaimReader api;
  private final DevicePods devices;
  private final Clock clock;
  private final Map<Question, Answer> known = new ConcurrentHashMap<>();

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
      if (last == null || last.when().plus(GOOD_FOR).isBefore(now)) {
        known.put(question, new Answer(last != null && last.reserved(), now));
        due.add(claim);
      }
    }
    if (!due.isEmpty()) {
      known.values().removeIf(answer -> answer.when().plus(GOOD_FOR.multipliedBy(10)).isBefore(now));
      Thread.ofVirtual().name("pod-claims").start(() -> ask(podUid, due));
    }
    return found;
  }

  private void ask(String podUid, Set<ClaimRef> claims) {
    try {
      for (ClaimRef claim : claims) {
        boolean reserved = api.claim(claim).filter(found -> isReserved(found, podUid)
            || devices.unnamedIn(found, claim).contains(podUid)).isPresent();
        known.put(new Question(podUid, claim.uid()), new Answer(reserved, clock.instant()));
      }
    } catch (KubernetesClientException e) {
      LOG.debug("which claims pod {} has is not known: {}", podUid, ApiCalls.explain(e));
    }
  }

  private static boolean isReserved(ResourceClaim claim, String podUid) {
    return claim.getStatus() != null && claim.getStatus().getReservedFor() != null
        && claim.getStatus().getReservedFor().stream().anyMatch(consumer -> podUid.equals(consumer.getUid()));
  }
}
