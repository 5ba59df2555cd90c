package dev.partita.plugin.dra;

import dev.partita.plugin.grant.ClaimRef;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What kubelet asks of a driver, in any version of the interface. */
public interface ClaimService {
  /** Makes the claims of one call ready for containers; the outcome of each. None waits for another one of them. */
  Map<ClaimRef, Outcome> prepare(Collection<ClaimRef> claims);

  /**
   * Releases the claims of one call; what went wrong with each, empty if nothing. A claim that is not known counts as
   * released.
   */
  Map<ClaimRef, Optional<String>> unprepare(Collection<ClaimRef> claims);

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
      List<String> requests,
      String pool,
      String device,
      List<String> cdiIds,
      Optional<String> shareId) {
    public ReadyDevice {
      requests = List.copyOf(requests);
      cdiIds = List.copyOf(cdiIds);
    }
  }
}
