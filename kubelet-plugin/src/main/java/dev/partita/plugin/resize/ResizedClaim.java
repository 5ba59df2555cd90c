package dev.partita.plugin.resize;

import dev.partita.api.Bytes;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.grant.Grant;
import dev.partita.plugin.grant.Share;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Says what a prepared claim becomes by the sizes that its shares are granted. */
final class ResizedClaim {
  private ResizedClaim() {}

  /** What a claim can become now. */
  sealed interface Outcome {}

  /** It has these sizes already. */
  record Same() implements Outcome {}

  /**
   * It can become that.
   *
   * @param isSmaller whether a share is to have less memory than it has
   */
  record Changed(PreparedClaim claim, boolean isSmaller) implements Outcome {}

  /**
   * A share holds more than it is to have. Its containers keep what they have until they hold no more.
   *
   * @param why for people
   */
  record Waits(String why) implements Outcome {}

  /**
   * Compares.
   *
   * @param prepared as it is prepared
   * @param granted its devices as the claim gives them now
   * @param held bytes that processes hold of a share
   */
  static Outcome of(PreparedClaim prepared, List<Grant> granted, ToLongFunction<Grant> held) {
    Map<String, Grant> byShare = new HashMap<>();
    granted.forEach(grant -> byShare.put(grant.shareKey(), grant));
    List<Grant> grants = new ArrayList<>();
    boolean smaller = false;
    for (Grant grant : prepared.grants()) {
      @Nullable Grant wanted = byShare.get(grant.shareKey());
      Optional<Share> now = grant.share();
      Optional<Share> then = wanted == null
          ? Optional.empty()
          : wanted.share()
              .map(its -> its
                  .lent(loan(now.map(Share::lentBytes).orElse(0L), now.map(Share::memoryBytes).orElse(0L), its)));
      if (wanted == null || now.isEmpty() || then.isEmpty() || now.equals(then)) {
        grants.add(grant);
        continue;
      }
      if (then.get().memoryBytes() < now.get().memoryBytes()) {
        smaller = true;
        if (held.applyAsLong(grant) > then.get().memoryBytes()) {
          return new Waits("its processes hold " + Bytes.words(held.applyAsLong(grant)) + " of " + grant.card().uuid()
              + "; it has " + Bytes.words(then.get().memoryBytes()) + " there once they hold no more than that");
        }
      }
      grants.add(new Grant(grant.requests(), grant.device(), grant.shareId(), grant.card(), wanted.use())
          .lent(then.get().lentBytes()));
    }
    return grants.equals(prepared.grants())
        ? new Same()
        : new Changed(prepared.with(grants), smaller);
  }

  /** What stays lent: a share that gets more of its own pays for it by what it was lent. */
  private static long loan(long lent, long memory, Share then) {
    return Math.min(Math.min(lent, then.lendableBytes()), Math.max(0, memory - then.guaranteedBytes()));
  }
}
