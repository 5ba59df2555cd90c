package dev.partita.controller.claim;

import dev.partita.controller.request.ClaimRequest;
import java.util.List;

/** What reading a ResourceClaim has shown. */
public sealed interface ClaimReading {
  /** No request is for this driver's devices: somebody else's. */
  record Foreign() implements ClaimReading {}

  /** It can be allocated. */
  record Understood(ClaimRequest request) implements ClaimReading {}

  /** It can never be allocated as it stands; each problem begins with the path of its field. */
  record Unusable(List<String> problems) implements ClaimReading {
    public Unusable {
      problems = List.copyOf(problems);
    }
  }
}
