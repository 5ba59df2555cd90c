package dev.partita.cli.demo.screen;

import dev.partita.api.Bytes;
import dev.partita.api.DeviceMode;
import dev.partita.api.DeviceName;
import dev.partita.api.device.CapacityName;
import dev.partita.api.device.DeviceAttribute;
import dev.partita.cli.demo.cluster.BoundPod;
import io.fabric8.kubernetes.api.model.resource.v1.Device;
import io.fabric8.kubernetes.api.model.resource.v1.DeviceRequestAllocationResult;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceClaim;
import io.fabric8.kubernetes.api.model.resource.v1.ResourceSlice;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Pictures of the cards that ResourceSlices offer, with what claims have of them: nothing but what the API shows. */
public final class CardPictures {
  private CardPictures() {}

  /** By node and index. */
  public static List<CardPicture> of(List<ResourceSlice> slices, List<ResourceClaim> claims) {
    return slices.stream()
        .flatMap(
            slice -> slice.getSpec().getDevices().stream()
                .filter(CardPictures::isShared)
                .map(device -> picture(slice, device, claims)))
        .sorted(Comparator.comparing(CardPicture::name))
        .toList();
  }

  /** Whether a device is one to take shares of. */
  static boolean isShared(Device device) {
    return DeviceName.parse(device.getName()).map(name -> name.mode() == DeviceMode.SHARED).orElse(false);
  }

  private static CardPicture picture(ResourceSlice slice, Device device, List<ResourceClaim> claims) {
    int index = DeviceName.parse(device.getName()).orElseThrow().index();
    String pool = slice.getSpec().getPool().getName();
    List<CardPicture.Share> shares =
        claims.stream()
            .filter(claim -> claim.getStatus() != null && claim.getStatus().getAllocation() != null)
            .filter(claim -> isOn(claim, pool, device.getName()))
            .sorted(Comparator.comparing((ResourceClaim claim) -> BoundPod.memoryOf(claim)).reversed())
            .map(claim -> new CardPicture.Share(owner(claim), BoundPod.memoryOf(claim)))
            .toList();
    return new CardPicture(
        slice.getSpec().getNodeName() + " gpu-" + index,
        Optional.ofNullable(device.getAttributes().get(DeviceAttribute.PRODUCT_NAME.key()))
            .map(name -> name.getString())
            .orElse(""),
        Optional.ofNullable(device.getCapacity().get(CapacityName.MEMORY)).map(memory -> Bytes.of(memory.getValue()))
            .orElse(0L),
        shares);
  }

  private static boolean isOn(ResourceClaim claim, String pool, String device) {
    DeviceRequestAllocationResult result = BoundPod.resultOf(claim);
    return result.getPool().equals(pool) && result.getDevice().equals(device);
  }

  private static String owner(ResourceClaim claim) {
    return claim.getMetadata().getOwnerReferences().getFirst().getName();
  }
}
