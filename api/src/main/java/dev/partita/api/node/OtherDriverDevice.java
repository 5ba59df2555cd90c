package dev.partita.api.node;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;

/**
 * A device of another DRA driver that is a card of the node, or a part of one, and that claims have. Kubernetes'
 * allocator knows nothing of what two drivers publish of the same card, so that it could be given away twice.
 *
 * @param uuid the card's
 * @param driver such as {@code gpu.nvidia.com}
 * @param pool the driver's, as its ResourceSlices name it
 * @param device its name there
 * @param claims how many claims have it
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record OtherDriverDevice(
    @JsonPropertyDescription("The card's UUID.") String uuid,
    @JsonPropertyDescription("The other DRA driver.") String driver,
    @JsonPropertyDescription("The pool of its ResourceSlices.") String pool,
    @JsonPropertyDescription("The name of its device.") String device,
    @JsonPropertyDescription("How many claims have the device.") @Min(0) @Max(Integer.MAX_VALUE) int claims) {

  @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
  public OtherDriverDevice {
    uuid = uuid == null ? "" : uuid;
    driver = driver == null ? "" : driver;
    pool = pool == null ? "" : pool;
    device = device == null ? "" : device;
  }

  /** In words: {@code gpu.nvidia.com, as gpu-0, which 2 claims have}. */
  @Override
  public String toString() {
    return driver + ", as " + device + (claims == 1 ? ", which a claim has" : ", which " + claims + " claims have");
  }
}
