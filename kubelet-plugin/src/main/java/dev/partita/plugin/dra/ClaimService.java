package dev.partita.plugin.dra;

import dev.partita.plugin.claim.ClaimRef;
import java.util.List;
import java.util.Optional;

/** What kubelet asks of a driver, whichever version of the interface it speaks. */
public interface ClaimService {
  /** Makes a claim ready for containers. */
  Outcome prepare(ClaimRef claim);

  /** Takes a claim back; empty, or what went wrong. A claim that is not known is taken back already. */
  Optional<String> unprepare(ClaimRef claim);

  /** {@link #prepare} of a claim as kubelet names it; a text that cannot be a UID is refused, for it becomes part of paths. */
  default Outcome prepare(String namespace, String name, String uid) {
    return ClaimRef.isUid(uid) ? prepare(new ClaimRef(namespace, name, uid)) : new Failed(notAUid(uid));
  }

  /** {@link #unprepare} of a claim as kubelet names it. */
  default Optional<String> unprepare(String namespace, String name, String uid) {
    return ClaimRef.isUid(uid) ? unprepare(new ClaimRef(namespace, name, uid)) : Optional.of(notAUid(uid));
  }

  private static String notAUid(String uid) {
    return "\"" + uid + "\" is not the UID of a claim";
  }

  /** Outcome of a preparation. */
  sealed interface Outcome {}

  /** Every device of the claim is ready. */
  record Ready(List<ReadyDevice> devices) implements Outcome {
    public Ready {
      devices = List.copyOf(devices);
    }
  }

  /** The claim cannot be prepared, for now or for good. */
  record Failed(String error) implements Outcome {}

  /**
   * A device that is ready.
   *
   * @param requests without subrequests
   * @param cdiIds what the container runtime injects
   * @param shareId of the allocation, as it is written there
   */
  record ReadyDevice(
      List<String> requests, String pool, String device, List<String> cdiIds, Optional<String> shareId) {
    public ReadyDevice {
      requests = List.copyOf(requests);
      cdiIds = List.copyOf(cdiIds);
    }
  }
}
