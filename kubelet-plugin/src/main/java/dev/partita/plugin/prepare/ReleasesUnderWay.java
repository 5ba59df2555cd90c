package dev.partita.plugin.prepare;

import dev.partita.plugin.allocation.AllocationDecoder;
import dev.partita.plugin.checkpoint.Checkpoint;
import dev.partita.plugin.claim.PreparedClaim;
import dev.partita.plugin.claimread.ClaimReader;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits for claims that kubelet is about to release. A pod that is deleted by force is gone from the API at once, and
 * its card is allocated anew, while kubelet still ends its containers and releases its claims only after that. If the
 * next preparation were refused meanwhile, kubelet would try it again only after a minute or more.
 *
 * @param pool this node's pool
 */
record ReleasesUnderWay(ClaimReader api, Checkpoint checkpoint, String pool) {
  private static final Logger LOG = LoggerFactory.getLogger(ReleasesUnderWay.class);

  /**
   * Waits until one of the claims that nothing needs any more is released.
   *
   * @param prepared claims as their records were; one that is needed is not waited for
   * @return whether one was released, maybe before the call; otherwise it is not to be expected, or patience is over
   */
  boolean await(List<PreparedClaim> prepared, Patience patience) throws IOException {
    if (patience.isOver()) {
      return false;
    }
    List<PreparedClaim> ending = new ArrayList<>();
    List<PreparedClaim> records = checkpoint.readAll();
    if (!records.containsAll(prepared)) {
      return true;
    }
    for (PreparedClaim record : prepared) {
      if (!isNeeded(record, api.claim(record.claim()))) {
        ending.add(record);
      }
    }
    if (ending.isEmpty()) {
      return false;
    }
    LOG.info("waiting for kubelet to release {}", ending.stream().map(PreparedClaim::claim).toList());
    while (!patience.isOver()) {
      for (PreparedClaim record : ending) {
        if (!checkpoint.read(record.claim().uid()).equals(Optional.of(record))) {
          return true;
        }
      }
      if (!Patience.pause()) {
        return false;
      }
    }
    return false;
  }

  /** Whether the claim still has the devices that are prepared for it. */
  private boolean isNeeded(PreparedClaim record, Optional<ResourceClaim> claim) {
    return claim.filter(now -> AllocationDecoder.givesExactly(now, pool, record.grants())).isPresent();
  }
}
