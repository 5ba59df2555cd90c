package dev.partita.controller.inventory;

import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.api.node.HeldClaim;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A node with cards.
 *
 * @param name name of the Node and of its GpuNode
 * @param allocator who allocates its devices
 * @param unready why its cards cannot be handed out, for people; empty if they can
 * @param cards by index
 * @param devices what is offered, in the order in which it is published
 * @param held what it holds for claims that no longer say so themselves; of shares the memory as it is allocated here
 */
public record GpuHost(
    String name,
    Allocator allocator,
    Optional<String> unready,
    List<Card> cards,
    List<Device> devices,
    List<HeldClaim> held) {
  public GpuHost {
    held = List.copyOf(held);
    cards = List.copyOf(cards);
    devices = List.copyOf(devices);
  }

  /** UIDs of the claims that it holds something of the card for. */
  public List<String> heldOn(int index) {
    if (held.isEmpty()) { // as a rule; and each card of the cluster is asked about when no node fits
      return List.of();
    }
    return cards.stream()
        .filter(card -> card.key().index() == index)
        .map(card -> card.gpu().uuid())
        .flatMap(uuid -> held.stream().filter(claim -> claim.has(uuid)))
        .map(HeldClaim::claimUid)
        .distinct()
        .sorted()
        .toList();
  }

  /**
   * What is offered of each card that is offered at all, cards and devices in the order in which they are published.
   */
  public Map<CardKey, List<Device>> devicesByCard() {
    Map<CardKey, List<Device>> byCard = new LinkedHashMap<>();
    devices.forEach(device -> byCard.computeIfAbsent(device.card().key(), key -> new ArrayList<>()).add(device));
    return byCard;
  }

  public boolean isReady() {
    return unready.isEmpty();
  }
}
