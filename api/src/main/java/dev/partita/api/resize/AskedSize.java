package dev.partita.api.resize;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonPropertyDescription;

/**
 * A size that a claim's owner asked for and the controller has answered, so that the node's plugin writes it into the
 * claim's status.
 *
 * @param claimUid the claim's UID
 * @param size as {@link dev.partita.api.resize.SizeRequest} writes it
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record AskedSize(
    @JsonPropertyDescription("The claim's UID.") String claimUid,
    @JsonPropertyDescription("Such as memory=12Gi,cores=40.") String size) {

  @SuppressWarnings("ConstantValue") // Jackson hands in null for what a document leaves out
  public AskedSize {
    claimUid = claimUid == null ? "" : claimUid;
    size = size == null ? "" : size;
  }
}
