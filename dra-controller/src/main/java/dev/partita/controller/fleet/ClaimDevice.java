package dev.partita.controller.fleet;

import dev.partita.api.Driver;
import dev.partita.api.device.DeviceStatusData;
import dev.partita.controller.booking.Booking;
import dev.partita.controller.claim.AllocatedClaim;
import dev.partita.controller.watch.AllocatedDevices;
import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaimConsumerReference;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;

/**
 * What a claim has of one card, or is about to have.
 *
 * @param namespace of the claim
 * @param claim its name
 * @param booking what it takes of which card
 * @param model the card's, as its node said it; empty if it did not
 * @param measured what it is used for
 * @param users who uses it: names of pods, or kind and name of others
 */
public record ClaimDevice(
    String namespace,
    String claim,
    Booking booking,
    String model,
    Measured measured,
    List<String> users) {
  private static final String PODS = "pods";

  public ClaimDevice {
    users = List.copyOf(users);
  }

  /** Everything of ours that a claim has. */
  public static List<ClaimDevice> of(ResourceClaim claim) {
    return AllocatedDevices.of(claim).stream()
        .flatMap(result -> AllocatedClaim.booking(claim, result).map(booking -> of(claim, result, booking)).stream())
        .toList();
  }

  /** What is proposed for a claim that has no allocation. */
  static List<ClaimDevice> proposedFor(ResourceClaim claim) {
    return AllocatedClaim.taken(claim).stream()
        .map(booking -> new ClaimDevice(claim.getMetadata().getNamespace(), claim.getMetadata().getName(), booking, "",
            Measured.NOTHING, List.of()))
        .toList();
  }

  private static Map<?, ?> data(ResourceClaim claim, DeviceRequestAllocationResult result) {
    return claim.getStatus().getDevices().stream()
        .filter(device -> isOf(device, result))
        .findFirst()
        .<Map<?, ?>>map(DeviceStatusData::of)
        .orElse(Map.of());
  }

  private static ClaimDevice of(ResourceClaim claim, DeviceRequestAllocationResult result, Booking booking) {
    Map<?, ?> data = data(claim, result);
    Object product = data.get(DeviceStatusData.PRODUCT_NAME.key());
    return new ClaimDevice(
        claim.getMetadata().getNamespace(),
        claim.getMetadata().getName(),
        booking,
        product == null ? "" : Driver.modelOf(product.toString()),
        Measured.of(data),
        users(claim));
  }

  private static boolean isOf(AllocatedDeviceStatus device, DeviceRequestAllocationResult result) {
    return Driver.NAME.equals(device.getDriver())
        && Objects.equals(device.getPool(), result.getPool())
        && Objects.equals(device.getDevice(), result.getDevice())
        && Objects.equals(device.getShareID(), result.getShareID());
  }

  private static List<String> users(ResourceClaim claim) {
    return claim.getStatus().getReservedFor().stream().map(ClaimDevice::word).sorted().toList();
  }

  private static String word(ResourceClaimConsumerReference user) {
    return PODS.equals(user.getResource()) ? user.getName() : user.getResource() + "/" + user.getName();
  }

  /**
   * Whether it is a part of the memory of the card or of an instance, and not all of it, be it in turn, or a MIG
   * instance.
   */
  public boolean isShare() {
    return booking.device().mode().isShared() && !booking.isTurn();
  }

  /** Bytes that the claim has of the card, as far as its allocation or its node says. */
  public OptionalLong memory() {
    return isShare() ? OptionalLong.of(booking.memory()) : measured.memoryLimit();
  }

  /** Namespace and name of the claim. */
  public String claimName() {
    return namespace + "/" + claim;
  }
}
