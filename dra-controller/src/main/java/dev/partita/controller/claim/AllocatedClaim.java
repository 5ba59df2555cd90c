package dev.partita.controller.claim;

import dev.partita.api.DeviceName;
import dev.partita.api.Amount;
import dev.partita.api.Driver;
import dev.partita.api.RequestName;
import dev.partita.api.config.Decoded;
import dev.partita.api.config.GpuShareConfig.Placement;
import dev.partita.api.config.GpuShareConfig;
import dev.partita.api.config.ShareConfigs;
import dev.partita.api.device.CapacityName;
import dev.partita.api.resize.ShareSize;
import dev.partita.api.sharing.SharingStrategy;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.decode.LeftOut;
import dev.partita.controller.inventory.CardKey;
import dev.partita.controller.match.CardUse;
import dev.partita.controller.proposal.Proposal;
import dev.partita.controller.watch.AllocatedDevices;
import io.fabric8.kubernetes.api.model.NodeSelector;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.resource.v1.AllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceAllocationConfiguration;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimBuilder;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What an allocation takes of our cards, whoever wrote it. */
public final class AllocatedClaim {
  /** The most that it could be. */
  private static final GpuShareConfig NOBODY_KNOWS =
      new GpuShareConfig(GpuShareConfig.DEFAULT.coreLimit(), GpuShareConfig.DEFAULT.priority(), OptionalInt.empty(),
          GpuShareConfig.NOT_OVERSUBSCRIBED, Placement.DEFAULT.alone());

  private AllocatedClaim() {}

  public static boolean isAllocated(ResourceClaim claim) {
    return allocation(claim).isPresent();
  }

  /** Whether somebody may be using it: then its devices are not free even if nobody says where they are. */
  public static boolean isReserved(ResourceClaim claim) {
    return !reservedFor(claim).isEmpty();
  }

  /** Whether it holds nothing but our devices, and nobody has reserved it: then it can be taken back. */
  public static boolean isUnusedAndOurs(ResourceClaim claim) {
    List<DeviceRequestAllocationResult> results = AllocatedDevices.of(claim);
    return !isReserved(claim) && !results.isEmpty()
        && results.stream().allMatch(result -> Driver.NAME.equals(result.getDriver()));
  }

  /** UIDs of those that it is reserved for. */
  public static Set<String> reservedFor(ResourceClaim claim) {
    return claim.getStatus() == null
        ? Set.of()
        : claim.getStatus().getReservedFor().stream().map(ResourceClaimConsumerReference::getUid)
            .collect(Collectors.toUnmodifiableSet());
  }

  /** The node of the devices of ours that it has; empty if it has none. */
  public static Optional<String> nodeOfOurs(ResourceClaim claim) {
    return AllocatedDevices.of(claim).stream()
        .filter(result -> Driver.NAME.equals(result.getDriver()))
        .flatMap(result -> Driver.nodeOfPool(result.getPool()).stream())
        .findFirst();
  }

  /**
   * What it takes of our cards, an entry a device. An exclusive share counts as the whole card, and so does one without
   * a shareID or without consumed capacity: nobody can say how much of it is free. Devices that are accessed for
   * administration take nothing.
   */
  public static List<Booking> bookings(ResourceClaim claim) {
    return AllocatedDevices.of(claim).stream().flatMap(result -> booking(claim, result).stream()).toList();
  }

  /** What one of its devices takes of a card of ours, by the same rules; empty if that is nothing. */
  public static Optional<Booking> booking(ResourceClaim claim, DeviceRequestAllocationResult result) {
    if (!Driver.NAME.equals(result.getDriver())) {
      return Optional.empty();
    }
    Optional<DeviceName> device = Optional.ofNullable(result.getDevice()).flatMap(DeviceName::parse);
    Optional<String> node = Driver.nodeOfPool(result.getPool());
    if (device.isEmpty() || node.isEmpty()) {
      return Optional.empty();
    }
    CardKey card = new CardKey(node.get(), device.get().index());
    Optional<ShareSize> resized = ShareSizes.ofResized(claim, result).map(ShareSizes::booked);
    return CardUse.of(strategy(claim, result, device.get()))
        .booking(card, device.get(), resized.map(ShareSize::memoryBytes).orElseGet(() -> memory(result)),
            resized.map(ShareSize::cores).orElseGet(() -> cores(result)));
  }

