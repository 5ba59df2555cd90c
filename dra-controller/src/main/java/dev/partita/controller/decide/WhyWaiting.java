package dev.partita.controller.decide;

import dev.partita.api.Excerpt;
import dev.partita.api.event.EventObject;
import dev.partita.controller.reasons.Explanation;
import dev.partita.controller.request.ClaimRef;
import java.util.Optional;

/** Why a pod has no place. */
public sealed interface WhyWaiting {
  /** Characters of a summary in an event's note, which has room for some words before it. */
  int MAX_EXPLANATION = EventObject.NOTE_MAX - 160;

  /** One text for people, of so many characters at most. */
  String summary(int maxLength);

  /** The claim that cannot be served, if it is the same one everywhere. */
  Optional<ClaimRef> claimAtFault();

  /** Found out for the pod itself, with every node and card. */
  record Explained(Explanation explanation) implements WhyWaiting {
    @Override
    public String summary(int maxLength) {
      return explanation.summary(maxLength);
    }

    @Override
    public Optional<ClaimRef> claimAtFault() {
      return explanation.claimAtFault();
    }
  }

  /** Its claims are on a node, by others of its gang or already, on which it cannot run. */
  record NoRoomBesideClaims(String node, String refusal) implements WhyWaiting {
    @Override
    public String summary(int maxLength) {
      return Excerpt.of("its claims are on node " + node + ": " + refusal, maxLength - 1);
    }

    @Override
    public Optional<ClaimRef> claimAtFault() {
      return Optional.empty();
    }
  }

  /** Known from a pod of the same shape. */
  record KnownOfAlike(String summary, Optional<ClaimRef> claimAtFault) implements WhyWaiting {
    @Override
    public String summary(int maxLength) {
      return Excerpt.of(summary, maxLength - 1);
    }
  }
}
