package dev.partita.controller.state;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the nodes from which kube-scheduler took a claim's allocation back. They are not proposed again for a while.
 * The first veto is short, for kube-scheduler may have looked at an older state of the claim, and there may be no other
 * node. Each further veto of the same node holds twice as long. For one thread.
 */
public final class Vetoes {
  static final Duration SHORTEST = Duration.ofSeconds(1);
  static final Duration LONGEST = Duration.ofSeconds(64);

  private record Veto(Duration length, Instant until) {}

  private final Map<String, Map<String, Veto>> vetoes = new HashMap<>();

  /** How long the node is not to be proposed for the claim. */
  public Duration add(String claimUid, String node, Instant now) {
    Map<String, Veto> ofClaim = vetoes.computeIfAbsent(claimUid, uid -> new HashMap<>());
    @Nullable Veto before = ofClaim.get(node);
    Duration twice = before == null ? SHORTEST : before.length().multipliedBy(2);
    Duration length = twice.compareTo(LONGEST) > 0 ? LONGEST : twice;
    ofClaim.put(node, new Veto(length, now.plus(length)));
    return length;
  }

  public boolean holds(String claimUid, String node, Instant now) {
    @Nullable Map<String, Veto> ofClaim = vetoes.get(claimUid);
    @Nullable Veto veto = ofClaim == null ? null : ofClaim.get(node);
    return veto != null && now.isBefore(veto.until());
  }

  /** Whether the claim has had any veto. */
  public boolean isAny(String claimUid) {
    return vetoes.containsKey(claimUid);
  }

  public void forget(String claimUid) {
    vetoes.remove(claimUid);
  }
}
