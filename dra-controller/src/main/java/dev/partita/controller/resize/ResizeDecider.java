package dev.partita.controller.resize;

import dev.partita.api.Annotations;
import dev.partita.api.Bytes;
import dev.partita.api.Driver;
import dev.partita.api.device.CapacityName;
import dev.partita.api.node.GpuNodeSpec.Allocator;
import dev.partita.api.resize.GrantedSizes;
import dev.partita.api.resize.ShareSize;
import dev.partita.api.resize.SizeRequest;
import dev.partita.controller.booking.Account;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.claim.AllocatedShare;
import dev.partita.controller.inventory.Capacity;
import dev.partita.controller.inventory.Card;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.inventory.Device;
import dev.partita.controller.inventory.GpuHost;
import dev.partita.controller.resize.ResizeDecision.Granted;
import dev.partita.controller.resize.ResizeDecision.Refused;
import dev.partita.controller.resize.ResizeDecision.Waits;
import dev.partita.controller.state.SchedulerState;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether shares in use can have another size. They stay on their cards: the size is granted where what is free
 * of the card and of the namespace's quotas holds the difference. A smaller size is always granted, of a share in use
 * once its node has said that what was granted before is in force.
 *
 * <p>For example, a share of 8 GiB asks for 12 on a card of which other claims have 130 of 140 GiB: 12 is more than the
 * 10 that they leave, so that it waits.
 */
public final class ResizeDecider {
  private final SchedulerState state;

  public ResizeDecider(SchedulerState state) {
    this.state = state;
  }

  /** What its owner asks for; empty if that is nothing. */
  public static Optional<String> asked(ResourceClaim claim) {
    return Annotations.value(claim, Driver.RESIZE_ANNOTATION);
  }

  /** Decides about a claim of which a size is asked for; empty as long as it is not allocated. */
  public Optional<ResizeDecision> decide(ResourceClaim claim) {
    Optional<String> asked = asked(claim);
    if (asked.isEmpty() || !AllocatedClaim.isAllocated(claim)) {
      return Optional.empty();
    }
    SizeRequest request;
    try {
      request = SizeRequest.parse(asked.get());
    } catch (IllegalArgumentException e) {
      return Optional.of(new Refused(String.valueOf(e.getMessage())));
    }
    return Optional.of(decide(claim, request));
  }

  private ResizeDecision decide(ResourceClaim claim, SizeRequest asked) {
    List<AllocatedShare> shares = AllocatedClaim.shares(claim);
    if (shares.isEmpty()) {
      return new Refused(
          "the claim has no share that can change; whole cards, MIG instances and shares by MPS keep their size");
    }
    List<String> requests = shares.stream().map(AllocatedShare::request).distinct().toList();
    Optional<String> unknown = asked.requests().stream().filter(name -> !requests.contains(name)).sorted().findFirst();
    if (unknown.isPresent()) {
      return new Refused(
          "the claim has no share for request " + unknown.get() + ", but for " + String.join(", ", requests));
    }
    Map<String, ShareSize> sizes = new TreeMap<>(); // what an earlier allocation was granted is left out
    boolean more = false;
    for (AllocatedShare share : shares) {
      switch (size(share, asked.of(share.request(), share.sizes().granted()))) {
        case Size.Wanted(ShareSize wanted) when isYetToBeInForce(claim, share, wanted) -> {
          return new Waits("node " + share.card().node() + " has yet to say that " + share.sizes().granted()
              + " is in force");
        }
        case Size.Wanted(ShareSize wanted) -> {
          if (!wanted.equals(share.sizes().allocated())) {
            sizes.put(GrantedSizes.key(share.shareId()), wanted);
          }
          more |= !wanted.isWithin(share.sizes().booked());
        }
        case Size.Impossible(ResizeDecision why) -> {
          return why;
        }
      }
    }
    GrantedSizes granted = new GrantedSizes(sizes);
    List<Booking> bookings = AllocatedClaim.bookings(granted.on(claim));
    Optional<String> tooMuch = more ? tooMuch(claim, bookings) : Optional.empty();
    return tooMuch.<ResizeDecision>map(Waits::new).orElseGet(() -> new Granted(granted, bookings));
  }

