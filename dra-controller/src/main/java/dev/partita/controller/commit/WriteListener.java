package dev.partita.controller.commit;

import dev.partita.controller.place.ClaimPlacement;
import dev.partita.controller.request.ClaimRef;
import dev.partita.controller.watch.ObjectKey;
import java.util.Optional;

/** Learns how writes to the API server ended, on the threads that write. It must not block. */
public interface WriteListener {
  /** The claim's allocation is written. */
  void allocated(ClaimPlacement placement, String node);

  /**
   * What was proposed for a claim is allocated, or is not proposed any more.
   *
   * @param version the claim's new resourceVersion; empty if the write failed
   */
  void written(ClaimRef claim, Optional<String> version);

  /** All writes for a pod have come to their end. */
  void finished(ObjectKey pod, boolean failed);

  /** An allocation or a proposal could not be taken back. */
  void notReleased(ObjectKey claim, String claimUid);

  /** A victim of the pod's preemption may not be evicted now. */
  void evictionRefused(ObjectKey pod, String podUid, String victimUid);

  /** No eviction of a victim of the pod's preemption was sent: evictions pause, or this instance does not lead. */
  void evictionNotSent(ObjectKey pod, String podUid, String victimUid);
}
