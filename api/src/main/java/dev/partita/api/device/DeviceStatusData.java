package dev.partita.api.device;

import io.fabric8.kubernetes.api.model.resource.v1.AllocatedDeviceStatus;
import io.fabric8.kubernetes.api.model.runtime.RawExtension;
import java.util.Map;
import java.util.Optional;

/**
 * What stands in {@code status.devices[].data} of a claim, for each of its devices: a flat map, so that
 * {@code kubectl describe} shows one a line. The plugin of the device's node writes it; all values are text.
 */
public enum DeviceStatusData {
  /** UUID of the card. */
  CARD("gpuUUID"),

  /** The card's product name, as NVML gives it. */
  PRODUCT_NAME("productName"),

  /** Node of the card. */
  NODE("node"),

  /** Qualified name of the device in the CDI spec that containers get it by. */
  CDI_DEVICE("cdiDevice"),

  /** Profile of a MIG instance. */
  MIG_PROFILE("migProfile"),

  /** Memory that the claim has of the card, as a quantity. */
  MEMORY_LIMIT("memoryLimit"),

  /** Percent of the card's time that a share is held to; {@code none} where it is not held to any. */
  CORE_LIMIT("coreLimit"),

  /**
   * What of the card is set aside for the claim, whatever others do, such as {@code memory=8Gi,cores=25}: see
   * {@link dev.partita.api.resize.ShareSize}. Less memory than the limit where the node offers more than its cards have
   * or the claim oversubscribes; of shares and whole cards.
   */
  GUARANTEE("guarantee"),

  /**
   * Who holds the containers to the memory limit: {@code Interception} or {@code Driver} for a share
   * ({@link dev.partita.api.gpu.MemoryEnforcement}), {@code Card} for a whole card or a MIG instance, which end there,
   * and {@code None} where nobody does.
   */
  ENFORCEMENT("enforcement"),

  /** Health of the card: {@code Healthy}, or the reason why it is not, such as {@code GpuIsLost}. Where it is known. */
  HEALTH("health"),

  /**
   * What the claim's owner last asked for by a resize, as {@link dev.partita.api.resize.SizeRequest} writes it, such as
   * {@code memory=12Gi}, whether it was granted or not. Of claims whose owners have asked.
   */
  SIZE_ASKED("sizeAsked"),

  /**
   * What a resize has granted the share, such as {@code memory=12Gi,cores=40}; its containers are held to it once it is
   * {@link #SIZE_IN_FORCE}. Of shares that have been resized.
   */
  SIZE_GRANTED("sizeGranted"),

  /**
   * What a resize has given the share, and its containers are held to, such as {@code memory=12Gi,cores=40}: see
   * {@link dev.partita.api.resize.ShareSize}. Of shares that have been resized.
   */
  SIZE_IN_FORCE("sizeInForce"),

  /** Memory that contexts and modules of its processes take of the limit, as a quantity. Of shares in use. */
  MEMORY_OVERHEAD("memoryOverhead"),

  /** Memory that its processes hold, overhead included, as a quantity. Of devices in use, and some minutes old. */
  MEMORY_USED("memoryUsed"),

  /** The most that they ever held at a look, as a quantity. Of shares in use. */
  MEMORY_PEAK("memoryPeak"),

  /** Processes that use it. Of devices in use. */
  PROCESSES("processes"),

  /** Percent of the card's time that they had since the report before. Where the card's samples are followed. */
  CORES_USED("coresUsed"),

  /**
   * Percent of the time since the report before in which launches waited for the core limit, in steps of 5: threads
   * that wait at the same time add up, to 100 at most. Of shares with a core limit; the container's own word.
   */
  THROTTLED_SHARE("throttledShare");

  private final String key;

  DeviceStatusData(String key) {
    this.key = key;
  }

  /** The field's name. */
  public String key() {
    return key;
  }

  /** Its text in a device's status; empty if it is not there, or is no text. */
  public Optional<String> in(AllocatedDeviceStatus device) {
    return of(device).get(key) instanceof String text ? Optional.of(text) : Optional.empty();
  }

  /** All fields of a device's status, also those that are not listed here; none if it has no data. */
  public static Map<?, ?> of(AllocatedDeviceStatus device) {
    Object data = device.getData() instanceof RawExtension raw ? raw.getValue() : device.getData();
    return data instanceof Map<?, ?> fields ? fields : Map.of();
  }

  @Override
  public String toString() {
    return key;
  }
}
