package dev.partita.api.gpu;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.fabric8.generator.annotation.Max;
import io.fabric8.generator.annotation.Min;

/**
 * A device plugin other than Partita's that hands out the same card, as kubelet tells. Kubernetes counts what it hands
 * out apart from claims, so that the card could be given away twice.
 *
 * @param resource the extended resource that pods ask for, such as {@code nvidia.com/gpu}
 * @param offered whether new pods may get the card so; false once that device plugin has ended
 * @param pods how many pods of the node have the card so
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record OtherServer(
    @JsonPropertyDescription("The extended resource that pods ask for.") String resource,
    @JsonPropertyDescription("Whether new pods may get the card so.") boolean offered,
    @JsonPropertyDescription("How many pods of the node have the card so.") @Min(0) @Max(Integer.MAX_VALUE) int pods) {
  /** In words: {@code nvidia.com/gpu, which 2 pods have}. */
  @Override
  public String toString() {
    return resource + (pods == 0 ? "" : pods == 1 ? ", which a pod has" : ", which " + pods + " pods have");
  }
}
