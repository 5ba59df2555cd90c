package dev.partita.controller.headroom;

import dev.partita.api.DeviceMode;
import dev.partita.api.device.CapacityName;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Accounts;
import dev.partita.controller.inventory.Capacity.RequestPolicy;
import dev.partita.controller.inventory.Capacity;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What is left of the cards of one model, for a claim that has nothing but its size to be refused for: whatever quotas
 * say. Cards that are offered to nobody now (of a node that is not ready or cordoned, unhealthy, cordoned) count for
 * nothing.
 *
 * @param largestShareBytes the most memory that one share could get, without a core limit of its own
 * @param wholeCards how many cards could be taken as a whole
 * @param freeBytes memory that shares could get together
 * @param freeBytesOfWholeCards how much of it is on cards of which nothing is taken
 */
public record Headroom(long largestShareBytes, int wholeCards, long freeBytes, long freeBytesOfWholeCards) {
  /** Nothing. */
  static final Headroom NONE = new Headroom(0, 0, 0, 0);

  /**
   * The part of the free memory that lies on cards of which something is taken: 0 where all of it is on untouched cards
   * or nothing is free, 1 where no card is untouched.
   *
   * <p>For example, of four cards with 100 GiB one is full, one has 50 GiB free and two are untouched: 50 of 250 GiB,
   * 0.2. The same 150 GiB taken as 37.5 of every card would leave the same 250 GiB free, and 1.
   */
  public double fragmentation() {
    return freeBytes == 0 ? 0 : (double) (freeBytes - freeBytesOfWholeCards) / freeBytes;
  }

  /**
   * Looks at every card once, some 100 ns each.
   *
   * @param open whether the cards of a host can be had at all
   * @return by model; of a model whose cards are all away or taken, nothing but zeros
   */
  public static SortedMap<String, Headroom> byModel(
      Collection<GpuHost> hosts,
      Accounts accounts,
      Predicate<GpuHost> open) {
    SortedMap<String, Headroom> models = new TreeMap<>();
    for (GpuHost host : hosts) {
      host.cards().forEach(card -> models.putIfAbsent(card.model(), NONE));
      if (!open.test(host)) {
        continue;
      }
      Map<CardKey, OfCard> cards = new HashMap<>();
      for (Device device : host.devices()) {
        if (device.taints().isEmpty() && !device.mode().isOfInstances()) {
          OfCard card = cards.computeIfAbsent(device.card().key(),
              key -> new OfCard(device.card(), accounts.of(key)));
          card.offers(device);
        }
      }
      cards.values().forEach(card -> models.merge(card.card.model(), card.headroom(), Headroom::plus));
    }
    return models;
  }

  private Headroom plus(Headroom other) {
    return new Headroom(Math.max(largestShareBytes, other.largestShareBytes), wholeCards + other.wholeCards,
        freeBytes + other.freeBytes, freeBytesOfWholeCards + other.freeBytesOfWholeCards);
  }

  /** A card as it is offered now. */
  private static final class OfCard {
    private final Card card;
    private final Account account;
    private @Nullable Device shared;
    private boolean whole;

    OfCard(Card card, Account account) {
      this.card = card;
      this.account = account;
    }

    void offers(Device device) {
      if (device.mode() == DeviceMode.SHARED) {
        shared = device;
      } else {
        whole = true;
      }
    }

    Headroom headroom() {
      boolean untouched = account.isUntouched();
      long free = shared == null || account.isClosedToShares()
          ? 0
          : Math.max(0, card.allocatableMemory() - account.memory());
      long largest = shared == null ? 0 : largestShare(shared, free, Account.CORES - account.cores());
      return new Headroom(largest, whole && untouched ? 1 : 0, free, untouched ? free : 0);
    }

    private static long largestShare(Device device, long free, int freeCores) {
      boolean coresLeft =
          policy(device, CapacityName.CORES).filter(cores -> cores.whenNotAsked() > freeCores).isEmpty();
      return coresLeft ? policy(device, CapacityName.MEMORY).map(memory -> memory.largestWithin(free)).orElse(0L) : 0;
    }

    private static Optional<RequestPolicy> policy(Device device, String capacity) {
      return Optional.ofNullable(device.capacities().get(capacity)).flatMap(Capacity::policy);
    }
  }
}