  /**
   * Its shares of cards whose size is known and can change, in the order of its allocation; neither whole cards, nor
   * shares of opaque cards, nor cards in turn, nor shares by MPS, nor MIG instances or shares of them, nor what is
   * accessed for administration.
   */
  public static List<AllocatedShare> shares(ResourceClaim claim) {
    List<AllocatedShare> shares = new ArrayList<>();
    for (DeviceRequestAllocationResult result : AllocatedDevices.of(claim)) {
      Optional<DeviceName> device = Optional.ofNullable(result.getDevice()).flatMap(DeviceName::parse);
      Optional<String> node = Driver.nodeOfPool(result.getPool());
      if (!Driver.NAME.equals(result.getDriver()) || device.isEmpty() || node.isEmpty() || !isOfKnownSize(result)) {
        continue;
      }
      switch (strategy(claim, result, device.get())) {
        case SharingStrategy.HookedShare _,SharingStrategy.ExclusiveShare _ -> shares.add(
            new AllocatedShare(RequestName.withoutSubrequest(String.valueOf(result.getRequest())), result.getShareID(),
                device.get(), new CardKey(node.get(), device.get().index()),
                ShareSizes.of(claim, result)));
        case SharingStrategy.WholeCard _,SharingStrategy.MigInstance _,SharingStrategy.AdminAccess _ -> {}
        case SharingStrategy.InstanceShare _ -> {} // what its instance has for others is not looked up here
        case SharingStrategy.BookedShare _ -> {} // its containers are told its size as they begin
        case SharingStrategy.TimeSlicing _,SharingStrategy.Mps _ -> {} // MPS knows only what a program began with
      }
    }
    return shares;
  }

  private static SharingStrategy strategy(
      ResourceClaim claim,
      DeviceRequestAllocationResult result,
      DeviceName device) {
    boolean admin = Boolean.TRUE.equals(result.getAdminAccess());
    if (device instanceof DeviceName.Opaque && !isOfKnownSize(result) && !admin) {
      return new SharingStrategy.WholeCard();
    }
    if (device instanceof DeviceName.MigShared shared && !isOfKnownSize(result) && !admin) {
      return new SharingStrategy.MigInstance(shared.slot());
    }
    GpuShareConfig config = isOfKnownSize(result) ? config(claim, result).orElse(NOBODY_KNOWS) : NOBODY_KNOWS;
    return SharingStrategy.of(device, config.placement(), config.sharing(), admin);
  }

  private static boolean isOfKnownSize(DeviceRequestAllocationResult result) {
    Map<String, Quantity> consumed = result.getConsumedCapacity();
    return result.getShareID() != null && consumed != null && consumed.containsKey(CapacityName.MEMORY);
  }

  /** What its config says; empty if nobody knows. */
  private static Optional<GpuShareConfig> config(ResourceClaim claim, DeviceRequestAllocationResult result) {
    if (LeftOut.of(claim).contains("status.allocation.devices.config")) {
      return Optional.empty();
    }
    List<DeviceAllocationConfiguration> configs =
        allocation(claim).flatMap(allocation -> Optional.ofNullable(allocation.getDevices()))
            .map(devices -> devices.getConfig()).orElse(List.of());
    return switch (ShareConfigs.ofAllocation(configs, result.getRequest())) {
      case Decoded.Valid<GpuShareConfig>(GpuShareConfig config) -> Optional.of(config);
      case Decoded.Invalid<GpuShareConfig> _ -> Optional.empty();
    };
  }

  /** What it would take with another allocation. */
  public static List<Booking> bookings(ResourceClaim claim, AllocationResult allocation) {
    return bookings(new ResourceClaimBuilder(claim).editOrNewStatus().withAllocation(allocation).endStatus().build());
  }

  /** What it takes, or is about to take: its bookings, or those proposed for it as long as it has no allocation. */
  public static List<Booking> taken(ResourceClaim claim) {
    return isAllocated(claim) ? bookings(claim) : Proposal.of(claim).map(Proposal::bookings).orElse(List.of());
  }

  /** Whether something is proposed for it that has not become an allocation. */
  public static boolean isProposed(ResourceClaim claim) {
    return !isAllocated(claim) && Proposal.isOn(claim);
  }

  /** Where the allocation can be used: null for everywhere. */
  public static @Nullable NodeSelector nodeSelector(ResourceClaim claim) {
    return allocation(claim).map(AllocationResult::getNodeSelector).orElse(null);
  }

  private static Optional<AllocationResult> allocation(ResourceClaim claim) {
    return Optional.ofNullable(claim.getStatus()).flatMap(status -> Optional.ofNullable(status.getAllocation()));
  }

  /** Bytes that it was allocated. */
  static long memory(DeviceRequestAllocationResult result) {
    return amount(result.getConsumedCapacity(), CapacityName.MEMORY, Booking.MOST_MEMORY);
  }

  /** Percent that it was allocated. */
  static int cores(DeviceRequestAllocationResult result) {
    return (int) amount(result.getConsumedCapacity(), CapacityName.CORES, Booking.MOST_CORES);
  }

  private static long amount(@Nullable Map<String, Quantity> consumed, String capacity, long most) {
    @Nullable Quantity quantity = consumed == null ? null : consumed.get(capacity);
    if (quantity == null) {
      return 0;
    }
    try {
      return Amount.of(quantity).setScale(0, RoundingMode.CEILING).min(BigDecimal.valueOf(most)).max(BigDecimal.ZERO)
          .longValue();
    } catch (IllegalArgumentException e) {
      return most;
    }
  }
}
