package dev.partita.controller.fleet;

import dev.partita.api.gpu.GpuHealth;
import dev.partita.api.node.GpuNode;
import dev.partita.api.node.GpuNodeSpec;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.held.HeldBookings;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.inventory.Inventory;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * All nodes with cards, and what claims have of them.
 *
 * @param nodes by name
 */
public record Fleet(List<NodeState> nodes) {
  public Fleet {
    nodes = List.copyOf(nodes);
  }

  /** Counts what is taken of each card, as the allocator counts it. */
  public static Fleet of(Collection<GpuNode> gpuNodes, Collection<ResourceClaim> claims) {
    return FleetCount.NONE.refreshed(Inventory.EMPTY.refreshed(gpuNodes), gpuNodes, claims).fleet();
  }

  /**
   * The same where nodes and claims have been read before.
   *
   * @param inventory of these nodes
   */
  static Fleet counted(Inventory inventory, Collection<GpuNode> gpuNodes, Collection<ClaimTaken> claims) {
    Map<String, GpuHost> hosts = inventory.hosts();
    Map<CardKey, Account> accounts = new HashMap<>();
    Map<CardKey, List<ClaimDevice>> devices = new HashMap<>();
    Map<String, List<Booking>> byClaim = new HashMap<>();
    for (ClaimTaken claim : claims) {
      byClaim.put(claim.uid(), claim.bookings());
      claim.bookings().forEach(booking -> book(booking, accounts));
      claim.devices()
          .forEach(device -> devices.computeIfAbsent(device.booking().card(), _ -> new ArrayList<>()).add(device));
    }
    for (GpuHost host : hosts.values()) {
      HeldBookings.of(host).stream()
          .filter(held -> held.counts(byClaim.getOrDefault(held.claimUid(), List.of())))
          .forEach(held -> held.bookings().forEach(booking -> book(booking, accounts)));
    }
    return new Fleet(
        gpuNodes.stream()
            .filter(node -> hosts.containsKey(node.getMetadata().getName()))
            .sorted(java.util.Comparator.comparing(node -> node.getMetadata().getName()))
            .map(
                node -> state(node, Objects.requireNonNull(hosts.get(node.getMetadata().getName())), accounts, devices))
            .toList());
  }

  private static void book(Booking booking, Map<CardKey, Account> accounts) {
    accounts.merge(booking.card(), Account.EMPTY.plus(booking), (had, _) -> had.plus(booking));
  }

  private static NodeState state(
      GpuNode node,
      GpuHost host,
      Map<CardKey, Account> accounts,
      Map<CardKey, List<ClaimDevice>> devices) {
    return new NodeState(
        node,
        host,
        host.cards().stream()
            .map(card -> new CardState(card, standing(node, host, card),
                accounts.getOrDefault(card.key(), Account.EMPTY), devices.getOrDefault(card.key(), List.of())))
            .toList());
  }

  private static CardStanding standing(GpuNode node, GpuHost host, Card card) {
    GpuNodeSpec spec = Objects.requireNonNullElse(node.getSpec(), GpuNodeSpec.DEFAULT);
    if (card.gpu().health().state() != GpuHealth.State.Healthy) {
      return CardStanding.Unhealthy;
    }
    if (!host.isReady()) {
      return CardStanding.NodeNotReady;
    }
    if (spec.withhold().contains(card.gpu().uuid())) {
      return CardStanding.Withheld;
    }
    if (card.isServedElsewhere()) {
      return CardStanding.ServedElsewhere;
    }
    return spec.cordoned().contains(card.gpu().uuid()) ? CardStanding.Cordoned : CardStanding.Available;
  }
}