  /**
   * Whether the share would count with less than its processes may hold: its node may have put what was granted before
   * into force, and only when it has said so the claim shows what counts until the smaller size is in force. Where its
   * card has not enough for all that was granted, as when two controllers have granted at once, the node is not told of
   * it: to wait for it would be to wait for ever.
   */
  private boolean isYetToBeInForce(ResourceClaim claim, AllocatedShare share, ShareSize wanted) {
    return AllocatedClaim.isReserved(claim)
        && !share.sizes().granted().isWithin(wanted.max(share.sizes().inForce()))
        && card(share.card()).filter(state.claims().account(share.card())::exceeds).isEmpty();
  }

  /** What a share of its card can be. */
  private sealed interface Size {
    record Wanted(ShareSize size) implements Size {}

    record Impossible(ResizeDecision why) implements Size {}
  }

  private Size size(AllocatedShare share, ShareSize asked) {
    @Nullable GpuHost host = state.inventory().host(share.card().node());
    Optional<Device> device = host == null
        ? Optional.empty()
        : host.devices().stream().filter(each -> each.name().equals(share.device())).findFirst();
    if (host == null || device.isEmpty()) {
      return new Size.Impossible(new Waits(where(share.card()) + " is not reported now"));
    }
    if (host.allocator() == Allocator.Scheduler) {
      return new Size.Impossible(
          new Refused("kube-scheduler allocates on node " + host.name() + ", and it counts what claims were allocated,"
              + " whatever size they have; shares can be resized where Partita's controller allocates"));
    }
    if (asked.equals(share.sizes().granted())) {
      return new Size.Wanted(asked);
    }
    OptionalLong memory = consumed(device.get(), CapacityName.MEMORY, asked.memoryBytes());
    OptionalLong cores = consumed(device.get(), CapacityName.CORES, asked.cores());
    if (memory.isEmpty() || cores.isEmpty()) {
      return new Size.Impossible(new Refused(where(share.card()) + " has " + (memory.isEmpty()
          ? Bytes.words(device.get().total(CapacityName.MEMORY)) + " for shares"
          : device.get().total(CapacityName.CORES) + " % cores")));
    }
    return new Size.Wanted(new ShareSize(memory.getAsLong(), (int) cores.getAsLong()));
  }

  private static OptionalLong consumed(Device device, String capacity, long asked) {
    return Optional.ofNullable(device.capacities().get(capacity)).flatMap(Capacity::policy)
        .map(policy -> policy.consumed(asked)).orElse(OptionalLong.empty());
  }

  /** Why the claim cannot take that in the place of what it takes; empty if it can. */
  private Optional<String> tooMuch(ResourceClaim claim, List<Booking> bookings) {
    try (SchedulerState.Scope _ = state.without(Set.of(claim.getMetadata().getUid()))) {
      return bookings.stream().map(Booking::card).distinct().flatMap(card -> tooMuch(card, bookings).stream())
          .findFirst()
          .or(() -> state.claims().quotas().excess(claim.getMetadata().getNamespace(), List.of(bookings))
              .map(excess -> excess.why() + "; what the claim has now is not counted"));
    }
  }

  private Optional<String> tooMuch(CardKey key, List<Booking> bookings) {
    Account others = state.claims().account(key);
    Account wanted = others;
    for (Booking booking : bookings) {
      wanted = booking.card().equals(key) ? wanted.plus(booking) : wanted;
    }
    Optional<Card> card = card(key);
    if (card.isEmpty() || !wanted.exceeds(card.get())) {
      return Optional.empty();
    }
    long memory = card.get().allocatableMemory() - others.memory();
    return Optional.of(where(key) + " has " + (wanted.memory() - others.memory() > memory
        ? Bytes.words(Math.max(0, memory)) + " beside what others have, and the claim would have "
            + Bytes.words(wanted.memory() - others.memory())
        : Math.max(0, Account.CORES - others.cores()) + " % cores beside what others have, and the claim would have "
            + (wanted.cores() - others.cores()) + " %"));
  }

  private Optional<Card> card(CardKey key) {
    return Optional.ofNullable(state.inventory().host(key.node()))
        .flatMap(host -> host.cards().stream().filter(each -> each.key().equals(key)).findFirst());
  }

  private static String where(CardKey card) {
    return "card gpu-" + card.index() + " of node " + card.node();
  }
}
