package dev.partita.controller.web.view;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.partita.controller.fleet.CardState;
import dev.partita.controller.fleet.ClaimDevice;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A card and who has what of it; memory in bytes.
 *
 * @param index NVML's index on its node
 * @param uuid NVML's
 * @param model short name of its model
 * @param standing whether something of it may be allocated now, and if not why, in one word
 * @param problem what is wrong with it, for people; null if nothing is
 * @param memory that shares of it may hold together
 * @param memoryAllocated what of it is taken
 * @param memoryUsed what of that is used; null if nobody knows
 * @param coresAllocated percent of its time that are set aside
 * @param coresUsed percent of its time that its claims had; null if nobody knows
 * @param parts who has what, those first that the viewer may see
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record CardRow(
    int index,
    String uuid,
    String model,
    String standing,
    @Nullable String problem,
    long memory,
    long memoryAllocated,
    @Nullable Long memoryUsed,
    int coresAllocated,
    @Nullable Long coresUsed,
    List<Part> parts) {
  public CardRow {
    parts = List.copyOf(parts);
  }

  static CardRow of(CardState card, Sight sight) {
    return new CardRow(card.card().key().index(), card.card().gpu().uuid(), card.card().model(),
        card.standing().toString(), card.problem().orElse(null), card.card().allocatableMemory(),
        card.memoryAllocated(),
        Part.boxed(card.memoryUsed()), card.coresAllocated(), Part.boxed(card.coresUsed()), parts(card, sight));
  }

  private static List<Part> parts(CardState card, Sight sight) {
    List<Part> parts = new ArrayList<>();
    long others = 0;
    int othersCores = 0;
    long named = 0;
    for (ClaimDevice device : card.devices()) {
      long memory = card.memoryOf(device);
      named += memory;
      if (sight.claimsOf(device.namespace())) {
        parts.add(Part.of(card, device));
      } else {
        others += memory;
        othersCores += card.coresOf(device);
      }
    }
    parts.sort(Comparator.comparing(Part::namespace).thenComparing(Part::claim));
    if (others > 0 || othersCores > 0) {
      parts.add(Part.nameless(Part.Kind.others, others, othersCores));
    }
    if (card.memoryAllocated() > named) {
      parts.add(Part.nameless(Part.Kind.held, card.memoryAllocated() - named, 0));
    }
    return parts;
  }
}
