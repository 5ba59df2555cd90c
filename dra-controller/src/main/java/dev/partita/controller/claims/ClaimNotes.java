package dev.partita.controller.claims;

import dev.partita.api.DeviceMode;
import dev.partita.controller.allocate.ClaimRef;
import dev.partita.controller.allocate.Outcome;
import dev.partita.controller.allocate.Outcome.DevicePlacement;
import dev.partita.controller.events.ClaimEvent;
import dev.partita.controller.events.ClaimEvents;
import dev.partita.controller.inventory.Bytes;
import dev.partita.controller.inventory.Card;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Tells people, in events and in the log, what became of a claim. */
final class ClaimNotes {
  /** Room for the words before the explanation, in an event's note. */
  private static final int MAX_EXPLANATION = ClaimEvents.MAX_NOTE - 160;

  private final ClaimEvents events;

  ClaimNotes(ClaimEvents events) {
    this.events = events;
  }

  void refused(Map<ResourceClaim, List<String>> problems) {
    problems.forEach((claim, words) -> tell(ClaimReader.ref(claim), ClaimEvent.Reason.Unallocatable, String.join("; ", words)));
  }

  void waiting(Decision.Wait wait) {
    String summary = wait.explanation().summary(MAX_EXPLANATION);
    Optional<ClaimRef> fault = wait.explanation().claimAtFault();
    for (ResourceClaim claim : wait.claims()) {
      ClaimRef ref = ClaimReader.ref(claim);
      boolean other = fault.isPresent() && !fault.get().equals(ref);
      tell(ref, ClaimEvent.Reason.Unallocatable, other ? "waits for claim " + fault.get().name() + " of the same pod: " + summary : summary);
    }
  }

  void allocated(Outcome.ClaimPlacement placement, String node) {
    String words = placement.devices().stream().map(device -> words(device, node)).collect(Collectors.joining("; "));
    tell(placement.claim(), ClaimEvent.Reason.Allocated, words);
  }

  private void tell(ClaimRef claim, ClaimEvent.Reason reason, String note) {
    events.tell(new ClaimEvent(claim, reason, note));
  }

  private static String words(DevicePlacement placement, String node) {
    Card card = placement.device().card();
    String what = card.gpu().productName() + " " + card.gpu().uuid();
    String device = placement.device().name() + " on " + node + ": ";
    if (placement.device().mode() == DeviceMode.WHOLE) {
      return device + "all of " + what;
    }
    String cores = placement.cores() == 0 ? "no core limit" : placement.cores() + " % cores";
    return device + Bytes.words(placement.memory()) + " of " + what + ", " + cores;
  }
}
