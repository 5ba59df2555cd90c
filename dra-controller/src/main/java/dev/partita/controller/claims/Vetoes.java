package dev.partita.controller.claims;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Nodes from which kube-scheduler took a claim's allocation back: not to be proposed again for a while. For one thread. */
final class Vetoes {
  static final Duration LENGTH = Duration.ofSeconds(30);

  private final Map<String, Map<String, Instant>> until = new HashMap<>();

  void add(String claimUid, String node, Instant now) {
    until.computeIfAbsent(claimUid, uid -> new HashMap<>()).put(node, now.plus(LENGTH));
  }

  boolean holds(String claimUid, String node, Instant now) {
    @Nullable Map<String, Instant> ofClaim = until.get(claimUid);
    @Nullable Instant end = ofClaim == null ? null : ofClaim.get(node);
    return end != null && now.isBefore(end);
  }

  void forget(String claimUid) {
    until.remove(claimUid);
  }
}
